# doc/tutorial.md: its programs are made, its commands typed, one after the other, and print what stands below them.
# class: busy
. tests/system/testing.sh

page=$source_tree/doc/tutorial.md

# Each program of the page, under the last name that stands in front of it.
save_programs() {
    awk '/^```/ { if (inside) inside = 0; else if ($0 == "```c") { inside = 1; if (name) printf "" >name } next }
        inside { print >name; next }
        { rest = $0; while (match(rest, /`[a-z]+[.]c`/)) { name = substr(rest, RSTART + 1, RLENGTH - 2); rest = substr(rest, RSTART + RLENGTH) } }' "$page"
}

# save_commands - N.command and N.wanted, of each command of the page.
save_commands() {
    awk '/^```/ { inside = $0 == "```console"; next }
        inside && /^[$] / { count++; print substr($0, 3) >(count ".command"); printf "" >(count ".wanted"); next }
        inside { print >(count ".wanted") }
        END { print count >"count" }' "$page"
}

# same - without what the page says is of the computer or the compiler, and without the progress that a terminal wipes out.
same() {
    grep -vE '^ecube: (boot|download|run): [0-9]+ of |^$' | tr -s ' ' |
        sed -E -e 's/[0-9.]+ ms/W ms/g' -e 's/0x[0-9a-f]+/ADDRESS/g' -e '/^download /s/[0-9.]+ (bytes|us)/N \1/g' \
            -e 's/^( [0-9]+ [0-9]+ [0-9.]+ [0-9.-]+ [0-9.-]+ [0-9.-]+) [0-9.]+ ([0-9]+)$/\1 W \2/' \
            -e 's/told by node [56] \(rank [56]\)$/told by node N/'
}

# fits WANTED GOT - without `...` the same lines, in any order; with it the lines, in their order, and others.
fits() {
    if grep -qx '[.][.][.]' "$1"; then
        awk 'NR == FNR { if ($0 != "...") line[++count] = $0; next } $0 == line[at + 1] { at++ } END { exit at != count }' "$1" "$2"
    else
        sort "$1" >wanted.sorted
        sort "$2" | cmp -s wanted.sorted -
    fi
}

# A status that a command leaves is the next one's $?.
types_all() {
    export COLUMNS=100 PATH="$build:$PATH"
    save_programs
    save_commands
    [ "$(cat count)" -gt 12 ] && [ -s stencil.c ] || { ls; fail "no commands or programs"; }
    left=0
    number=1
    while [ "$number" -le "$(cat count)" ]; do
        command=$(cat $number.command)
        (exit $left)
        eval "$command" >$number.got 2>&1
        left=$?
        same <$number.wanted >wanted
        same <$number.got >got
        fits wanted got || { diff wanted got; wrong="$wrong; $command"; }
        number=$((number + 1))
    done
    wait
    [ -z "$wrong" ] || fail "the page does not say what these print$wrong"
}

wrong=
check "the tutorial's commands print what it says" types_all
cases_done
