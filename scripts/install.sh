#!/bin/sh
# install.sh BUILD BOARD PREFIX - copies what a user needs; install.sh --remove PREFIX takes it away again, and of the folders
# round it those that it has made and that are empty.
#
# lib/ecube/folders names them: bin, lib, include; 0 for PREFIX itself, 1 for the folder above it, and so on.
set -eu
cd "$(dirname "$0")/.."

# Prints the folders that there are not yet.
missing_folders() {
    for folder in bin lib include; do
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
    for folder in bin lib include; do
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
    rm -f "$prefix/bin/ecube" "$prefix/bin/ecube-cc"
    rm -rf "$prefix/lib/ecube" "$prefix/include/ecube"
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
install -m 644 "$nodes/kernel.elf" "$nodes"/lib/* "$prefix/lib/ecube/$board/"
[ ! -f "$nodes/openocd.cfg" ] || install -m 644 "$nodes/openocd.cfg" "$prefix/lib/ecube/$board/"
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
for folder in $made; do
    echo "$folder"
done >>"$prefix/lib/ecube/folders"
echo "installed in $prefix"
