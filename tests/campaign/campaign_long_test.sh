#!/bin/sh
# campaign_long_test.sh BUILD - complete sweeps of 5 to 32 nodes and 10,000 seeds, in TAP: a test for each row of the table.
# tier: long
#
# The campaign without sanitizers; campaign_test.c runs a part of it with them, and all of cubes of 4 and 8 nodes.
set -u
log=$1/tests/campaign.log
"$1/campaign" 1 10000 4 5 >"$log" 2>&1
status=$?
cat "$log"
awk -v status="$status" '
    /^[a-z]+, [a-z]+:[0-9x]+ +[0-9]|^seeds +[0-9]/ {
        what = /^seeds/ ? "faults drawn from 10,000 seeds" : "any event failed in a run of " substr($0, 1, 24)
        sub(/ +$/, "", what)
        bad = $(NF - 3) != 0 || $(NF - 7) == 0
        printf "%sok %d - %s: repaired or told\n", bad ? "not " : "", ++count, what
    }
    END {
        printf "%sok %d - the campaign comes to its end\n", status != 0 || count != 55 ? "not " : "", count + 1
        printf "1..%d\n", count + 1
    }' "$log"
