/*
 * trap_numbers.h - what assembly and C of this architecture must agree on: the frame that start.S
 * stores, the kinds of faults that it tells, and the immediates of UDF by which a program's library
 * traps.
 *
 * Read by the assembler, too.
 */
#pragma once

/* struct trap_frame, in bytes. */
#define FRAME_SP    52
#define FRAME_PC    60
#define FRAME_CPSR  64
#define FRAME_WORDS 17

/* Kinds of faults: as in enum fault_kind, wire/report.h. */
#define TRAP_KIND_DATA      1
#define TRAP_KIND_PREFETCH  2
#define TRAP_KIND_UNDEFINED 3

/* UDF #n of a program. */
#define TRAP_DIVIDE  236
#define TRAP_SIGNAL  237
#define TRAP_ERROR   238
#define TRAP_FINDING 239
