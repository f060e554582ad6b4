#!/bin/sh
# The page of ecube report in a browser: its script runs without an error, draws every node and link, and moves circuits.
# class: busy
. tests/system/testing.sh

command -v chromium >/dev/null || {
    echo "1..0 # SKIP chromium is not installed (packages-browser.txt)"
    exit 0
}

# drawn PAGE[#step=N] - the document when the script has run, in `drawn`; what the browser says of errors fails the case.
drawn() {
    mkdir -p browser
    XDG_RUNTIME_DIR=$PWD/browser timeout 100 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --enable-logging=stderr \
        --dump-dom "file://$PWD/$1" >drawn 2>said || fail "the browser failed"
    ! grep CONSOLE said || fail "an error of the script"
}

# lit - the links that are lit.
lit() {
    grep -o '<path[^>]*>' drawn | grep 'class="[^"]* lit"' | grep -o 'data-link="[0-9]*"' | tr -dc '0-9\n' | sort -n | tr '\n' ' '
}

circuits_move() {
    tool_succeeds sim --network mesh:3x4 exchange --bytes 100 --json run.json --trace trace.json
    tool_succeeds report run.json -o run.html
    drawn run.html
    [ "$(grep -o 'data-link=' drawn | wc -l)" = 34 ] || fail "other links are drawn"
    [ "$(grep -o '<circle' drawn | wc -l)" = 12 ] || fail "other nodes are drawn"
    [ -z "$(lit)" ] || fail "circuits without a step"
    grep -q 'class="link load5"' drawn || fail "no link has the largest load"
    sed -n 's/.*id="data">\(.*\)<\/script>.*/\1/p' run.html >data
    for step in 1 2; do
        drawn "run.html#step=$step"
        wanted=$("$json_get" data steps $((step - 1)) links | tr -dc '0-9,' | tr ',' '\n' | sort -nu | tr '\n' ' ')
        [ -n "$wanted" ] && [ "$(lit)" = "$wanted" ] || fail "step $step: lit is $(lit), not $wanted"
    done
}

# A plan is drawn before anything runs.
a_plan() {
    tool_succeeds plan show allgather --network torus:4x4 --report run.html
    sed -n 's/.*id="data">\(.*\)<\/script>.*/\1/p' run.html >data
    drawn "run.html#step=3"
    [ "$(grep -o '<circle' drawn | wc -l)" = 16 ] || fail "other nodes are drawn"
    wanted=$("$json_get" data steps 2 links | tr -dc '0-9,' | tr ',' '\n' | sort -nu | tr '\n' ' ')
    [ -n "$wanted" ] && [ "$(lit)" = "$wanted" ] || fail "lit is $(lit), not $wanted"
    grep -q '<section id="timeline" class="drawn">' drawn || fail "no timeline"
    grep -q '<option value="0">links</option>' drawn || fail "no links in the timeline"
}

# Ranks stand beside their nodes, and links can be coloured by what nodes have counted.
ranks() {
    tool_succeeds sim -q --network cube:3 --map gray --as ring:8 exchange --bytes 1000 --drop 2e-2 --report run.html
    drawn run.html
    [ "$(grep -o '<text[^>]*class="rank">r[0-7]<' drawn | wc -l)" = 8 ] || fail "other ranks are drawn"
    grep -o '<circle[^>]*><title>[^<]*' drawn | grep -q 'node 3, rank 2$' || fail "rank 2 is not at node 3"
    grep -q '<option value="[0-9]">repeats</option>' drawn || fail "links cannot be coloured by repeats"
    grep -o '<title>0&gt;1: [^<]*' drawn | grep -q ', load [0-9.]* %, .*repeats [0-9]' || fail "no load of a link"
}

# What was never over has a colour of its own in the legend, beside that of steps that were.
never_over() {
    tool sim -q --network ring:4 --stop-at 120 --report run.html exchange --bytes 1000
    drawn run.html
    grep -o '<p id="kinds".*' drawn | sed 's/<\/p>.*//; s/<span/\n<span/g' | sed -n 's/.*background: \(rgb([0-9, ]*)\);*"><\/span>\([a-z]*\).*/\2 \1/p' | sort >legend
    printf '%s\n' 'step rgb(86, 180, 233)' 'waiting rgb(0, 114, 178)' | cmp -s - legend || fail "another legend: $(cat legend)"
}

no_records() {
    tool_succeeds sim --network ring:7 broadcast --bytes 100 --json run.json
    tool_succeeds report run.json -o run.html
    drawn run.html
    [ "$(grep -o 'data-link=' drawn | wc -l)" = 14 ] || fail "other links are drawn"
    grep -q '<section id="timeline"[^>]*hidden' drawn || fail "a timeline of nothing"
}

large() {
    tool_succeeds sim --network cube:10 exchange --bytes 8 --json run.json --trace trace.json
    tool_succeeds report run.json -o run.html
    sed -n 's/.*id="data">\(.*\)<\/script>.*/\1/p' run.html >data
    [ "$("$json_get" data events length)" -ge 100000 ] || fail "a small timeline"
    drawn "run.html#step=2"
    [ "$(grep -o 'data-link=' drawn | wc -l)" = 10240 ] || fail "other links are drawn"
    [ -n "$(lit)" ] || fail "no circuits"
}

matrix() {
    tool_succeeds sim --network cube:11 broadcast --bytes 8 --json run.json --trace trace.json
    tool_succeeds report run.json -o run.html
    drawn run.html
    [ "$(grep -o '<canvas' drawn | wc -l)" = 3 ] || fail "no matrix of links"
    ! grep -q 'data-link=' drawn || fail "too many links are drawn"
    grep -q '<p id="network-large" class="note">' drawn || fail "it does not say why"
}

check "the slider moves circuits" circuits_move
check "the steps of a plan are drawn" a_plan
check "ranks, and what nodes have counted, are drawn" ranks
check "what was never over has a colour in the legend" never_over
check "a run without records has its network" no_records
# Half a minute of a browser's time; what is drawn of fewer the first case sees.
check_long "1,024 nodes and 100,000 events are drawn" large
check "a larger network is a matrix" matrix
cases_done
