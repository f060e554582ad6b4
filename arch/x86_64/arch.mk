# Flags and sources of what programs for this computer are made of (ecube-cc --native); included by the Makefile.

# What the simulator relies on: code that runs wherever it is mapped, no variable behind a register; a function makes a frame
# with its first instruction, by which its caller is found, or it has none at all.
# What makes a program compute and lay out its memory as on a node: char without sign, short enumerations, long double that
# is double, no multiplication fused with an addition.
NATIVE_FLAGS := -fPIC -fvisibility=hidden -ftls-model=global-dynamic -fcf-protection=none -fno-stack-protector \
	-fno-omit-frame-pointer -fno-shrink-wrap -fno-schedule-insns2 -fno-reorder-blocks-and-partition \
	-fno-asynchronous-unwind-tables -funsigned-char -fshort-enums -mlong-double-64 -ffp-contract=off
# The C library as the nodes have it: the mathematics that ARM processors with double precision get.
NEWLIB_FLAGS := -O2 -ffunction-sections -fdata-sections -fno-builtin -w -D__OBSOLETE_MATH_DEFAULT=0 $(NATIVE_FLAGS)

# Of the library that programs are linked with; of the checks; the start of a program; what is read before each source.
NATIVE_LIBRARY := $(addprefix arch/x86_64/library/,arguments.c call.c memory.c thread.c window.c)
NATIVE_CHECK := arch/x86_64/library/check.S
NATIVE_START := arch/x86_64/library/start.S
NATIVE_MACROS := arch/x86_64/library/node_macros.h
