/*
 * blocks.c - pieces of memory in the order of their addresses: blocks of the program, freed ones
 * that are kept back, and free ones.
 *
 *     free --take--> BLOCK_LIVE --release--> BLOCK_KEPT --forget--> free, joined with neighbours
 *
 * Invariants
 * - Pieces lie side by side from 0 to pieces_end; `below` and `above` name the neighbours. No two
 *   free ones are neighbours. Entry 0 is the lowest piece: of two that are joined the lower
 *   one's entry stays.
 * - A piece's size is a multiple of 16, so there is always room for the guards.
 */
#include "lib/check/blocks.h"

#include <stddef.h>
#include <string.h>

enum {
    GUARD_BYTES = 16,
    SPLIT_BYTES = 64,         /* a rest smaller than that stays with its block */
    LOOK_BLOCKS = 256,        /* for one look */
    LOOK_FREED_BYTES = 32768, /* for one look */
    LOOK_ENDS_BYTES = 4096,   /* of one freed block, at either end */
    GUARD_PATTERN = 0xa5,
    FREED_PATTERN = 0xdd
};

#define NO_PIECE   UINT32_MAX
#define GUARD_WORD UINT32_C(0xa5a5a5a5)

enum state { PIECE_UNUSED, PIECE_FREE, BLOCK_LIVE, BLOCK_KEPT };

struct piece {
    uint32_t at, room;       /* from the begin of all memory */
    uint32_t block, bytes;   /* likewise: what the program has, or had */
    uint32_t got, freed;     /* places */
    uint32_t below, above;   /* neighbours */
    uint32_t before, behind; /* in a list of free pieces, of unused entries, or the quarantine */
    uint32_t state;
};

static struct piece *piece_at(const struct blocks *blocks, uint32_t index)
{
    return (struct piece *)(void *)(blocks->memory + blocks->bytes) - 1 - index;
}

static uint8_t *memory_at(const struct blocks *blocks, uint32_t offset)
{
    return blocks->memory + offset;
}

static uint32_t rounded(uint32_t bytes)
{
    return (bytes + BLOCKS_ALIGNMENT - 1) & ~(uint32_t)(BLOCKS_ALIGNMENT - 1);
}

static bool is_block(const struct piece *piece)
{
    return piece->state == BLOCK_LIVE || piece->state == BLOCK_KEPT;
}

void ecube_blocks_init(struct blocks *blocks, void *memory, uint32_t bytes)
{
    *blocks = (struct blocks){.memory = memory,
                              .bytes = bytes,
                              .highest = NO_PIECE,
                              .unused = NO_PIECE,
                              .oldest = NO_PIECE,
                              .newest = NO_PIECE};
    for (unsigned i = 0; i < BLOCKS_BINS; i++) {
        blocks->free_pieces[i] = NO_PIECE;
    }
}

/* Whether so many more bytes fit between pieces and table. */
static bool has_room(const struct blocks *blocks, uint64_t bytes)
{
    return blocks->pieces_end + blocks->count * (uint64_t)sizeof(struct piece) + bytes <=
           blocks->bytes;
}

static uint32_t make_entry(struct blocks *blocks)
{
    uint32_t index = blocks->unused;

    if (index != NO_PIECE) {
        blocks->unused = piece_at(blocks, index)->behind;
        return index;
    }
    return has_room(blocks, sizeof(struct piece)) ? blocks->count++ : NO_PIECE;
}

static void drop_entry(struct blocks *blocks, uint32_t index)
{
    *piece_at(blocks, index) = (struct piece){.behind = blocks->unused, .state = PIECE_UNUSED};
    blocks->unused = index;
}

static uint32_t *bin_of(struct blocks *blocks, uint32_t room)
{
    return &blocks->free_pieces[31 - __builtin_clz(room)];
}

static void list_free(struct blocks *blocks, uint32_t index)
{
    struct piece *piece = piece_at(blocks, index);
    uint32_t *first = bin_of(blocks, piece->room);

    piece->state = PIECE_FREE;
    piece->before = NO_PIECE;
    piece->behind = *first;
    if (*first != NO_PIECE) {
        piece_at(blocks, *first)->before = index;
    }
    *first = index;
}

static void unlist_free(struct blocks *blocks, uint32_t index)
{
    struct piece *piece = piece_at(blocks, index);

    if (piece->before == NO_PIECE) {
        *bin_of(blocks, piece->room) = piece->behind;
    } else {
        piece_at(blocks, piece->before)->behind = piece->behind;
    }
    if (piece->behind != NO_PIECE) {
        piece_at(blocks, piece->behind)->before = piece->before;
    }
}

/* The piece above one becomes part of it. */
static void join_above(struct blocks *blocks, uint32_t index)
{
    struct piece *piece = piece_at(blocks, index);
    uint32_t gone = piece->above;

    piece->room += piece_at(blocks, gone)->room;
    piece->above = piece_at(blocks, gone)->above;
    if (piece->above == NO_PIECE) {
        blocks->highest = index;
    } else {
        piece_at(blocks, piece->above)->below = index;
    }
    drop_entry(blocks, gone);
}

static bool is_free(const struct blocks *blocks, uint32_t index)
{
    return index != NO_PIECE && piece_at(blocks, index)->state == PIECE_FREE;
}

static void make_free(struct blocks *blocks, uint32_t index)
{
    struct piece *piece = piece_at(blocks, index);
    uint32_t below = piece->below;

    if (is_free(blocks, piece->above)) {
        unlist_free(blocks, piece->above);
        join_above(blocks, index);
    }
    if (is_free(blocks, below)) {
        unlist_free(blocks, below);
        join_above(blocks, below);
        index = below;
    }
    list_free(blocks, index);
}

/* Cuts a piece to `room` bytes; where there is no entry for the rest it stays whole. */
static void split(struct blocks *blocks, uint32_t index, uint32_t room)
{
    uint32_t rest =
        piece_at(blocks, index)->room - room >= SPLIT_BYTES ? make_entry(blocks) : NO_PIECE;

    if (rest == NO_PIECE) {
        return;
    }
    struct piece *piece = piece_at(blocks, index);
    *piece_at(blocks, rest) = (struct piece){
        .at = piece->at + room, .room = piece->room - room, .below = index, .above = piece->above};
    if (piece->above == NO_PIECE) {
        blocks->highest = rest;
    } else {
        piece_at(blocks, piece->above)->below = rest;
    }
    piece->room = room;
    piece->above = rest;
    list_free(blocks, rest);
}

/* A free piece of at least `room` bytes, off its list. */
static uint32_t find_free(struct blocks *blocks, uint32_t room)
{
    for (uint32_t *bin = bin_of(blocks, room); bin < blocks->free_pieces + BLOCKS_BINS; bin++) {
        for (uint32_t i = *bin; i != NO_PIECE; i = piece_at(blocks, i)->behind) {
            if (piece_at(blocks, i)->room >= room) {
                unlist_free(blocks, i);
                return i;
            }
        }
    }
    return NO_PIECE;
}

/* The same of memory that was not used yet. */
static uint32_t grow(struct blocks *blocks, uint32_t room)
{
    uint32_t top = is_free(blocks, blocks->highest) ? blocks->highest : NO_PIECE;
    uint32_t more = room - (top == NO_PIECE ? 0 : piece_at(blocks, top)->room);

    /* One entry for what is to come, and one for the rest of it. */
    if (!has_room(blocks, more + (uint64_t)2 * sizeof(struct piece))) {
        return NO_PIECE;
    }
    if (top != NO_PIECE) {
        unlist_free(blocks, top);
        piece_at(blocks, top)->room += more;
    } else {
        top = make_entry(blocks);
        *piece_at(blocks, top) = (struct piece){
            .at = blocks->pieces_end, .room = more, .below = blocks->highest, .above = NO_PIECE};
        if (blocks->highest != NO_PIECE) {
            piece_at(blocks, blocks->highest)->above = top;
        }
        blocks->highest = top;
    }
    blocks->pieces_end += more;
    return top;
}

/* How many bytes hold the pattern, from the first on. */
static uint32_t count_pattern(const uint8_t *at, uint32_t bytes, uint8_t pattern)
{
    uint32_t i = 0, word, four = pattern * UINT32_C(0x01010101);

    for (; bytes - i >= sizeof word; i += (uint32_t)sizeof word) {
        memcpy(&word, at + i, sizeof word);
        if (word != four) {
            break;
        }
    }
    while (i < bytes && at[i] == pattern) {
        i++;
    }
    return i;
}

static uint32_t back_guard_bytes(const struct piece *piece)
{
    return GUARD_BYTES + rounded(piece->bytes) - piece->bytes;
}

static void make_front_guard(uint32_t index, uint32_t guard[GUARD_BYTES / 4])
{
    guard[0] = index;
    guard[1] = ~index;
    guard[2] = guard[3] = GUARD_WORD;
}

static void set_guards(struct blocks *blocks, uint32_t index)
{
    const struct piece *piece = piece_at(blocks, index);
    uint32_t guard[GUARD_BYTES / 4];

    make_front_guard(index, guard);
    memcpy(memory_at(blocks, piece->block) - GUARD_BYTES, guard, sizeof guard);
    memset(memory_at(blocks, piece->block + piece->bytes), GUARD_PATTERN, back_guard_bytes(piece));
}

static struct finding finding_of(const struct blocks *blocks, const struct piece *piece,
                                 enum finding_kind kind, uint32_t offset)
{
    return (struct finding){.kind = (uint8_t)kind,
                            .address = (uint32_t)(uintptr_t)memory_at(blocks, piece->block),
                            .bytes = piece->bytes,
                            .offset = offset,
                            .place = piece->got,
                            .other = piece->freed};
}

static bool back_is_whole(const struct blocks *blocks, const struct piece *piece,
                          struct finding *found)
{
    uint32_t bytes = back_guard_bytes(piece);
    uint32_t whole =
        count_pattern(memory_at(blocks, piece->block + piece->bytes), bytes, GUARD_PATTERN);

    if (whole < bytes) {
        *found = finding_of(blocks, piece, FINDING_OVERRUN, piece->bytes + whole);
    }
    return whole == bytes;
}

/* Where the guards of two neighbours are spoilt, the lower one was written past its end. */
static bool front_is_whole(const struct blocks *blocks, uint32_t index, struct finding *found)
{
    const struct piece *piece = piece_at(blocks, index);
    const uint8_t *at = memory_at(blocks, piece->block) - GUARD_BYTES;
    uint32_t guard[GUARD_BYTES / 4];
    uint32_t whole = 0;

    make_front_guard(index, guard);
    while (whole < sizeof guard && at[whole] == ((const uint8_t *)guard)[whole]) {
        whole++;
    }
    if (whole == sizeof guard) {
        return true;
    }
    const struct piece *below = piece->below == NO_PIECE ? NULL : piece_at(blocks, piece->below);
    if (!below || !is_block(below) || back_is_whole(blocks, below, found)) {
        *found = finding_of(blocks, piece, FINDING_UNDERRUN, GUARD_BYTES - whole);
    }
    return false;
}

/* Of a freed block: the pattern, from `from` on. */
static bool pattern_is_whole(const struct blocks *blocks, const struct piece *piece, uint32_t from,
                             uint32_t bytes, struct finding *found)
{
    uint32_t whole = count_pattern(memory_at(blocks, piece->block + from), bytes, FREED_PATTERN);

    if (whole < bytes) {
        *found = finding_of(blocks, piece, FINDING_USED_FREED, from + whole);
    }
    return whole == bytes;
}

static bool block_is_whole(const struct blocks *blocks, uint32_t index, struct finding *found)
{
    const struct piece *piece = piece_at(blocks, index);

    return front_is_whole(blocks, index, found) && back_is_whole(blocks, piece, found) &&
           (piece->state == BLOCK_LIVE || pattern_is_whole(blocks, piece, 0, piece->bytes, found));
}

/* The oldest of the quarantine becomes free memory. */
static bool forget(struct blocks *blocks, struct finding *found)
{
    uint32_t index = blocks->oldest;
    struct piece *piece = piece_at(blocks, index);
    bool whole = block_is_whole(blocks, index, found);

    blocks->oldest = piece->behind;
    if (blocks->oldest == NO_PIECE) {
        blocks->newest = NO_PIECE;
    }
    blocks->quarantined -= piece->room;
    make_free(blocks, index);
    return whole;
}

static void keep(struct blocks *blocks, uint32_t index)
{
    struct piece *piece = piece_at(blocks, index);

    memset(memory_at(blocks, piece->block), FREED_PATTERN, piece->bytes);
    piece->state = BLOCK_KEPT;
    piece->behind = NO_PIECE;
    if (blocks->newest == NO_PIECE) {
        blocks->oldest = index;
    } else {
        piece_at(blocks, blocks->newest)->behind = index;
    }
    blocks->newest = index;
    blocks->quarantined += piece->room;
}

/* What was freed comes back last. */
static uint32_t find_room(struct blocks *blocks, uint32_t room, struct finding *found)
{
    for (;;) {
        uint32_t index = find_free(blocks, room);
        index = index == NO_PIECE ? grow(blocks, room) : index;
        if (index != NO_PIECE || blocks->oldest == NO_PIECE || !forget(blocks, found)) {
            return index;
        }
    }
}

void *ecube_blocks_take(struct blocks *blocks, uint32_t bytes, uint32_t alignment, uint32_t place,
                        struct finding *found)
{
    uint32_t slack = alignment > BLOCKS_ALIGNMENT ? alignment : 0;

    *found = (struct finding){0};
    if (bytes > blocks->bytes || slack > blocks->bytes) {
        return NULL;
    }
    uint32_t room = rounded(bytes) + 2 * GUARD_BYTES + slack;
    uint32_t index = find_room(blocks, room, found);
    if (index == NO_PIECE) {
        return NULL;
    }
    split(blocks, index, room);
    struct piece *piece = piece_at(blocks, index);
    uintptr_t at = (uintptr_t)memory_at(blocks, piece->at + GUARD_BYTES);
    piece->block = piece->at + GUARD_BYTES + (slack ? (uint32_t)(-at & (slack - 1)) : 0);
    piece->bytes = bytes;
    piece->got = place;
    piece->freed = 0;
    piece->state = BLOCK_LIVE;
    set_guards(blocks, index);
    return memory_at(blocks, piece->block);
}

/* Its front guard names a block's entry. Where that is spoilt, or there is none, all are looked
 * at. */
static uint32_t find_block(const struct blocks *blocks, const void *block)
{
    uint32_t offset = (uint32_t)((uintptr_t)block - (uintptr_t)blocks->memory), index;

    if ((uintptr_t)block - (uintptr_t)blocks->memory >= blocks->pieces_end ||
        offset % BLOCKS_ALIGNMENT != 0 || offset < GUARD_BYTES) {
        return NO_PIECE;
    }
    memcpy(&index, memory_at(blocks, offset - GUARD_BYTES), sizeof index);
    if (index < blocks->count && piece_at(blocks, index)->block == offset &&
        is_block(piece_at(blocks, index))) {
        return index;
    }
    for (index = 0; index < blocks->count; index++) {
        if (piece_at(blocks, index)->block == offset && is_block(piece_at(blocks, index))) {
            return index;
        }
    }
    return NO_PIECE;
}

/* What an address is that malloc did not give. */
static struct finding describe_stray(const struct blocks *blocks, const void *address)
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)blocks->memory;

    for (uint32_t i = 0; i < blocks->count && offset < blocks->pieces_end; i++) {
        const struct piece *piece = piece_at(blocks, i);
        if (is_block(piece) && offset - piece->block < piece->bytes) {
            return finding_of(blocks, piece, FINDING_INSIDE_BLOCK, (uint32_t)offset - piece->block);
        }
    }
    return (struct finding){.kind = FINDING_NOT_A_BLOCK, .address = (uint32_t)(uintptr_t)address};
}

/* A block that the program has; NO_PIECE: it has none there. */
static uint32_t find_live(const struct blocks *blocks, const void *block, struct finding *found)
{
    uint32_t index = find_block(blocks, block);

    if (index == NO_PIECE) {
        *found = describe_stray(blocks, block);
    } else if (piece_at(blocks, index)->state == BLOCK_KEPT) {
        *found = finding_of(blocks, piece_at(blocks, index), FINDING_FREED_TWICE, 0);
        index = NO_PIECE;
    }
    return index;
}

bool ecube_blocks_release(struct blocks *blocks, void *block, uint32_t place, struct finding *found)
{
    uint32_t index = find_live(blocks, block, found);
    bool whole = true;

    if (index == NO_PIECE || !block_is_whole(blocks, index, found)) {
        return false;
    }
    piece_at(blocks, index)->freed = place;
    keep(blocks, index);
    while (whole && blocks->quarantined > BLOCKS_QUARANTINE_BYTES &&
           blocks->oldest != blocks->newest) {
        whole = forget(blocks, found);
    }
    return whole;
}

bool ecube_blocks_size(struct blocks *blocks, const void *block, uint32_t *bytes,
                       struct finding *found)
{
    uint32_t index = find_live(blocks, block, found);

    if (index == NO_PIECE) {
        return false;
    }
    *bytes = piece_at(blocks, index)->bytes;
    return true;
}

/* The guards, and of a freed block its ends. */
static bool look_at_one(const struct blocks *blocks, uint32_t index, uint32_t *freed_bytes,
                        struct finding *found)
{
    const struct piece *piece = piece_at(blocks, index);
    uint32_t end = piece->bytes < LOOK_ENDS_BYTES ? piece->bytes : LOOK_ENDS_BYTES;

    if (!front_is_whole(blocks, index, found) || !back_is_whole(blocks, piece, found)) {
        return false;
    }
    if (piece->state == BLOCK_LIVE) {
        return true;
    }
    *freed_bytes += 2 * end;
    return pattern_is_whole(blocks, piece, 0, end, found) &&
           pattern_is_whole(blocks, piece, piece->bytes - end, end, found);
}

bool ecube_blocks_look(struct blocks *blocks, struct finding *found)
{
    uint32_t most = blocks->count < LOOK_BLOCKS ? blocks->count : LOOK_BLOCKS, freed_bytes = 0;

    for (uint32_t i = 0; i < most && freed_bytes < LOOK_FREED_BYTES; i++) {
        uint32_t index = blocks->cursor < blocks->count ? blocks->cursor : 0;
        blocks->cursor = index + 1;
        if (is_block(piece_at(blocks, index)) && !look_at_one(blocks, index, &freed_bytes, found)) {
            return false;
        }
    }
    return true;
}

/* A block that was written past its end has spoilt the next one's front guard as well: that is told
 * once. */
uint32_t ecube_blocks_look_at_all(struct blocks *blocks, struct finding *found, uint32_t room)
{
    uint32_t spoilt = 0, index = blocks->count ? 0 : NO_PIECE;
    struct finding last = {0}, now = {0};

    for (; index != NO_PIECE; index = piece_at(blocks, index)->above) {
        if (!is_block(piece_at(blocks, index)) || block_is_whole(blocks, index, &now) ||
            (now.kind == last.kind && now.address == last.address)) {
            continue;
        }
        last = now;
        if (spoilt < room) {
            found[spoilt] = now;
        }
        spoilt++;
    }
    return spoilt;
}
