#include "arch/armv7a/host/processor.h"

#include "wire/bytes.h"

enum {
    THUMB = 1, /* in an address */
    STATUS_SOURCE = 0x40f,
    STATUS_DEBUG_EVENT = 2,
    STATUS_PERMISSION = 0xf /* of a page */
};

const char *const processor_names[PROCESSOR_NAMES] = {"r0",  "r1", "r2", "r3", "r4",  "r5",
                                                      "r6",  "r7", "r8", "r9", "r10", "r11",
                                                      "r12", "sp", "lr", "pc", "cpsr"};

enum abort_cause processor_abort_cause(uint32_t fault_status)
{
    switch (fault_status & STATUS_SOURCE) {
    case STATUS_DEBUG_EVENT: return ABORT_BREAKPOINT;
    case STATUS_PERMISSION: return ABORT_PERMISSION;
    default: return ABORT_OTHER;
    }
}

/* The destination of a BL or BLX of Thumb code; 0 when it is none. */
static uint32_t thumb_target(uint32_t code, uint32_t after)
{
    uint32_t first = code & 0xffff, second = code >> 16, sign = first >> 10 & 1;
    bool to_arm = (second & 0xd001) == 0xc000;

    if ((first & 0xf800) != 0xf000 || !(to_arm || (second & 0xd000) == 0xd000)) {
        return 0;
    }
    uint32_t high = ((second >> 13 & 1) ^ sign ^ 1) << 1 | ((second >> 11 & 1) ^ sign ^ 1);
    uint32_t distance = high << 22 | (first & 0x3ff) << 12 | (second & 0x7ff) << 1;

    return (to_arm ? after & ~3U : after) + distance - (sign << 24);
}

/* The same of ARM code, whose pc is two instructions ahead. */
static uint32_t arm_target(uint32_t code, uint32_t after)
{
    bool to_thumb = (code & 0xfe000000) == 0xfa000000;

    if ((code & 0x0f000000) != 0x0b000000 && !to_thumb) {
        return 0;
    }
    uint32_t distance = (code & 0xffffff) << 2 | (to_thumb ? code >> 23 & 2 : 0);

    return after + 4 + distance - ((code >> 23 & 1) << 26);
}

bool processor_is_call(const uint8_t code[PROCESSOR_CALL_BYTES], uint32_t return_address,
                       uint32_t *target)
{
    uint32_t word = get32(code), after = processor_code_address(return_address);

    if (return_address & THUMB) {
        *target = thumb_target(word, after);
        return *target || (word >> 16 & 0xff87) == 0x4780;
    }
    *target = arm_target(word, after);
    return *target || (word & 0x0ffffff0) == 0x012fff30;
}

const struct processor processor_armv7a = {.names = processor_names,
                                           .code_mask = ~(uint32_t)THUMB,
                                           .call_bytes = 2,
                                           .abort_cause = processor_abort_cause};
