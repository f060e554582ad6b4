# Machines that are started again and again over links in shared memory: none may stand still. STARTS says how many.
# class: busy
. tests/system/testing.sh

starts=${STARTS:-15}

# Each boots, computes over all its links and ends. One that stands still ends after a minute; the tool then says who
# waits for whom, and that is shown.
starts_without_a_stall() {
    for round in $(seq "$starts"); do
        tool run -q --timeout 60s --network cube:3 --links shared --json result "$examples/complete_exchange.elf" 16 20000
        [ "$status" -eq 0 ] || { cat err; fail "start $round of $starts: status $status"; }
        [ "$("$json_get" result reports 0 wrong)$("$json_get" result reports 1 wrong)" = 00 ] ||
            { cat result; fail "start $round of $starts: the exchange was wrong"; }
    done
}

check "$starts starts over shared memory, and none stands still" starts_without_a_stall
starts=${STARTS:-50}
check_long "$starts starts over shared memory, and none stands still" starts_without_a_stall
cases_done
