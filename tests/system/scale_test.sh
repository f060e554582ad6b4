# bench/scale as `make scale` uses it: exact rows, rows that are left out, JSON, bad input, the plot.
# class: busy
. tests/system/testing.sh

# scale ARGUMENT... - the report in a build directory of its own; leaves `out`, `err` and $status.
scale() {
    mkdir -p build/bench
    ln -sf "$ecube" build/ecube
    timeout -k 5 "$limit_seconds" "$build/bench/scale" build "$@" >out 2>err
    status=$?
}

small_rows_are_exact() {
    scale 4-5
    [ "$status" -eq 0 ] || fail "status $status: $(cat out err)"
    awk '/^[a-z]+ +[45] / && $4 == $5 && $6 > 0 && $7 > 0 && NF == 9 { rows++ } END { exit rows != 8 }' out ||
        fail "not eight exact rows: $(cat out)"
    grep -Eq '^exchange +4 +16 +6505\.100 +6505\.100 +6375\.000 ' out || fail "exchange on cube:4: $(cat out)"
    [ "$("$json_get" build/scale.json rows length)" = 8 ] || fail "rows in the JSON file"
    [ "$("$json_get" build/scale.json left_out length)" = 0 ] || fail "rows left out in the JSON file"
    [ "$("$json_get" build/scale.json rows 0 exact)" = true ] || fail "exact in the JSON file"
    [ "$(awk 'length > 100' out err | wc -l)" -eq 0 ] || fail "a line of more than 100 columns"
}

a_wrong_row_is_marked() {
    mkdir -p build/bench
    cat >build/ecube <<'END'
#!/bin/sh
# Nine arguments end with --bytes N SCENARIO; the result is that of cube:4, one nanosecond late.
while [ "$1" != --json ]; do shift; done
cat >"$2" <<'JSON'
{"nodes": 16, "download": {"receipts": 16}, "reports": [{"model_us": 7670.001, "predicted_us": 7670.0, "bound_us": 1}],
"sim": {"events": 1, "events_per_s": 1, "node_bytes": 1}}
JSON
END
    chmod +x build/ecube
    timeout -k 5 "$limit_seconds" "$build/bench/scale" build 4 >out 2>err
    status=$?
    [ "$status" -eq 1 ] || fail "status $status: $(cat out err)"
    [ "$(grep -c ' WRONG$' out)" -eq 4 ] || fail "not four rows marked: $(cat out)"
    [ "$("$json_get" build/scale.json rows 3 exact)" = false ] || fail "exact in the JSON file"
}

what_is_left_out_is_listed() {
    # No exchange of 65,536 nodes takes 3 s, and none of these rows is silent.
    scale 15-16 3
    [ "$status" -le 1 ] || fail "status $status: $(cat out err)"
    grep -q '^left out: ' out || fail "nothing left out: $(cat out)"
    rows=$("$json_get" build/scale.json rows length)
    left=$("$json_get" build/scale.json left_out length)
    [ $((rows + left)) -eq 8 ] || fail "$rows rows and $left left out are not 8"
    [ "$(grep -Ec '^  [a-z]+ +1[56] +[0-9]+ nodes' out)" -eq "$left" ] || fail "not all are listed: $(cat out)"
    [ -n "$("$json_get" build/scale.json left_out 0 reason)" ] || fail "no reason in the JSON file"
}

bad_input_is_refused() {
    for words in 'x' '5-4' '0-4' '4-17' '4-5-6' '4-5 0' '4-5 many' '4-5 9 9'; do
        # shellcheck disable=SC2086 -- the words are arguments
        scale $words
        [ "$status" -eq 2 ] || fail "status $status for '$words'"
        [ "$(wc -l <err)" -eq 1 ] || fail "not one line for '$words': $(cat err)"
    done
}

the_plot_is_an_svg() {
    scale 4-5
    gnuplot -c "$source_tree/bench/scale.gp" build/scale.dat build/scale.svg >plot 2>&1 || fail "gnuplot: $(cat plot)"
    [ ! -s plot ] || fail "gnuplot complains: $(cat plot)"
    head -n 3 build/scale.svg | grep -q '<svg' || fail "no SVG: $(head -n 3 build/scale.svg)"
    tail -n 2 build/scale.svg | grep -q '</svg>' || fail "the SVG does not end"
    for text in 'complete exchange' scatter download broadcast 'bound: broadcast' 'kB per node'; do
        grep -q "$text" build/scale.svg || fail "no '$text' in the plot"
    done
}

check "scale's small rows are exact" small_rows_are_exact
check "a row whose time is not the closed form is marked, and the status is 1" a_wrong_row_is_marked
check "what is left out is listed" what_is_left_out_is_listed
check "scale refuses bad input" bad_input_is_refused
if command -v gnuplot >/dev/null; then
    check "scale's plot is an SVG" the_plot_is_an_svg
else
    case_number=$((case_number + 1))
    echo "ok $case_number - scale's plot is an SVG # SKIP no gnuplot: make scale installs it"
fi
cases_done
