# openocd.sh - sourced by the system tests of OpenOCD, behind testing.sh.

counter=$programs/counter.elf

# Where a symbol of an image lies: symbol IMAGE NAME.
symbol() {
    arm-none-eabi-nm "$1" | awk -v name="$2" '$3 == name { print "0x" $1 }'
}

# openocd_says NAME COMMANDS - runs OpenOCD at a machine; what it says is in `said`. Its commands must succeed.
openocd_says() {
    timeout -k 5 "$limit_seconds" "$ecube" openocd --name "$1" -- -c "$2; shutdown" >said 2>&1 || {
        cat said
        fail "OpenOCD failed"
    }
}

# said PATTERN - OpenOCD has said so.
said() {
    grep -Eq -- "$1" said || {
        cat said
        fail "OpenOCD did not say '$1'"
    }
}

# count_of PATTERN NUMBER - so many lines.
count_of() {
    [ "$(grep -Ec -- "$1" said)" -eq "$2" ] || {
        cat said
        fail "OpenOCD did not say '$1' $2 times"
    }
}

# Starts a program on the machine `lab` in the background; its output in `printed`.
start_load() {
    "$ecube" load -q --name lab "$@" >printed 2>load_err &
    loader=$!
}

load_ends() {
    wait $loader
    [ $? -eq "$1" ] || { cat printed load_err; fail "load ended with another status than $1"; }
}

# printed_sums NODES STEPS - every node has counted right.
printed_sums() {
    sum=$(($2 * ($2 + 1) / 2))
    [ "$(grep -c "sum $sum halves $((sum / 2)).$((sum % 2 * 5))\$" printed)" -eq "$1" ] || {
        cat printed load_err
        fail "a program has counted wrong"
    }
}

# Tcl for OpenOCD: `await FILE` goes on when it exists and polls until then, `touch FILE` makes it.
handshake='proc touch {file} { close [open $file w] }
    proc await {file} { while {![file exists $file]} { sleep 50 } }'

# openocd_stays NAME COMMANDS - in the background, beginning with init; what it says is in `stays`, its process is $openocd.
openocd_stays() {
    "$ecube" openocd --name "$1" -- -c "$handshake" -c "init; $2; shutdown" >stays 2>&1 &
    openocd=$!
}

# comes FILE - the one in the background has come so far.
comes() {
    wait_until test -e "$1" || {
        cat stays
        fail "OpenOCD does not come to '$1'"
    }
}

openocd_ends() {
    wait "$openocd" || {
        cat stays
        fail "OpenOCD failed"
    }
}

# has_stayed_saying PATTERN - the one in the background has said so.
has_stayed_saying() {
    grep -Eq -- "$1" stays || {
        cat stays
        fail "the OpenOCD that stays did not say '$1'"
    }
}

# no_errors FILE - it holds no error or warning of OpenOCD, which may only print them.
no_errors() {
    ! grep -E '^(Error|Warn)' "$1" || fail "OpenOCD was not content"
}
