# What a node's QEMU holds of the machine when links are in shared memory: its own links, and whom it may ring.
# class: waits
. tests/system/testing.sh

# The QEMUs of the machine, as "pid node" lines; a node's number stands in the names of its sockets.
nodes() {
    processes qemu-system | while read -r pid name; do
        echo "$pid $(tr '\0' '\n' <"/proc/$pid/cmdline" | sed -n 's/.*\/n\([0-9]*\)\.qmp.*/\1/p')"
    done
}

# files PID NAME - descriptors of a process that lead to memory of this name, as "descriptor inode" lines.
files() {
    for fd in "/proc/$1/fd"/*; do
        case $(readlink "$fd") in
        "/memfd:$2"*) echo "$fd $(stat -L -c %i "$fd")" ;;
        esac
    done
}

# Files of links that the QEMUs map, as "inode node" lines; in `held` what they have open.
list_links() {
    nodes | while read -r pid node; do
        awk -v node="$node" '/memfd:ecube-link/ { print $5, node }' "/proc/$pid/maps" >>mapped
        files "$pid" ecube-link | awk -v node="$node" '{ print $2, node }' >>held
    done
    sort -u mapped
}

boot() {
    tool_succeeds up --network cube:2 --links shared --jtag --name lab
    [ "$(nodes | wc -l)" -eq 4 ] || fail "not four QEMUs"
}

# Two nodes of cube:2 have one file in common if one bit tells them apart, none otherwise.
maps_its_links() {
    boot
    list_links >links
    sort -u held | cmp -s - links || { cat held links; fail "a QEMU holds a file that it does not map"; }
    awk '{ nodes[$1] = nodes[$1] " " $2 } END { for (file in nodes) print nodes[file] }' links | sort >pairs
    printf ' %s\n' '0 1' '0 2' '1 3' '2 3' | cmp -s - pairs || { cat pairs; fail "other files than links have ends"; }
    nodes | while read -r pid node; do
        awk '/memfd:ecube-card/ { print $5 }' "/proc/$pid/maps"
    done | sort | uniq -c | awk '$1 == 1 { cards++ } END { exit cards != 4 || NR != 4 }' || fail "a card is not its node's own"
    processes ecube-jtag | while read -r pid name; do
        [ -z "$(files "$pid" ecube-link)" ] || fail "the debuggers' process holds a link"
    done || exit 1
    tool_succeeds down --name lab
}

sealed() {
    boot
    nodes | while read -r pid node; do
        [ "$(files "$pid" ecube-link | wc -l)" -ge 2 ] || fail "node $node has no links"
        { files "$pid" ecube-link; files "$pid" ecube-card; } | while read -r fd inode; do
            [ "$("$build/tests/seals" "$fd")" = "shrink grow seal " ] || fail "$fd is not sealed"
            for bytes in 0 2M; do
                if truncate -s $bytes "$fd" 2>/dev/null; then fail "the size of $fd can be changed"; fi
            done
        done || exit 1
    done || exit 1
    tool_succeeds down --name lab
}

# eventfds PID - numbers of those that a process holds, in the order of its descriptors.
eventfds() {
    for fd in $(ls "/proc/$1/fdinfo" | sort -n); do
        awk '/^eventfd-id:/ { print $2 }' "/proc/$1/fdinfo/$fd"
    done 2>/dev/null
}

# Bells of nodes are the eventfds that the launcher and a QEMU have in common; the launcher has made them in the order
# of nodes. A node holds its own and its two neighbours'.
rings_neighbours() {
    boot
    processes ecube | while read -r pid name; do
        [ "$name" = ecube ] && eventfds "$pid"
    done >known
    [ -s known ] || { tool_succeeds down --name lab; return; } # a Linux before 5.2 does not number them
    nodes | while read -r pid node; do
        eventfds "$pid" | sort -u | sed "s/$/ $node/"
    done >held
    awk 'FNR == NR { nodes[$1] = nodes[$1] $2; next } $1 in nodes { print n++, nodes[$1] }' held known >bells
    printf '%s\n' '0 012' '1 013' '2 023' '3 123' | cmp -s - bells || { cat bells; fail "a node can ring others than its neighbours"; }
    tool_succeeds down --name lab
}

check "a node maps the memory of its own links and of no other" maps_its_links
check "nobody can change the size of a link's memory" sealed
check "a node holds its own bell and its neighbours'" rings_neighbours
cases_done
