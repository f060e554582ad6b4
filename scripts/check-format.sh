#!/bin/sh
# check-format.sh [--fix] - names the sources that clang-format would change, and lines over 100 columns of sources and
# manuals; does nothing where clang-format is not installed.
set -eu
cd "$(dirname "$0")/.."
if ! command -v clang-format >/dev/null; then
    echo "format: not checked, clang-format is not installed"
    exit 0
fi
sources=$(find arch board drivers wire network reduction router collectives planner node controller trace boot include lib sim jtag host examples models tests bench papers fuzz -name '*.[ch]' ! -name board.h | sort)
if [ "${1-}" = --fix ]; then
    # shellcheck disable=SC2086
    clang-format -i $sources
    exit 0
fi
status=0
for source in $sources; do
    clang-format "$source" | cmp -s - "$source" || { echo "$source: not in the project's layout (make format)"; status=1; }
done
# clang-format leaves comments as they are.
# shellcheck disable=SC2086
long=$(awk 'length > 100 { print FILENAME ":" FNR ": more than 100 columns" }' $sources $(find arch lib linker -name '*.S'))
[ -z "$long" ] || { echo "$long"; status=1; }
# What users read: columns, which are characters and not bytes.
if long=$(LC_ALL=C.UTF-8 grep -nE '^.{101}' README.md doc/*.md); then
    echo "$long" | sed 's/^\([^:]*:[0-9]*\):.*/\1: more than 100 columns/'
    status=1
fi
[ "$status" -ne 0 ] || echo "format: in order"
exit "$status"
