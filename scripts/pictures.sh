#!/bin/sh
# pictures.sh BUILD - the pictures of README.md and of the guides: doc/pictures/*.png, each at most 200 KB. A page of a run and a
# figure are drawn as any user draws them, and photographed by headless Chromium.
set -eu
cd "$(dirname "$0")/.."
build=$1
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

# photograph FILE[#STEP] WIDTH HEIGHT NAME
photograph() {
    XDG_RUNTIME_DIR=$made timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$made/profile" \
        --screenshot="$made/$4.png" --window-size="$2,$3" "file://$made/$1" 2>"$made/said" || { cat "$made/said" >&2; exit 1; }
    [ "$(wc -c <"$made/$4.png")" -le 200000 ] || { echo "pictures.sh: $4.png has more than 200 KB" >&2; exit 1; }
    mkdir -p doc/pictures
    mv "$made/$4.png" "doc/pictures/$4.png"
    echo "  picture doc/pictures/$4.png"
}

"$build/ecube" run -q --network cube:4 --report "$made/run.html" "$build/examples/complete_exchange.elf" 1000
photograph 'run.html#step=3' 1200 1080 run
"$build/ecube" plan explain allgather --network torus:4x4 --svg "$made/explain.svg" >/dev/null
photograph explain.svg 1000 560 explain
