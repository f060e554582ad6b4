/*
 * native.ld.S - a program for this computer (ecube-cc --native): a shared object that lies in a
 * window at the addresses at which a node has it (include/ecube/gate.h).
 *
 *   code (entry first) | constants, tables of the linker || data | bss | heap
 *
 * Two segments: what is only read and executed, and what is written. All that is left to relocate
 * lies in the second. Whoever maps it gives it .bss clear, so there is none for the start to clear.
 */
#include "board.h"

#define PAGE_BYTES 4096
#define UNDEFINED 0xcccccccc /* int3 four times */

OUTPUT_FORMAT("elf64-x86-64")
OUTPUT_ARCH(i386:x86-64)
ENTRY(_start)

/* Nothing is seen from outside; what no one reaches is left out. */
VERSION { { local: *; }; }

MEMORY
{
    image (rwx) : ORIGIN = BOARD_IMAGE_BASE, LENGTH = BOARD_PROGRAM_END - BOARD_IMAGE_BASE
}

PHDRS
{
    code PT_LOAD FLAGS(5);
    data PT_LOAD FLAGS(6);
    dynamic PT_DYNAMIC FLAGS(6);
    note PT_NOTE FLAGS(4);
    tls PT_TLS FLAGS(4);
    stack PT_GNU_STACK FLAGS(6);
}

SECTIONS
{
    .text :
    {
        KEEP(*(.text.entry))
        *libecube*.a:*(.text .text.*)
        *libm.a:*(.text .text.*)
        *libc.a:*(.text .text.*)
        *libgcc.a:*(.text .text.*)
        program_own_code = .; /* what the user wrote: host/program/symbols.c */
        *(.text .text.* .gnu.linkonce.t.*)
        FILL(UNDEFINED)
        . = ALIGN(PAGE_BYTES);
    } > image :code
    program_code_end = .;

    .note.ecube : { KEEP(*(.note.ecube)) } > image :code :note
    .rodata : { *(.rodata .rodata.* .gnu.linkonce.r.*) } > image :code
    .dynsym : { *(.dynsym) } > image :code
    .dynstr : { *(.dynstr) } > image :code
    .gnu.hash : { *(.gnu.hash) } > image :code
    .hash : { *(.hash) } > image :code
    .gnu.version : { *(.gnu.version) } > image :code
    .gnu.version_d : { *(.gnu.version_d) } > image :code
    .rela.dyn : { *(.rela.*) } > image :code

    .init_array : ALIGN(PAGE_BYTES)
    {
        program_preinit_start = .;
        KEEP(*(.preinit_array))
        program_preinit_end = .;
        program_init_start = .;
        KEEP(*(SORT_BY_INIT_PRIORITY(.init_array.*)))
        KEEP(*(.init_array))
        program_init_end = .;
        program_fini_start = .;
        KEEP(*(SORT_BY_INIT_PRIORITY(.fini_array.*)))
        KEEP(*(.fini_array))
        program_fini_end = .;
    } > image :data

    .data.rel.ro : { *(.data.rel.ro .data.rel.ro.*) } > image :data
    .dynamic : { *(.dynamic) } > image :data :dynamic
    .got : { *(.got .got.plt) } > image :data

    .data : ALIGN(16)
    {
        *(.data .data.* .gnu.linkonce.d.*)
        . = ALIGN(8);
    } > image :data

    /* The one thread's variables lie where they are linked. .tbss takes no room: .bss holds it. */
    .tdata : ALIGN(16)
    {
        program_thread = .;
        *(.tdata .tdata.* .gnu.linkonce.td.*)
        . = ALIGN(8);
    } > image :data :tls

    .tbss : ALIGN(8) { *(.tbss .tbss.* .gnu.linkonce.tb.* .tcommon) } > image :data :tls

    .bss (NOLOAD) : ALIGN(16)
    {
        . += SIZEOF(.tbss) + ALIGNOF(.tbss);
        *(.bss .bss.* .gnu.linkonce.b.* COMMON)
        . = ALIGN(8);
    } > image :data
    program_bss_start = .;
    program_bss_end = .;

    end = .;

    /DISCARD/ : { *(.eh_frame .eh_frame_hdr .comment .note.gnu.* .interp) }
}
