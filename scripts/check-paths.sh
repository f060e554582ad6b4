#!/bin/sh
# check-paths.sh - names every path in sources, manuals and scripts that leads nowhere, and every such link of a manual.
#
# A path leads from the top, from the folder of the file or from one above it. In manuals every path is looked at, elsewhere
# those that begin with a folder of the top: others may be of libraries and of other projects.
set -eu
cd "$(dirname "$0")/.."

files=$(git ls-files 2>/dev/null | grep -vE '^(fuzz/corpus|tests/golden)/|^LICENSE$' || :)
[ -n "$files" ] || { echo "paths: not checked, this is no git checkout"; exit 0; }
names='c|h|S|sh|pml|md|mk|cfg|tcl|gp'

# Prints FILE:LINE:PATH for each path with a folder in it, and each link of a manual.
list_paths() {
    # shellcheck disable=SC2086 -- the list is meant to split
    grep -noE "(\.\./)*([A-Za-z0-9_][A-Za-z0-9_.-]*/)+[A-Za-z0-9_.-]+\.($names)\b" $files /dev/null
    # shellcheck disable=SC2086
    grep -noE '\]\([^)#:]+[)#]' $(echo "$files" | grep '\.md$') /dev/null | sed 's/](\(.*\)[)#]$/\1/'
}

dead=$(
    list_paths | while IFS=: read -r file line path; do
        path=${path#source_tree/} # a script's own name of the top
        case $path in
        *[A-Z]/* | */NAME* | accel/* | hw/* | include/elf/* | ../lib/ecube/*) continue ;; # any name; QEMU's; binutils'; installed
        ../* | */../*) ;;
        *) case $file in *.md) ;; *) [ -d "${path%%/*}" ] && [ "${path%%/*}" != build ] || continue ;; esac ;;
        esac
        folder=$(dirname "$file")
        while [ ! -e "$folder/$path" ] && [ "$folder" != . ]; do
            folder=$(dirname "$folder")
        done
        [ -e "$folder/$path" ] || echo "$file:$line: there is no $path"
    done
)
if [ -n "$dead" ]; then
    echo "$dead"
    exit 1
fi
echo "paths: in order"
