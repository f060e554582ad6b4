# The user's cache of searched plans: filled once, proved when it is read, bounded; without it all is the same.
# class: waits
. tests/system/testing.sh

with_sanitizers

# exported FILE - a searched plan of mesh:4x4.
exported() { tool_succeeds plan export exchange --network mesh:4x4 --bytes 10000 --json "$1"; }

filled_once() {
    export ECUBE_CACHE=$PWD/a/b
    exported one.json
    [ "$("$json_get" one.json algorithm)" = 'searched rounds' ] || fail "by $("$json_get" one.json algorithm)"
    [ "$(ls a/b)" = rounds-1-3-4-4.table ] || fail "there is $(ls -a a/b)"
    [ "$(stat -c %a a a/b | sort -u)" = 700 ] || fail "others may look"
    inode=$(stat -c '%i %Y' a/b/*)
    exported two.json
    [ "$(stat -c '%i %Y' a/b/*)" = "$inode" ] || fail "it was made anew"
    cmp one.json two.json || fail "another plan"
    [ ! -s err ] || fail "said: $(cat err)"
}

the_same_without() {
    ECUBE_CACHE=$PWD/cache exported with.json
    ECUBE_CACHE=$PWD/cache exported from.json
    ECUBE_CACHE=off exported without.json
    cmp with.json without.json && cmp from.json without.json || fail "another plan"
}

# What a table is read for: a run in the simulator takes what is predicted, with the right bytes.
it_is_used_in_runs() {
    export ECUBE_CACHE=$PWD/cache
    for _ in 1 2; do
        tool_succeeds sim --network torus:5x5 --bytes 10000 exchange --json run.json
        [ "$(ls cache)" = rounds-1-4-5-5.table ] || fail "there is $(ls cache)"
    done
}

places() {
    unset ECUBE_CACHE
    XDG_CACHE_HOME=$PWD/x HOME=$PWD/h exported plan.json
    [ -f x/ecube/rounds-1-3-4-4.table ] && [ ! -e h ] || fail "not in XDG_CACHE_HOME: $(find .)"
    XDG_CACHE_HOME='' HOME=$PWD/h exported plan.json
    [ -f h/.cache/ecube/rounds-1-3-4-4.table ] || fail "not at home: $(find .)"
    rm -r x h
    XDG_CACHE_HOME=$PWD/x HOME=$PWD/h ECUBE_CACHE=off exported plan.json
    [ ! -e x ] && [ ! -e h ] || fail "it is off"
    (
        unset XDG_CACHE_HOME HOME
        exported plan.json
        tool_fails 2 'there is no cache' plan cache --clear
    ) || exit 1
}

# told_once PATTERN - of one line on standard error.
told_once() {
    [ "$(wc -l <err)" -eq 1 ] && grep -Eq "$1" err || fail "not told: $(cat err)"
}

# damaged WORDS... - after this command on the table it is refused, once, and made anew.
damaged() {
    "$@" "$table"
    exported other.json
    told_once "^ecube: $table: it is damaged, or not of this planner; it is made anew\$"
    cmp one.json other.json || fail "another plan after $*"
    cmp whole "$table" || fail "not made anew after $*"
}

another_word() { printf 'xy' | dd of="$1" bs=1 seek=60 conv=notrunc status=none; }
another_head() { printf 'ECUBTAB2' | dd of="$1" conv=notrunc status=none; }
too_many_words() { printf '\377\377\377\377' | dd of="$1" bs=1 seek=8 conv=notrunc status=none; }
cut_off() { truncate -s 100 "$1"; }
longer() { echo more >>"$1"; }
of_another() { cp other-table "$1"; }
a_pipe() { rm "$1" && mkfifo "$1"; }

refused_and_made_anew() {
    export ECUBE_CACHE=$PWD/cache
    table=$ECUBE_CACHE/rounds-1-3-4-4.table
    tool_succeeds plan export exchange --network mesh:3x3 --bytes 10000 --json other.json
    mv cache/* other-table
    exported one.json
    cp "$table" whole
    for damage in another_word another_head too_many_words cut_off longer of_another a_pipe 'truncate -s 0'; do
        # shellcheck disable=SC2086 -- a command and its words
        damaged $damage
    done
    rm "$table" && mkdir "$table"
    exported other.json
    cmp one.json other.json || fail "another plan"
}

# unwritable PATTERN - it is told once, for two tables, and the verb goes on.
unwritable() {
    tool_succeeds plan explain exchange --network mesh:4x4 --bytes 10000
    told_once "$1"
    grep -q '^chosen  *searched rounds' out || fail "no plan: $(cat out)"
}

what_cannot_be_written() {
    : >file
    ECUBE_CACHE=$PWD/file unwritable "^ecube: $PWD/file: Not a directory; plans are searched for again the next time\$"
    ECUBE_CACHE=/proc/cache unwritable '^ecube: /proc/cache: No such file'
    ECUBE_CACHE=/dev/full unwritable '^ecube: /dev/full: Not a directory'
}

full_disk() {
    export ECUBE_CACHE=$PWD/cache
    # What is written passes a pipe, so the limit meets the table alone.
    (
        ulimit -f 0
        timeout 60 "$ecube" plan explain exchange --network mesh:4x4 --bytes 10000 2>&1
    ) | cat >out
    [ "$(grep -c '^ecube: .*cache: File too large; plans are searched for again' out)" -eq 1 ] || fail "not told: $(cat out)"
    grep -q '^chosen  *searched rounds' out || fail "no plan: $(cat out)"
    [ -z "$(ls -A cache)" ] || fail "left lying: $(ls -A cache)"
}

two_at_once() {
    export ECUBE_CACHE=$PWD/cache
    for one in 1 2 3 4; do
        timeout 60 "$ecube" plan export exchange --network torus:5x5 --bytes 10000 --json $one.json 2>$one.err &
        tools="${tools-} $!"
    done
    for tool in $tools; do
        wait "$tool" || fail "a tool failed: $(cat ./*.err)"
    done
    cat ./*.err >err
    [ ! -s err ] || fail "said: $(cat err)"
    [ "$(ls cache)" = rounds-1-4-5-5.table ] || fail "there is $(ls cache)"
    for one in 2 3 4; do
        cmp 1.json $one.json || fail "another plan"
    done
}

# Of old files that are 256 MiB in all, the oldest go until the new one has room.
oldest_out() {
    export ECUBE_CACHE=$PWD/cache
    mkdir cache
    truncate -s 100M cache/oldest.table cache/old.table.abcdef
    truncate -s 56M cache/young.table
    truncate -s 300M cache/foreign
    touch -d '2001-01-01' cache/oldest.table
    touch -d '2002-01-01' cache/old.table.abcdef
    exported plan.json
    [ "$(ls cache | tr '\n' ' ')" = 'foreign old.table.abcdef rounds-1-3-4-4.table young.table ' ] || fail "there is $(ls cache)"
}

clearing() {
    export ECUBE_CACHE=$PWD/cache
    tool_succeeds plan cache --clear
    grep -q ': 0 tables removed$' out || fail "said $(cat out)"
    exported plan.json
    : >cache/foreign
    : >cache/x.table.abcdef
    tool_succeeds plan cache --clear
    grep -q ': 2 tables removed$' out || fail "said $(cat out)"
    [ "$(ls cache)" = foreign ] || fail "there is $(ls cache)"
    tool_fails 2 'say what to do: ecube plan cache --clear' plan cache
    tool_fails 2 "'all' is one word too many" plan cache all --clear
    tool_fails 2 '\-\-clear is for ecube plan cache' plan show exchange --clear
    ECUBE_CACHE=off tool_fails 2 'there is no cache' plan cache --clear
    ECUBE_CACHE=/dev/null tool_fails 2 '/dev/null: Not a directory' plan cache --clear
}

check "a table is made once, and read after that" filled_once
check "with the cache, without it and from it plans are the same, bit for bit" the_same_without
check "simulated runs use it, too" it_is_used_in_runs
check "it lies where ECUBE_CACHE, XDG_CACHE_HOME or HOME say" places
check "a damaged or foreign table is told once and made anew" refused_and_made_anew
check "a cache that cannot be written is told once, and the plan is made" what_cannot_be_written
check "a full disk leaves nothing of a table" full_disk
check "four tools may make the same table at once" two_at_once
check "the oldest go when there is no room" oldest_out
check "ecube plan cache --clear removes what the planner has kept, and nothing else" clearing
cases_done
