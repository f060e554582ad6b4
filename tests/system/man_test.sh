# The man pages: all are drawn without a warning, and lack nothing of what --help and the headers say.
# class: busy
. tests/system/testing.sh

pages=$build/man
header=$source_tree/include/ecube/ecube.h

# draws SECTION/PAGE - as a terminal without fonts shows it, all blanks as one; what groff warns of is in `warnings`.
draws() {
    (cd "$pages" && groff -ww -man -Tascii -P-cbou -rcR=1 -rLL=2000n "$1") 2>warnings | tr -s ' \n' ' '
    [ ! -s warnings ] || { cat warnings; fail "$1"; }
}

without_warnings() {
    [ "$(find "$pages" -name '*.[13]' | wc -l)" -gt 80 ] || fail "where are the pages?"
    for page in $(cd "$pages" && ls man1/*.1 man3/*.3); do
        draws "$page" >drawn
        for head in NAME SYNOPSIS DESCRIPTION; do
            grep -q " $head " drawn || fail "$page has no $head"
        done
    done
}

# Options, and the words of the help with them.
verbs_are_whole() {
    export ARGP_HELP_FMT=rmargin=10000,no-dup-args-note
    for verb in $("$ecube" --help | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p'); do
        draws "man1/ecube-$verb.1" >drawn
        draws man1/ecube.1 | grep -qF "ecube-$verb(1) " || fail "ecube.1 has no $verb"
        "$ecube" "$verb" --help | sed -e 's/^Usage: //' -e 's/^  or:  //' -e 's/^Examples*: //' -e 's/^Exit status: //' \
            -e 's/^\( [A-Z].*\):$/\1/' -e 's/   *\([^ ]\)/\n\1/g' | tr -d '`' | grep . >said
        [ "$(wc -l <said)" -gt 4 ] || { cat said; fail "no help of $verb"; }
        while read -r line; do
            grep -qF -- "$line" drawn || fail "ecube-$verb.1 has not got: $line"
        done <said
    done
    [ ! -f "$build/ecube-sim-mpi" ] || draws man1/ecube-sim-mpi.1 | grep -qF 'mpirun -n 4 ecube-sim-mpi --network cube:16 download' ||
        fail "ecube-sim-mpi.1"
    draws man1/ecube-cc.1 | grep -qF 'ecube-cc --native hello.c -o hello.so' || fail "ecube-cc.1"
}

# What gcc leaves of the header are its declarations.
calls_are_whole() {
    gcc -fpreprocessed -E -P "$header" 2>/dev/null | tr '\n' ' ' | tr ';' '\n' | tr -s ' ' |
        sed -n 's/^.*__attribute__((noreturn)) //; s/^.*extern "C" { *//; s/^ *//; /^[a-z].*ecube_[a-z0-9_]*(/p' >prototypes
    [ "$(wc -l <prototypes)" -gt 60 ] || { cat prototypes; fail "no prototypes"; }
    while read -r prototype; do
        call=$(echo "$prototype" | grep -oE 'ecube_[a-z0-9_]+\(' | head -n 1)
        draws "man3/${call%(}.3" >drawn
        grep -qF -- "$prototype;" drawn || fail "no prototype: $prototype"
        grep -qE " NAME .*\<${call%(}\>.* - .* SYNOPSIS " drawn || fail "not in the page's name: $call"
    done <prototypes
}

comments_are_whole() {
    for page in $(cd "$pages" && ls man3); do
        grep -q '^[.]so ' "$pages/man3/$page" || draws "man3/$page"
    done | tr -d '\n' >drawn
    # The names of sections and of fields are apart from their text; a sentence's first letter may be small.
    awk '/^[#a-z]|^};/ { type = /^(struct|enum).*{$/ } !type && /^( \*|\/\*)/' "$header" | sed -e 's/^\/\* *//' -e 's/^ \* *//' -e 's/ *\*\/$//' |
        tr -d '`' | tr -s ' ' | grep -vE '^/?$|^ecube.h - ' | sed -E -e 's/^(Units|Errors|Context|Source|Names|[A-Z][a-z]+( [a-z]+)*[.]|Regions:) //' |
        tail -n +2 >said
    [ "$(wc -l <said)" -gt 250 ] || { cat said; fail "no comments"; }
    while read -r line; do
        grep -qF -- "$line" drawn || fail "no page has: $line"
    done <said
}

check "every page is drawn without a warning" without_warnings
check "the page of a verb has all that its --help says" verbs_are_whole
check "each call of ecube.h has a page, with its prototype" calls_are_whole
check "no comment of ecube.h is lost" comments_are_whole
cases_done
