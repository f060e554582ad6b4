# Compiler, CPU flags and QEMU command line of the board `virt`; included by the Makefile.

CROSS := arm-none-eabi-

# The kernel is soft-float: it never touches a floating-point register, so a system call saves none.
KERNEL_FLAGS := -mthumb -march=armv7-a -mfloat-abi=soft
# Programs are hard-float. No hardware divide: the library's division traps on zero, which UDIV would not.
PROGRAM_FLAGS := -mthumb -march=armv7-a+fp -mfloat-abi=hard

# Optimised over all files: under emulation a call from page to page and its return cost as much as ten instructions.
KERNEL_LTO := -O2 -flto=auto
KERNEL_LINK := $(KERNEL_LTO) -nostartfiles -Wl,--gc-sections -Wl,-z,max-page-size=4096 -Wl,--build-id=none

QEMU := qemu-system-arm
# One processor, and room for a second that never comes: so QEMU keeps memory barriers (README.md). Virtio 1.0 registers.
QEMU_MACHINE := -M virt,highmem=off,gic-version=2,acpi=off -cpu cortex-a15 -smp 1,maxcpus=2 -m 64 -accel tcg,tb-size=16 -global virtio-mmio.force-legacy=false
QEMU_QUIET := -display none -nodefaults -no-user-config
# What every node, test image and bare image is started with. A node's links follow, see drivers/link/virtio_serial.h.
QEMU_OPTIONS := $(QEMU_MACHINE) $(QEMU_QUIET)
# Tests and benches only: exit code, command line and result line of an image.
QEMU_SEMIHOSTING := -semihosting-config enable=on,target=native
