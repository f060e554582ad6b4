/*
 * gicv2m.h - the frame that makes messages of PCI devices interrupts of a GICv2.
 *
 * Units    interrupt identifiers
 * Errors   0: the frame has no interrupt
 * Context  kernel at boot
 * Source   ARM DEN 0029A, Server Base System Architecture 2.3, appendix E (GICv2m)
 */
#pragma once

#include <stdint.h>

/* The first interrupt that a message to the frame can raise, by a pulse: it must be
 * edge-triggered. */
uint32_t gicv2m_first(uintptr_t frame);

/* Where a device writes the number of an interrupt to raise it. */
uint32_t gicv2m_address(uintptr_t frame);
