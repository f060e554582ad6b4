/*
 * msix.h - a PCI device's interrupts as messages: a write of `data` to `address`.
 *
 * Errors   E_LINK_DEAD: the device has no such vector
 * Context  kernel at boot, behind pci_enable
 * Source   PCI Local Bus Specification 3.0, 6.8.2 (MSI-X)
 */
#pragma once

#include <stdint.h>

#include "drivers/pci/pci.h"

/* Vector 0 of the device sends this message from now on. */
int msix_enable(const struct pci_device *device, uint32_t address, uint32_t data);
