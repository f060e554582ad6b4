#!/bin/sh
# data.sh [-s] EXAMPLE NETWORK FILE PICTURE [WORD...] - runs an example on data of yours, compares what comes back with a
# computation on this computer, and writes a picture.
#
#   image  NETWORK in.png out.png [blur|sharpen|edges [RADIUS]]   a filter over a picture (PNG, binary PGM or PPM)
#   fir    NETWORK in.wav out.png                                 a low-pass filter over a recording (WAV, 16 bits)
#   match  NETWORK text out.png WORD...                           where words are in a text
#
# -s: in the simulator. BUILD (build) says where ecube is. Example: examples/data.sh image cube:4 photo.png edges.png edges
set -eu

build=${BUILD:-build} verb=run ending=elf
[ "${1-}" != -s ] || { verb=sim ending=so; shift; }
[ $# -ge 4 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
example=$1 network=$2 file=$3 picture=$4
shift 4

# nodes NETWORK - how many it has: cube:4 has 16, torus:3x4 has 12.
nodes() {
    sizes=$(echo "${1#*:}" | tr x ' ')
    case $1 in
    cube:*) echo $((1 << sizes)) ;;
    *) product=1; for size in $sizes; do product=$((product * size)); done; echo "$product" ;;
    esac
}

work=$(mktemp -d "${TMPDIR:-/tmp}/ecube-data.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

count=$(nodes "$network")
"$build/examples/data" "$example" prepare "$file" "$count" "$work" "$@" >"$work/words"
# What stands before --program are options of the run, what stands behind it arguments.
options=$(sed '/^--program$/,$d' "$work/words") arguments=$(sed '1,/^--program$/d' "$work/words")
IFS='
'
# shellcheck disable=SC2086
"$build/ecube" "$verb" --network "$network" $options --output "$work/output" "$build/examples/$example.$ending" $arguments
unset IFS
"$build/examples/data" "$example" finish "$file" "$count" "$work" "$picture" "$@"
