#include "jtag/chain/mem_ap.h"

#include "jtag/chain/rom_table.h"

enum {
    CSW_SIZE = 7 << 0, /* of a transfer: 1 << it bytes */
    CSW_SIZE_WORD = 2,
    CSW_INCREMENT = 3 << 4,
    CSW_SINGLE = 1 << 4,
    CSW_PACKED = 2 << 4,
    CSW_ENABLED = 1 << 6,
    CSW_BUSY = 1 << 7,
    CSW_SECURE_ENABLED = 1 << 23,
    WORD_BYTES = 4,
    BANK_BYTES = 16
};

static const uint32_t identity[] = {[MEM_AP_AHB] = 0x24770011, [MEM_AP_APB] = 0x44770002};

enum { BASE_32_BITS = 1 << 1, BASE_PRESENT = 1 << 0 };
static const uint32_t base[] = {[MEM_AP_AHB] = 0xffffffff, /* no ROM table */
                                [MEM_AP_APB] = ROM_TABLE_BASE | BASE_32_BITS | BASE_PRESENT};

/* What cannot be chosen reads back as what is done instead. */
static void write_csw(struct mem_ap *ap, uint32_t value)
{
    bool words = ap->bus == MEM_AP_APB;

    if (words || (value & CSW_SIZE) > CSW_SIZE_WORD) {
        value = (value & ~(uint32_t)CSW_SIZE) | CSW_SIZE_WORD;
    }
    if ((value & CSW_INCREMENT) == CSW_INCREMENT || (words && value & CSW_PACKED)) {
        value &= ~(uint32_t)CSW_INCREMENT;
    }
    ap->csw = (value & ~(uint32_t)CSW_BUSY) | CSW_ENABLED | CSW_SECURE_ENABLED;
}

static void write_tar(struct mem_ap *ap, uint32_t value)
{
    ap->tar = ap->bus == MEM_AP_APB ? value & ~(uint32_t)(WORD_BYTES - 1) : value;
}

void mem_ap_init(struct mem_ap *ap, enum mem_ap_bus bus)
{
    *ap = (struct mem_ap){.bus = bus};
    write_csw(ap, CSW_SIZE_WORD);
}

/* Where a transfer lies in DRW. */
static unsigned lane(const struct access *access)
{
    return 8 * (access->address % WORD_BYTES);
}

static uint32_t mask(const struct access *access)
{
    return UINT32_MAX >> 8 * (WORD_BYTES - access->bytes);
}

/* A transfer has been done: takes what was read, and counts. */
static void finish_transfer(struct mem_ap *ap)
{
    if (!ap->access.write) {
        ap->data |= (ap->access.value & mask(&ap->access)) << lane(&ap->access);
    }
    if (ap->counts) {
        uint32_t within = (ap->tar + ap->access.bytes) % MEM_AP_WRAP_BYTES;

        ap->tar = ap->tar - ap->tar % MEM_AP_WRAP_BYTES + within;
    }
    ap->transfers--;
}

static enum mem_ap_answer begin_on_debug_bus(struct mem_ap *ap)
{
    struct access *access = &ap->access;

    if (access->address - ROM_TABLE_BASE < ROM_TABLE_BYTES) {
        access->value = rom_table_read(access->address - ROM_TABLE_BASE);
        finish_transfer(ap);
        return MEM_AP_DONE;
    }
    if (access->address - DEBUG_UNIT_BASE >= DEBUG_UNIT_BYTES) {
        return MEM_AP_FAILED;
    }
    access->space = ACCESS_DEBUG;
    access->address -= DEBUG_UNIT_BASE;
    return MEM_AP_BUSY;
}

static enum mem_ap_answer begin_transfer(struct mem_ap *ap, uint32_t address)
{
    struct access *access = &ap->access;

    access->space = ACCESS_BUS;
    access->failed = false;
    access->address = address;
    access->value = access->write ? ap->data >> lane(access) & mask(access) : 0;
    if (address % access->bytes != 0) {
        return MEM_AP_FAILED;
    }
    return ap->bus == MEM_AP_APB ? begin_on_debug_bus(ap) : MEM_AP_BUSY;
}

static enum mem_ap_answer begin_drw(struct mem_ap *ap)
{
    ap->access.bytes = (uint8_t)(1 << (ap->csw & CSW_SIZE));
    ap->transfers = (uint8_t)(ap->csw & CSW_PACKED ? WORD_BYTES / ap->access.bytes : 1);
    ap->counts = (ap->csw & CSW_INCREMENT) != 0;
    return begin_transfer(ap, ap->tar);
}

static enum mem_ap_answer begin_banked(struct mem_ap *ap, uint8_t number)
{
    ap->access.bytes = WORD_BYTES;
    ap->transfers = 1;
    ap->counts = false;
    return begin_transfer(ap, ap->tar - ap->tar % BANK_BYTES + (number - MEM_AP_BD0));
}

/* DRW or BD0 to BD3. */
static enum mem_ap_answer begin_access(struct mem_ap *ap, uint8_t number, bool write, uint32_t data)
{
    ap->access.write = write;
    ap->data = data;
    return number == MEM_AP_DRW ? begin_drw(ap) : begin_banked(ap, number);
}

static bool reaches_bus(uint8_t number)
{
    return number == MEM_AP_DRW || (number >= MEM_AP_BD0 && number <= MEM_AP_BD3);
}

static uint32_t read_register(const struct mem_ap *ap, uint8_t number)
{
    switch (number) {
    case MEM_AP_CSW: return ap->csw;
    case MEM_AP_TAR: return ap->tar;
    case MEM_AP_BASE: return base[ap->bus];
    case MEM_AP_IDR: return identity[ap->bus];
    default: return 0; /* CFG: little-endian, 32 bits of address and data */
    }
}

enum mem_ap_answer mem_ap_read(struct mem_ap *ap, uint8_t number, uint32_t *value)
{
    enum mem_ap_answer answer = MEM_AP_DONE;

    if (reaches_bus(number)) {
        answer = begin_access(ap, number, false, 0);
        *value = ap->data;
    } else {
        *value = read_register(ap, number);
    }
    return answer;
}

enum mem_ap_answer mem_ap_write(struct mem_ap *ap, uint8_t number, uint32_t value)
{
    if (reaches_bus(number)) {
        return begin_access(ap, number, true, value);
    }
    if (number == MEM_AP_CSW) {
        write_csw(ap, value);
    }
    if (number == MEM_AP_TAR) {
        write_tar(ap, value);
    }
    return MEM_AP_DONE;
}

enum mem_ap_answer mem_ap_complete(struct mem_ap *ap, uint32_t *value)
{
    if (ap->access.failed) {
        return MEM_AP_FAILED;
    }
    finish_transfer(ap);
    *value = ap->data;
    return ap->transfers > 0 ? begin_transfer(ap, ap->tar) : MEM_AP_DONE;
}
