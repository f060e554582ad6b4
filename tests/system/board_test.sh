# A second board: a copy of a folder of board/ with less memory and without links in shared memory, in a copy of the sources.
. tests/system/testing.sh

copy=$scratch/copy
unset MAKEFLAGS MAKELEVEL MFLAGS

# What is built for the tool and does not depend on the board is copied with it.
is_made() {
    mkdir -p "$copy/build/$board"
    for part in "$source_tree"/*; do
        [ "$part" = "$build" ] || cp -a "$part" "$copy/"
    done
    cp -a "$build/tool" "$build/gen" "$build/crc_gen" "$build/flags" "$build/board" "$build/ecube-jtag" "$copy/build/"
    cp -a "$kernel" "$copy/build/$board/"
    : >"$copy/copied"
    folder=board/small
    cp -r "$copy/board/$board" "$copy/$folder"
    cd "$copy" || fail "no copy"
    ram=$(($(board_number RAM_BYTES) * 3 / 4))
    end=$(printf '0x%08x' $(($(board_number RAM_BASE) + ram - $(board_number RECORD_BYTES))))
    sed -i -e "/BOARD_RAM_BYTES/s/0x.*/$(printf '0x%08x' "$ram")/" \
        -e "/define BOARD_PROGRAM_END/s/0x.*/$end/" -e "/define BOARD_RECORD_BASE/s/0x.*/$end/" $folder/board.h
    sed -i "s/ -m [0-9]*/ -m $((ram >> 20))/" $folder/board.mk
    sed -i 's/\.shared_device = .*/.shared_device = NULL,/' $folder/description.c
    sed -i 's/int shared_count = shared_init(),/(void)shared_init;\n    int shared_count = 0,/' $folder/platform.c
    make BOARD=small build/ecube build/small/kernel.elf build/examples/complete_exchange.elf >made 2>&1 ||
        { tail -n 20 made; fail "not made"; }
    changed=$(find . -newer copied -type f ! -path './build/*' ! -path "./$folder/*" ! -name made)
    [ -z "$changed" ] || fail "more than the folder was changed: $changed"
}

does_the_main_job() {
    ecube=$copy/build/ecube
    tool_succeeds run --board small --network cube:2 --trace trace.json --json result.json "$copy/build/examples/complete_exchange.elf" 16 100 1000
    [ "$("$json_get" result.json links)" = serial ] || { cat result.json; fail "other links"; }
    [ "$("$json_get" result.json trace missing length)" = 0 ] || { cat result.json; fail "no records"; }
    [ "$("$json_get" result.json exits)" = '[0,0,0,0]' ] || { cat result.json; fail "a program failed"; }
    # The same model times as on the other board.
    model_times() { "$json_get" "$1" reports | grep -o '"model[a-z_]*": *[0-9.]*'; }
    model_times result.json >small.times
    [ -s small.times ] || { cat result.json; fail "no model times"; }
    tool_succeeds run --board "$board" --network cube:2 --json result.json "$examples/complete_exchange.elf" 16 100 1000
    model_times result.json | cmp - small.times || fail "other model times"
}

has_its_own_memory_and_links() {
    ecube=$copy/build/ecube
    tool_fails 2 'the board small has no links in shared memory: use --links serial' \
        run --board small --links shared --network cube:1 "$copy/build/examples/complete_exchange.elf" 16
    echo "char big[$((($(board_number PROGRAM_END) - $(board_number IMAGE_BASE)) * 7 / 8))]; int main(void) { return big[5]; }" >big.c
    ! "$copy/build/ecube-cc" big.c -o big.elf 2>/dev/null || fail "a program that the memory of small cannot hold"
    "$build/ecube-cc" big.c -o big.elf || fail "the memory of $board does not hold it"
    tool_fails 2 'big\.elf.*(large|outside)' run --board small --network cube:1 big.elf
    tool_succeeds run --board "$board" --network cube:1 big.elf
}

machine_knows_its_board() {
    ecube=$copy/build/ecube
    tool_succeeds up --board small --network cube:1 --name lab
    tool_succeeds load --name lab "$copy/build/examples/complete_exchange.elf" 16
    tool_succeeds core --name lab 1
    tool_succeeds down --name lab
}

is_refused() {
    tool_fails 2 "unknown board '${board}s': did you mean $board\\?" run --board "${board}s" --network cube:1 "$examples/hello.elf"
}

check "a board that there is not is refused, and the nearest is named" is_refused
check "a board is a copy of a folder, nothing else changes" is_made
check "a complete exchange on the new board ends well, with the model times of the other" does_the_main_job
check "each board has its own memory and links in one tool" has_its_own_memory_and_links
check "who comes to a machine that is up takes its board" machine_knows_its_board
cases_done
