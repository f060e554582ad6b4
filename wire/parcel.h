/*
 * parcel.h - how the data of a message is cut into parcels, which a line of nodes passes on one by
 * one.
 *
 * The message to the first node of a line, its head, is cut as it will be needed: segments in the
 * order of the list, the string of each from its end to its beginning, every so many bytes. So what
 * is for all comes in the list's order, and of windows those of the farthest nodes come first:
 *
 *     strings      | common: 0 ... 9 |  windows of 4 bytes, 2 on: 0 1 2 3 4 5 6 7   nodes 0, 1, 2
 *     parcels of 8 | 2 to 9 | 0, 1; 2 to 7 of the windows | 0, 1 of the windows |
 *     of them node 0 gives node 1 those bytes that it or a node behind it needs:
 *                  | 2 to 9 | 0, 1; 2 to 7                |                     |
 *     and node 1 gives node 2
 *                  | 2 to 9 | 0, 1; 4 to 7                |                     |
 *
 * A node's parcels are the first, which brings the list and may have no data for it, and all others
 * that have any. Each has a circuit of its own.
 *
 * Units    bytes; ranks
 * Context  any; pure. The list is one that load_list_open has looked at
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/load.h"

/* A message that is cut: of the segments from `from` up to and without `to`. */
struct load_cut {
    uint32_t head, count; /* the nodes of its line */
    uint32_t bytes;       /* of a parcel, but for the last one */
    uint32_t from, to;
};

/* How far it has been gone through. */
struct load_walk {
    uint64_t done;    /* bytes of the segment's piece, from its end on */
    uint32_t segment; /* the one that comes next, or is amid */
    uint32_t parcel;  /* the present one; */
    uint32_t room;    /* it takes so many bytes more */
};

/* What a parcel has of one string. */
struct load_slice {
    uint64_t from;
    uint32_t bytes;
    uint32_t segment;
};

static inline struct load_walk load_walk_at(const struct load_cut *cut)
{
    return (struct load_walk){.segment = cut->from, .room = cut->bytes};
}

/* Passes the next slice, which is of the present parcel; false: there is none. */
static inline bool load_walk_next(const struct load_list *list, const struct load_cut *cut,
                                  struct load_walk *walk, struct load_slice *slice)
{
    for (; walk->segment < cut->to; walk->segment++, walk->done = 0) {
        struct load_piece piece = load_piece(list, walk->segment, cut->head, cut->count);
        uint64_t left = piece.bytes - walk->done;

        if (left == 0) {
            continue;
        }
        uint32_t bytes = left < walk->room ? (uint32_t)left : walk->room;
        *slice = (struct load_slice){piece.from + left - bytes, bytes, walk->segment};
        walk->done += bytes;
        walk->room -= bytes;
        if (walk->room == 0) {
            walk->parcel++;
            walk->room = cut->bytes;
        }
        return true;
    }
    return false;
}

/* What of a slice the line needs from a rank on. */
static inline struct load_piece load_slice_part(const struct load_list *list,
                                                const struct load_cut *cut,
                                                const struct load_slice *slice, uint32_t rank)
{
    struct load_piece need = load_piece(list, slice->segment, rank, cut->head + cut->count - rank);
    uint64_t from = need.from > slice->from ? need.from : slice->from;
    uint64_t end = slice->from + slice->bytes;

    return need.bytes > 0 && from < end ? (struct load_piece){from, end - from}
                                        : (struct load_piece){0, 0};
}

/* Passes the parcel before which a walk stands: what of it the line needs from a rank on. */
static inline uint32_t load_parcel_pass(const struct load_list *list, const struct load_cut *cut,
                                        struct load_walk *walk, uint32_t rank)
{
    uint32_t parcel = walk->parcel, bytes = 0;
    struct load_slice slice;

    while (walk->parcel == parcel && load_walk_next(list, cut, walk, &slice)) {
        bytes += (uint32_t)load_slice_part(list, cut, &slice, rank).bytes;
    }
    return bytes;
}

/* Goes on to the next parcel of which a rank, or one behind it, needs something: so many bytes; 0:
 * there is none. */
static inline uint32_t load_parcel_find(const struct load_list *list, const struct load_cut *cut,
                                        struct load_walk *walk, uint32_t rank)
{
    while (walk->segment < cut->to) {
        struct load_walk start = *walk;
        uint32_t bytes = load_parcel_pass(list, cut, walk, rank);

        if (bytes > 0) {
            *walk = start;
            return bytes;
        }
    }
    return 0;
}
