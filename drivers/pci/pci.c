#include "drivers/pci/pci.h"

#include "drivers/check.h"
#include "drivers/mmio.h"

enum {
    SLOTS = 32,
    SLOT_BYTES = 1 << 15, /* eight functions of 4 KiB */
    IDENTITY = 0x00,
    COMMAND = 0x04, /* 16 bits; the status in the upper half is left as it is */
    COMMAND_MEMORY = 1 << 1,
    COMMAND_MASTER = 1 << 2, /* without it no message of the device arrives */
    STATUS_CAPABILITIES = 1 << 20,
    BAR = 0x10,
    BAR_IO = 1 << 0,
    BAR_64 = 1 << 2,
    BAR_FLAGS = 0xf,
    CAPABILITIES = 0x34,
    CAPABILITIES_MAX = 48 /* as many as fit behind the header */
};

uint32_t pci_read(const struct pci_device *device, uint32_t offset)
{
    return mmio_read32(device->config + offset);
}

void pci_write(const struct pci_device *device, uint32_t offset, uint32_t value)
{
    mmio_write32(device->config + offset, value);
}

uint32_t pci_find(const struct pci_host *host, uint32_t identity, struct pci_device *device)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        *device = (struct pci_device){.config = host->ecam + (uintptr_t)slot * SLOT_BYTES};
        if (pci_read(device, IDENTITY) == identity) {
            return slot;
        }
    }
    return PCI_NO_DEVICE;
}

/* A region says its size by the address bits that it does not take; it lies at a multiple of it. */
static void place(struct pci_host *host, struct pci_device *device, uint32_t bar)
{
    uint32_t offset = BAR + 4 * bar, mask, bytes, at;

    pci_write(device, offset, ~UINT32_C(0));
    mask = pci_read(device, offset) & ~(uint32_t)BAR_FLAGS;
    if (mask == 0) {
        return;
    }
    bytes = ~mask + 1;
    at = (host->window + bytes - 1) & mask;
    CHECK(at >= host->window && at < host->window_end && bytes <= host->window_end - at);
    pci_write(device, offset, at);
    device->bars[bar] = at;
    host->window = at + bytes;
}

void pci_enable(struct pci_host *host, struct pci_device *device)
{
    for (uint32_t bar = 0; bar < PCI_BARS; bar++) {
        uint32_t kind = pci_read(device, BAR + 4 * bar);

        if ((kind & BAR_IO) != 0) {
            continue;
        }
        place(host, device, bar);
        if ((kind & BAR_64) != 0 && ++bar < PCI_BARS) {
            pci_write(device, BAR + 4 * bar, 0); /* the upper half of the address */
        }
    }
    mmio_write16(device->config + COMMAND, COMMAND_MEMORY | COMMAND_MASTER);
}

uint32_t pci_capability(const struct pci_device *device, uint32_t number)
{
    uint32_t at = 0;

    if ((pci_read(device, COMMAND) & STATUS_CAPABILITIES) != 0) {
        at = pci_read(device, CAPABILITIES) & 0xfc;
    }
    for (uint32_t i = 0; at != 0 && i < CAPABILITIES_MAX; i++) {
        uint32_t header = pci_read(device, at);

        if ((header & 0xff) == number) {
            return at;
        }
        at = header >> 8 & 0xfc;
    }
    return 0;
}
