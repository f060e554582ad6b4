# A machine in two halves, each with a launcher of its own, whose cables between are TCP connections (divided.c).
# class: waits
. tests/system/testing.sh

with_sanitizers
whole=$build/ecube
ecube=$build/ecube-divided

# model_times FILE - of the download, then of each report.
model_times() {
    "$json_get" "$1" download model_us
    for report in $(seq 0 $(($("$json_get" "$1" reports length) - 1))); do
        "$json_get" "$1" reports "$report" model_us
        "$json_get" "$1" reports "$report" wrong
    done
}

# like_a_whole_machine OPTION... - a run has the model times of an undivided machine.
like_a_whole_machine() {
    tool_succeeds run -q "$@" --json divided.json "$examples/complete_exchange.elf" 16 20000
    "$whole" run -q "$@" --json whole.json "$examples/complete_exchange.elf" 16 20000 2>err || fail "the whole machine"
    model_times divided.json >divided
    model_times whole.json >wanted
    [ "$(wc -l <wanted)" -eq 5 ] || { cat wanted; fail "no model times"; }
    cmp -s divided wanted || { diff divided wanted; fail "other model times"; }
}

# ends_at FAULT WORDS - a run with a fault amid it ends with one line of these words.
ends_at() {
    tool run -q --network cube:2 "$1@run" "$examples/complete_exchange.elf" 65536 65536 65536 65536 65536 65536
    [ "$status" -eq 3 ] || { words; fail "status $status"; }
    words | grep -q "$2" || { words; fail "no line with '$2'"; }
    [ "$(words | wc -l)" -eq 1 ] || { words; fail "too many lines"; }
}

long_message() {
    tool_succeeds bench --network cube:1 --bytes 65536 --iterations 3 latency
}

another_key() {
    export ECUBE_TEST_KEYS=two
    tool run -q --network cube:1 --patience 1s "$examples/hello.elf"
    [ "$status" -eq 3 ] || { words; fail "status $status"; }
    for words in 'first: node 0' 'second: node 1'; do
        grep -qx "$words has no carrier at port 0" err || { cat err; fail "nothing of $words"; }
    done
}

same_key() {
    export ECUBE_TEST_KEYS=one
    tool_succeeds run -q --network cube:1 "$examples/hello.elf"
    ! grep -q 'no carrier' err || { cat err; fail "a carrier is missing"; }
}

# qemu_is_refused PATTERN WORDS VERSION - a QEMU that says these words to a key, and that it is of this version.
qemu_is_refused() {
    printf '#!/bin/sh\ncase $* in *-version*) echo "QEMU emulator version %s" ;; *) echo "%s" ;; esac\nexit 1\n' \
        "$3" "$2" >qemu
    chmod +x qemu
    export ECUBE_TEST_KEYS=checked
    tool_fails 2 "$1" run --links serial --network cube:1 --qemu "$PWD/qemu" "$examples/hello.elf"
}

check "two halves take the model time of a whole machine" like_a_whole_machine --network cube:3
check "so with two host links and serial lines" like_a_whole_machine --network mesh:2x3 --host-links 2 --links serial
check "a long message that nothing follows comes" long_message
check "a link between the halves is cut at both ends" ends_at --cut=1-3 'link 1-3 .* died during run'
check "a link of the second half is cut there" ends_at --cut=2-3 'link 2-3 .* died during run'
check "a node of the first half dies" ends_at --kill=1 'node 1 .* died during run: .*signal 9'
check "a node of the second half dies" ends_at --kill=2 'node 2 .* died during run: .*signal 9'
check "halves with two keys do not boot, and both ends name the link" another_key
check "with one key they do" same_key
check "a QEMU without TLS is refused before anything starts" qemu_is_refused 'has no TLS' \
    'qemu: TLS credentials support requires GNUTLS' 8.0.0
check "so is one that does not know the object" qemu_is_refused 'has no TLS' \
    "qemu: Parameter 'qom-type' does not accept 'tls-creds-psk'" 8.0.0
check "and one whose TLS stalls" qemu_is_refused 'is older than version 8' \
    'qemu: Unable to access credentials /keys.psk: No such file or directory' 7.2.22
cases_done
