/*
 * board.h - QEMU's `virt` machine with a 32-bit Cortex-A15, 72 MiB of memory: integer macros only.
 *
 * Addresses and interrupt numbers: QEMU 7.2 hw/arm/virt.c (a15memmap, a15irqmap); see README.md.
 */
#pragma once

#define BOARD_RAM_BASE  0x40000000
#define BOARD_RAM_BYTES 0x04800000

/* Memory map of a node: one megabyte steps, the size of a first-level MMU section.
 *
 *   40000000 device tree (QEMU)     40900000 program: stack, grows down from 40a00000; what runs over
 *   40100000 kernel                          its top comes to memory that nobody uses, not to code
 *   40800000 unmapped guard         40b00000 program: image, data, heap ... 44000000
 *                                   44000000 records of what goes on
 *                                   44800000 links in shared memory, a megabyte each
 */
#define BOARD_KERNEL_BASE  0x40100000
#define BOARD_KERNEL_BYTES 0x00700000
#define BOARD_GUARD_BASE   0x40800000
#define BOARD_GUARD_BYTES  0x00100000
#define BOARD_STACK_BASE   0x40900000
#define BOARD_STACK_BYTES  0x00100000
#define BOARD_IMAGE_BASE   0x40b00000
#define BOARD_PROGRAM_END  0x44000000

#define BOARD_RECORD_BASE  0x44000000
#define BOARD_RECORD_BYTES 0x00800000

#define BOARD_LINK_MEMORY_BASE 0x44800000

#define BOARD_FLASH_BASE            0x00000000
#define BOARD_FLASH_BYTES           0x08000000
#define BOARD_GIC_DISTRIBUTOR       0x08000000
#define BOARD_GIC_DISTRIBUTOR_BYTES 0x1000
#define BOARD_GIC_CPU               0x08010000
#define BOARD_GIC_CPU_BYTES         0x2000
#define BOARD_UART                  0x09000000
#define BOARD_UART_BYTES            0x1000
#define BOARD_RTC                   0x09010000
#define BOARD_RTC_BYTES             0x1000
#define BOARD_FW_CFG                0x09020000
#define BOARD_FW_CFG_BYTES          0x18
#define BOARD_VIRTIO_MMIO_BASE      0x0a000000
#define BOARD_VIRTIO_MMIO_BYTES     0x4000
#define BOARD_VIRTIO_MMIO           0x0a003e00 /* the slot that QEMU gives to the first -device */
#define BOARD_VIRTIO_INTERRUPT      79
#define BOARD_TIMER_INTERRUPT       27         /* virtual timer, PPI 11 */
#define BOARD_GICV2M                0x08020000 /* makes messages of PCI devices interrupts */
#define BOARD_GICV2M_BYTES          0x1000
#define BOARD_PCI_ECAM              0x3f000000
#define BOARD_PCI_WINDOW            0x10000000 /* where devices are given their place */
#define BOARD_PCI_WINDOW_BYTES      0x00100000

#define BOARD_PLAN_BYTES 0x20000 /* for the plans of collectives */
#define BOARD_LINKS_MAX  9
