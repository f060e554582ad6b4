/*
 * mmio.h - device registers and the order of memory accesses that a device can see.
 *
 * Context  any
 * Source   ARM DDI 0406C, A3.8.3 (DMB, DSB)
 */
#pragma once

#include <stdint.h>

static inline uint32_t mmio_read32(uintptr_t address)
{
    return *(volatile uint32_t *)address;
}

static inline void mmio_write32(uintptr_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

static inline void mmio_write16(uintptr_t address, uint16_t value)
{
    *(volatile uint16_t *)address = value;
}

/* Everything before is visible to devices before anything after. On a host (tests) a full fence is
 * the same. */
static inline void mmio_barrier(void)
{
#if defined(__arm__)
    __asm__ volatile("dmb sy" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
