#!/bin/sh
# ecube report: a page that is well-formed, escapes what programs say, and has every node and link in its tables.
# class: busy
. tests/system/testing.sh

# page NAME - the page of NAME.json, which a parser that forgives nothing reads (xmllint, of libxml2).
page() {
    tool_succeeds report "$1.json" -o "$1.html"
    xmllint --noout --nonet "$1.html" || fail "the page is not well-formed"
    ! grep -qE '(src|href)="?(https?:)?//' "$1.html" || fail "the page loads something"
}

# rows NAME TABLE - the number of rows in a table of the page.
rows() {
    xmllint --xpath "count(//*[@id='$2']/*[local-name()='tbody']/*)" "$1.html"
}

# cells NAME TABLE COLUMN - a column of a table, a line for each row.
cells() {
    xmllint --xpath "//*[@id='$2']/*[local-name()='tbody']/*/*[$3]/text()" "$1.html"
}

# data NAME - what the script reads.
data() {
    xmllint --xpath "//*[@id='data']/text()" "$1.html" >"$1.data"
}

# links of a network: NETWORK NODES LINKS, each direction counted.
networks='cube:4 16 64
ring:7 7 14
mesh:3x4 12 34
torus:3x4 12 48
torus:2x3 6 18
cube:10 1024 10240'

nodes_and_links() {
    echo "$networks" | while read -r network nodes links; do
        tool_succeeds sim --network "$network" broadcast --bytes 100 --json plain.json
        page plain || exit 1
        [ "$(rows plain nodes)" = "$nodes" ] || fail "$network: $(rows plain nodes) nodes"
        [ "$(rows plain links)" = "$links" ] || fail "$network: $(rows plain links) links"
        [ "$(cells plain links 1 | sort -un | wc -l)" = "$nodes" ] || fail "$network: links of other nodes"
        grep -q 'run it with --trace FILE' plain.html || fail "what is missing is not told"
    done
}

# Each pair sends its block once, and what links carried is what was sent, times the hops.
loads() {
    tool_succeeds sim --network torus:3x4 exchange --algorithm direct --bytes 100 --json run.json --trace trace.json
    page run
    [ "$(rows run sent)" = 132 ] || fail "$(rows run sent) pairs"
    [ "$(cells run steps 1 | sort -u | wc -l)" = 1 ] || fail "steps of several collectives"
    [ "$(rows run steps)" = "$("$json_get" run.json reports 0 steps)" ] || fail "$(rows run steps) steps"
    carried=$(cells run links 4 | awk '{ n += $1 } END { print n }')
    hops=$(grep -o '"cat":"sent","args":{"source":"[0-9].*' trace.json |
        sed 's/.*"bytes":\([0-9]*\),"hops":\([0-9]*\),.*/\1 \2/' | awk '{ n += $1 * $2 } END { print n }')
    [ "$carried" = "$hops" ] || fail "links carried $carried bytes, circuits $hops"
    data run
    [ "$("$json_get" run.data links length)" = 48 ] || fail "other links in the data"
    [ "$("$json_get" run.data steps 0 circuits length)" -gt 0 ] || fail "a step without circuits"
    [ "$("$json_get" run.data steps 0 links length)" -gt 0 ] || fail "a step without links"
}

# On QEMU nodes the page of the same program says the same.
as_on_nodes() {
    tool_succeeds run --network ring:6 --json qemu.json --trace qemu.trace "$examples/complete_exchange.elf" 100
    tool_succeeds sim --network ring:6 --json sim.json --trace sim.trace "$examples/complete_exchange.so" 100
    page qemu
    page sim
    # Steps begin when the download has ended, and the two programs are of other sizes.
    for what in 'steps 1' 'steps 3' 'steps 6' 'steps 7' 'reports 4' 'reports 7' 'nodes 2' 'nodes 4'; do
        # shellcheck disable=SC2086 -- a table and a column
        [ "$(cells qemu $what)" = "$(cells sim $what)" ] || fail "other $what"
    done
    [ "$(cells qemu nodes 4 | sort -u)" = 0 ] || fail "exits are missing"
}

escaped() {
    evil='</script><script>alert(1)</script><!--'
    tool_succeeds run -q --network cube:1 --json run.json "$programs/arguments.elf" "$evil" '&amp;"' 
    printf 'first\033[1m \377 %s ]]>&\n' "$evil" >output
    tool_succeeds report run.json --output output -o run.html
    xmllint --noout --nonet run.html || fail "the page is not well-formed"
    [ "$(grep -c '<script' run.html)" = 2 ] || fail "a script of the program's"
    ! grep -qF 'alert(1)</script' run.html || fail "not escaped"
    xmllint --xpath "//*[@id='output']/text()" run.html | grep -qF '&lt;/script&gt;&lt;script&gt;alert(1)' || fail "the output is not there"
    # A mark that programs set is in the data of the script.
    tool_succeeds sim --network ring:3 broadcast --bytes 8 --json sim.json --trace trace.json
    sed 's/"name":"waits"/"name":"<\/script><script>alert(1)"/' trace.json >evil.trace
    sed "s/\"sha256\": \"[0-9a-f]*\"/\"sha256\": \"$(sha256sum <evil.trace | cut -d ' ' -f 1)\"/" sim.json >evil.json
    tool_succeeds report evil.json --trace evil.trace -o evil.html
    xmllint --noout --nonet evil.html || fail "the page is not well-formed"
    grep -qF '\u003c/script\u003e\u003cscript\u003ealert(1)' evil.html || fail "the mark is not there, or not escaped"
    [ "$(grep -c '<script' evil.html)" = 2 ] || fail "a script in the data"
}

# The page allows the script that it has, and no other.
digest() {
    tool_succeeds sim --network ring:3 broadcast --bytes 8 --json run.json
    page run
    allowed=$(sed -n "s/.*script-src 'sha256-\([^']*\)'.*/\1/p" run.html)
    script=$(awk '/^<script>/ { sub(/^<script>/, ""); on = 1 }
        on && /<\/script>$/ { sub(/<\/script>$/, ""); printf "%s", $0; exit } on { print }' run.html | sha256sum | cut -d ' ' -f 1)
    digest=$(printf '%s' "$allowed" | base64 -d | od -An -tx1 | tr -d ' \n')
    [ "$digest" = "$script" ] || fail "the page allows $digest, its script is $script"
}

# reported VERB ARGUMENT... - the page of a run, beside which nothing stays.
reported() {
    rm -f now.html later.html
    tool_succeeds "$@"
    xmllint --noout --nonet now.html || fail "the page is not well-formed"
    [ "$(rows now steps)" -gt 0 ] || fail "no steps in the page"
    [ "$(cells now links 3 | sort -n | tail -n 1)" -gt 0 ] || fail "no circuit on any link"
}

at_once() {
    reported sim --network ring:6 --report now.html --trace trace.json --json run.json exchange --bytes 100
    tool_succeeds report run.json -o later.html
    cmp now.html later.html || fail "another page than that of ecube report"
    links=$(cells now links 5)
    reported sim --network ring:6 --report now.html --json run.json exchange --bytes 100
    [ "$(cells now links 5)" = "$links" ] || fail "other loads without --trace"
    [ "$("$json_get" run.json sim trace file)" = null ] || fail "a timeline that has a name"
    reported run --network ring:6 --report now.html --json run.json "$examples/complete_exchange.elf" 100
    [ "$("$json_get" run.json trace file)" = null ] || fail "a timeline that has a name"
    tool_succeeds up --name reported --network ring:6
    reported load --name reported --report now.html "$examples/complete_exchange.elf" 100
    tool_succeeds down --name reported
}

# The page of a run that fails has its faults, and what came of the records.
failed_run() {
    "$ecube" run -q --network cube:3 --kill 5@run+300ms --report now.html \
        "$examples/complete_exchange.elf" 65536 65536 65536 65536 >printed 2>&1
    [ $? = 3 ] || { cat printed; fail "another status"; }
    xmllint --noout --nonet now.html || fail "the page is not well-formed"
    cells now troubles 1 | grep -qx node-died || fail "the fault is not there"
    [ "$(rows now steps)" -gt 0 ] || fail "nothing of the records"
    tool_fails 2 'no-such-program' run --network cube:1 --report gone.html no-such-program.elf
    [ ! -e gone.html ] || fail "a page of a run that there was not"
    tool_fails 2 'cannot write the page /no-such-directory/p.html' run --network cube:1 --report /no-such-directory/p.html "$examples/hello.elf"
    tool_fails 2 'name a file of its own' sim --network cube:1 --report same --json same broadcast
}

bad_input() {
    tool_succeeds sim --network ring:3 broadcast --bytes 8 --json run.json --trace trace.json
    head -c 300 run.json >cut.json
    echo '[1]' >list.json
    echo '{"version": "1", "network": "ring:3"}' >other.json
    sed 's/"nodes": 3/"nodes": 4/' run.json >nodes.json
    sed 's/"ring:3"/"ring:0"/' run.json >network.json
    sed 's/"reports": \[/"reports": [7,/' run.json >reports.json
    tool_fails 2 'cut.json: line [0-9]*: no JSON' report cut.json
    tool_fails 2 'it is no object' report list.json
    tool_fails 2 'its member "nodes" is missing' report other.json
    tool_fails 2 'another number of nodes' report nodes.json
    tool_fails 2 'network.json is not what' report network.json
    tool_fails 2 'a report, plan or trouble is no object' report reports.json
    tool_fails 2 'cannot read the result gone.json: No such file' report gone.json
    tool_fails 2 'name what --json of a run has written' report
    tool_fails 2 'cannot write the page /no-such-directory/p.html' report run.json -o /no-such-directory/p.html
    tool_fails 2 'cannot write the page /dev/full: No space left' report run.json -o /dev/full
    head -n 20 trace.json >cut.trace
    sed '20s/.*/{"ph":"X"},/' trace.json >wrong.trace
    sed '1s/"seed":"1"/"seed":"2"/' trace.json >changed.trace
    tool_fails 2 'cut.trace: line 20: the trace is cut off here' report run.json --trace cut.trace
    tool_fails 2 'wrong.trace: line 20: ' report run.json --trace wrong.trace
    tool_fails 2 'changed.trace is the trace of another run' report run.json --trace changed.trace
    tool_fails 2 'run.json: line 1: no trace of ecube' report run.json --trace run.json
    [ ! -e report.html ] || fail "a page that there was nothing for"
}

check "every node and link is in the tables" nodes_and_links
check "links carried what circuits brought" loads
check "the page of a run on nodes is the simulator's" as_on_nodes
check "--report of run, load and sim writes the page at once" at_once
check "a run that fails has a page" failed_run
check "what programs say is text" escaped
check "the page allows its own script alone" digest
check "bad input is told in a line" bad_input
cases_done
