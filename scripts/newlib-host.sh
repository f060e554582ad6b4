#!/bin/sh
# newlib-host.sh FOLDER COMPILER FLAG... - makes newlib, of the version that the nodes have, for programs that run on this
# computer: FOLDER/libc.a, FOLDER/libm.a and FOLDER/include.
#
# The source is Debian's package newlib-source, configured so that newlib.h is the nodes'. It is made in FOLDER/making, which
# is gone at the end; when something fails, the end of its log is shown.
set -eu

mkdir -p "$1"
folder=$(cd "$1" && pwd)
compiler=$2
shift 2
making=$folder/making
log=$making/log

fail() {
    echo "newlib-host.sh: $1" >&2
    exit 1
}

run() {
    "$@" >>"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        fail "$1 failed; all that was said is in $log"
    }
}

archive=
for found in /usr/src/newlib/newlib-*.tar.xz; do
    [ ! -f "$found" ] || archive=$found
done
[ -n "$archive" ] || fail "there is no /usr/src/newlib/newlib-VERSION.tar.xz: install newlib-source (make packages)"

rm -rf "$making"
mkdir -p "$making/build"
cd "$making"
run tar -xJf "$archive" --strip-components=1 --exclude='*/libgloss/*' --exclude='*/texinfo/*' --exclude='*/include/opcode/*'
# As on the nodes: the library asks for _read, _write, _sbrk, and has read, write, sbrk for programs.
run sed -i '/^  w65-\*-\*)$/i\  x86_64-*-*)\n\tsyscall_dir=syscalls\n\tnewlib_cflags="${newlib_cflags} -D_COMPILING_NEWLIB"\n\t;;' \
    newlib/configure.host
grep -q '^  x86_64-\*-\*)$' newlib/configure.host || fail "the configure.host of $archive is not what this script knows"

cd build
run ../newlib/configure --host=x86_64-elf --target=x86_64-elf --disable-multilib --enable-newlib-io-long-long \
    --enable-newlib-register-fini --disable-newlib-supplied-syscalls \
    MAKEINFO=true "CC=$compiler" AR=ar RANLIB=ranlib AS=as "CFLAGS=$*"
# Of what the make above this one has been told only how many may work at a time.
jobs=$(echo "${MAKEFLAGS-}" | grep -o -e '--jobserver-[a-z]*=[^ ]*' || :)
MAKEFLAGS="-j2 $jobs" run make MAKEINFO=true

rm -rf "$folder/include"
cp -R ../newlib/libc/include "$folder/include"
cp -R targ-include/. "$folder/include/"
cp libc.a libm.a "$folder/"
cd "$folder"
rm -rf "$making"
