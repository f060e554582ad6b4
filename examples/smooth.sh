#!/bin/sh
# smooth.sh NETWORK FILE... - smooths recordings (raw, signed 16 bits, little-endian), one after the other, on one machine
# that stays up: each FILE becomes FILE.smooth. The program waits for the next one meanwhile.
#
# BUILD (build) says where ecube is. Example: examples/smooth.sh cube:4 one.raw two.raw three.raw
set -eu

ecube=${BUILD:-build}/ecube program=${BUILD:-build}/examples/smooth.elf
[ $# -ge 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
network=$1
shift

# nodes NETWORK - how many it has: cube:4 has 16, torus:3x4 has 12.
nodes() {
    sizes=$(echo "${1#*:}" | tr x ' ')
    case $1 in
    cube:*) echo $((1 << sizes)) ;;
    *) product=1; for size in $sizes; do product=$((product * size)); done; echo "$product" ;;
    esac
}

size() { wc -c <"$1" | tr -d ' '; }

# stride FILE - bytes of the result that each node makes of it: whole samples.
stride() { echo $((($(size "$1") / 2 + count - 1) / count * 2)); }

count=$(nodes "$network") overlap=14 largest=0
for file in "$@"; do
    bytes=$(($(stride "$file") + overlap))
    [ "$bytes" -le "$largest" ] || largest=$bytes
done

work=$(mktemp -d "${TMPDIR:-/tmp}/ecube-smooth.XXXXXX")
name=smooth-$$ load=
ends() {
    "$ecube" down --name "$name" 2>"$work/down" || true
    [ -z "$load" ] || wait "$load" || true
    rm -rf "$work"
}
"$ecube" up --name "$name" --network "$network"
trap ends EXIT
trap 'exit 1' HUP INT TERM

"$ecube" load --name "$name" --quiet "$program" "$largest" &
load=$!
for file in "$@"; do
    stride=$(stride "$file")
    "$ecube" scatter in --name "$name" --input "$file" --window $((stride + overlap)) --stride "$stride" --pad
    "$ecube" gather out --name "$name" --output "$work/made"
    head -c "$(size "$file")" "$work/made" >"$file.smooth"
done
printf x >"$work/end" # shorter than the filter
"$ecube" scatter in --name "$name" --quiet --common "$work/end"
wait "$load"
load=
