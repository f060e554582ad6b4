#!/bin/sh
# packages.sh [--check] LIST... - installs the Debian packages in the lists that are missing; quiet when none is.
# With --check it installs nothing: it names what is missing and fails.
set -eu
cd "$(dirname "$0")/.."

check=
if [ "${1-}" = --check ]; then
    check=yes
    shift
fi
[ $# -gt 0 ] || {
    echo "usage: packages.sh [--check] LIST..." >&2
    exit 2
}
wanted=$(sed -e 's/#.*//' -e 's/[[:space:]].*//' -e '/^$/d' "$@")
missing=
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=none
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ -n "$check" ]; then
    echo "missing packages:$missing (make packages installs them)" >&2
    exit 1
fi

by_hand="apt-get update && apt-get install --no-install-recommends$missing"
as_root=
if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
    command -v sudo >/dev/null || {
        echo "missing packages, and no sudo; as root: $by_hand" >&2
        exit 1
    }
fi
echo "installing packages:$missing"
# The lists of packages may be absent or stale: refresh them only when apt cannot find what it needs.
install="apt-get install -y --no-install-recommends$missing"
if $as_root apt-get install -s -qq --no-install-recommends $missing >/dev/null 2>&1 &&
    $as_root env DEBIAN_FRONTEND=noninteractive $install; then
    exit 0
fi
if $as_root apt-get update -qq && $as_root env DEBIAN_FRONTEND=noninteractive $install; then
    exit 0
fi
echo "packages could not be installed; as root: $by_hand" >&2
exit 1
