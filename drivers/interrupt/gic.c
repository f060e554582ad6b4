#include "drivers/interrupt/gic.h"

#include "drivers/mmio.h"

enum {
    GICD_CTLR = 0x000,
    GICD_ISENABLER = 0x100, /* one bit per interrupt */
    GICD_ICPENDR = 0x280,   /* ... */
    GICD_ICFGR = 0xc00,     /* two bits, of which the upper one says: edge */
    ICFGR_EDGE = 2,
    GICC_CTLR = 0x000,
    GICC_PMR = 0x004,
    GICC_IAR = 0x00c,
    GICC_EOIR = 0x010,
    CTLR_ENABLE = 1,
    PMR_ALL = 0xff,
    IAR_INTERRUPT = 0x3ff
};

void gic_init(const struct gic *gic)
{
    mmio_write32(gic->distributor + GICD_CTLR, CTLR_ENABLE);
    mmio_write32(gic->cpu + GICC_PMR, PMR_ALL);
    mmio_write32(gic->cpu + GICC_CTLR, CTLR_ENABLE);
}

void gic_enable(const struct gic *gic, uint32_t interrupt)
{
    mmio_write32(gic->distributor + GICD_ISENABLER + 4 * (interrupt / 32), 1u << interrupt % 32);
}

void gic_set_edge(const struct gic *gic, uint32_t interrupt)
{
    uintptr_t at = gic->distributor + GICD_ICFGR + 4 * (interrupt / 16);

    mmio_write32(at, mmio_read32(at) | (uint32_t)ICFGR_EDGE << 2 * (interrupt % 16));
}

void gic_clear_pending(const struct gic *gic, uint32_t interrupt)
{
    mmio_write32(gic->distributor + GICD_ICPENDR + 4 * (interrupt / 32), 1u << interrupt % 32);
}

uint32_t gic_acknowledge(const struct gic *gic)
{
    return mmio_read32(gic->cpu + GICC_IAR) & IAR_INTERRUPT;
}

void gic_end(const struct gic *gic, uint32_t interrupt)
{
    /* The device must have dropped its line before the controller looks at it again. */
    mmio_barrier();
    mmio_write32(gic->cpu + GICC_EOIR, interrupt);
}
