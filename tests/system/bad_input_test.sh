# Bad input: one clear line, a status that is not 0, nothing left behind.
# class: waits
. tests/system/testing.sh

arguments=$programs/arguments.elf
bare="arm-none-eabi-gcc -mthumb -march=armv7-a -nostdlib -ffreestanding -Wl,--no-warn-rwx-segments"

refused() {
    tool_fails 2 "$1" run --network cube:1 "$2"
}

unknown_algorithm() {
    tool_fails 2 "unknown algorithm 'best': use .*AAP, " run --network cube:1 --algorithm best "$arguments"
    tool_fails 2 'algorithm AAP: exchange by AAP wants a cube' run --network ring:5 --algorithm AAP "$arguments"
}

another_machine() { refused 'true.*(machine|32-bit)' /bin/true; }

another_version() {
    arm-none-eabi-objcopy --dump-section .note.ecube=note "$arguments" && printf '\001' | dd of=note bs=1 seek=20 conv=notrunc status=none &&
        arm-none-eabi-objcopy --update-section .note.ecube=note "$arguments" old.elf || fail "cannot make the program"
    refused 'old\.elf was made by another version of ecube-cc \(its interface is 1, .*: compile and link it again' old.elf
}

truncated_header() {
    head -c 40 "$arguments" >short.elf
    refused 'short\.elf.*(truncated|not an ELF)' short.elf
}

truncated_segment() {
    head -c 2000 "$arguments" >short.elf
    refused 'short\.elf.*truncated' short.elf
}

too_large() {
    echo 'char big[60000000]; int _start(void) { return big[5]; }' >big.c
    $bare -Wl,-Ttext=$(board_number IMAGE_BASE) big.c -o big.elf || fail "cannot make the program"
    refused 'big\.elf.*(large|outside)' big.elf
}

overlaps_kernel() {
    echo 'int _start(void) { return 0; }' >low.c
    $bare -Wl,-Ttext=$(board_at KERNEL_BASE 0x100000) low.c -o low.elf || fail "cannot make the program"
    refused 'low\.elf.*overlaps the kernel' low.elf
}

object_file() {
    echo 'int main(void) { return 0; }' >part.c
    "$build/ecube-cc" -c part.c -o part.o || fail "cannot make the object"
    refused 'part\.o.*not a linked executable' part.o
}

no_such_file() { refused 'no-such\.elf.*No such file' no-such.elf; }
directory() { refused 'not a file' .; }

empty_file() {
    : >empty.elf
    refused 'empty\.elf' empty.elf
}

text_file() {
    echo 'not a program' >text.elf
    refused 'text\.elf.*not an ELF' text.elf
}

no_program() { tool_fails 2 'name the program' run --network cube:1; }

unknown_network() {
    tool_fails 2 "unknown network 'star:5'" run --network star:5 "$arguments"
    tool_fails 2 'cube.*0 to 7' run --network cube:8 "$arguments"
    tool_fails 2 'cube.*0 to 7' run --network cube:-1 "$arguments"
    tool_fails 2 'cube' run --network cube: "$arguments"
    tool_fails 2 'cube' run --network 'cube:4x' "$arguments"
}

unknown_words() {
    tool_fails 2 "unknown verb 'fly'" fly
    tool_fails 2 'profile' run --profile cray "$arguments"
    tool_fails 2 'strategy' run --strategy luck "$arguments"
    tool_fails 2 'link' run --network cube:2 --cut 0-3@run "$arguments"
    tool_fails 2 'delay is a time' run --network cube:2 --cut 0-1@run+soon "$arguments"
    tool_fails 2 'delay is a time' run --network cube:2 --kill 1@run+-5 "$arguments"
    tool_fails 2 'node' run --network cube:2 --kill 9@run "$arguments"
    tool_fails 2 'one link twice' run --network cube:2 --cross 0-1,0-1 "$arguments"
    tool_fails 2 'one link twice' run --network cube:2 --cross 3-1,1-3 "$arguments"
    for time in 0s 0.9s 169h 15 1d h -2s nan 1e99h; do
        tool_fails 2 "^ecube: --patience $time: use a time from 1s to 168h" run --patience $time "$arguments"
    done
    tool_fails 2 'patience soon: use a time' up --patience soon
    for time in 0 0s 0.5ms 169h 1d s -2s nan 1e99 5s5; do
        tool_fails 2 "^ecube: --timeout $time: use a time from 1ms to 168h" run --timeout $time "$arguments"
    done
    tool_fails 2 'timeout soon: use a time' load --timeout soon "$arguments"
    tool_fails 2 'delay is a time up to 168h' run --network cube:2 --cut 0-1@run+169h "$arguments"
    tool_fails 2 'name the link.*ecube cut 0-1' cut
    tool_fails 2 'name the node.*ecube kill 3' kill
}

qemu_missing() {
    mkdir bin
    PATH=$PWD/bin /usr/bin/timeout 60 "$ecube" run --network cube:1 "$arguments" >out 2>err
    status=$?
    [ "$status" -eq 2 ] || fail "status $status"
    words | grep -q 'qemu-system-arm.*package' || fail "$(words)"
}

qemu_fails() {
    tool_fails any 'node 0 .rank 0. died during boot.*code 1|node 0 .rank 0. died' \
        run --network cube:0 --qemu /bin/false "$arguments"
}

# Everything but OpenOCD is there.
openocd_missing() {
    mkdir bin
    for name in qemu-system-arm gdb-multiarch; do ln -s "$(command -v $name)" bin/$name; done
    PATH=$PWD/bin
    for words in 'up --network cube:0 --program openocd' openocd 'debug --openocd 0'; do
        # shellcheck disable=SC2086 -- words are meant to split
        /usr/bin/timeout 60 "$ecube" $words >out 2>err
        status=$?
        /usr/bin/grep -q "^ecube: openocd is not in PATH: install Debian's package openocd" err && [ "$(/usr/bin/wc -l <err)" -eq 1 ] &&
            [ "$status" -eq 2 ] || fail "ecube $words: status $status: $(/usr/bin/cat err)"
    done
    PATH=/usr/bin:/bin
}

chain_refused() {
    tool_fails 2 "'cube:8': the dimension of a cube is a number from 0 to 7 on QEMU" up --network cube:8 --jtag
    tool_fails 2 'blank needs --jtag' up --network cube:1 --blank
    tool_fails 2 'program flash: use openocd' up --network cube:1 --program flash
    tool_fails 2 '/bin/true is no kernel image for an ARM node' up --network cube:0 --program openocd --kernel /bin/true
    tool_fails 2 'no kernel image' up --network cube:0 --program openocd --kernel "$arguments"
}

kernel_missing() { tool_fails 2 'kernel image' run --network cube:0 --kernel /nowhere "$arguments"; }
kernel_is_a_program() {
    tool_fails 2 'no kernel image: .*goes without --kernel' \
        run --network cube:0 --kernel "$arguments" "$arguments"
}
no_machine_name() {
    tool_fails 2 "'\.\./x' is no name for a machine" down --name ../x &&
        tool_fails 2 "'\.\./x' is no name for a machine" up --network cube:0 --name ../x
}
json_unwritable() { tool_fails 2 'JSON' run --network cube:0 --json /nowhere/x.json "$arguments"; }

help_of_every_verb() {
    for verb in run up load ps top list console down cut kill sim debug core openocd; do
        tool_succeeds "$verb" --help
        mv out long
        tool_succeeds "$verb" -h
        cmp long out || fail "ecube $verb -h is not ecube $verb --help"
        grep -q '^Usage: ecube '"$verb" out || fail "no usage line"
        grep -q '^Examples*: ecube' out || fail "no example"
    done
}

# Each line of the examples, up to an empty one, is a whole command.
examples_are_whole() {
    for verb in run up load ps top list console down cut kill sim debug core openocd 'plan show' 'plan list' ''; do
        # shellcheck disable=SC2086 -- verbs are meant to split
        COLUMNS=80 tool_succeeds $verb --help
        awk '/^Examples*:/ { on = 1; sub(/^Examples*:/, "") } /^$/ { on = 0 }
            on && NF { lines++; if ($1 != "ecube") { print; bad = 1 } } END { exit bad || !lines }' out >broken ||
            { cat broken; fail "an example of 'ecube $verb --help' breaks inside a command"; }
    done
}

# Those of the tool's own header are in the README and in the help.
statuses_are_listed() {
    tool_succeeds --help
    sed -n 's/^ *STATUS_[A-Z_]* = \([0-9]*\).*/\1/p' "$source_tree/host/console/message.h" >statuses
    [ "$(wc -l <statuses)" -ge 9 ] || fail "host/console/message.h has another form"
    while read -r number; do
        grep -qw "$number" "$source_tree/README.md" || fail "README.md does not know $number"
        grep -qw "$number" out || fail "ecube --help does not know $number"
    done <statuses
}

one_word_too_many() {
    for words in up ps list console down 'cut 0-1' 'kill 3' 'sim exchange' 'core 3' 'debug 3 x.elf'; do
        # shellcheck disable=SC2086 -- words are meant to split
        tool_fails 2 "^ecube: 'extra' is one word too many$" $words extra
    done
}

check "-h is help, of every verb, with an example" help_of_every_verb
check "no example of a help text breaks inside a command" examples_are_whole
check "every exit status of the tool is in the README and in the help" statuses_are_listed
check "a word too many is told in one wording by every verb" one_word_too_many
check "an algorithm that there is not, or not on this network, is one line before anything starts" unknown_algorithm
check "an ELF of another machine is refused by name" another_machine
check "a program of another version of ecube-cc is refused" another_version
check "an ELF that ends within its header is refused as truncated" truncated_header
check "an ELF that ends within a segment is refused as truncated" truncated_segment
check "an ELF larger than the memory of programs is refused" too_large
check "an ELF that overlaps the kernel is refused" overlaps_kernel
check "an object file is refused as not linked" object_file
check "a program that does not exist is refused" no_such_file
check "a directory is refused" directory
check "an empty file is refused" empty_file
check "a text file is refused as not an ELF" text_file
check "a run without a program says so" no_program
check "an unknown network is refused with an example" unknown_network
check "unknown verbs, profiles, strategies, links and nodes are named" unknown_words
check "a missing QEMU is named with its package" qemu_missing
check "a QEMU that fails at once is told as a dead node" qemu_fails
check "a missing OpenOCD is named with its package" openocd_missing
check "what cannot have a JTAG chain is told what can" chain_refused
check "a missing kernel image is named" kernel_missing
check "a program is not taken for a kernel" kernel_is_a_program
check "what cannot name a machine is refused by every verb" no_machine_name
check "a JSON file that cannot be written is named before anything starts" json_unwritable
cases_done
