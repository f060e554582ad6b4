/*
 * transfers.c - which memory each call uses, and whether it is still what it was.
 *
 * Invariants
 * - Memory that a program named is read only where it lies in what programs may name: most of the
 *   calls that name other memory are refused by the kernel only later.
 * - An address that the kernel is given is the lower half of a pointer; the upper one is that of
 *   `all`.
 */
#include "lib/check/transfers.h"

#include <stddef.h>
#include <string.h>

/* FNV-1a (Fowler, Noll & Vo, RFC 9923) over words in place of bytes: what changes in one word alone
 * always changes it. */
#define SUM_BEGIN  UINT32_C(0x811c9dc5)
#define SUM_FACTOR UINT32_C(0x01000193)

static uint32_t add_to_sum(uint32_t sum, const void *memory, uint32_t bytes)
{
    const uint8_t *at = memory;
    uint32_t word;

    for (; bytes >= sizeof word; bytes -= (uint32_t)sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sum = (sum ^ word) * SUM_FACTOR;
    }
    for (; bytes > 0; bytes--) {
        sum = (sum ^ *at++) * SUM_FACTOR;
    }
    return sum;
}

static bool overlap(struct stretch a, struct stretch b)
{
    return a.bytes > 0 && b.bytes > 0 && a.at < b.at + b.bytes && b.at < a.at + a.bytes;
}

static struct stretch within(struct stretch all, uintptr_t at, uint64_t bytes)
{
    uintptr_t offset = at - all.at;

    if (offset >= all.bytes || bytes > all.bytes - offset) {
        return (struct stretch){0};
    }
    return (struct stretch){.at = at, .bytes = (uint32_t)bytes};
}

/* The pointer to what the kernel calls so. */
static uintptr_t pointer_of(struct stretch all, uint32_t address)
{
    return all.at - (uint32_t)all.at + address;
}

struct transfer ecube_transfer_message(uint32_t call, const struct ecube_abi_message *message,
                                       struct stretch all, uint32_t place)
{
    struct transfer transfer = {.call = (uint8_t)call,
                                .place = place,
                                .bytes = message->bytes,
                                .peer = message->peer,
                                .tag = message->tag};

    *(call == ECUBE_CALL_SEND ? &transfer.sends : &transfer.receives) =
        within(all, pointer_of(all, message->data), message->bytes);
    return transfer;
}

/* The blocks of an exchange from all to some. */
static uint32_t movements_of(uint32_t root, uint32_t size)
{
    uint32_t all = ecube_movements(size);

    if (root >= ECUBE_MOVEMENT_ALONE) {
        return root - ECUBE_MOVEMENT_ALONE < all ? 1 : 0;
    }
    return root == ECUBE_MOVEMENTS_AGAIN && all > 0 ? all + 2 : all;
}

/* How many blocks a collective reads and writes at this node. */
static void count_blocks(const struct ecube_abi_collective *call, bool root, uint32_t size,
                         uint32_t *sends, uint32_t *receives)
{
    *sends = *receives = 1;
    switch (call->operation) {
    case ECUBE_BROADCAST:
        *sends = root;
        *receives = !root;
        break;
    case ECUBE_SCATTER: *sends = root ? size : 0; break;
    case ECUBE_GATHER: *receives = root ? size : 0; break;
    case ECUBE_EXCHANGE: *sends = *receives = size; break;
    case ECUBE_ALLGATHER: *receives = size; break;
    case ECUBE_REDUCE: *receives = root; break;
    case ECUBE_REDUCE_SCATTER: *sends = size; break;
    case ECUBE_ALLREDUCE:
    case ECUBE_SCAN:
    case ECUBE_SHIFT:
    case ECUBE_REVERSE: break;
    case ECUBE_ALL_TO_SOME: *sends = *receives = movements_of(call->root, size); break;
    default: *sends = *receives = 0;
    }
}

/* From the first to the last byte of a table's blocks. */
static struct stretch span_of(struct stretch all, uintptr_t buffer,
                              const struct ecube_block *blocks, uint32_t ranks)
{
    uint64_t first = UINT64_MAX, end = 0;

    for (uint32_t i = 0; i < ranks; i++) {
        uint64_t block_end = (uint64_t)blocks[i].at + blocks[i].bytes;
        if (blocks[i].bytes > 0) {
            first = blocks[i].at < first ? blocks[i].at : first;
            end = block_end > end ? block_end : end;
        }
    }
    return end > 0 ? within(all, buffer + (uintptr_t)first, end - first) : (struct stretch){0};
}

static const struct ecube_block *table_at(struct stretch all, uint32_t at, uint32_t ranks)
{
    struct stretch table =
        within(all, pointer_of(all, at), (uint64_t)ranks * sizeof(struct ecube_block));

    return at % 4 == 0 && table.bytes ? (const void *)table.at : NULL;
}

/* Tables that are no memory of the program's: the kernel refuses the call. */
static void take_tables(struct transfer *transfer, const struct ecube_abi_collective *call,
                        uint32_t size, struct stretch all)
{
    const struct ecube_block *sends = table_at(all, call->send_blocks, size);
    const struct ecube_block *receives = table_at(all, call->receive_blocks, size);

    if (sends && receives) {
        transfer->send_blocks = sends;
        transfer->receive_blocks = receives;
        transfer->send_from = pointer_of(all, call->send);
        transfer->receive_from = pointer_of(all, call->receive);
        transfer->ranks = size;
        transfer->sends = span_of(all, transfer->send_from, sends, size);
        transfer->receives = span_of(all, transfer->receive_from, receives, size);
    }
}

struct transfer ecube_transfer_collective(const struct ecube_abi_collective *call, uint32_t rank,
                                          uint32_t size, struct stretch all, uint32_t place)
{
    struct transfer transfer = {.call = ECUBE_CALL_COLLECTIVE,
                                .operation = (uint8_t)call->operation,
                                .place = place,
                                .peer = ECUBE_ANY,
                                .tag = ECUBE_ANY};
    uint32_t sends, receives;

    if (call->operation == ECUBE_EXCHANGEV) {
        take_tables(&transfer, call, size, all);
        return transfer;
    }
    transfer.bytes = call->block_bytes;
    count_blocks(call, rank == call->root, size, &sends, &receives);
    transfer.sends = within(all, pointer_of(all, call->send), (uint64_t)sends * call->block_bytes);
    transfer.receives =
        within(all, pointer_of(all, call->receive), (uint64_t)receives * call->block_bytes);
    return transfer;
}

static struct stretch table_stretch(const struct ecube_block *blocks, uint32_t ranks)
{
    return (struct stretch){(uintptr_t)blocks, ranks * (uint32_t)sizeof *blocks};
}

/* Whether a transfer reads or writes memory. */
static bool uses(const struct transfer *transfer, struct stretch memory)
{
    return overlap(transfer->sends, memory) || overlap(transfer->receives, memory) ||
           overlap(table_stretch(transfer->send_blocks, transfer->ranks), memory) ||
           overlap(table_stretch(transfer->receive_blocks, transfer->ranks), memory);
}

static uint32_t sum_of_tables(const struct transfer *transfer)
{
    uint32_t bytes = transfer->ranks * (uint32_t)sizeof *transfer->send_blocks;

    return add_to_sum(add_to_sum(SUM_BEGIN, transfer->send_blocks, bytes), transfer->receive_blocks,
                      bytes);
}

/* A part of what it sends, or receives: all of it, or a rank's block. */
static struct stretch part_of(const struct transfer *transfer, bool receives, uint32_t rank)
{
    struct stretch all = receives ? transfer->receives : transfer->sends;

    if (transfer->ranks == 0 || all.bytes == 0) {
        return all;
    }
    const struct ecube_block *block =
        receives ? &transfer->receive_blocks[rank] : &transfer->send_blocks[rank];
    return (struct stretch){(receives ? transfer->receive_from : transfer->send_from) + block->at,
                            block->bytes};
}

static uint32_t parts_of(const struct transfer *transfer)
{
    return transfer->ranks ? transfer->ranks : 1;
}

/* The tables must be what they were. What lies between blocks is the program's. */
static uint32_t sum_of(const struct transfer *transfer)
{
    uint32_t sum = SUM_BEGIN;

    for (uint32_t i = 0; i < parts_of(transfer) && transfer->sends.bytes > 0; i++) {
        struct stretch part = part_of(transfer, false, i);
        sum = add_to_sum(sum, (const void *)part.at, part.bytes);
    }
    return sum;
}

static struct finding finding_of(const struct transfer *transfer, enum finding_kind kind,
                                 struct stretch memory)
{
    return (struct finding){.kind = (uint8_t)kind,
                            .call = transfer->call,
                            .operation = transfer->operation,
                            .address = (uint32_t)memory.at,
                            .bytes = memory.bytes,
                            .place = transfer->place,
                            .peer = transfer->peer,
                            .tag = transfer->tag};
}

/* The bytes that both have. */
static struct stretch common(struct stretch a, struct stretch b)
{
    uintptr_t first = a.at > b.at ? a.at : b.at;
    uintptr_t a_end = a.at + a.bytes, b_end = b.at + b.bytes;

    return (struct stretch){first, (uint32_t)((a_end < b_end ? a_end : b_end) - first)};
}

/* What one receives against what another receives, or sends. */
static bool clashes(const struct transfer *a, bool a_receives, const struct transfer *b,
                    bool b_receives, struct stretch *both)
{
    if (!overlap(a_receives ? a->receives : a->sends, b_receives ? b->receives : b->sends)) {
        return false;
    }
    for (uint32_t i = 0; i < parts_of(a); i++) {
        for (uint32_t j = 0; j < parts_of(b); j++) {
            struct stretch one = part_of(a, a_receives, i), other = part_of(b, b_receives, j);
            if (overlap(one, other)) {
                *both = common(one, other);
                return true;
            }
        }
    }
    return false;
}

bool ecube_transfers_fit(const struct transfers *transfers, const struct transfer *transfer,
                         struct finding *found)
{
    struct stretch both;

    for (unsigned i = 0; i < ECUBE_REQUESTS_MAX; i++) {
        const struct transfer *open = &transfers->list[i];
        if (open->open && (clashes(open, true, transfer, true, &both) ||
                           clashes(open, false, transfer, true, &both) ||
                           clashes(open, true, transfer, false, &both))) {
            *found = finding_of(open, FINDING_OVERLAP, both);
            return false;
        }
    }
    return true;
}

void ecube_transfers_begin(struct transfers *transfers, uint32_t number,
                           const struct transfer *transfer)
{
    if (number < ECUBE_REQUESTS_MAX) {
        transfers->list[number] = *transfer;
        transfers->list[number].open = true;
        transfers->list[number].sum = sum_of(transfer);
        transfers->list[number].table_sum = sum_of_tables(transfer);
    }
}

bool ecube_transfers_end(struct transfers *transfers, uint32_t number, struct finding *found)
{
    struct transfer *transfer = &transfers->list[number % ECUBE_REQUESTS_MAX];

    if (!transfer->open) {
        return true;
    }
    transfer->open = false;
    if (sum_of_tables(transfer) == transfer->table_sum && sum_of(transfer) == transfer->sum) {
        return true;
    }
    *found = finding_of(transfer, FINDING_SEND_CHANGED, transfer->sends);
    found->bytes = transfer->bytes;
    return false;
}

bool ecube_transfers_spare(const struct transfers *transfers, struct stretch memory,
                           struct finding *found)
{
    for (unsigned i = 0; i < ECUBE_REQUESTS_MAX; i++) {
        const struct transfer *open = &transfers->list[i];
        if (open->open && uses(open, memory)) {
            *found = finding_of(open, FINDING_FREED_OPEN, memory);
            return false;
        }
    }
    return true;
}

bool ecube_transfers_in_frames(const struct transfers *transfers, uintptr_t sp, uintptr_t stack_end,
                               struct finding *found)
{
    for (unsigned i = 0; i < ECUBE_REQUESTS_MAX; i++) {
        const struct transfer *open = &transfers->list[i];
        struct stretch memory = open->receives.bytes ? open->receives : open->sends;
        if (open->open && memory.bytes > 0 && memory.at < sp && sp < stack_end) {
            *found = finding_of(open, FINDING_FRAME_GONE, memory);
            return false;
        }
    }
    return true;
}

uint32_t ecube_transfers_open(const struct transfers *transfers, struct finding *found,
                              uint32_t room)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < ECUBE_REQUESTS_MAX; i++) {
        const struct transfer *open = &transfers->list[i];
        if (open->open) {
            if (count < room) {
                found[count] = finding_of(open, FINDING_STILL_OPEN, (struct stretch){0});
                found[count].bytes = open->bytes;
            }
            count++;
        }
    }
    return count;
}
