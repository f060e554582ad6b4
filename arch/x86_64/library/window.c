/*
 * window.c - addresses and pointers of a program on this computer: its memory lies in a window of
 * 4 GiB (include/ecube/gate.h), and so does this file's.
 */
#include <stdint.h>

#include "lib/portable/call.h"

enum {
    ADDRESS_BITS = 32,
    NO_ADDRESS = 4 /* no memory of a program: the kernel refuses it as a fault */
};

/* The upper half of every pointer of this program. */
static uintptr_t window(void)
{
    return (uintptr_t)&window >> ADDRESS_BITS << ADDRESS_BITS;
}

uint32_t ecube_window_address(uintptr_t pointer)
{
    return pointer == 0 || pointer - window() <= UINT32_MAX ? (uint32_t)pointer : NO_ADDRESS;
}

void *ecube_window_pointer(uint32_t address)
{
    return (void *)(window() + address);
}
