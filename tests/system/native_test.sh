#!/bin/sh
# native_test.sh BUILD - programs made by ecube-cc --native: they compute as on a node, they need nothing of this computer, and
# what cannot be is refused.
# class: waits
. tests/system/testing.sh

needs_native
run=$build/tests/native_run

# alike NAME ARGUMENT... - prints the same on a node and on this computer.
alike() {
    name=$1
    shift
    tool_succeeds run -q --network cube:0 "$programs/$name.elf" "$@"
    sed 's/^\[0\] //' out >of_node
    "$run" "$programs/$name.so" "$@" >of_computer 2>err || { cat err; fail "native_run fails"; }
    [ -s of_node ] || fail "nothing is printed"
    diff of_node of_computer || fail "$name prints something else"
}

# 42 functions, of double and of float; parts, arithmetic, text; three of random numbers, and one of sorting.
mathematics_is_alike() {
    alike mathematics
    [ "$(wc -l <of_node)" -eq 91 ] || { cat of_node; fail "not all functions"; }
}

formats_are_alike() {
    alike formats
    alike thread
    alike arguments one "two words" ""
}

is_configured_alike() {
    cmp /usr/include/newlib/newlib.h "$build/native/newlib/include/newlib.h" || fail "another newlib than the nodes'"
}

all_programs() {
    ls "$examples"/*.so "$programs"/*.so
}

# What is left to relocate, and that it lies in data, native_host.c looks at when a program runs.
needs_nothing() {
    for program in $(all_programs); do
        types=$(readelf -rW "$program" | awk '/R_X86_64/ { print $3 }' | sort -u | grep -vx 'R_X86_64_RELATIVE\|R_X86_64_DTPMOD64')
        [ -z "$types" ] || fail "$program: $types"
        ! readelf -dW "$program" | grep NEEDED || fail "$program needs a library"
        ! objdump -d --no-show-raw-insn "$program" | grep -E '\<(syscall|sysenter)\>|int +\$0x80|%[fg]s:' ||
            fail "$program asks the system"
    done
}

# A function's first instruction makes its frame, or it has none: then it neither calls nor moves the stack.
frames_are_seen() {
    for program in $(all_programs); do
        objdump -d --no-show-raw-insn "$program" | awk '
            /^[0-9a-f]+ <.*>:$/ { name = $2; first = 1; next }
            first { first = 0; framed = /push +%rbp/ || name == "<_start>:" }
            !framed && ($2 ~ /^(push|pop|call|enter|leave)$/ || /,%rsp$/) { print name, $0 }' >frames
        [ ! -s frames ] || { cat frames; fail "$program: functions with frames that cannot be seen"; }
    done
}

# refused STATUS PATTERN ARGUMENT... - by ecube-cc --native, with one line.
refused() {
    wanted=$1 pattern=$2
    shift 2
    status=0
    "${cc:-$build/ecube-cc}" --native "$@" 2>err || status=$?
    [ "$status" -eq "$wanted" ] || { cat err; fail "status $status, not $wanted"; }
    grep -Eq -- "$pattern" err || { cat err; fail "no line like '$pattern'"; }
    [ "$wanted" -ne 2 ] || [ "$(wc -l <err)" -eq 1 ] || { cat err; fail "more than one line"; }
}

hello=$source_tree/examples/hello/hello.c

impossible_is_refused() {
    echo 'int absent(void); int main(void) { return absent(); }' >absent.c
    refused 1 "undefined reference to \`absent'" absent.c -o absent.so
    echo '#include <pthread.h>
        static void *run(void *of) { return of; }
        int main(void) { pthread_t thread; return pthread_create(&thread, 0, run, 0); }' >threads.c
    refused 1 'pthread_create' -w threads.c -lpthread -o threads.so
    echo '#include <sys/epoll.h>' >linux.c
    refused 1 'sys/epoll.h: No such file' -c linux.c
    [ -z "$(ls ./*.so ./*.o 2>/dev/null)" ] || fail "something was made"
}

what_is_missing_is_named() {
    mkdir -p "other/$board" computer
    cp -r "$nodes/lib" "other/$board/"
    cp "$build/ecube-cc" other/
    cc=other/ecube-cc
    refused 2 'there is no .*native/lib/compiler, which --native needs' "$hello" -o hello.so
    printf '#!/bin/sh\necho aarch64\n' >computer/uname
    chmod +x computer/uname
    PATH=$PWD/computer:$PATH
    cc=$build/ecube-cc
    refused 2 'needs an x86-64 computer, this one is aarch64' "$hello" -o hello.so
}

names_its_output() {
    "$build/ecube-cc" --native "$hello" || fail "not made"
    [ -f a.so ] && [ ! -e a.out ] || fail "no a.so"
    "$run" a.so | grep -qx 'hello from node 0 of 1, a cube of 0 dimensions' || fail "it does not run"
    echo '#include <math.h>
        #include <stdio.h>
        int main(int argc, char **argv) { (void)argv; printf("%.17g", sin(argc)); return 0; }' >sine.c
    "$build/ecube-cc" --native -O0 -c sine.c && "$build/ecube-cc" --native sine.o -lm -o sine.so || fail "not made in two steps"
    [ "$("$run" sine.so)" = 0.8414709848078965 ] || fail "another sine"
}

is_installed() {
    sh "$source_tree/scripts/install.sh" "$build" "$board" "$PWD/prefix" >/dev/null || fail "install fails"
    prefix/bin/ecube-cc --native -Wall -Wextra -Werror "$hello" -o hello.so || fail "ecube-cc fails"
    "$run" hello.so | grep -q '^hello from node 0' || fail "it does not run"
    prefix/bin/ecube-cc --native --check -Wall -Wextra -Werror "$hello" -o checked.so || fail "ecube-cc fails with checks"
    "$ecube" sim -q --check --network cube:0 checked.so | grep -q 'hello from node 0' || fail "it does not run with checks"
    "$run" prefix/lib/ecube/examples/hello.so | grep -q '^hello from node 0' || fail "the example does not run"
    sh "$source_tree/scripts/install.sh" --remove "$PWD/prefix"
    [ ! -e prefix ] || fail "left: $(find prefix)"
}

check "mathematics, text and random numbers agree with a node's to the last bit" mathematics_is_alike
check "printf, scanf, arguments and variables of the thread are a node's" formats_are_alike
check "the C library is configured as the nodes' is" is_configured_alike
check "a program needs nothing from outside and asks the system for nothing" needs_nothing
check "the frame of every function can be seen" frames_are_seen
check "what cannot be is refused with one line, and what is not there does not link" impossible_is_refused
check "another computer, and a library that is missing, are named" what_is_missing_is_named
check "without a name the program is a.so; it is made in two steps as well" names_its_output
check "an installed ecube-cc makes the same" is_installed
cases_done
