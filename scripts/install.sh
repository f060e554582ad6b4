#!/bin/sh
# install.sh BUILD PREFIX - copies what a user needs; install.sh --remove PREFIX takes it away again.
set -eu
cd "$(dirname "$0")/.."

if [ "$1" = --remove ]; then
    prefix=$2
    rm -f "$prefix/bin/ecube" "$prefix/bin/ecube-cc"
    rm -rf "$prefix/lib/ecube" "$prefix/include/ecube"
    exit 0
fi
build=$1 prefix=$2
install -d "$prefix/bin" "$prefix/lib/ecube/examples" "$prefix/include/ecube"
install -m 755 "$build/ecube" "$build/ecube-cc" "$prefix/bin/"
install -m 755 "$build/ecube-jtag" "$prefix/lib/ecube/"
install -m 644 "$build/virt/kernel.elf" "$build"/lib/crt0.o "$build"/lib/libecube*.a "$build"/lib/check.wrap \
    "$build"/lib/program.ld \
    "$prefix/lib/ecube/"
[ ! -f "$build/virt/openocd.cfg" ] || install -m 644 "$build/virt/openocd.cfg" "$prefix/lib/ecube/"
install -m 644 "$build"/examples/*.elf "$prefix/lib/ecube/examples/"
install -m 644 include/ecube/*.h "$prefix/include/ecube/"
echo "installed in $prefix"
