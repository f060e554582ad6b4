#include "host/program/finding.h"

#include <stdbool.h>
#include <stdio.h>

#include "collectives/operation.h"

enum { PLACES_MAX = 8, TRANSFER_TEXT_MAX = SYMBOL_TEXT_MAX + 100 };

/* The registers say where the list lies, how long it is and how many there were. */
unsigned finding_list(const struct fault_body *fault, struct finding list[FINDINGS_MAX],
                      uint32_t *more)
{
    uint32_t offset = fault->registers[0] - fault->line, count = fault->registers[1];

    *more = 0;
    if (offset > fault->tail_bytes) {
        return 0;
    }
    uint32_t there = (fault->tail_bytes - offset) / FINDING_BYTES;
    count = count < there ? count : there;
    count = count < FINDINGS_MAX ? count : FINDINGS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        list[i] = finding_unpack(fault->tail + offset + i * FINDING_BYTES);
    }
    *more = count > 0 && fault->registers[2] > count ? fault->registers[2] - count : 0;
    return count;
}

const char *finding_name(const struct finding *finding)
{
    static const char *const names[FINDING_KINDS] = {[FINDING_NONE] = "unknown",
                                                     [FINDING_OVERRUN] = "overrun",
                                                     [FINDING_UNDERRUN] = "underrun",
                                                     [FINDING_FREED_TWICE] = "freed-twice",
                                                     [FINDING_NOT_A_BLOCK] = "freed-no-block",
                                                     [FINDING_INSIDE_BLOCK] = "freed-inside-block",
                                                     [FINDING_USED_FREED] = "used-freed",
                                                     [FINDING_FREED_OPEN] = "freed-open",
                                                     [FINDING_SEND_CHANGED] = "send-changed",
                                                     [FINDING_OVERLAP] = "overlap",
                                                     [FINDING_FRAME_GONE] = "frame-gone",
                                                     [FINDING_STILL_OPEN] = "still-open",
                                                     [FINDING_NOT_RECEIVED] = "not-received",
                                                     [FINDING_OUTPUT_FREED] = "output-freed"};

    return names[finding->kind < FINDING_KINDS ? finding->kind : FINDING_NONE];
}

/* "1 byte", "16 bytes" */
static const char *bytes_text(uint32_t bytes, char text[20])
{
    snprintf(text, 20, "%u byte%s", bytes, bytes == 1 ? "" : "s");
    return text;
}

/* Where the call stands that returns to an address: "main (a.c:6)". */
static void place_text(const struct processor *processor, struct symbols *symbols, uint32_t address,
                       char text[SYMBOL_TEXT_MAX])
{
    struct symbol_place places[PLACES_MAX];
    uint32_t call = (address & processor->code_mask) - processor->call_bytes;

    if (symbols && address && symbols_places(symbols, call, places, PLACES_MAX)) {
        symbols_text(&places[0], text);
    } else if (address) {
        snprintf(text, SYMBOL_TEXT_MAX, "0x%08x", call);
    } else {
        snprintf(text, SYMBOL_TEXT_MAX, "a place not known");
    }
}

/* "rank 3", "any rank". */
static void number_text(const char *what, int32_t number, char text[20])
{
    if (number == ECUBE_ANY) {
        snprintf(text, 20, "any %s", what);
    } else {
        snprintf(text, 20, "%s %d", what, (int)number);
    }
}

/* "a receive from rank 1, tag 5, begun in main (a.c:9)", "the allreduce begun in main (a.c:9)"; of
 * those at the end also "a receive of 16 bytes from ...". */
static void transfer_text(const struct finding *finding, const char *place,
                          char text[TRANSFER_TEXT_MAX])
{
    char size[30] = "", bytes[20];
    bool send = finding->call == ECUBE_CALL_SEND;
    char rank[20], tag[20];

    if (finding->kind == FINDING_STILL_OPEN) {
        snprintf(size, sizeof size, " of %s", bytes_text(finding->bytes, bytes));
    }
    number_text("rank", finding->peer, rank);
    number_text("tag", finding->tag, tag);
    if (send || finding->call == ECUBE_CALL_RECEIVE) {
        snprintf(text, TRANSFER_TEXT_MAX, "a %s%s %s %s, %s, begun in %s",
                 send ? "send" : "receive", size, send ? "to" : "from", rank, tag, place);
    } else {
        snprintf(text, TRANSFER_TEXT_MAX, "the %s begun in %s", operation_name(finding->operation),
                 place);
    }
}

static void block_text(const struct finding *finding, const char *place, const char *other,
                       char text[FINDING_TEXT_MAX])
{
    char block[SYMBOL_TEXT_MAX + 60];

    snprintf(block, sizeof block, "a block of %s, allocated in %s",
             bytes_text(finding->bytes, (char[20]){0}), place);
    switch (finding->kind) {
    case FINDING_OVERRUN:
        snprintf(text, FINDING_TEXT_MAX, "%s, was written past its end, at byte %u", block,
                 finding->offset);
        break;
    case FINDING_UNDERRUN:
        snprintf(text, FINDING_TEXT_MAX, "%s, was written %s before its begin", block,
                 bytes_text(finding->offset, (char[20]){0}));
        break;
    case FINDING_FREED_TWICE:
        snprintf(text, FINDING_TEXT_MAX, "%s, is freed twice, first in %s", block, other);
        break;
    case FINDING_INSIDE_BLOCK:
        snprintf(text, FINDING_TEXT_MAX, "free of 0x%08x, byte %u of %s",
                 finding->address + finding->offset, finding->offset, block);
        break;
    default:
        snprintf(text, FINDING_TEXT_MAX, "%s, was written at byte %u after it was freed in %s",
                 block, finding->offset, other);
    }
}

static void open_text(const struct finding *finding, const char *place, char text[FINDING_TEXT_MAX])
{
    char transfer[TRANSFER_TEXT_MAX], bytes[20];

    transfer_text(finding, place, transfer);
    bytes_text(finding->bytes, bytes);
    switch (finding->kind) {
    case FINDING_FREED_OPEN:
        snprintf(text, FINDING_TEXT_MAX, "a block of %s is freed that is still used by %s", bytes,
                 transfer);
        break;
    case FINDING_SEND_CHANGED:
        snprintf(text, FINDING_TEXT_MAX, "what is sent was changed before it was complete: %s",
                 transfer);
        break;
    case FINDING_OVERLAP:
        snprintf(text, FINDING_TEXT_MAX,
                 "this call shares %s at 0x%08x, which one of the two receives, with %s", bytes,
                 finding->address, transfer);
        break;
    case FINDING_FRAME_GONE:
        snprintf(text, FINDING_TEXT_MAX, "a function has returned whose variable is used by %s",
                 transfer);
        break;
    default: snprintf(text, FINDING_TEXT_MAX, "never waited for: %s", transfer);
    }
}

void finding_text(const struct finding *finding, const struct processor *processor,
                  struct symbols *symbols, char text[FINDING_TEXT_MAX])
{
    char place[SYMBOL_TEXT_MAX], other[SYMBOL_TEXT_MAX];

    place_text(processor, symbols, finding->place, place);
    place_text(processor, symbols, finding->other, other);
    switch (finding->kind) {
    case FINDING_OVERRUN:
    case FINDING_UNDERRUN:
    case FINDING_FREED_TWICE:
    case FINDING_INSIDE_BLOCK:
    case FINDING_USED_FREED: block_text(finding, place, other, text); break;
    case FINDING_FREED_OPEN:
    case FINDING_SEND_CHANGED:
    case FINDING_OVERLAP:
    case FINDING_FRAME_GONE:
    case FINDING_STILL_OPEN: open_text(finding, place, text); break;
    case FINDING_NOT_A_BLOCK:
        snprintf(text, FINDING_TEXT_MAX, "free of 0x%08x, which is no block of malloc",
                 finding->address);
        break;
    case FINDING_NOT_RECEIVED:
        snprintf(text, FINDING_TEXT_MAX, "never received: a message from rank %d, tag %d, %s",
                 (int)finding->peer, (int)finding->tag, bytes_text(finding->bytes, (char[20]){0}));
        break;
    case FINDING_OUTPUT_FREED:
        snprintf(text, FINDING_TEXT_MAX,
                 "memory is freed of the output of %s that was named in %s, and is read at the end",
                 bytes_text(finding->bytes, (char[20]){0}), place);
        break;
    default: snprintf(text, FINDING_TEXT_MAX, "something of kind %u", finding->kind);
    }
}
