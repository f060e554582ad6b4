# What is up, and debugging it: ecube list, debug, core, openocd.
. tests/system/testing.sh
with_sanitizers

# listed NAME NETWORK NODES STATE - is a line of the last list.
listed() {
    grep -Eq "^$1 +$2 +$3 +$4 .* $XDG_RUNTIME_DIR/ecube-[0-9]+-$1\$" out || { cat out err; fail "$1 is not listed so"; }
}

nothing_up() {
    tool_succeeds list
    grep -qx "no mesh is up: start one with 'ecube up'" out || { cat out; fail "other words"; }
    tool_succeeds list --json list.json
    [ "$("$json_get" list.json machines)" = '[]' ] || { cat list.json; fail "machines"; }
}

two_meshes() {
    tool_succeeds up --mesh cube:1 --name lab
    tool_succeeds up --mesh cube:2 --name desk
    tool_succeeds kill --name desk 3
    wait_until 60 eval 'tool list; grep -q broken out'
    tool_succeeds list --json list.json
    listed lab cube:1 2 whole
    listed desk cube:2 4 broken
    [ "$("$json_get" list.json machines 0 name)" = desk ] || { cat list.json; fail "not in order"; }
    [ "$("$json_get" list.json machines 1 nodes)" = 2 ] || { cat list.json; fail "nodes"; }
    tool_succeeds down --name lab
    tool_succeeds list
    ! grep -q '^lab' out || fail "it is down, and listed"
    tool_succeeds down --name desk
}

silent_mesh() {
    tool_succeeds up --mesh cube:0 --name lab
    holder=$(processes ecube | grep -v guardian | cut -d' ' -f1)
    kill -STOP "$holder"
    tool list
    kill -CONT "$holder"
    listed lab - - silent
    tool_succeeds down --name lab
}

booting_mesh() {
    printf '#!/bin/sh\ncase "$*" in */n1.*) while [ ! -e %s/go ]; do sleep 0.1; done ;; esac\nexec qemu-system-arm "$@"\n' "$PWD" >wrapper
    chmod +x wrapper
    "$ecube" up --mesh cube:1 --name lab --qemu ./wrapper >up.out 2>&1 &
    starter=$!
    wait_until 60 eval 'tool list; grep -q booting out' || { cat up.out; fail "never listed as booting"; }
    listed lab cube:1 2 booting
    : >go
    wait "$starter" || { cat up.out; fail "up failed"; }
    tool_succeeds down --name lab
}

check "list says that nothing is up" nothing_up
check "list shows every mesh that is up, and which is broken" two_meshes
check "list shows a mesh that does not answer as silent" silent_mesh
check "list shows a mesh while it boots" booting_mesh
cases_done
