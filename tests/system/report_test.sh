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

# table NAME TABLE COLUMNS - these columns of a table, as cut(1) takes them, a line for each row.
table() {
    xmllint --xpath "//*[@id='$2']/*[local-name()='tbody']" "$1.html" 2>xmllint.said |
        sed -n 's/<\/td><td[^>]*>/|/g; s/<[^>]*>//gp' | grep . | cut -d '|' -f "$3"
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

# Each pair sends its block once, and what links carried is what was sent, times the hops; the download is told apart.
loads() {
    tool_succeeds sim --network torus:3x4 exchange --algorithm direct --bytes 100 --json run.json --trace trace.json
    page run
    [ "$(rows run sent)" = 132 ] || fail "$(rows run sent) pairs"
    [ "$(cells run steps 1 | sort -u | wc -l)" = 1 ] || fail "steps of several collectives"
    [ "$(rows run steps)" = "$("$json_get" run.json reports 0 steps)" ] || fail "$(rows run steps) steps"
    carried=$(cells run links 4 | awk '{ n += $1 } END { print n }')
    downloads=$(cells run links 7 | awk '{ n += $1 } END { print n }')
    [ "$downloads" -gt 0 ] || fail "no link has carried the download"
    hops=$(grep -o '"cat":"sent","args":{"source":"[0-9].*' trace.json | grep -v '"image":true' |
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
    for what in 'steps 1' 'steps 3' 'steps 6' 'steps 7' 'reports 4' 'reports 7' 'nodes 2' 'nodes 4' 'links 3' 'links 4' \
        'links 5' 'links 6' 'sent 3' 'sent 4'; do
        # shellcheck disable=SC2086 -- a table and a column
        [ "$(cells qemu $what)" = "$(cells sim $what)" ] || fail "other $what"
    done
    [ "$(cells qemu nodes 4 | sort -u)" = 0 ] || fail "exits are missing"
}

# What nodes have counted at their links is what their records say, and stands in its place.
counted() {
    for words in 'torus:3x4 exchange' 'cube:3 random' 'mesh:2x3 allreduce'; do
        # shellcheck disable=SC2086 -- a network and a scenario
        set -- $words
        tool_succeeds sim --network "$1" "$2" --bytes 1000 --json plain.json --trace trace.json
        tool_succeeds sim --network "$1" "$2" --bytes 1000 --json run.json --trace trace.json --links
        page plain
        page run
        table plain links 1-6 >records
        table run links 1-6 >counts
        [ -s records ] && cmp records counts || fail "$words: records say otherwise"
        ! cells plain links 8 >/dev/null 2>&1 || fail "a load that nobody has told"
        [ "$(table run links 8 | sort -un | tail -n 1 | cut -d . -f 1)" -gt 0 ] || fail "$words: no load"
        # Without records: loads, but no timeline.
        tool_succeeds sim --network "$1" "$2" --bytes 1000 --json run.json --links
        page run
        table run links 1-6 | cmp - counts || fail "$words: other loads without records"
    done
    # Links that repeat say so: in the table, and in what the script colours by.
    tool_succeeds sim --network cube:3 exchange --bytes 1000 --drop 2e-2 --json run.json --links
    page run
    [ "$(table run links 11 | awk '{ n += $1 } END { print n }')" -gt 0 ] || fail "no repeats in the table"
    data run
    [ "$("$json_get" run.data links 0 length)" = 15 ] || fail "no repeats in the data"
    sed 's/"port": 0/"port": 7/' run.json >other.json
    tool_fails 2 'its traffic is none of this network' report other.json
    sed 's/"node": 3/"node": 8/' run.json >other.json
    tool_fails 2 'its traffic is none of this network' report other.json
    sed 's/"links": \[/"links": 1, "old": [/' run.json >other.json
    tool_fails 2 'its traffic is none of this network' report other.json
    sed 's/"traffic": {/"traffic": 1, "old": {/' run.json >other.json
    tool_fails 2 'its member "traffic" is missing, or no such' report other.json
}

# pages_of_counts NETWORK PROGRAM ARGUMENT... - with $options, of nodes and of the simulator: both say what links have counted.
pages_of_counts() {
    network=$1 program=$2
    shift 2
    # shellcheck disable=SC2086 -- options
    tool_succeeds run -q --network "$network" $options --report qemu.html --json qemu.json "$program.elf" "$@"
    # shellcheck disable=SC2086
    tool_succeeds sim -q --network "$network" $options --report sim.html --json sim.json "$program.so" "$@"
    for page in qemu sim; do
        xmllint --noout --nonet $page.html || fail "the page is not well-formed"
        table $page links 1-6,8,9 >$page.links # with the load, and what was refused
        "$json_get" $page.json traffic run_us >$page.us
    done
    [ -s qemu.links ] && cmp qemu.links sim.links || fail "$network: other counts of links"
    [ "$(table qemu links 10 | awk '{ n += $1 } END { print n }')" -gt 0 ] || fail "$network: no frames"
    of_host=$(table qemu links 7 | awk '{ n += $1 } END { print n }')
    [ "$of_host" -gt 0 ] || fail "$network: no link has carried the download"
    cmp qemu.us sim.us || fail "$network: another time of the run"
}

counted_on_nodes() {
    options=
    pages_of_counts cube:3 "$examples/complete_exchange" 100 1000
    [ "$(table qemu links 8 | sort -n | tail -n 1 | cut -d . -f 1)" -gt 0 ] || fail "no load"
    # Outputs that are fetched count as the host's.
    head -c 60000 "$ecube" >in
    options='--input in --map cycle'
    pages_of_counts mesh:2x3 "$programs/mirrors"
    without=$of_host
    options="$options --output named"
    pages_of_counts mesh:2x3 "$programs/mirrors"
    [ "$of_host" -gt $((without + 40000)) ] || fail "$of_host bytes of the host with outputs, $without without"
}

# A machine that stays up has counts of each job, and one of a job that has ended badly; who wants no page is told none.
counted_of_each_job() {
    tool_succeeds up --name counted --network ring:4
    for bytes in 1000 100 1000; do
        tool_succeeds load -q --name counted --report qemu.html --json load.json "$examples/complete_exchange.elf" $bytes
        table qemu links 1-6 >links.$bytes
        tool_succeeds ps --name counted --links --json ps.json
        for key in run_us 'links 0 busy_us' 'links 7 bytes'; do
            # shellcheck disable=SC2086 -- a path
            [ "$("$json_get" load.json traffic $key)" = "$("$json_get" ps.json traffic $key)" ] || fail "$key is not that of ecube ps"
        done
        [ $bytes = 100 ] || [ ! -s links.before ] || cmp links.before links.1000 || fail "other counts of the same load"
        [ $bytes = 100 ] || cp links.1000 links.before
    done
    ! cmp -s links.100 links.1000 || fail "the same counts of another load"
    tool_succeeds load -q --name counted --json load.json "$examples/complete_exchange.elf" 100
    ! grep -q '"traffic"' load.json || fail "counts that nobody wants"
    tool_succeeds down --name counted
    may_time_out=yes
    tool run -q --network ring:4 --report qemu.html --json run.json "$examples/circle.elf" receive
    [ "$status" = 124 ] || fail "status $status of programs that stand"
    [ "$("$json_get" run.json traffic links length)" -ge 8 ] || fail "no counts of programs that stand"
    tool run -q --network ring:4 --kill 2@run --report qemu.html --json run.json "$examples/complete_exchange.elf" 65536 65536
    [ "$status" = 3 ] || fail "status $status with a dead node"
    told=$(sed -n 's/^ *"node": \([0-9]*\),$/\1/p' run.json | sort -u | tr '\n' ' ')
    [ "$told" = '0 1 3 ' ] || fail "counts of the nodes $told, where node 2 is dead"
}

# What a timeline has is of a colour that the page's legend knows, and no colour is for nothing.
kinds_have_colours() {
    sim_of() {
        tool sim -q --network "$@"
        grep -o '"cat":"[a-z]*"' trace.json | cut -d '"' -f 4 >>kinds
    }
    sim_of cube:3 --trace trace.json exchange --bytes 1000 --kill 5@300us
    sim_of cube:3 --trace trace.json --drop 1e-2 random --bytes 1000
    sim_of torus:3x3 --trace trace.json "$examples/stencil.so" 8 3
    sim_of ring:4 --trace trace.json "$examples/nbody.so"
    may_time_out=yes
    sim_of ring:4 --trace trace.json "$examples/circle.so" receive
    sort -u kinds >used
    sed -n '/const COLOURS = {/,/}/p' "$source_tree/host/report/report.js" | grep -o '[a-z]*: "#' | cut -d : -f 1 | sort >known
    cmp used known || { diff used known; fail "a kind without a colour, or a colour without a kind"; }
}

# A plan is drawn as the run that follows it: the same circuits on the same links for the same time.
plans='cube:3 exchange
ring:5 allgather --ports all
mesh:3x3 scatter
torus:3x4 reduce_scatter
torus:2x3 allreduce --ports 2
cube:4 exchange --map gray --as torus:4x4
torus:3x4 scan --map cycle --as ring:12
cube:3 all_to_some'

planned() {
    echo "$plans" | while read -r network operation options; do
        # shellcheck disable=SC2086 -- options
        tool_succeeds plan show "$operation" --network "$network" --bytes 960 $options --report plan.html
        xmllint --noout --nonet plan.html || exit 1
        # shellcheck disable=SC2086 -- options
        tool_succeeds sim -q --network "$network" "$operation" --bytes 960 $options --report run.html
        [ "$(table plan reports 2-6)" = "$(table run reports 2,3,5-7)" ] || fail "$network $operation: other times"
        for what in 'links 1-6' 'steps 3,6-' 'nodes 1-3,5-8'; do
            # shellcheck disable=SC2086 -- a table and columns
            set -- $what
            table plan "$1" "$2" >plan.cells
            table run "$1" "$2" >run.cells
            [ -s plan.cells ] && cmp plan.cells run.cells || fail "$network $operation: other $1"
        done
        table run sent 1-4 | grep -v '|0|0$' >run.cells # without the download
        table plan sent 1-4 | cmp - run.cells || fail "$network $operation: other pairs"
    done
}

# The root is a rank, which the map has put at a node.
planned_root() {
    tool_succeeds plan show scatter --root 3 --network cube:3 --map gray --as ring:8 --report plan.html
    grep -q '^scatter on cube:3, 8 nodes, root 3 (node 2), ' out || fail "other words"
    [ "$(table plan nodes 1,3 | tr '\n' ' ')" = '0|0 1|1 2|3 3|2 4|7 5|6 6|4 7|5 ' ] || fail "other ranks: $(table plan nodes 1,3)"
    [ "$(table plan nodes 1,7 | grep '|[^0-9]*$' | cut -d '|' -f 1)" = 2 ] || fail "not the root alone receives nothing"
    tool_succeeds plan show broadcast --network cube:11 --report plan.html
    grep -q 'id="network-large"' plan.html || fail "no word on what is too large"
    tool_fails 2 'a page of 4294967296 circuits needs' plan show exchange --network cube:16 --algorithm AAP --report gone.html
    [ ! -e gone.html ] || fail "a page of what has none"
    tool_fails 2 'cannot write the page /no-such-directory/p.html' plan show exchange --network cube:1 --report /no-such-directory/p.html
    tool_fails 2 '--report -: name a file of its own' plan show exchange --network cube:1 --report -
    [ ! -e ./- ] || fail "a page named -"
    tool_fails 2 '--report p.html: that is for ecube plan show' plan export exchange --network cube:1 --report p.html
    tool_fails 2 '--report is not for ecube plan verify' plan verify plan.json --report p.html
    tool_fails 2 '--map gray: that is for ecube plan show' plan explain exchange --network cube:3 --map gray
    tool_fails 2 '--as ring:8: say with --map' plan show exchange --network cube:3 --as ring:8
}

# Where ranks are at other nodes the page says which, and whose program ended how.
mapped() {
    tool sim --network cube:3 --map gray --as ring:8 --json run.json --trace trace.json "$programs/misbehave.so" exit 3 7
    [ "$status" = 7 ] || fail "status $status"
    page run
    map=$("$json_get" run.json map node_of_rank | tr -dc '0-9,' | tr ',' '\n')
    [ "$(table run nodes 3,1 | sort -t '|' -k 2 -n | cut -d '|' -f 1)" = "$map" ] || fail "other nodes of ranks"
    [ "$(table run nodes 1,3,4 | grep '|7$')" = '2|3|7' ] || fail "the status of another rank: $(table run nodes 1,3,4)"
    data run
    [ "$("$json_get" run.data node_of_rank 3)" = 2 ] || fail "other ranks in the data"
    [ "$("$json_get" run.data failed 0)" = 2 ] || fail "another node has failed"
    tool_succeeds sim --network cube:3 --map gray --as ring:8 shift --json run.json --trace trace.json
    page run
    table run sent 1,2,6,7 | while IFS='|' read -r from to from_rank to_rank; do
        [ "$(echo "$map" | sed -n "$((from_rank + 1))p")>$(echo "$map" | sed -n "$((to_rank + 1))p")" = "$from>$to" ] ||
            fail "$from>$to are not the ranks $from_rank and $to_rank"
    done
}

# What programs print is on the page of their run, behind their ranks, and nothing of it is a script.
printed() {
    evil='</script><script>alert(1)</script><img src=x onerror=alert(2)>'
    bytes=$(printf 'bell\007 \033[31m \377\376 \303( ]]> &amp;')
    for verb in run sim; do
        program=$programs/arguments.elf
        [ $verb = run ] || program=$programs/arguments.so
        tool_succeeds $verb -q --network ring:3 --report now.html "$program" "$evil" "$bytes"
        xmllint --noout --nonet now.html || fail "the page is not well-formed"
        [ "$(grep -c '<script' now.html)" = 2 ] || fail "a script of the program's"
        ! grep -q '<img' now.html || fail "an element of the program's"
        xmllint --xpath "//*[@id='output']" now.html >shown
        [ "$(grep -c '^\(<pre.*>\)*\[[0-2]\] node [0-2] of 3: \[&lt;/script&gt;&lt;script&gt;alert(1)' shown)" = 3 ] || fail "not the lines of three ranks"
        grep -q 'bell.* .*\[31m .* \]\]&gt; &amp;amp;\]' shown || fail "other text"
        ! LC_ALL=C grep -q "$(printf '[\001-\010\033\377]')" now.html || fail "control bytes in the page"
    done
    tool_succeeds up --name printed --network ring:3
    tool_succeeds load -q --name printed --report now.html "$programs/arguments.elf" "$evil"
    tool_succeeds down --name printed
    [ "$(grep -c '\[[0-2]\] node [0-2] of 3: \[&lt;/script&gt;' now.html)" = 3 ] || fail "load: not the lines of three ranks"
    # As much as a person reads, and how much is left out; a file likewise.
    tool_succeeds sim -q --network cube:1 --report now.html "$programs/talker.so" lines 6000 30
    lines=$(grep -c . out)
    shown=$(xmllint --xpath "//*[@id='output']" now.html | grep -c '\[[01]\]')
    [ "$lines" -gt "$shown" ] && [ "$shown" -gt 0 ] || fail "$shown of $lines lines"
    grep -q ">$((lines - shown)) more lines are left out here" now.html || fail "not told how many of $lines lines are left out"
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
    sizes=$(yes 65536 | head -n 60) # longer than it takes until the fault
    # shellcheck disable=SC2086 -- sizes
    "$ecube" run -q --network cube:3 --kill 5@run+2s --report now.html "$examples/complete_exchange.elf" $sizes >printed 2>&1
    [ $? = 3 ] || { cat printed; fail "another status"; }
    xmllint --noout --nonet now.html || fail "the page is not well-formed"
    cells now troubles 1 | grep -qx node-died || fail "the fault is not there"
    [ "$(rows now steps)" -gt 0 ] || fail "nothing of the records"
    tool_fails 2 'no-such-program' run --network cube:1 --report gone.html no-such-program.elf
    [ ! -e gone.html ] || fail "a page of a run that there was not"
    tool_fails 2 'cannot write the page /no-such-directory/p.html' run --network cube:1 --report /no-such-directory/p.html "$examples/hello.elf"
    tool_fails 2 '--report same: name a file of its own' sim --network cube:1 --report same --json same broadcast
    tool_fails 2 '--report -: name a file of its own' sim --network cube:1 --report - broadcast
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
    tool_fails 2 '--page -: name a file of its own' report run.json -o -
    [ ! -e ./- ] || fail "a page named -"
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
check "what nodes count at links is what records say" counted
check "what nodes count is on the page of their run: that of the simulator" counted_on_nodes
check "... of each job, and of runs that fail" counted_of_each_job
check "each kind of event has a colour" kinds_have_colours
check "a plan is drawn as its run will be" planned
check "the root of a plan is a rank; what cannot be drawn is told" planned_root
check "a page says which rank is at which node" mapped
check "what programs print is on the page, as text" printed
check "what programs say is text" escaped
check "the page allows its own script alone" digest
check "bad input is told in a line" bad_input
cases_done
