# What make install puts beside the tool: man pages, completion, and examples that are made against the installed tree.
# class: busy
. tests/system/testing.sh

# installs - into `prefix`; its programs are the first in PATH.
installs() {
    sh "$source_tree/scripts/install.sh" "$build" "$board" "$PWD/prefix" >/dev/null || fail "install fails"
    PATH=$PWD/prefix/bin:$PATH
}

removes() {
    sh "$source_tree/scripts/install.sh" --remove "$PWD/prefix" || fail "uninstall fails"
    [ ! -e prefix ] || fail "left: $(find prefix)"
}

# Pages that lead to others find them below the same folder.
pages_and_completion() {
    installs
    for page in man1/ecube.1 man1/ecube-run.1 man1/ecube-cc.1 man3/ecube.h.3 man3/ecube_send.3; do
        cmp "$build/man/$page" "prefix/share/man/$page" || fail "$page"
    done
    (cd prefix/share/man && groff -ww -man -Tascii man3/ecube_iprobe.3) >drawn 2>&1
    grep -q ecube_probe drawn || { cat drawn; fail "a page that leads to another"; }
    bash -c '. prefix/share/bash-completion/completions/ecube && complete -p ecube' | grep -q _ecube || fail "bash's completion"
    head -n 1 prefix/share/zsh/site-functions/_ecube | grep -qx '#compdef ecube' || fail "zsh's completion"
    touch prefix/share/man/man1/other.1
    sh "$source_tree/scripts/install.sh" --remove "$PWD/prefix" || fail "uninstall fails"
    [ "$(find prefix -type f)" = prefix/share/man/man1/other.1 ] || fail "left: $(find prefix)"
}

# What make cluster and make mpi make is installed where it has been made: the agent beside what only the tool calls.
far_programs() {
    mkdir made
    ln -s "$build"/* made/
    rm -f made/ecube-agent made/ecube-sim-mpi
    sh "$source_tree/scripts/install.sh" "$PWD/made" "$board" "$PWD/prefix" >/dev/null || fail "install fails"
    [ -z "$(find prefix -path '*/bin/ecube-sim-mpi' -o -path '*/lib/ecube/ecube-agent')" ] || fail "what has not been made: $(find prefix -name 'ecube-*')"
    for name in ecube-agent ecube-sim-mpi; do
        if [ -f "$build/$name" ]; then ln -s "$build/$name" made/; else printf '#!/bin/sh\necho agent\n' >"made/$name"; fi
    done
    sh "$source_tree/scripts/install.sh" "$PWD/made" "$board" "$PWD/prefix" >/dev/null || fail "install fails"
    [ -x prefix/bin/ecube-sim-mpi ] && [ -x prefix/lib/ecube/ecube-agent ] || fail "they are not installed"
    removes
}

# The agent finds the nodes' kernel where the tool does.
far_agent_runs() {
    [ -f "$build/ecube-agent" ] || return 0
    installs
    umask 077
    printf %064d 7 >key
    ECUBE_RANK=0 ECUBE_SIZE=1 ECUBE_ROOT=127.0.0.1:$((10000 + $$ % 20000)) timeout 60 prefix/bin/ecube agent --key-file key --network cube:1 -q \
        prefix/lib/ecube/examples/hello.elf >out 2>err || { cat err; fail "ecube agent"; }
    [ "$(grep -c 'hello from node' out)" -eq 2 ] || { cat out; fail "hello's output"; }
}

# copies_examples - as the Makefile's head says, to a folder of another name.
copies_examples() {
    installs
    cp -R prefix/share/ecube/examples mine
    cd mine || exit 1
}

# Without the options of the make that runs the tests.
remake() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make "$@" >log 2>&1 || { cat log; fail "make $*"; }
}

examples_are_made() {
    copies_examples
    remake hello.elf stencil.elf jacobi.elf
    ! grep -q warning log || { cat log; fail "a warning"; }
    ecube run --network cube:1 hello.elf >out 2>err || { cat err; fail "hello"; }
    [ "$(grep -c 'hello from node' out)" -eq 2 ] || { cat out; fail "hello's output"; }
    ecube run --network ring:2 stencil.elf >out 2>err || { cat err; fail "stencil"; }
    # One of one's own, beside the Makefile.
    printf '#include <ecube.h>\n#include <stdio.h>\nint main(void) { return puts("mine") < 0; }\n' >own.c
    remake own.elf
    ecube run --network cube:0 own.elf | grep -q mine || fail "own.elf"
    cd .. && removes
}

native_examples_are_made() {
    copies_examples
    remake hello.so
    ecube sim --network cube:4 ./hello.so >out 2>err || { cat err; fail "hello"; }
    [ "$(grep -c 'hello from node' out)" -eq 16 ] || { cat out; fail "hello's output"; }
}

# Each that the tree has, but those of this computer (examples/data).
all_examples_are_made() {
    copies_examples
    remake
    for program in "$build"/examples/*.elf; do
        [ -f "$(basename "$program")" ] || fail "there is no $(basename "$program")"
    done
    remake clean
    [ -z "$(find . -name '*.elf')" ] || fail "make clean leaves programs"
}

check "man pages and completion are installed, and removed without those of others" pages_and_completion
check "what make cluster and make mpi make is installed when it has been made, and only then" far_programs
check "an installed ecube agent runs programs" far_agent_runs
check "installed examples are made and run, and a program beside them" examples_are_made
check_native "installed examples are made for the simulator" native_examples_are_made
# Thirty programs are compiled.
check_long "all examples are made against the installed tree" all_examples_are_made
cases_done
