/*
 * pci.h - devices on bus 0 of a PCI Express host: finding one, placing its memory, turning it on.
 *
 * Units    bytes; byte offsets in configuration space
 * Errors   PCI_NO_DEVICE; 0 for a capability that there is not
 * Context  kernel at boot, interrupts masked
 * Source   PCI Local Bus Specification 3.0: 6.1 (header), 6.2.5 (base addresses), 6.7
 *          (capabilities); PCI Express Base 2.0: 7.2.2 (ECAM)
 */
#pragma once

#include <stdint.h>

enum { PCI_NO_DEVICE = 0xffffffff, PCI_BARS = 6 };

struct pci_host {
    uintptr_t ecam;              /* of bus 0 */
    uint32_t window, window_end; /* bus addresses that memory of devices may take; it moves on */
};

struct pci_device {
    uintptr_t config;        /* its configuration space */
    uint32_t bars[PCI_BARS]; /* where each lies; 0: there is none */
};

/* Finds the first device with this identity (device << 16 | vendor) and returns its slot. */
uint32_t pci_find(const struct pci_host *host, uint32_t identity, struct pci_device *device);

/* Gives each memory region of the device a place in the window, then lets it answer there, and
 * write to memory. */
void pci_enable(struct pci_host *host, struct pci_device *device);

/* Where a capability of the device lies in its configuration space. */
uint32_t pci_capability(const struct pci_device *device, uint32_t number);

uint32_t pci_read(const struct pci_device *device, uint32_t offset);
void pci_write(const struct pci_device *device, uint32_t offset, uint32_t value);
