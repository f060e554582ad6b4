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
}

check "the slider moves circuits" circuits_move
check "a run without records has its network" no_records
check "1,024 nodes and 100,000 events are drawn" large
check "a larger network is a matrix" matrix
cases_done
