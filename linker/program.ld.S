/*
 * program.ld.S - a node program: image at the start of its memory, then bss; the heap follows, as
 * the kernel says.
 *
 * Not position-independent: every node gives a program the same addresses.
 *
 *   code (entry first) | constants | data | bss | heap
 *
 * Code, constants and data have a segment each and begin on pages, because the kernel gives each
 * its rights (host/program/image.c reads where they end). What is left of the last page of code is
 * filled with undefined instructions: who jumps there goes no farther.
 */
#include "board.h"

#define PAGE_BYTES 4096
#define UNDEFINED 0xdededede /* twice udf #0xde in Thumb code */

OUTPUT_FORMAT("elf32-littlearm")
OUTPUT_ARCH(arm)
ENTRY(_start)

/* The trap of a division by zero, before the C compiler's library brings its own empty one. */
EXTERN(__aeabi_idiv0 __aeabi_ldiv0)

MEMORY
{
    image (rwx) : ORIGIN = BOARD_IMAGE_BASE, LENGTH = BOARD_PROGRAM_END - BOARD_IMAGE_BASE
}

PHDRS
{
    code PT_LOAD FLAGS(5);
    constants PT_LOAD FLAGS(4);
    data PT_LOAD FLAGS(6);
    tls PT_TLS;
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

    .rodata : { *(.rodata .rodata.* .gnu.linkonce.r.*) } > image :constants
    .ARM.extab : { *(.ARM.extab .ARM.extab.*) } > image :constants

    .ARM.exidx :
    {
        __exidx_start = .;
        *(.ARM.exidx .ARM.exidx.*)
        __exidx_end = .;
    } > image :constants

    .init_array : ALIGN(8)
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
    } > image :constants

    .data : ALIGN(PAGE_BYTES)
    {
        *(.data .data.* .gnu.linkonce.d.*)
        . = ALIGN(8);
    } > image :data

    /* The one thread's variables lie where they are linked. .tbss takes no room: .bss holds it. */
    .tdata : ALIGN(8)
    {
        *(.tdata .tdata.* .gnu.linkonce.td.*)
        . = ALIGN(8);
    } > image :data :tls

    .tbss : ALIGN(8) { *(.tbss .tbss.* .gnu.linkonce.tb.* .tcommon) } > image :data :tls

    /* Run-time ABI for the Arm Architecture, 6.3: two words, or more for alignment, lie before. */
    program_thread = (SIZEOF(.tdata) ? ADDR(.tdata) : ADDR(.tbss)) -
                     MAX(8, MAX(ALIGNOF(.tdata), ALIGNOF(.tbss)));

    .bss (NOLOAD) : ALIGN(8)
    {
        program_bss_start = .;
        . += SIZEOF(.tbss) + ALIGNOF(.tbss);
        *(.bss .bss.* .gnu.linkonce.b.* COMMON)
        . = ALIGN(8);
        program_bss_end = .;
    } > image :data

    end = .;

    /DISCARD/ : { *(.note.gnu.build-id) *(.init) *(.fini) }
}
