#!/bin/sh
# check-rooms.sh BUILD - the rules of layout that a machine can check; names every place that breaks one.
#
# Rooms include only rooms below them; only board/ names a board or its addresses; network, reduction, router, collectives, node and controller have no mutable state at file scope
# and no #if;
# only wire/ knows where numbers lie in packets; every header can be included first, the public ones in C++ too; every
# source is listed in the Makefile.
set -eu
build=$1
cd "$(dirname "$0")/.."

sources=$(find board linker arch drivers wire network reduction router collectives planner node controller trace boot include lib sim jtag host examples models tests bench papers \
    fuzz \( -name '*.[chS]' -o -name '*.pml' \) | sort)

# shellcheck disable=SC2086 -- the list is meant to split
broken=$(
    awk '
    BEGIN {
        # folder: what it may include beside itself, as path prefixes; what is not listed has the rule of the folder above
        may["board"] = "board/ arch/ drivers/"
        may["linker"] = "board/"
        may["arch"] = "drivers/check.h arch/"
        may["arch/armv7a/host"] = may["arch/x86_64/host"] = "drivers/check.h arch/processor.h" # what the tool knows of a processor: pure
        may["arch/armv7a/library"] = may["arch/x86_64/library"] = "arch/ include/ecube/ lib/portable/ lib/newlib/arguments.h lib/check/check.h lib/check/remembered.h" # in programs
        may["drivers"] = ""
        may["drivers/pci"] = may["drivers/timer"] = DRIVER = "drivers/check.h drivers/mmio.h drivers/status.h"
        may["drivers/interrupt"] = DRIVER " drivers/pci/"
        may["drivers/link"] = DRIVER " drivers/pci/ drivers/interrupt/"
        may["wire"] = "drivers/crc_word.h wire/crc.h include/ecube/abi.h" # the most pieces of an output
        may["network"] = ""
        may["reduction"] = "drivers/check.h include/ecube/abi.h"
        DRIVEN = "drivers/check.h drivers/status.h drivers/link/link.h"
        may["router"] = "wire/frame.h wire/crc.h wire/packet.h wire/circuit.h wire/record.h include/ecube/abi.h network/ " DRIVEN
        may["collectives"] = "wire/ network/ router/ reduction/ include/ecube/abi.h " DRIVEN
        may["node"] = "wire/ network/ router/ reduction/ collectives/ include/ecube/abi.h " DRIVEN
        PLANNED = "wire/ network/ reduction/ router/clock.h collectives/operation.h collectives/plan.h include/ecube/abi.h drivers/check.h drivers/status.h"
        may["planner"] = PLANNED
        may["planner/proof"] = PLANNED " planner/planner.h planner/build.h"
        may["planner/algorithms"] = PLANNED " planner/planner.h planner/build.h planner/proof/link_load.h" # what no exchange does without
        may["planner/output"] = may["planner/written"] = PLANNED " planner/planner.h planner/build.h planner/proof/"
        may["planner/choose"] = PLANNED " planner/planner.h planner/build.h planner/proof/ planner/algorithms/ planner/written/"
        may["controller"] = "wire/ network/ router/ reduction/ collectives/operation.h planner/planner.h include/ecube/abi.h " DRIVEN
        may["boot"] = "wire/ router/ collectives/ node/ board/platform.h arch/ include/ecube/abi.h " DRIVEN
        may["include"] = ""
        may["lib"] = "include/ecube/ lib/portable/ wire/run.h wire/output.h wire/finding.h"
        may["trace"] = "wire/ network/ router/clock.h collectives/operation.h drivers/check.h drivers/status.h include/ecube/abi.h"
        may["sim"] = "trace/ wire/ network/ router/ reduction/ collectives/ planner/ node/ controller/ sim/ include/ecube/ arch/x86_64/division.h arch/x86_64/fiber.h drivers/crc_word.h " DRIVEN
        may["sim/parallel"] = DRIVEN " wire/"
        may["jtag/core"] = may["jtag/socket"] = "drivers/check.h"
        may["jtag/chain"] = "drivers/check.h jtag/core/"
        may["jtag/stub"] = "drivers/check.h jtag/core/ jtag/socket/"
        may["jtag/daemon"] = "drivers/check.h jtag/"
        HOSTED = "trace/ wire/ network/ router/ reduction/ controller/ collectives/operation.h planner/planner.h include/ecube/ drivers/status.h drivers/check.h host/console/ arch/processor.h arch/armv7a/host/"
        may["host/console"] = HOSTED
        may["host/computer"] = HOSTED " drivers/link/shared_memory_layout.h board/description.h"
        may["host/profile"] = HOSTED " host/computer/"
        may["host/links"] = HOSTED " host/computer/ drivers/link/"
        may["host/program"] = HOSTED " host/computer/"
        may["host/job"] = HOSTED " host/computer/ host/program/"
        may["host/machine"] = HOSTED " host/computer/ host/profile/ host/program/ host/job/ host/links/ drivers/link/shared_memory_layout.h jtag/daemon/notice.h host/debug/rsp_client.h"
        may["host/command"] = HOSTED " host/computer/ host/profile/ host/program/ host/job/ host/machine/ planner/algorithms/candidates.h"
        may["host/plan"] = HOSTED " host/computer/ host/command/ host/profile/ host/report/ planner/"
        may["host/report"] = HOSTED " host/computer/ host/command/"
        may["host/sim"] = HOSTED " host/computer/ host/profile/ host/program/ host/job/ host/command/ host/plan/ host/report/ sim/"
        may["host/sim_mpi"] = HOSTED " host/computer/ host/command/ host/sim/ sim/parallel/"
        may["host/debug"] = HOSTED " host/computer/ host/command/ host/machine/ jtag/stub/rsp.h"
        may["host/bench"] = HOSTED " host/"
        may["host/cluster"] = HOSTED " host/"
        may["host/verbs"] = HOSTED " host/"
        may["examples"] = "include/ecube/ examples/words.h"
        may["models"] = "drivers/check.h network/ collectives/ planner/ include/ecube/"
        may["tests"] = may["bench"] = may["fuzz"] = may["papers"] = "any"
        may["tests/judge"] = "include/ecube/abi.h"
        # Numbers in bytes that are no packet: whose, by file. Everything else reads and writes through wire/.
        bytes_of["host/debug/core.c"] = "notes of an ELF core"
        bytes_of["arch/armv7a/host/page_table.c"] = bytes_of["tests/arch/page_table_test.c"] = "page tables of a processor"
        bytes_of["arch/armv7a/host/processor.c"] = bytes_of["tests/arch/processor_test.c"] = "code of a program"
        bytes_of["host/program/unwind.c"] = bytes_of["tests/host/unwind_test.c"] = "code and stack of a program"
        bytes_of["tests/wire/wire_test.c"] = bytes_of["tests/wire/load_test.c"] = "what wire/ writes"
        freestanding = " <stdbool.h> <stddef.h> <stdint.h> <string.h> "
    }

    function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text }

    function allowed(folder, header,    count, list, i) {
        if (index(header, folder "/") == 1) return 1
        while (!(folder in may) && sub(/\/[^\/]*$/, "", folder)) { }
        if (may[folder] == "any") return 1
        count = split(may[folder], list, " ")
        for (i = 1; i <= count; i++) if (index(header, list[i]) == 1) return 1
        return 0
    }

    FNR == 1 {
        split(FILENAME, part, "/")
        room = part[1]
        folder = FILENAME
        sub(/\/[^\/]*$/, "", folder)
        packets = room != "wire" && room != "jtag" && room != "bench" && !(FILENAME in bytes_of)
        pure = (room == "wire" || room == "network" || room == "reduction" || room == "router" || room == "collectives" || room == "node" || room == "controller") && FILENAME !~ /^wire\/gen\/|^network\/(embedding_)?text[.]/
    }
    /^#include "/ && FILENAME !~ /[.]pml$/ { # Spin reads the files of a model from one directory
        split($0, quoted, "\"")
        header = quoted[2]
        if (header == "board.h") header = "board/" # of the board that is made
        # public headers are installed: they find each other by bare name
        if (room == "include" && header !~ /\//) header = "include/ecube/" header
        if (header !~ /\//) complain("include from the root: \"" header "\"")
        else if (header == "wire/bytes.h" && (FILENAME in bytes_of)) next
        else if (header == "wire/bytes.h" && packets) complain("only wire/ reads and writes numbers in packets")
        else if (!allowed(folder, header)) complain(folder "/ may not include " header)
    }
    /^#include </ {
        words = FILENAME == "controller/words.c" || FILENAME == "controller/download.c"
        if (pure && index(freestanding, " " $2 " ") == 0 && !(words && $2 == "<stdio.h>")) complain(room "/ may not include " $2)
        if (FILENAME ~ /board[.]h$/) complain("board.h may not include " $2)
    }
    pure && /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)/ { complain("#if in " room "/") }
    packets && /(^|[^A-Za-z0-9_])(get|put)(16|32|64)\(/ { complain("only wire/ reads and writes numbers in packets") }
    packets && /(^|[^A-Za-z0-9_.>])(packet|body|open)(\[[0-9]| [+] [0-9])/ && FILENAME !~ /^(fuzz\/relay_fuzz|host\/debug\/rsp_client|tests\/jtag\/(stub|emulator)_test)[.]/ {
        complain("only wire/ knows what lies where in a packet") # the four above: those of debuggers are text
    }
    /TODO|FIXME/ { complain("a limit belongs in the README") }
    /[ \t]+$/ { complain("space at the end of the line") }
    ' $sources

    # A board is known by its folder alone: its name and its addresses stand nowhere else. A multiple of 16 MiB is
    # an address of many.
    boards=$(for folder in board/*/; do basename "$folder"; done | paste -sd '|')
    addresses=$(sed -nE 's/^#define BOARD_[A-Z_0-9]+ +(0x[0-9a-f]{8})\>.*/\1/p' board/*/board.h | grep -vE '^0x..000000$' | sort -u | paste -sd '|')
    # shellcheck disable=SC2046,SC2086 -- the lists are meant to split
    grep -nwE "$boards|$addresses" Makefile lib/ecube-cc scripts/*.sh tests/system/*.sh $(echo "$sources" | grep -v '^board/') |
        grep -v '^Makefile:[0-9]*:BOARD ?= ' | sed 's/$/   (only in board\/)/'

    # A file-scope variable that can change shows up in an object as data, bss or common.
    for object in "$build"/tool/wire/*.o "$build"/tool/network/network.o "$build"/tool/reduction/*.o "$build"/tool/router/*.o "$build"/tool/collectives/*.o "$build"/tool/node/*.o "$build"/tool/controller/*.o; do
        nm "$object" |
            awk -v object="$object" '$(NF - 1) ~ /^[bBdDcCgGsS]$/ { print object ": mutable state: " $NF }'
    done

    # What programs include stands in tools of others as well, which may be C++.
    if command -v clang >/dev/null; then
        printf '#include "ecube.h"\nint main() { return ecube_error_text(0)[ecube_rank()]; }\n' |
            clang -x c++ -Wall -Wextra -Werror -Wno-unused-function -Iinclude/ecube -S -o - - 2>&1 |
            grep -q 'call.*[^a-z]ecube_error_text\(@PLT\)*$' || echo "include/ecube: does not compile as C++, or names are mangled"
    fi

    listed=$(
        awk '{ line = $0; continued = sub(/\\$/, "", line); text = text " " line }
            !continued {
                while (match(text, /[(]call in,[^(),]*,[^()]*[)]/)) {
                    count = split(substr(text, RSTART + 9, RLENGTH - 10), part, /[ \t,]+/)
                    for (i = 2; i <= count; i++) print part[1] "/" part[i]
                    text = substr(text, RSTART + RLENGTH)
                }
                text = ""
            }
            { count = split(line, part, /[ \t,()$]+/); for (i = 1; i <= count; i++) if (part[i] ~ /[.][cS]$/) print part[i] }' Makefile
        # a board and an architecture say themselves what is theirs
        for makefile in board/*/board.mk arch/*/arch.mk; do
            tr '\\\n' '  ' <"$makefile" | grep -o '(addprefix [^()]*)' | tr -d '()' |
                awk '{ sub(/^addprefix /, ""); split($0, half, ","); count = split(half[2], file, " ")
                    for (i = 1; i <= count; i++) print half[1] file[i] }'
            grep -o '[a-z0-9/_]*[.][cS]\>' "$makefile"
        done
    )
    for source in $sources; do
        case $source in
        host/cluster/*.h) [ -e /usr/include/gnutls/gnutls.h ] || continue ;;
        esac
        case $source in
        *.h)
            echo "#include \"$source\"" |
                ${CC:-gcc} -std=c11 -Wall -Wextra -Werror -I. -D_GNU_SOURCE -fsyntax-only -x c - 2>/dev/null ||
                echo "$source: does not compile by itself"
            ;;
        *.pml | linker/* | board/*/platform.c | board/*/description.c) ;;
        *) echo "$listed" | grep -qx "$source" || echo "$source: not listed in the Makefile" ;;
        esac
    done
)
if [ -n "$broken" ]; then
    echo "$broken"
    exit 1
fi
echo "rooms and state: in order"
