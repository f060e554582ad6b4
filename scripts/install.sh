#!/bin/sh
# install.sh BUILD BOARD PREFIX - copies what a user needs; install.sh --remove PREFIX takes it away again, and of the folders
# round it those that it has made and that are empty.
#
# lib/ecube/folders names them: bin, lib, include, those below share; 0 for PREFIX itself, 1 for the folder above it, and so
# on. lib/ecube/pages names the man pages.
set -eu
cd "$(dirname "$0")/.."
# Those that others put files into as well; what is in a folder comes before it.
folders="bin lib include share/man/man1 share/man/man3 share/man share/bash-completion/completions share/bash-completion
    share/zsh/site-functions share/zsh share"

# Prints the folders that there are not yet.
missing_folders() {
    for folder in $folders; do
        [ -d "$prefix/$folder" ] || echo "$folder"
    done
    at=$prefix level=0
    while [ ! -d "$at" ]; do
        echo "$level"
        at=$(dirname "$at") level=$((level + 1))
    done
}

# remove_folders FOLDER... - as they stand in the list; what holds files of others stays.
remove_folders() {
    for folder in $folders; do
        case " $* " in *" $folder "*) rmdir "$prefix/$folder" 2>/dev/null || : ;; esac
    done
    at=$prefix level=0
    while case " $* " in *" $level "*) : ;; *) false ;; esac && rmdir "$at" 2>/dev/null; do
        at=$(dirname "$at") level=$((level + 1))
    done
}

if [ "$1" = --remove ]; then
    prefix=$2
    made=$(cat "$prefix/lib/ecube/folders" 2>/dev/null || :)
    for page in $(cat "$prefix/lib/ecube/pages" 2>/dev/null || :); do
        rm -f "$prefix/share/man/$page"
    done
    rm -f "$prefix/bin/ecube" "$prefix/bin/ecube-cc" "$prefix/bin/ecube-sim-mpi" "$prefix/share/bash-completion/completions/ecube" \
        "$prefix/share/zsh/site-functions/_ecube"
    rm -rf "$prefix/lib/ecube" "$prefix/include/ecube" "$prefix/share/ecube"
    # shellcheck disable=SC2086 -- names without spaces
    remove_folders $made
    exit 0
fi
build=$1 board=$2 prefix=$3
nodes=$build/$board
made=$(missing_folders)
install -d "$prefix/bin" "$prefix/lib/ecube/examples" "$prefix/lib/ecube/$board" "$prefix/include/ecube"
install -m 755 "$build/ecube" "$build/ecube-cc" "$prefix/bin/"
install -m 755 "$build/ecube-jtag" "$prefix/lib/ecube/"
# Those of several computers, when they have been made (make cluster, make mpi).
[ ! -f "$build/ecube-agent" ] || install -m 755 "$build/ecube-agent" "$prefix/lib/ecube/"
[ ! -f "$build/ecube-sim-mpi" ] || install -m 755 "$build/ecube-sim-mpi" "$prefix/bin/"
install -m 644 "$nodes/kernel.elf" "$nodes"/lib/* "$prefix/lib/ecube/$board/"
[ ! -f "$nodes/openocd.cfg" ] || install -m 644 "$nodes/openocd.cfg" "$prefix/lib/ecube/$board/"
install -m 644 "$build/bench.gp" "$build/explain.gp" "$prefix/lib/ecube/"
install -m 644 "$build"/examples/*.elf "$prefix/lib/ecube/examples/"
if [ -d "$build/native/lib" ]; then
    rm -rf "$prefix/lib/ecube/native"
    install -d "$prefix/lib/ecube/native/lib" "$prefix/lib/ecube/native/newlib"
    install -m 644 "$build"/native/lib/* "$prefix/lib/ecube/native/lib/"
    install -m 644 "$build"/native/newlib/*.a "$prefix/lib/ecube/native/newlib/"
    for header in $(cd "$build/native/newlib" && find include -type f); do
        install -D -m 644 "$build/native/newlib/$header" "$prefix/lib/ecube/native/newlib/$header"
    done
    install -m 644 "$build"/examples/*.so "$prefix/lib/ecube/examples/"
fi
install -m 644 include/ecube/*.h "$prefix/include/ecube/"

(cd "$build/man" && ls man1/* man3/*) >"$prefix/lib/ecube/pages"
while read -r page; do
    install -D -m 644 "$build/man/$page" "$prefix/share/man/$page"
done <"$prefix/lib/ecube/pages"
install -D -m 644 host/command/ecube.bash "$prefix/share/bash-completion/completions/ecube"
install -D -m 644 host/command/ecube.zsh "$prefix/share/zsh/site-functions/_ecube"

# The sources of the examples, which find each other from their own top. examples/data is for this computer.
home=$prefix/share/ecube/examples
rm -rf "$home"
install -D -m 644 scripts/examples.mk "$home/Makefile"
for source in examples/*.h examples/*/*.[ch]; do
    [ "${source#examples/data/}" = "$source" ] || continue
    install -d "$(dirname "$home/${source#examples/}")"
    sed -e 's|#include "examples/|#include "|' -e 's|#include "include/ecube/ecube.h"|#include <ecube.h>|' \
        "$source" >"$home/${source#examples/}"
done
for folder in $made; do
    echo "$folder"
done >>"$prefix/lib/ecube/folders"
echo "installed in $prefix"
