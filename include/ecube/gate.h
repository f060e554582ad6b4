/*
 * gate.h - what lies between a program that was compiled for this computer (ecube-cc --native) and
 * the simulator that runs it; for lib/ and for the simulator.
 *
 * Each rank has a window of 4 GiB, aligned to 4 GiB, in which its memory lies at the addresses that
 * it has on a node: so what the kernel calls an address is the lower half of a pointer.
 *
 *     window + stack    + image
 *            | stack    | code, constants | data, bss | what a load brings | heap |
 *
 * The file is an ELF shared object (ET_DYN), linked to the image's address with all symbols bound:
 * code and constants are one segment, which is read and executed, data another. What is left to be
 * relocated are words of 64 bits, in data: R_X86_64_RELATIVE, and R_X86_64_DTPMOD64, which becomes
 * 1. A note with the owner "ecube" says that the program is native, and whether it has the checks.
 *
 * The program begins at its entry as a function is called:
 *     void _start(const char *block, uint32_t block_bytes, struct ecube_gate *gate)
 * with the stack's top as that of its window. It does not return; the gate stays where it is.
 *
 * Context  x86-64; whoever calls through the gate may go on in another thread: nothing may be kept
 *          in thread-local storage of the simulator
 */
#pragma once

#include <stdint.h>

/* Type of the ELF note, of the owner "ecube", of a native program (wire/finding.h has that of one
 * with checks). */
enum { ECUBE_NOTE_NATIVE = 2 };

/* What a trap says, in its four words. */
enum ecube_trap {
    ECUBE_TRAP_SIGNAL = 1,  /* number of the signal */
    ECUBE_TRAP_ERROR = 2,   /* status, number of the call, address of its struct ecube_called */
    ECUBE_TRAP_FINDING = 3, /* list, count, all, at_end */
};

struct ecube_gate {
    /* A system call of abi.h; addresses are lower halves of pointers. Returns its result. */
    int32_t (*call)(struct ecube_gate *gate, uint32_t number, uint32_t first, uint32_t second,
                    uint32_t third);
    /* Ends the program; does not return. */
    void (*trap)(struct ecube_gate *gate, enum ecube_trap trap, const uint32_t words[4]);
};
