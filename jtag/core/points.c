#include "jtag/core/points.h"

#include <string.h>

enum control_bit {
    CONTROL_ENABLED = 1,
    CONTROL_BYTES_SHIFT = 5, /* byte address select: one bit each */
    BREAK_BYTES = 0xf,
    WATCH_BYTES = 0xff,
    WATCH_LOAD_STORE_SHIFT = 3,
    WATCH_MASK_SHIFT = 24, /* so many low bits of the address do not count */
    WATCH_MASK_MAX = 7,
    BREAK_TYPE_SHIFT = 20,
    BREAK_CONTEXT = 2,
    BREAK_MISMATCH = 4
};

enum { WORD = 4, HALF = 2, BYTE_BITS = 8 };

static uint32_t break_type(uint32_t control)
{
    return control >> BREAK_TYPE_SHIFT & 7;
}

/* The bytes from the first selected one on. */
static struct point point_at(uint32_t address, uint32_t selected, enum core_point kind)
{
    struct point point = {.set = selected != 0, .kind = kind, .address = address};

    for (; point.set && !(selected & 1); selected >>= 1) {
        point.address++;
    }
    for (; selected & 1; selected >>= 1) {
        point.bytes++;
    }
    return point;
}

static struct point break_point(const struct points *points, unsigned i)
{
    uint32_t control = points->bcr[i];
    uint32_t selected = control >> CONTROL_BYTES_SHIFT & BREAK_BYTES;

    if (!(control & CONTROL_ENABLED) || break_type(control) >= BREAK_CONTEXT) {
        return (struct point){0};
    }
    return point_at(points->bvr[i] & ~3u, selected, CORE_POINT_CODE);
}

static struct point watch_point(const struct points *points, unsigned i)
{
    static const enum core_point kinds[] = {CORE_POINT_ACCESS, CORE_POINT_READ, CORE_POINT_WRITE,
                                            CORE_POINT_ACCESS};
    uint32_t control = points->wcr[i], load_store = control >> WATCH_LOAD_STORE_SHIFT & 3;
    uint32_t mask = control >> WATCH_MASK_SHIFT & 0x1f;
    uint32_t selected = control >> CONTROL_BYTES_SHIFT & WATCH_BYTES;

    if (!(control & CONTROL_ENABLED) || load_store == 0 || mask > WATCH_MASK_MAX) {
        return (struct point){0};
    }
    struct point point = point_at(points->wvr[i] & ~3u, selected, kinds[load_store]);
    if (mask > 0) {
        point.address = points->wvr[i] & ~((1u << mask) - 1);
        point.bytes = (uint8_t)(1u << mask);
    }
    return point;
}

static struct point written_point(const struct points *points, unsigned i)
{
    const struct written_point *written = &points->written[i];

    return (struct point){.set = written->bytes != 0,
                          .bytes = written->bytes,
                          .kind = CORE_POINT_CODE,
                          .address = written->address};
}

static struct point point_wanted(const struct points *points, unsigned slot)
{
    if (slot < DEBUG_BREAKPOINTS) {
        return break_point(points, slot);
    }
    slot -= DEBUG_BREAKPOINTS;
    if (slot < DEBUG_WATCHPOINTS) {
        return watch_point(points, slot);
    }
    return written_point(points, slot - DEBUG_WATCHPOINTS);
}

static bool is_same(const struct point *a, const struct point *b)
{
    return a->set == b->set &&
           (!a->set || (a->bytes == b->bytes && a->kind == b->kind && a->address == b->address));
}

unsigned points_next_difference(const struct points *points, struct point *wanted)
{
    for (unsigned slot = 0; slot < POINT_SLOTS; slot++) {
        *wanted = point_wanted(points, slot);
        if (!is_same(wanted, &points->told[slot])) {
            return slot;
        }
    }
    return POINT_SLOTS;
}

bool points_differ(const struct points *points)
{
    struct point wanted;

    return points_next_difference(points, &wanted) != POINT_SLOTS;
}

bool points_any_told(const struct points *points)
{
    for (unsigned slot = 0; slot < POINT_SLOTS; slot++) {
        if (points->told[slot].set && !points->told[slot].refused) {
            return true;
        }
    }
    return false;
}

bool points_step(const struct points *points)
{
    for (unsigned i = 0; i < DEBUG_BREAKPOINTS; i++) {
        if (points->bcr[i] & CONTROL_ENABLED &&
            (break_type(points->bcr[i]) & ~1u) == BREAK_MISMATCH) {
            return true;
        }
    }
    return false;
}

bool points_written_at(const struct points *points, uint32_t address)
{
    for (unsigned i = 0; i < DEBUG_WRITTEN_MAX; i++) {
        if (points->written[i].bytes && points->written[i].address == address) {
            return true;
        }
    }
    return false;
}

/* The two numbers that debuggers give to a BKPT of theirs. Others belong to programs. */
static bool is_instruction(uint8_t bytes, uint32_t code)
{
    if (bytes == WORD) {
        return code == 0xe1200070 || code == 0xe1200171;
    }
    return bytes == HALF && (code == 0xbe00 || code == 0xbe11);
}

static bool overlaps(const struct written_point *written, uint32_t address, uint8_t bytes)
{
    return address - written->address < written->bytes ||
           (written->bytes && written->address - address < bytes);
}

static struct written_point *free_place(struct points *points)
{
    for (unsigned i = 0; i < DEBUG_WRITTEN_MAX; i++) {
        if (points->written[i].bytes == 0) {
            return &points->written[i];
        }
    }
    return NULL;
}

static bool write_breakpoint(struct points *points, uint32_t address, uint8_t bytes, uint32_t code,
                             bool *full)
{
    struct written_point *place = free_place(points);

    if (!place) {
        *full = true;
    } else {
        *place = (struct written_point){bytes, address, bytes == HALF ? code & 0xffff : code};
    }
    return true;
}

/* One Thumb instruction of four bytes is replaced by two of two. */
static bool is_pair(uint8_t bytes, uint32_t value)
{
    return bytes == WORD && is_instruction(HALF, value & 0xffff) &&
           is_instruction(HALF, value >> 16);
}

bool points_is_breakpoint(uint32_t address, uint8_t bytes, uint32_t value)
{
    if (bytes == HALF) {
        value &= 0xffff;
    }
    return !(address & (bytes - 1u)) && (is_instruction(bytes, value) || is_pair(bytes, value));
}

bool points_write(struct points *points, uint32_t address, uint8_t bytes, uint32_t value,
                  bool *full)
{
    *full = false;
    for (unsigned i = 0; i < DEBUG_WRITTEN_MAX; i++) {
        if (overlaps(&points->written[i], address, bytes)) {
            points->written[i].bytes = 0;
        }
    }
    if (!points_is_breakpoint(address, bytes, value)) {
        return false;
    }
    if (!is_pair(bytes, value)) {
        return write_breakpoint(points, address, bytes, value, full);
    }
    return write_breakpoint(points, address, HALF, value & 0xffff, full) &&
           write_breakpoint(points, address + HALF, HALF, value >> 16, full);
}

uint32_t points_read(const struct points *points, uint32_t address, uint8_t bytes, uint32_t value)
{
    for (unsigned i = 0; i < DEBUG_WRITTEN_MAX; i++) {
        const struct written_point *written = &points->written[i];
        if (!overlaps(written, address, bytes)) {
            continue;
        }
        for (unsigned b = 0; b < bytes; b++) {
            uint32_t from = address + b - written->address;
            if (from >= written->bytes) {
                continue;
            }
            value &= ~(0xffu << BYTE_BITS * b);
            value |= (written->code >> BYTE_BITS * from & 0xff) << BYTE_BITS * b;
        }
    }
    return value;
}

void points_clear(struct points *points)
{
    memset(points->bvr, 0, sizeof points->bvr);
    memset(points->bcr, 0, sizeof points->bcr);
    memset(points->wvr, 0, sizeof points->wvr);
    memset(points->wcr, 0, sizeof points->wcr);
    memset(points->written, 0, sizeof points->written);
}
