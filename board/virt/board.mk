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
QEMU_MACHINE := -M virt -cpu cortex-a15 -m 64 -accel tcg,tb-size=16
QEMU_QUIET := -display none -nodefaults -no-user-config
# Virtio 1.0 registers; one port per link follows as -chardev socket,id=cN,fd=K -device virtserialport,chardev=cN,nr=N
QEMU_SERIAL := -global virtio-mmio.force-legacy=false -device virtio-serial-device,max_ports=13
# Tests and benches only: exit code, command line and result line of an image.
QEMU_SEMIHOSTING := -semihosting-config enable=on,target=native
