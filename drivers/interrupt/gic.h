/*
 * gic.h - the interrupt controller: GICv2, one CPU, all interrupts at one priority; level-triggered
 * if not said otherwise.
 *
 * Context  kernel, interrupts masked
 * Errors   none
 * Source   ARM IHI 0048B, Generic Interrupt Controller architecture 2.0, sections 4.3 and 4.4
 */
#pragma once

#include <stdint.h>

enum { GIC_SPURIOUS_FIRST = 1020 }; /* from here on: no interrupt was pending */

struct gic {
    uintptr_t distributor;
    uintptr_t cpu;
};

void gic_init(const struct gic *gic);
void gic_enable(const struct gic *gic, uint32_t interrupt);

/* This interrupt is pending from a pulse on, until it is acknowledged or cleared. */
void gic_set_edge(const struct gic *gic, uint32_t interrupt);
void gic_clear_pending(const struct gic *gic, uint32_t interrupt);

/* The pending interrupt's number, now active, or GIC_SPURIOUS_FIRST and above; a real one must come
 * back through gic_end. */
uint32_t gic_acknowledge(const struct gic *gic);
void gic_end(const struct gic *gic, uint32_t interrupt);
