# --links: what links between nodes are made of, and what happens when this computer or QEMU cannot.
# class: waits
. tests/system/testing.sh

hello=$examples/hello.elf
unset ECUBE_LINKS

# command_lines - of the QEMUs that a run starts, which a script in their place writes down.
watched_qemu() {
    cat >qemu <<END
#!/bin/sh
case "\$*" in *-kernel*) echo "\$*" >>"$PWD/commands" ;; esac
exec qemu-system-arm "\$@"
END
    chmod +x qemu
}

# makes MAKER SHARED ARGUMENT... - a run's two nodes have so many links in shared memory.
makes() {
    maker=$1 shared=$2
    shift 2
    watched_qemu
    tool_succeeds run --network cube:1 --json result.json --qemu "$PWD/qemu" "$@" "$hello"
    [ "$(grep -c ivshmem-doorbell commands)" -eq "$shared" ] || { cat commands; fail "other links"; }
    # each node's link to the host is a serial line, and with serial lines each has one more
    [ "$(grep -o virtserialport commands | wc -l)" -eq $((4 - shared)) ] || { cat commands; fail "other serial lines"; }
    [ "$("$json_get" result.json links)" = "$maker" ] || { cat result.json; fail "another name in the JSON file"; }
}

from_environment() {
    ECUBE_LINKS=serial makes serial 0
    rm commands
    ECUBE_LINKS=serial makes shared 2 --links shared
    ECUBE_LINKS=wires tool_fails 2 "^ecube: unknown ECUBE_LINKS 'wires': use auto, shared, serial\$" run --network cube:1 "$hello"
}

unknown() {
    for verb in run 'up --name never'; do
        # shellcheck disable=SC2086 -- words are meant to split
        tool_fails 2 "^ecube: unknown --links 'wires': use auto, shared, serial\$" $verb --network cube:1 --links wires
    done
}

# A QEMU that was built without the device says so in these words (7.2; before 2.13 in others).
without_device() {
    cat >qemu <<END
#!/bin/sh
case "\$*" in
*-kernel*) exec qemu-system-arm "\$@" ;;
*) echo "qemu-system-arm: -device \$2: $1" >&2 && exit 1 ;;
esac
END
    chmod +x qemu
    tool_fails 2 '^ecube: .*/qemu has no ivshmem-doorbell device.*use --links serial' \
        run --network cube:1 --qemu "$PWD/qemu" --links shared "$hello"
    tool_succeeds run --network cube:1 --qemu "$PWD/qemu" "$hello"
    words | grep -q '^ecube: .*/qemu has no ivshmem-doorbell device.*; using serial lines$' || { words; fail "nobody says so"; }
    grep -q '\[1\] hello from node 1 of 2' out || { cat out; fail "the program did not run"; }
}

# A QEMU that neither answers nor ends does not hold anybody up, and is ended.
silent_when_asked() {
    printf '#!/bin/sh\ncase "$*" in *-kernel*) exec qemu-system-arm "$@" ;; *) exec sleep 1000 ;; esac\n' >qemu
    chmod +x qemu
    tool_succeeds run --network cube:1 --qemu "$PWD/qemu" "$hello"
    [ -z "$(processes sleep)" ] || fail "what was asked runs on"
}

# limited LIMIT PATTERN - with this `ulimit`, shared memory is refused, and auto takes serial lines.
limited() {
    (
        # shellcheck disable=SC2086 -- an option and its value
        ulimit $1 && tool_fails 2 "^ecube: $2.*--links serial" run --network cube:1 --links shared "$hello"
    ) || exit 1
    (
        # shellcheck disable=SC2086
        ulimit $1 && tool_succeeds run --network cube:1 "$hello"
        words | grep -Eq "^ecube: $2.*; using serial lines$" || { words; fail "nobody says so"; }
    ) || exit 1
}

few_descriptors() {
    for maker in shared serial; do
        (
            ulimit -n 100
            tool_fails 2 '^ecube: cube:6 needs [0-9]+ open files, and the limit is 100: raise it' \
                run --network cube:6 --links $maker "$hello"
        ) || exit 1
    done
}

# Rings need memory that this process may not have: what it has is told, and what to do.
little_memory() {
    (
        ulimit -v 150000
        tool_fails 2 '^ecube: links in shared memory may take [0-9]+ MiB, and [0-9]+ are free.*--links serial' \
            run --network cube:7 --links shared "$hello"
    ) || exit 1
}

no_links() {
    watched_qemu
    tool_succeeds run --network cube:0 --links shared --qemu "$PWD/qemu" "$hello"
    ! grep -q ivshmem commands || fail "a node without neighbours has a doorbell"
}

check "links are shared memory if nobody says otherwise" makes shared 2
check "--links shared says so" makes shared 2 --links shared
check "--links serial makes serial lines" makes serial 0 --links serial
check "ECUBE_LINKS says what is meant without --links" from_environment
check "a machine of one node has no links, whatever they would be" no_links
check "an unknown word is refused" unknown
check "a QEMU without ivshmem is refused, or auto takes serial lines and says so" \
    without_device "Device 'ivshmem-doorbell' not found"
check "the same in older words" without_device "'ivshmem-doorbell' is not a valid device model name"
check "a QEMU that does not answer what devices it has is asked no longer" silent_when_asked
check "a limit on files is told, or auto takes serial lines and says so" limited '-f 100' 'files may have'
check "too few descriptors are told, whatever the links are" few_descriptors
check "too little memory for links is told" little_memory
cases_done
