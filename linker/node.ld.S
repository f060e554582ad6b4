/*
 * node.ld.S - where the kernel lies: preprocessed with board.h.
 *
 * Text, read-only data and data start on pages of their own, so that the MMU can give each its
 * rights. .bss and .noinit are in no load segment: QEMU would otherwise write zeros to all of it in
 * every node; start.S clears .bss.
 *
 *   text | rodata | data | bss | guard page, kernel stack, fault stack | noinit (link buffers)
 */
#include "board.h"

#define PAGE_BYTES 4096
#define STACK_BYTES 16384
#define FAULT_STACK_BYTES 8192

OUTPUT_FORMAT("elf32-littlearm")
OUTPUT_ARCH(arm)
ENTRY(_start)

PHDRS
{
    text PT_LOAD FLAGS(5);
    rodata PT_LOAD FLAGS(4);
    data PT_LOAD FLAGS(6);
}

SECTIONS
{
    . = BOARD_KERNEL_BASE;
    kernel_text_start = .;
    .text : {
        KEEP(*(.vectors))
        *(.text .text.*)
        *(.glue_7 .glue_7t .vfp11_veneer .v4_bx)
    } :text

    . = ALIGN(PAGE_BYTES);
    kernel_rodata_start = .;
    .rodata : {
        *(.rodata .rodata.*)
        *(.ARM.extab* .ARM.exidx*)
        . = ALIGN(8);
    } :rodata

    . = ALIGN(PAGE_BYTES);
    kernel_data_start = .;
    .data : {
        *(.data .data.*)
        . = ALIGN(8);
    } :data

    .bss (NOLOAD) : {
        . = ALIGN(8);
        kernel_bss_start = .;
        *(.bss .bss.* COMMON)
        . = ALIGN(8);
        kernel_bss_end = .;
    } :NONE

    .stack (NOLOAD) : {
        . = ALIGN(PAGE_BYTES);
        kernel_guard_start = .;
        . += PAGE_BYTES;
        . += STACK_BYTES;
        kernel_stack_top = .;
        . += FAULT_STACK_BYTES;
        kernel_fault_stack_top = .;
    } :NONE

    .noinit (NOLOAD) : {
        . = ALIGN(64);
        *(.noinit .noinit.*)
        . = ALIGN(PAGE_BYTES);
    } :NONE
    kernel_end = .;

    ASSERT(kernel_end <= BOARD_KERNEL_BASE + BOARD_KERNEL_BYTES, "the kernel outgrows its region")

    /DISCARD/ : {
        *(.comment .note .note.* .init .fini .init_array .fini_array .eh_frame)
    }
}
