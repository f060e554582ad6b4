#!/bin/sh
# check-house.sh - holds the first part of doc/design.md to the tree: its picture names every folder, and the functions of
# its ways stand in the files beside them, at most ten to a way.
set -eu
cd "$(dirname "$0")/.."
design=doc/design.md

folders=$(git ls-files 2>/dev/null | grep -vE '^(examples|tests|fuzz|bench|\.ci)/.*/' | sed -n 's|/[^/]*$||p' | sort -u)
[ -n "$folders" ] || { echo "house: not checked, this is no git checkout"; exit 0; }
picture=$(awk '/^## /{ n++ } n == 1 && /^    /' $design)

wrong=$(
    for folder in $folders; do
        for name in $(echo "$folder" | tr / ' '); do
            echo "$picture" | grep -qw -- "$name" || echo "$design: the picture has no $folder/"
        done
    done
    # shellcheck disable=SC2016
    grep -noE '`[a-z0-9_]+` \(`[a-z0-9_/]+\.[ch]`\)' $design | tr -d '`()' | tr ': ' '  ' |
        while read -r line name file; do
            grep -qsE "^[a-z].*[ *]$name\(" "$file" || echo "$design:$line: there is no $name in $file"
        done
    awk '/^### The way/{ way = $0 } /^##/{ count = 0 } /^[0-9]+\. `/ && ++count > 10 { print FILENAME ":" FNR ": more than ten steps: " way }' $design
)
if [ -n "$wrong" ]; then
    echo "$wrong"
    exit 1
fi
echo "house: in order"
