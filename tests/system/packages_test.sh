# scripts/packages.sh as root, as a user with and without sudo, and with lists of packages that were never fetched.
# class: waits
. tests/system/testing.sh

# A machine made of stand-ins: every command leaves a line in `log`. $1: the user's id; $2: what `apt-get -s` and
# $3: what `apt-get install` returns; $4: what `apt-get update` returns.
machine() {
    mkdir -p bin
    for tool in sh sed dirname env cat; do ln -sf "$(command -v "$tool")" "bin/$tool"; done
    printf '#!/bin/sh\necho %s\n' "$1" >bin/id
    # shellcheck disable=SC2016 -- for the stand-in
    printf '#!/bin/sh\nfor last; do :; done\n[ "$last" = there ] && echo installed\n' >bin/dpkg-query
    cat >bin/apt-get <<END
#!/bin/sh
echo "apt-get \$*" >>$PWD/log
case \$* in *' -s '*) exit $2 ;; update*) exit $4 ;; *) exit $3 ;; esac
END
    chmod +x bin/id bin/dpkg-query bin/apt-get
    printf 'there # a reason\nabsent # another\n' >list
    : >log
}

with_sudo() {
    # shellcheck disable=SC2016 -- for the stand-in
    printf '#!/bin/sh\necho sudo >>%s/log\nexec "$@"\n' "$PWD" >bin/sudo
    chmod +x bin/sudo
}

# packages STATUS ARGUMENT... - on that machine.
packages() {
    wanted=$1
    shift
    PATH=$PWD/bin sh "$source_tree/scripts/packages.sh" "$@" >out 2>err
    status=$?
    [ "$status" -eq "$wanted" ] || { cat out err log; fail "status $status, not $wanted"; }
}

logged() {
    printf '%s\n' "$@" | cmp - log || { cat log; fail "other commands"; }
}

try='apt-get install -s -qq --no-install-recommends absent'
install='apt-get install -y --no-install-recommends absent'
by_hand='as root: apt-get update && apt-get install --no-install-recommends absent'

nothing_missing() {
    machine 1000 0 0 0
    echo there >list
    packages 0 "$PWD/list"
    [ ! -s out ] && [ ! -s err ] && [ ! -s log ] || fail "something was done"
}

only_checked() {
    machine 0 0 0 0
    packages 1 --check "$PWD/list"
    grep -q 'missing packages: absent (make packages' err && [ ! -s log ] || fail "it was not only named"
}

as_root() {
    machine 0 0 0 0
    packages 0 "$PWD/list"
    grep -q '^installing packages: absent$' out || fail "it does not say what it installs"
    logged "$try" "$install"
}

as_user() {
    machine 1000 0 0 0
    packages 1 "$PWD/list"
    grep -q "no sudo; $by_hand" err && [ ! -s log ] || { cat err log; fail "it does not say what to do"; }
    with_sudo
    packages 0 "$PWD/list"
    logged sudo "$try" sudo "$install"
}

never_fetched() {
    machine 1000 100 0 0
    with_sudo
    packages 0 "$PWD/list"
    logged sudo "$try" sudo 'apt-get update -qq' sudo "$install"
}

not_to_be_had() {
    machine 1000 100 100 0
    with_sudo
    packages 1 "$PWD/list"
    grep -q "could not be installed; $by_hand" err || { cat err; fail "no line"; }
    machine 1000 100 0 100
    packages 1 "$PWD/list"
    logged sudo "$try" sudo 'apt-get update -qq'
    grep -q "could not be installed; $by_hand" err || { cat err; fail "no line"; }
}

check "nothing is done when all is there" nothing_missing
check "--check names what is missing and installs nothing" only_checked
check "root installs what is missing, and only that" as_root
check "a user installs through sudo, or is told the commands" as_user
check "lists that were never fetched are fetched" never_fetched
check "packages that cannot be had are told with the commands" not_to_be_had
cases_done
