#include "jtag/chain/dap.h"

#include <stddef.h>

#include "drivers/check.h"

enum { ACK_OK_OR_FAULT = 2, ACK_BITS = 3, SCAN_READ = 1, SCAN_ADDRESS = 6 };

enum { DP_CTRL_STAT = 0x4, DP_SELECT = 0x8, DP_RDBUFF = 0xc };

enum {
    STICKY_ERROR = 1 << 5,
    OVERRUN_DETECT = 1 << 0,
    DEBUG_POWER = 1 << 28, /* a request; its acknowledgement is the bit above */
    SYSTEM_POWER = 1 << 30,
    CONTROL_KEPT = OVERRUN_DETECT | DEBUG_POWER | SYSTEM_POWER,
    ABORT_CLEARS_ERROR = 1 << 2,
    SELECT_DP_BANK = 0xf,
    SELECT_AP_BANK = 0xf0,
    SELECT_AP_SHIFT = 24
};

#define SELECT_KEPT 0xff0000ffu /* beyond what an enum holds */

void dap_init(struct dap *dap)
{
    *dap = (struct dap){0};
    mem_ap_init(&dap->ap[0], MEM_AP_AHB);
    mem_ap_init(&dap->ap[1], MEM_AP_APB);
}

unsigned dap_bits(uint8_t instruction)
{
    switch (instruction) {
    case DAP_ABORT:
    case DAP_DPACC:
    case DAP_APACC: return DAP_SCAN_BITS;
    case DAP_IDCODE: return 32;
    default: return 1;
    }
}

uint64_t dap_capture(const struct dap *dap, uint8_t instruction)
{
    switch (instruction) {
    case DAP_DPACC:
    case DAP_APACC: return (uint64_t)dap->posted << ACK_BITS | ACK_OK_OR_FAULT;
    case DAP_IDCODE: return DAP_IDENTITY;
    default: return 0;
    }
}

/* Power is there as soon as it is requested. */
static uint32_t read_ctrl_stat(const struct dap *dap)
{
    uint32_t acknowledged = (dap->control & (DEBUG_POWER | SYSTEM_POWER)) << 1;

    return dap->control | acknowledged | (dap->sticky_error ? STICKY_ERROR : 0);
}

static void write_ctrl_stat(struct dap *dap, uint32_t value)
{
    dap->control = value & CONTROL_KEPT;
    if (value & STICKY_ERROR) {
        dap->sticky_error = false;
    }
}

/* RDBUFF is zero and does nothing: to read it brings out what was posted. */
static uint32_t read_dp(const struct dap *dap, uint8_t number)
{
    switch (number) {
    case DP_CTRL_STAT: return dap->select & SELECT_DP_BANK ? 0 : read_ctrl_stat(dap);
    case DP_SELECT: return dap->select;
    default: return 0;
    }
}

static void write_dp(struct dap *dap, uint8_t number, uint32_t value)
{
    if (number == DP_CTRL_STAT && !(dap->select & SELECT_DP_BANK)) {
        write_ctrl_stat(dap, value);
    }
    if (number == DP_SELECT) {
        dap->select = value & SELECT_KEPT;
    }
}

static void take_answer(struct dap *dap, enum mem_ap_answer answer, bool read, uint32_t value)
{
    dap->busy = answer == MEM_AP_BUSY;
    if (answer == MEM_AP_FAILED) {
        dap->sticky_error = true;
    }
    if (answer == MEM_AP_DONE && read) {
        dap->posted = value;
    }
}

static struct mem_ap *selected(struct dap *dap)
{
    uint32_t number = dap->select >> SELECT_AP_SHIFT;

    return number < DAP_APS ? &dap->ap[number] : NULL;
}

static void access_ap(struct dap *dap, uint8_t address, bool read, uint32_t value)
{
    struct mem_ap *ap = selected(dap);
    uint8_t number = (uint8_t)((dap->select & SELECT_AP_BANK) | address);
    enum mem_ap_answer answer = MEM_AP_DONE;

    if (dap->sticky_error) {
        return;
    }
    if (!(dap->control & DEBUG_POWER)) {
        answer = MEM_AP_FAILED;
    } else if (!ap) {
        value = 0;
    } else {
        answer = read ? mem_ap_read(ap, number, &value) : mem_ap_write(ap, number, value);
    }
    take_answer(dap, answer, read, value);
}

void dap_update(struct dap *dap, uint8_t instruction, uint64_t scan)
{
    bool read = scan & SCAN_READ;
    uint8_t address = (uint8_t)((scan & SCAN_ADDRESS) << 1);
    uint32_t value = (uint32_t)(scan >> ACK_BITS);

    CHECK(!dap->busy);
    if (instruction == DAP_APACC) {
        access_ap(dap, address, read, value);
    } else if (instruction == DAP_DPACC && read) {
        dap->posted = read_dp(dap, address);
    } else if (instruction == DAP_DPACC) {
        write_dp(dap, address, value);
    } else if (instruction == DAP_ABORT && value & ABORT_CLEARS_ERROR) {
        dap->sticky_error = false;
    }
}

struct access *dap_access(struct dap *dap)
{
    return dap->busy ? &selected(dap)->access : NULL;
}

void dap_complete(struct dap *dap)
{
    uint32_t value = 0;
    struct mem_ap *ap = selected(dap);

    CHECK(dap->busy);
    enum mem_ap_answer answer = mem_ap_complete(ap, &value);
    take_answer(dap, answer, !ap->access.write, value);
}
