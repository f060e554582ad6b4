#!/bin/sh
# check-rooms.sh BUILD - the rules of layout that a machine can check; names every place that breaks one.
#
# Rooms include only rooms below them; network, reduction, router, collectives, node and controller have no mutable state at file scope
# and no #if;
# only wire/ knows where numbers lie in packets; every header can be included first, the public ones in C++ too; every
# source is listed in the Makefile.
set -eu
build=$1
cd "$(dirname "$0")/.."

sources=$(find board linker drivers wire network reduction router collectives node controller boot include lib sim jtag host examples models tests bench \
    fuzz \( -name '*.[chS]' -o -name '*.pml' \) | sort)

# shellcheck disable=SC2086 -- the list is meant to split
broken=$(
    awk '
    BEGIN {
        # room: what it may include, as path prefixes
        may["board"] = "-"
        may["linker"] = "board/"
        may["drivers"] = "drivers/"
        may["wire"] = "wire/ drivers/crc_word.h"
        may["network"] = "network/"
        may["reduction"] = "drivers/check.h include/ecube/abi.h reduction/"
        may["router"] = "wire/frame.h wire/crc.h wire/packet.h wire/circuit.h network/ drivers/ router/"
        may["collectives"] = "wire/ network/ drivers/ router/ reduction/ collectives/ include/ecube/abi.h"
        may["node"] = "wire/ network/ drivers/ router/ reduction/ collectives/ node/ include/ecube/abi.h"
        may["controller"] = "wire/ network/ drivers/ router/ reduction/ collectives/operation.h collectives/planner/planner.h include/ecube/abi.h controller/"
        may["boot"] = "wire/ drivers/ router/ collectives/ node/ boot/ board/ include/ecube/abi.h"
        may["include"] = "include/ecube/"
        may["lib"] = "include/ecube/ lib/ wire/run.h wire/finding.h"
        may["sim"] = "wire/ network/ drivers/ router/ reduction/ collectives/ node/ controller/ sim/ include/ecube/"
        may["jtag"] = "jtag/ drivers/check.h"
        may["host"] = "wire/ network/ jtag/rsp.h jtag/notice.h host/ sim/ drivers/ router/ controller/ include/ecube/ reduction/ collectives/operation.h collectives/planner/"
        may["examples"] = "include/ecube/ examples/"
        may["models"] = "drivers/ network/ collectives/ include/ecube/"
        may["tests"] = may["bench"] = may["fuzz"] = ""
        # Numbers in bytes that are no packet: whose, by file. Everything else reads and writes through wire/.
        bytes_of["host/core.c"] = "notes of an ELF core"
        bytes_of["host/page_table.c"] = bytes_of["tests/unit/page_table_test.c"] = "page tables of a processor"
        bytes_of["host/unwind.c"] = bytes_of["tests/unit/unwind_test.c"] = "code and stack of a program"
        bytes_of["tests/unit/wire_test.c"] = "what wire/ writes"
        freestanding = " <stdbool.h> <stddef.h> <stdint.h> <string.h> "
    }

    function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text }

    function allowed(room, header,    count, list, i) {
        if (may[room] == "") return 1
        count = split(may[room], list, " ")
        for (i = 1; i <= count; i++) if (index(header, list[i]) == 1) return 1
        return 0
    }

    FNR == 1 {
        split(FILENAME, part, "/")
        room = part[1]
        packets = room != "wire" && room != "jtag" && room != "bench" && !(FILENAME in bytes_of)
        pure = (room == "wire" || room == "network" || room == "reduction" || room == "router" || room == "collectives" || room == "node" || room == "controller") && FILENAME !~ /^(collectives|wire)\/gen\/|^collectives\/planner\/|^network\/text[.]/
    }
    /^#include "/ && FILENAME !~ /[.]pml$/ { # Spin reads the files of a model from one directory
        split($0, quoted, "\"")
        header = quoted[2]
        if (header == "board.h") header = "board/board.h"
        # public headers are installed: they find each other by bare name
        if (room == "include" && header !~ /\//) header = "include/ecube/" header
        if (header !~ /\//) complain("include from the root: \"" header "\"")
        else if (FILENAME == "host/target.c" && header == "board/virt/board.h") next # the nodes are this board
        else if (header == "wire/bytes.h" && (FILENAME in bytes_of)) next
        else if (header == "wire/bytes.h" && packets) complain("only wire/ reads and writes numbers in packets")
        else if (!allowed(room, header)) complain(room "/ may not include " header)
    }
    /^#include </ {
        words = FILENAME == "controller/words.c" || FILENAME == "controller/download.c"
        if (pure && index(freestanding, " " $2 " ") == 0 && !(words && $2 == "<stdio.h>")) complain(room "/ may not include " $2)
        if (room == "board") complain("board/ may not include " $2)
    }
    pure && /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)/ { complain("#if in " room "/") }
    packets && /(^|[^A-Za-z0-9_])(get|put)(16|32|64)\(/ { complain("only wire/ reads and writes numbers in packets") }
    packets && /(^|[^A-Za-z0-9_.>])(packet|body|open)(\[[0-9]| [+] [0-9])/ && FILENAME !~ /^(fuzz\/relay_fuzz|host\/rsp_client|tests\/unit\/(stub|emulator)_test)[.]/ {
        complain("only wire/ knows what lies where in a packet") # the four above: those of debuggers are text
    }
    /TODO|FIXME/ { complain("a limit belongs in the README") }
    /[ \t]+$/ { complain("space at the end of the line") }
    ' $sources

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

    for source in $sources; do
        case $source in
        *.h)
            echo "#include \"$source\"" |
                ${CC:-gcc} -std=c11 -Wall -Wextra -Werror -I. -Iboard/virt -D_GNU_SOURCE -fsyntax-only -x c - 2>/dev/null ||
                echo "$source: does not compile by itself"
            ;;
        *.pml | linker/*) ;;
        *) grep -q "$source" Makefile || echo "$source: not listed in the Makefile" ;;
        esac
    done
)
if [ -n "$broken" ]; then
    echo "$broken"
    exit 1
fi
echo "rooms and state: in order"
