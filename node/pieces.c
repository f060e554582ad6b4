/*
 * pieces.c - where the bytes of a download lie at this node: its own at their addresses, those that
 * it only passes on in free memory.
 *
 * Of each segment a node receives one piece of the string, for itself and for those that it serves.
 * What it needs itself is the front of the piece, for it is the first of its range:
 *
 *     string   | 8  9 10 11 12 13 14 |      windows of 5 bytes, 2 bytes on; nodes 4 and 5
 *     node 4   | own          | free |      keeps 8 to 12, passes on 13 and 14
 *     to 5       not | 10 to 14      |      lies in two runs: own place, then free memory
 *
 *     free memory, from the program's top:  | list | passed on of segment 0 | of segment 1 | ...
 *
 * So any message to a part of the range lies here too, in runs. Runs that touch are one: blocks of
 * their own, one for each node, go out together.
 *
 * Of a message in parcels (wire/parcel.h) the own bytes have their place, too. What a parcel has
 * for others alone is in one of three slots behind the list, until it has gone on; it is free for
 * the third parcel after this one.
 *
 * Of segments that have the same string the first that the node needs takes the bytes; the others
 * are copied when they are hashed.
 */
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "node/state.h"
#include "wire/load.h"

static uint32_t memory_end(const struct node *node)
{
    return node->config.program_address + node->config.program_bytes;
}

static uint8_t *memory_at(const struct node *node, uint32_t address)
{
    return node->config.program + (address - node->config.program_address);
}

struct load_list load_list_of(const struct node *node)
{
    return load_list_at(memory_at(node, node->load.top));
}

static bool covers(const struct load_segment *segment, uint32_t rank)
{
    return rank - segment->first < segment->count;
}

/* Finds the segment that takes the bytes of a string at a rank: from the one that brings the string
 * on, the first that is for it. False: none is. */
static bool find_own(const struct load_list *list, uint32_t index, uint32_t rank,
                     struct load_segment *own)
{
    *own = load_segment_at(list, index);
    while (!covers(own, rank)) {
        if (++index == list->segments) {
            return false;
        }
        *own = load_segment_at(list, index);
        if (!(own->flags & LOAD_SAME)) {
            return false;
        }
    }
    return true;
}

struct load_cursor load_cursor_at(const struct node *node, uint32_t first, uint32_t count)
{
    return (struct load_cursor){.first = first, .count = count, .segment = node->load.from_segment};
}

/* The bytes at which a cursor stands, as far as they lie side by side; none at the end. Pieces that
 * the cursor's ranks do not need are passed. */
static struct load_run find_run(const struct node *node, const struct load_list *list,
                                struct load_cursor *cursor)
{
    const struct load *load = &node->load;
    uint8_t *free_memory = memory_at(node, load->top) + load->list_bytes;
    uint32_t rank = node->router.id;

    for (; cursor->segment < load->to_segment; cursor->segment++, cursor->done = 0) {
        struct load_piece all = load_piece(list, cursor->segment, rank, load->count);
        struct load_piece part = load_piece(list, cursor->segment, cursor->first, cursor->count);
        struct load_segment own = {0};
        uint32_t kept =
            all.bytes > 0 && find_own(list, cursor->segment, rank, &own) ? own.bytes : 0;
        if (cursor->done < part.bytes) {
            uint32_t at = (uint32_t)(part.from - all.from) + cursor->done;
            uint32_t left = (uint32_t)part.bytes - cursor->done;
            if (at >= kept) {
                return (struct load_run){free_memory + cursor->passed_on + (at - kept), left};
            }
            return (struct load_run){memory_at(node, own.address) + at,
                                     left < kept - at ? left : kept - at};
        }
        cursor->passed_on += (uint32_t)all.bytes - kept;
    }
    return (struct load_run){NULL, 0};
}

struct load_run load_next_run(const struct node *node, struct load_cursor *cursor)
{
    struct load_list list = load_list_of(node);
    struct load_run run = {NULL, 0};

    for (;;) {
        struct load_run next = find_run(node, &list, cursor);
        if (next.bytes == 0 || (run.bytes > 0 && next.at != run.at + run.bytes)) {
            return run;
        }
        run.at = run.bytes > 0 ? run.at : next.at;
        run.bytes += next.bytes;
        cursor->done += next.bytes;
    }
}

struct load_cut load_cut_of(const struct node *node)
{
    const struct load *load = &node->load;

    return (struct load_cut){.head = load->head,
                             .count = node->router.id - load->head + load->count,
                             .bytes = load->parcel_bytes,
                             .from = load->from_segment,
                             .to = load->to_segment};
}

struct parcel_cursor parcel_cursor_at(const struct load_walk *walk, uint32_t first, uint32_t slot)
{
    return (struct parcel_cursor){
        .walk = *walk, .first = first, .parcel = walk->parcel, .slot = slot};
}

/* What of a slice this node only passes on: behind what it keeps, which ends at `end` of the string
 * and lies in `own`. */
struct division {
    struct load_segment own;
    uint64_t own_from, own_end; /* equal: nothing of the string is its own */
    uint64_t from;              /* of what it passes on */
    uint32_t bytes;
};

static struct division divide(const struct node *node, const struct load_list *list,
                              const struct load_slice *slice)
{
    struct load_cut cut = load_cut_of(node);
    struct load_piece all = load_slice_part(list, &cut, slice, node->router.id);
    struct division division = {.from = all.from, .bytes = (uint32_t)all.bytes};

    if (find_own(list, slice->segment, node->router.id, &division.own)) {
        division.own_from = load_piece(list, slice->segment, node->router.id, 1).from;
        division.own_end = division.own_from + division.own.bytes;
        uint64_t own = division.own_end > all.from ? division.own_end - all.from : 0;
        own = own < all.bytes ? own : all.bytes;
        division.from += own;
        division.bytes -= (uint32_t)own;
    }
    return division;
}

/* The bytes of a slice at which a cursor stands. */
static struct load_run slice_run(const struct node *node, const struct parcel_cursor *cursor,
                                 const struct load_piece *part, const struct division *division)
{
    const struct load *load = &node->load;
    uint64_t at = part->from + cursor->done, end = part->from + part->bytes;

    if (at < division->own_end) {
        end = end < division->own_end ? end : division->own_end;
        return (struct load_run){memory_at(node, division->own.address) + (at - division->own_from),
                                 (uint32_t)(end - at)};
    }
    uint8_t *slot =
        memory_at(node, load->top) + load->list_bytes + (size_t)cursor->slot * load->parcel_bytes;
    return (struct load_run){slot + cursor->passed_on + (at - division->from),
                             (uint32_t)(end - at)};
}

/* The same as find_run. */
static struct load_run find_parcel_run(const struct node *node, const struct load_list *list,
                                       struct parcel_cursor *cursor)
{
    struct load_cut cut = load_cut_of(node);

    for (;;) {
        if (cursor->slice.bytes > 0) {
            struct load_piece part = load_slice_part(list, &cut, &cursor->slice, cursor->first);
            struct division division = divide(node, list, &cursor->slice);
            if (cursor->done < part.bytes) {
                return slice_run(node, cursor, &part, &division);
            }
            cursor->passed_on += division.bytes;
        }
        cursor->done = 0;
        if (cursor->walk.parcel != cursor->parcel ||
            !load_walk_next(list, &cut, &cursor->walk, &cursor->slice)) {
            cursor->slice.bytes = 0;
            return (struct load_run){NULL, 0};
        }
    }
}

struct load_run parcel_next_run(const struct node *node, struct parcel_cursor *cursor)
{
    struct load_list list = load_list_of(node);
    struct load_run run = {NULL, 0};

    for (;;) {
        struct load_run next = find_parcel_run(node, &list, cursor);
        if (next.bytes == 0 || (run.bytes > 0 && next.at != run.at + run.bytes)) {
            return run;
        }
        run.at = run.bytes > 0 ? run.at : next.at;
        run.bytes += next.bytes;
        cursor->done += next.bytes;
    }
}

uint32_t load_own_from(const struct node *node, uint32_t index)
{
    struct load_list list = load_list_of(node);

    for (; index < node->load.to_segment; index++) {
        struct load_segment segment = load_segment_at(&list, index);
        if (covers(&segment, node->router.id)) {
            break;
        }
    }
    return index;
}

struct load_run load_own_place(const struct node *node, uint32_t index, const uint8_t **came)
{
    struct load_list list = load_list_of(node);
    struct load_segment segment = load_segment_at(&list, index), first = segment;

    while (load_segment_at(&list, index).flags & LOAD_SAME) {
        index--;
    }
    CHECK(find_own(&list, index, node->router.id, &first));
    *came = memory_at(node, first.address);
    return (struct load_run){memory_at(node, segment.address), segment.bytes};
}

/* Whether the read-only parts begin and end where they can. */
static bool ends_fit(const struct load_program *program, uint32_t base)
{
    if (program->code_end == base && program->constants_end == base) {
        return true;
    }
    uint32_t ends =
        program->code_end | program->constants_end | program->data_start | program->data_end;
    return ends % PROTECTED_PAGE_BYTES == 0 && program->entry < program->code_end &&
           program->code_end <= program->constants_end &&
           program->constants_end <= program->bss_end;
}

/* Whether a program's parts lie where they can, one behind the other. The offer has been looked at:
 * its top lies behind the image's address, in the node's memory. */
static bool program_fits(const struct node *node, const struct load_program *program)
{
    uint32_t base = node->config.image_address;

    return program->top == node->load.top && program->entry >= base &&
           program->entry < program->top && program->bss_end >= base &&
           program->bss_end <= program->data_start && program->data_start <= program->data_end &&
           program->data_end <= program->top && ends_fit(program, base);
}

/* Takes what the list says of the node's program. Where nothing is protected, nor is
 * data. */
static void take_program(struct node *node, const struct load_program *program)
{
    struct load *load = &node->load;
    bool protected = program->code_end > node->config.image_address;

    load->entry = program->entry;
    load->code_end = program->code_end;
    load->constants_end = program->constants_end;
    load->data_start = protected ? program->data_start : node->config.image_address;
    load->data_end = protected ? program->data_end : node->config.image_address;
}

/* Whether all own segments lie between the image's address and top, also those that are not sent
 * now; takes the places of the private block and the map, and counts the bytes of those that
 * are. */
static bool take_places(struct node *node, const struct load_list *list)
{
    struct load *load = &node->load;
    uint32_t base = node->config.image_address;

    for (uint32_t i = 0; i < list->segments; i++) {
        struct load_segment segment = load_segment_at(list, i);
        if (!covers(&segment, node->router.id)) {
            continue;
        }
        if (segment.address < base || segment.address > load->top ||
            segment.bytes > load->top - segment.address) {
            return false;
        }
        if (segment.flags & LOAD_BLOCK) {
            load->block = segment.address;
            load->block_bytes = segment.bytes;
        }
        if (segment.flags & LOAD_MAP) {
            load->map = segment.address;
            load->map_bytes = segment.bytes;
        }
        load->held_bytes += i >= load->from_segment && i < load->to_segment ? segment.bytes : 0;
    }
    return true;
}

/* What of the message's data is not this node's. No sum wraps: there are at most 2^13 segments of
 * pieces below 2^49. */
static uint64_t others_bytes(const struct node *node, const struct load_list *list, uint64_t data)
{
    const struct load *load = &node->load;
    struct load_segment own;

    for (uint32_t i = load->from_segment; i < load->to_segment; i++) {
        if (!(load_segment_at(list, i).flags & LOAD_SAME) &&
            find_own(list, i, node->router.id, &own)) {
            data -= own.bytes;
        }
    }
    return data;
}

/* The list is for this network, and for what has been offered. A message does not begin amid
 * segments of one string. */
static bool list_fits(const struct node *node, const struct load_list *list)
{
    const struct load *load = &node->load;

    return list->nodes == node->router.network.nodes && load->to_segment <= list->segments &&
           !(load_segment_at(list, load->from_segment).flags & LOAD_SAME);
}

/* The data that the first circuit brings. */
static uint64_t first_bytes(const struct node *node, const struct load_list *list, uint64_t data)
{
    struct load_cut cut = load_cut_of(node);
    struct load_walk walk = load_walk_at(&cut);

    return cut.bytes > 0 ? load_parcel_pass(list, &cut, &walk, node->router.id) : data;
}

/* Free memory for what is only passed on: all of it, or slots for as many parcels as there are, up
 * to three. */
static uint64_t held_for_others(const struct node *node, const struct load_list *list,
                                uint64_t others)
{
    struct load_cut cut = load_cut_of(node);

    if (cut.bytes == 0 || others == 0) {
        return others;
    }
    uint64_t all = load_data_bytes(list, cut.from, cut.to, cut.head, cut.count), held = cut.bytes;
    for (unsigned i = 1; i < PARCELS_HELD && held < all; i++) {
        held += cut.bytes;
    }
    return held;
}

int load_take_list(struct node *node)
{
    struct load *load = &node->load;
    uint8_t digest[DIGEST_BYTES];
    struct load_list list;

    sha256_end(&load->sha, digest);
    if (memcmp(digest, load->list_digest, sizeof digest) != 0 ||
        !load_list_open(&list, memory_at(node, load->top), load->list_bytes) ||
        !list_fits(node, &list)) {
        return E_FORMAT;
    }
    struct load_program program = load_program_of(&list, node->router.id);
    uint64_t data =
        load_data_bytes(&list, load->from_segment, load->to_segment, node->router.id, load->count);
    if (first_bytes(node, &list, data) != load->message_bytes - load->list_bytes) {
        return E_FORMAT;
    }
    uint64_t others = held_for_others(node, &list, others_bytes(node, &list, data));
    if (!program_fits(node, &program) || !take_places(node, &list) ||
        others > memory_end(node) - load->top - load->list_bytes) {
        return E_NO_ROOM;
    }
    load->passed_on_bytes = (uint32_t)others;
    take_program(node, &program);
    return E_OK;
}
