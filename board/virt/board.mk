# The board `virt`: its processor, its devices and its QEMU command; included by the Makefile.

include arch/armv7a/arch.mk

# Drivers of its devices; of semihosting, for tests and benches only.
BOARD_DRIVERS := $(addprefix drivers/interrupt/,gic.c gicv2m.c msix.c) \
	$(addprefix drivers/link/,shared_memory_link.c shared_ring.c virtio_queue.c virtio_serial.c virtio_stage.c) \
	drivers/pci/pci.c drivers/timer/generic_timer.c drivers/semihosting.c

QEMU := qemu-system-arm
# One processor, and room for a second that never comes: so QEMU keeps memory barriers (README.md). Virtio 1.0 registers.
QEMU_MACHINE := -M virt,highmem=off,gic-version=2,acpi=off -cpu cortex-a15 -smp 1,maxcpus=2 -m 72 -accel tcg,tb-size=16 -global virtio-mmio.force-legacy=false
QEMU_QUIET := -display none -nodefaults -no-user-config
# What every node, test image and bare image is started with. A node's links follow: description.c.
QEMU_OPTIONS := $(QEMU_MACHINE) $(QEMU_QUIET)
# Tests and benches only: exit code, command line and result line of an image.
QEMU_SEMIHOSTING := -semihosting-config enable=on,target=native
