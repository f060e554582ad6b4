/*
 * stub_run.h - what a debugger takes that speaks with the emulator's own stub: the yardstick of
 * debugger.h.
 *
 * Source   GDB manual, appendix E (remote protocol); QEMU 7.2 gdbstub.c
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stub_figures {
    double halt_ms, resume_ms, reset_ms;
    double read_kbs, load_kbs, verify_kbs;
    double program_ms; /* what load_kbs says of all bytes */
};

/* One node with a kernel and no links. `address`: where `bytes` bytes of memory are free. False
 * after a message on stderr. */
bool stub_run(const char *build, const char *qemu, uint32_t address, uint32_t bytes,
              struct stub_figures *figures);
