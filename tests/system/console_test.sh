# What programs print, on its way to a reader who takes his time. The tool is built with sanitizers here.
. tests/system/testing.sh

talker=$programs/talker.elf
ecube=$build/ecube-checked
reports=$scratch/reports
mkdir "$reports"

# The process that holds a mesh has no standard error: what a sanitizer finds goes to a file.
export ASAN_OPTIONS=detect_leaks=0:log_path=$reports/asan UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports/ubsan

nothing_found() {
    [ -z "$(ls "$reports")" ] || { cat "$reports"/*; fail "a sanitizer has found something"; }
}

# A client that reads nothing, while far more is printed than anybody keeps, and then is gone.
load_without_a_reader() {
    tool_succeeds up --name slow --mesh cube:1
    ("$ecube" load --name slow "$talker" lines 100000 100 & echo $! >loader; wait) 2>load.err | sleep 5
    wait_until 20 eval '! kill -0 "$(cat loader)" 2>/dev/null' || fail "the loader outlives its reader"
    wait_until 20 "$ecube" load --name slow "$talker" lines 10 100 >out 2>err || { cat err; fail "the mesh takes no program any more"; }
    [ "$(grep -c ' xxx' out)" -eq 20 ] || fail "lines of the next program"
    tool_succeeds down --name slow
    wait_until 20 no_processes || fail "processes outlive ecube down"
    nothing_found
}

check "a load that nobody reads leaves the mesh to the next" load_without_a_reader
cases_done
