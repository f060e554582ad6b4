/*
 * load.h - what a load brings to the nodes: a list of programs and segments; and which bytes of it
 * a range of nodes needs.
 *
 * The list is the same for all nodes. It travels in front of the data of every message (run.h,
 * OFFER), which takes no model time: it is what the host says of the data, as OFFER is.
 *
 *   list      0 nodes u32 | 4 programs u16 | 6 segments u16 | programs | segments
 *   program   0 first u32 | 4 count u32 | 8 entry u32 | 12 bss end u32 | 16 code end u32 |
 *             20 constants end u32 | 24 data start u32 | 28 data end u32 | 32 top u32
 *   segment   0 first u32 | 4 count u32 | 8 address u32 | 12 bytes u32 | 16 step u32 |
 *             20 flags u8, enum load_flag | 21 spare[3]
 *
 * Programs are in the order of ranks and have each node once. The memory of a node:
 *
 *   image address    code end          constants end      data start   data end        top
 *   | code: read,    | constants: read | data, bss: read, | data: read | private data: | heap
 *   |    executed    |                 |    write         |            | read, write   |
 *
 * All ends are on pages of PROTECTED_PAGE_BYTES (run.h), and code end lies above the image's
 * address. If code end and constants end are that address instead, nothing is protected, and all
 * but top may lie anywhere: the program may write and execute all of its memory.
 *
 * A segment is for the nodes `first` to `first + count - 1`. Its string lies at the host; node
 * first + i gets the `bytes` of it from i * step on, at `address`. So
 *
 *   step 0               all get the same: an image, common data, a file
 *   step = bytes         each gets its own: private data
 *   0 < step < bytes     windows: neighbours have bytes - step in common
 *
 * A message to a range of nodes has of each segment, in the order of the list, what its nodes need:
 * one piece of the string, what they have in common once. Segments that are LOAD_SAME have the
 * string of the one before, for other nodes or at another address; together they are once in a
 * message.
 *
 * A segment that is LOAD_MAP is a map, the same at all nodes: ranks are elsewhere than at the nodes
 * of their numbers, and form another network, the guest. Without one rank r is at node r.
 *
 *   map       0 nodes u32 | 4 kind u8 of the guest | 5 dims u8 | 6 spare[2] | 8 its sizes u32[16],
 *             dimension 0 first | 72 the node of each rank u16 | the rank at each node u16
 *
 * Example  windows of 5 bytes each 2 bytes on; nodes 4 and 5 of 0 to 7 need the 7 bytes from 8 on
 * Units    bytes; nodes, but for a map's ranks
 * Context  any; pure. A list that has come over a link is looked at when load_list_open has found
 *          that it may be
 * Source   Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *          nodes, section III: M is bytes, Delta is step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/bytes.h"

enum {
    LOAD_LIST_HEADER_BYTES = 8,
    LOAD_PROGRAM_BYTES = 36,
    LOAD_SEGMENT_BYTES = 24,
    LOAD_PROGRAMS_MAX = 1024,
    LOAD_SEGMENTS_MAX = 8192,
    LOAD_LIST_BYTES_MAX = 256 * 1024,
    LOAD_MAP_HEADER_BYTES = 72,
    LOAD_MAP_DIMS_MAX = 16
};

enum load_flag {
    LOAD_SAME = 1,  /* the string of the segment before */
    LOAD_BLOCK = 2, /* the private block (run.h): where a program finds all else */
    LOAD_MAP = 4    /* which rank is at which node */
};

struct load_list {
    const uint8_t *bytes;
    uint32_t nodes, programs, segments;
};

struct load_program {
    uint32_t first, count;
    uint32_t entry, bss_end, code_end, constants_end;
    uint32_t data_start, data_end; /* read-only in between */
    uint32_t top;                  /* the heap begins; above it a download passes data on */
};

struct load_segment {
    uint32_t first, count; /* ranks */
    uint32_t address, bytes, step;
    uint8_t flags;
};

/* A piece of a segment's string; bytes 0: nothing of it. */
struct load_piece {
    uint64_t from;
    uint64_t bytes;
};

static inline uint32_t load_list_bytes(uint32_t programs, uint32_t segments)
{
    return LOAD_LIST_HEADER_BYTES + programs * LOAD_PROGRAM_BYTES + segments * LOAD_SEGMENT_BYTES;
}

static inline void load_list_pack(uint8_t *list, uint32_t nodes, uint32_t programs,
                                  uint32_t segments)
{
    put32(list, nodes);
    put16(list + 4, (uint16_t)programs);
    put16(list + 6, (uint16_t)segments);
}

static inline void load_program_pack(uint8_t *list, uint32_t index,
                                     const struct load_program *program)
{
    uint8_t *at = list + load_list_bytes(index, 0);

    put32(at, program->first);
    put32(at + 4, program->count);
    put32(at + 8, program->entry);
    put32(at + 12, program->bss_end);
    put32(at + 16, program->code_end);
    put32(at + 20, program->constants_end);
    put32(at + 24, program->data_start);
    put32(at + 28, program->data_end);
    put32(at + 32, program->top);
}

/* After load_list_pack, which says how many programs lie before it. */
static inline void load_segment_pack(uint8_t *list, uint32_t index,
                                     const struct load_segment *segment)
{
    uint8_t *at = list + load_list_bytes(get16(list + 4), index);

    put32(at, segment->first);
    put32(at + 4, segment->count);
    put32(at + 8, segment->address);
    put32(at + 12, segment->bytes);
    put32(at + 16, segment->step);
    put32(at + 20, segment->flags);
}

static inline struct load_program load_program_at(const struct load_list *list, uint32_t index)
{
    const uint8_t *at = list->bytes + load_list_bytes(index, 0);

    return (struct load_program){.first = get32(at),
                                 .count = get32(at + 4),
                                 .entry = get32(at + 8),
                                 .bss_end = get32(at + 12),
                                 .code_end = get32(at + 16),
                                 .constants_end = get32(at + 20),
                                 .data_start = get32(at + 24),
                                 .data_end = get32(at + 28),
                                 .top = get32(at + 32)};
}

static inline struct load_segment load_segment_at(const struct load_list *list, uint32_t index)
{
    const uint8_t *at = list->bytes + load_list_bytes(list->programs, index);

    return (struct load_segment){.first = get32(at),
                                 .count = get32(at + 4),
                                 .address = get32(at + 8),
                                 .bytes = get32(at + 12),
                                 .step = get32(at + 16),
                                 .flags = at[20]};
}

/* A list at its place, which load_list_open has looked at or is about to. */
static inline struct load_list load_list_at(const uint8_t *bytes)
{
    return (struct load_list){bytes, get32(bytes), get16(bytes + 4), get16(bytes + 6)};
}

/* Whether the bytes are a list: counts that fit its length, each node with one program, segments of
 * nodes that there are, none with gaps or without bytes. Addresses are not looked at. */
static inline bool load_list_open(struct load_list *list, const uint8_t *bytes, uint32_t length)
{
    uint32_t next = 0;

    if (length < LOAD_LIST_HEADER_BYTES) {
        return false;
    }
    *list = load_list_at(bytes);
    if (list->programs == 0 || list->programs > LOAD_PROGRAMS_MAX || list->segments == 0 ||
        list->segments > LOAD_SEGMENTS_MAX ||
        length != load_list_bytes(list->programs, list->segments)) {
        return false;
    }
    for (uint32_t i = 0; i < list->programs; i++) {
        struct load_program program = load_program_at(list, i);

        if (program.first != next || program.count == 0 || program.count > list->nodes - next) {
            return false;
        }
        next += program.count;
    }
    struct load_segment before = {0};
    for (uint32_t i = 0; i < list->segments; i++) {
        struct load_segment segment = load_segment_at(list, i);
        bool same = segment.flags & LOAD_SAME;

        if (same && (i == 0 || before.bytes != segment.bytes || before.step || segment.step)) {
            return false;
        }
        before = segment;
        if (segment.count == 0 || segment.first >= list->nodes ||
            segment.count > list->nodes - segment.first || segment.bytes == 0 ||
            segment.step > segment.bytes) {
            return false;
        }
    }
    return next == list->nodes;
}

/* The program of a rank, which is one of the list's nodes. */
static inline struct load_program load_program_of(const struct load_list *list, uint32_t rank)
{
    struct load_program program = load_program_at(list, 0);

    for (uint32_t i = 1; rank - program.first >= program.count; i++) {
        program = load_program_at(list, i);
    }
    return program;
}

/* The piece of a segment's string that the nodes of a range need, by this segment alone. */
static inline struct load_piece load_segment_piece(const struct load_segment *segment,
                                                   uint32_t first, uint32_t count)
{
    uint32_t end = first + count, segment_end = segment->first + segment->count;

    first = first > segment->first ? first : segment->first;
    end = end < segment_end ? end : segment_end;
    if (first >= end) {
        return (struct load_piece){0, 0};
    }
    return (struct load_piece){(uint64_t)(first - segment->first) * segment->step,
                               (uint64_t)(end - 1 - first) * segment->step + segment->bytes};
}

/* The piece of segment `index` in a message to a range: with those behind it that are LOAD_SAME, so
 * it is there when any of them is needed; nothing when it is one of those itself. */
static inline struct load_piece load_piece(const struct load_list *list, uint32_t index,
                                           uint32_t first, uint32_t count)
{
    struct load_segment segment = load_segment_at(list, index);
    struct load_piece piece = {0, 0};

    if (segment.flags & LOAD_SAME) {
        return piece;
    }
    for (;;) {
        piece = load_segment_piece(&segment, first, count);
        if (piece.bytes > 0 || ++index == list->segments) {
            return piece;
        }
        segment = load_segment_at(list, index);
        if (!(segment.flags & LOAD_SAME)) {
            return piece;
        }
    }
}

/* The data of a message to a range, of the segments from `from` up to and without `to`. */
static inline uint64_t load_data_bytes(const struct load_list *list, uint32_t from, uint32_t to,
                                       uint32_t first, uint32_t count)
{
    uint64_t bytes = 0;

    for (uint32_t i = from; i < to; i++) {
        bytes += load_piece(list, i, first, count).bytes;
    }
    return bytes;
}

/* What the ranks of a map form. */
struct load_map {
    uint32_t nodes;
    uint8_t kind, dims;
    uint32_t sizes[LOAD_MAP_DIMS_MAX];
};

static inline uint32_t load_map_bytes(uint32_t nodes)
{
    return LOAD_MAP_HEADER_BYTES + 4 * nodes;
}

static inline void load_map_pack(uint8_t *map, const struct load_map *fields)
{
    put32(map, fields->nodes);
    put32(map + 4, fields->kind | (uint32_t)fields->dims << 8);
    for (unsigned k = 0; k < LOAD_MAP_DIMS_MAX; k++) {
        put32(map + 8 + 4 * k, fields->sizes[k]);
    }
}

/* Puts a rank at a node. */
static inline void load_map_put(uint8_t *map, uint32_t nodes, uint32_t rank, uint32_t node)
{
    put16(map + LOAD_MAP_HEADER_BYTES + 2 * rank, (uint16_t)node);
    put16(map + LOAD_MAP_HEADER_BYTES + 2 * (nodes + node), (uint16_t)rank);
}

static inline uint32_t load_map_node(const uint8_t *map, uint32_t rank)
{
    return get16(map + LOAD_MAP_HEADER_BYTES + 2 * rank);
}

static inline uint32_t load_map_rank(const uint8_t *map, uint32_t nodes, uint32_t node)
{
    return get16(map + LOAD_MAP_HEADER_BYTES + 2 * (nodes + node));
}

/* What is wrong with a map, and the numbers that say it. A node tells them to the host (report.h),
 * so they are appended to, never renumbered. */
enum load_map_wrong {
    LOAD_MAP_RIGHT,
    LOAD_MAP_CUT,     /* it has a bytes, and one of b nodes has c */
    LOAD_MAP_NODES,   /* it is for a nodes, and there are b */
    LOAD_MAP_OUTSIDE, /* rank a is at node b, and there are c nodes */
    LOAD_MAP_TWICE,   /* ranks a and b are both at node c */
    LOAD_MAP_ASTRAY,  /* rank a is at node b, and at that node is rank c */
    LOAD_MAP_GUEST    /* its ranks form no network of b nodes: kind a */
};

struct load_map_fault {
    uint32_t wrong; /* enum load_map_wrong */
    uint32_t a, b, c;
};

/* Of a rank that its node does not know of: mostly another is there, too. */
static inline struct load_map_fault load_map_stray(const uint8_t *map, uint32_t nodes,
                                                   uint32_t rank, uint32_t node)
{
    uint32_t other = load_map_rank(map, nodes, node);

    return other < nodes && load_map_node(map, other) == node
               ? (struct load_map_fault){LOAD_MAP_TWICE, rank < other ? rank : other,
                                         rank < other ? other : rank, node}
               : (struct load_map_fault){LOAD_MAP_ASTRAY, rank, node, other};
}

/* Whether the bytes are a map of so many nodes: each rank is at a node which says that it is, so it
 * is a permutation. Of the guest only the number of sizes is looked at. */
static inline struct load_map_fault load_map_unpack(const uint8_t *map, uint32_t bytes,
                                                    uint32_t nodes, struct load_map *fields)
{
    if (bytes >= LOAD_MAP_HEADER_BYTES && get32(map) != nodes) {
        return (struct load_map_fault){LOAD_MAP_NODES, get32(map), nodes, 0};
    }
    if (bytes != load_map_bytes(nodes)) {
        return (struct load_map_fault){LOAD_MAP_CUT, bytes, nodes, load_map_bytes(nodes)};
    }
    *fields = (struct load_map){.nodes = nodes, .kind = map[4], .dims = map[5]};
    for (unsigned k = 0; k < LOAD_MAP_DIMS_MAX; k++) {
        fields->sizes[k] = get32(map + 8 + 4 * k);
    }
    for (uint32_t rank = 0; rank < nodes; rank++) {
        uint32_t node = load_map_node(map, rank);
        if (node >= nodes) {
            return (struct load_map_fault){LOAD_MAP_OUTSIDE, rank, node, nodes};
        }
        if (load_map_rank(map, nodes, node) != rank) {
            return load_map_stray(map, nodes, rank, node);
        }
    }
    return fields->dims <= LOAD_MAP_DIMS_MAX
               ? (struct load_map_fault){LOAD_MAP_RIGHT, 0, 0, 0}
               : (struct load_map_fault){LOAD_MAP_GUEST, fields->kind, nodes, 0};
}
