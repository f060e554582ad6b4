#include "drivers/interrupt/gicv2m.h"

#include "drivers/mmio.h"

enum { MSI_TYPER = 0x008, TYPER_FIRST_SHIFT = 16, TYPER_FIELD = 0x3ff, MSI_SETSPI = 0x040 };

uint32_t gicv2m_first(uintptr_t frame)
{
    uint32_t typer = mmio_read32(frame + MSI_TYPER);

    return (typer & TYPER_FIELD) == 0 ? 0 : typer >> TYPER_FIRST_SHIFT & TYPER_FIELD;
}

uint32_t gicv2m_address(uintptr_t frame)
{
    return (uint32_t)frame + MSI_SETSPI;
}
