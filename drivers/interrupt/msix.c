#include "drivers/interrupt/msix.h"

#include "drivers/mmio.h"
#include "drivers/status.h"

enum {
    CAPABILITY = 0x11,
    CONTROL_ENABLE = 1u << 31, /* of the capability's first word */
    TABLE = 4,                 /* which region, in three bits, and where in it */
    TABLE_BAR = 7,
    ENTRY_ADDRESS = 0,
    ENTRY_ADDRESS_HIGH = 4,
    ENTRY_DATA = 8,
    ENTRY_CONTROL = 12 /* bit 0: masked */
};

int msix_enable(const struct pci_device *device, uint32_t address, uint32_t data)
{
    uint32_t at = pci_capability(device, CAPABILITY), table, bar;

    if (at == 0) {
        return E_LINK_DEAD;
    }
    table = pci_read(device, at + TABLE);
    bar = table & TABLE_BAR;
    if (bar >= PCI_BARS || device->bars[bar] == 0) {
        return E_LINK_DEAD;
    }
    table = device->bars[bar] + (table & ~(uint32_t)TABLE_BAR);
    mmio_write32(table + ENTRY_ADDRESS, address);
    mmio_write32(table + ENTRY_ADDRESS_HIGH, 0);
    mmio_write32(table + ENTRY_DATA, data);
    mmio_write32(table + ENTRY_CONTROL, 0);
    pci_write(device, at, pci_read(device, at) | CONTROL_ENABLE);
    return E_OK;
}
