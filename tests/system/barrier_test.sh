# Memory barriers: QEMU's translated code has one for each that the kernel's code has (README.md of the board).
# class: waits
. "$(dirname "$0")/testing.sh"

# has_barriers LOG - its translated code has as many memory barriers as the code that it was made from, and some.
has_barriers() {
    asked=$(grep -cE '[[:space:]](dmb|dsb)[[:space:]]' "$1")
    kept=$(grep -cE '^ mb ' "$1")
    [ "$asked" -gt 0 ] && [ "$kept" -eq "$asked" ] || fail "$1: $asked dmb and dsb, $kept in translated code"
}

node_keeps_barriers() {
    cat >qemu <<END
#!/bin/sh
case "\$*" in
*-kernel*) exec qemu-system-arm "\$@" -d in_asm,op -D "$PWD/\$\$.log" ;;
*) exec qemu-system-arm "\$@" ;; # asked what devices there are
esac
END
    chmod +x qemu
    tool_succeeds run --network cube:1 --qemu "$PWD/qemu" "$examples/hello.elf"
    [ "$(ls ./*.log | wc -l)" -eq 2 ] || fail "not a log of each node: $(ls)"
    for log in ./*.log; do
        has_barriers "$log"
    done
}

image_keeps_barriers() {
    # shellcheck disable=SC2086 -- a command with its options
    timeout -k 5 "$limit_seconds" $QEMU_TEST -kernel "$build/tests/target/crc_test.elf" -d in_asm,op -D log ||
        fail "the image failed"
    has_barriers log
}

check "every memory barrier of a node's kernel is one in the code that QEMU makes of it" node_keeps_barriers
check "every memory barrier of a test image is one in the code that QEMU makes of it" image_keeps_barriers
cases_done
