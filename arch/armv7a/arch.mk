# Compiler, CPU flags and sources of 32-bit ARMv7-A; included by a board's board.mk.

CROSS := arm-none-eabi-

# The kernel is soft-float: it never touches a floating-point register, so a system call saves none.
KERNEL_FLAGS := -mthumb -march=armv7-a -mfloat-abi=soft
# Programs are hard-float. No hardware divide: the library's division traps on zero, which UDIV would not. A thread's
# variables are found by library/thread.S, not by a register that nobody sets.
PROGRAM_FLAGS := -mthumb -march=armv7-a+fp -mfloat-abi=hard -mtp=soft

# Optimised over all files: under emulation a call from page to page and its return cost as much as ten instructions.
KERNEL_LTO := -O2 -flto=auto
KERNEL_LINK := $(KERNEL_LTO) -nostartfiles -Wl,--gc-sections -Wl,-z,max-page-size=4096 -Wl,--build-id=none

# Of the kernel and of every bare image; of the library that programs are linked with; of the checks; the start of a program.
ARCH_KERNEL := $(addprefix arch/armv7a/,copy.S mmu.c start.S trap.c)
ARCH_LIBRARY := $(addprefix arch/armv7a/library/,arguments.c call.S thread.S trap.S)
ARCH_CHECK := arch/armv7a/library/check.S
ARCH_START := arch/armv7a/library/crt0.S
