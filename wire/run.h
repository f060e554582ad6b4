/*
 * run.h - download, start and end of a program: what host and nodes say to each other.
 *
 * To a node, from the host or from the node that passes the download on:
 *
 *   OFFER   0 name u32 | 4 count u32 | 8 list bytes u32 | 12 message bytes u32 |
 *           16 from segment u16 | 18 to segment u16 | 20 top u32 of the receiver's program |
 *           24 generation u8 of the load: not that of the one before | 25 spare[3] |
 *           28 parcel bytes u32 | 32 head u32 | 36 SHA-256 of the list.
 *           Offers a message with what the receiver and the `count` - 1 ranks behind it need. It
 *           begins with the list of the load (load.h); then come the pieces of its segments, from
 *           the one of the first number up to and without that of the second. The receiver gives
 *           halves on. Parcel bytes not 0: it gives parcels on (parcel.h), in a line of nodes that
 *           begins with `head`, and message bytes are those of the list and the first parcel. Each
 *           parcel waits for a CTS of its own: the first is for the name of the offer, the second
 *           for that name plus 1, and so on
 *   START   0 model ns u64, no node's clock is ahead of it | 8 attended u8: 1: somebody can scatter
 *           into the program's regions, and gather them (region.h) | 9 paths u8: a long message
 *           goes over so many paths at most, 0: as its program says | 10 spare[2] | 12 records u32:
 *           so many are kept, as far as there is memory, 0: none (record.h): run the program that
 *           is loaded
 *   STOP    0 generation u8 | 1 spare[3]: end the program of that generation and drop its messages,
 *           or do not start it any more; empty: end the program that runs
 *   TAKEN   0 bytes u32 | 4 generation u8 | 5 spare[3]: how much text of this program has been
 *           read, modulo 2^32
 *
 * To the host:
 *
 *   CONSOLE 0 stream u8, enum ecube_stream | 1 text, at most CONSOLE_WINDOW bytes ahead of TAKEN
 *   EXIT    0 status i32 | 4 aborted u8: 1: it ends the whole run | 5 spare |
 *           6 collectives u16, in which its program took part, modulo 2^16
 *   REPORT  0 name char[24], ends with a zero byte | 24 bytes u64 | 32 steps u64 |
 *           40 model ns u64 | 48 predicted ns u64 | 56 bound ns u64 | 64 wall ns u64 | 72 wrong u64
 *   RECEIPT 0 status i32 | 4 bytes held u32 | 8 model ns u64 when all was received and sent on |
 *           16 first u16 | 18 count u16 | 20 last u8 | 21 spare[3] | 24 SHA-256 of `count`
 *           segments. Of those that were sent the node's own are numbered from 0 in the order of
 *           the list; `first` is the number of the first of these. `last`: no more follow
 *
 * In memory, where a segment of the load with LOAD_BLOCK says, for the node that it is for:
 *
 *   private block  0 rank u32 | 4 size u32 | 8 argc u32 | 12 entries u32 | the entries |
 *                  the argc strings, then the name of each entry, each ended by a zero byte
 *   entry          0 kind u32, enum block_kind | 4 address u32 | 8 bytes u32 | 12 spare u32
 *
 *   Entries say which data lie where in the program's memory. The name is that of a file, as the
 *   program opens it: components with "/" in between, none of them empty, "." or "..". Other
 *   entries' names are for people, and may be empty.
 *
 * Units    bytes; model time in ns
 * Context  any; pure. Unpacking is false when the bytes are too few; what is unpacked refers to
 *          text where it lies.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/bytes.h"

enum run_kind {
    PACKET_OFFER = 22,
    PACKET_START = 23,
    PACKET_STOP = 24,
    PACKET_TAKEN = 26,
    PACKET_CONSOLE = 32,
    PACKET_EXIT = 33,
    PACKET_REPORT = 35,
    PACKET_RECEIPT = 36
};

enum {
    OFFER_BYTES = 68,
    START_BYTES = 16,
    STOP_BYTES = 4,
    TAKEN_BYTES = 8,
    CONSOLE_HEADER_BYTES = 1,
    CONSOLE_WINDOW = 16 * 1024,
    EXIT_BYTES = 8,
    REPORT_NAME_BYTES = 24,
    REPORT_BYTES = 80,
    DIGEST_BYTES = 32,
    RECEIPT_BYTES = 24,
    RECEIPT_DIGESTS_MAX = 8, /* in one packet */
    BLOCK_HEADER_BYTES = 16,
    BLOCK_ENTRY_BYTES = 16,
    PROTECTED_PAGE_BYTES = 4096
};

struct offer_body {
    uint32_t name, count;
    uint32_t list_bytes, message_bytes; /* the message with the list */
    uint16_t from_segment, to_segment;
    uint32_t top;
    uint8_t generation;
    uint32_t parcel_bytes; /* 0: the message is not cut */
    uint32_t head;
    const uint8_t *digest; /* DIGEST_BYTES of the list; unpacked: where it lies */
};

static inline void offer_pack(uint8_t *body, const struct offer_body *offer)
{
    put32(body, offer->name);
    put32(body + 4, offer->count);
    put32(body + 8, offer->list_bytes);
    put32(body + 12, offer->message_bytes);
    put16(body + 16, offer->from_segment);
    put16(body + 18, offer->to_segment);
    put32(body + 20, offer->top);
    put32(body + 24, offer->generation);
    put32(body + 28, offer->parcel_bytes);
    put32(body + 32, offer->head);
    memcpy(body + 36, offer->digest, DIGEST_BYTES);
}

static inline bool offer_unpack(const uint8_t *body, uint32_t bytes, struct offer_body *offer)
{
    if (bytes < OFFER_BYTES) {
        return false;
    }
    *offer = (struct offer_body){.name = get32(body),
                                 .count = get32(body + 4),
                                 .list_bytes = get32(body + 8),
                                 .message_bytes = get32(body + 12),
                                 .from_segment = get16(body + 16),
                                 .to_segment = get16(body + 18),
                                 .top = get32(body + 20),
                                 .generation = body[24],
                                 .parcel_bytes = get32(body + 28),
                                 .head = get32(body + 32),
                                 .digest = body + 36};
    return true;
}

struct start_body {
    uint64_t model_ns;
    bool attended;
    uint8_t paths;
    uint32_t records;
};

static inline void start_pack(uint8_t *body, const struct start_body *start)
{
    put64(body, start->model_ns);
    put32(body + 8, start->attended | (uint32_t)start->paths << 8);
    put32(body + 12, start->records);
}

static inline bool start_unpack(const uint8_t *body, uint32_t bytes, struct start_body *start)
{
    if (bytes < START_BYTES) {
        return false;
    }
    *start = (struct start_body){.model_ns = get64(body),
                                 .attended = body[8] != 0,
                                 .paths = body[9],
                                 .records = get32(body + 12)};
    return true;
}

struct taken_body {
    uint32_t bytes;
    uint8_t generation;
};

static inline void stop_pack(uint8_t *body, uint8_t generation)
{
    put32(body, generation);
}

/* Whether a STOP is for the program of this generation by its name. */
static inline bool stop_names(const uint8_t *body, uint32_t bytes, uint8_t generation)
{
    return bytes >= STOP_BYTES && body[0] == generation;
}

static inline void taken_pack(uint8_t *body, const struct taken_body *taken)
{
    put32(body, taken->bytes);
    put32(body + 4, taken->generation);
}

static inline bool taken_unpack(const uint8_t *body, uint32_t bytes, struct taken_body *taken)
{
    if (bytes < TAKEN_BYTES) {
        return false;
    }
    *taken = (struct taken_body){.bytes = get32(body), .generation = body[4]};
    return true;
}

struct console_body {
    uint8_t stream;
    const uint8_t *text;
    uint32_t text_bytes;
};

/* Returns the bytes of the body. */
static inline uint32_t console_pack(uint8_t *body, const struct console_body *console)
{
    body[0] = console->stream;
    memcpy(body + CONSOLE_HEADER_BYTES, console->text, console->text_bytes);
    return CONSOLE_HEADER_BYTES + console->text_bytes;
}

static inline bool console_unpack(const uint8_t *body, uint32_t bytes, struct console_body *console)
{
    if (bytes < CONSOLE_HEADER_BYTES) {
        return false;
    }
    *console = (struct console_body){.stream = body[0],
                                     .text = body + CONSOLE_HEADER_BYTES,
                                     .text_bytes = bytes - CONSOLE_HEADER_BYTES};
    return true;
}

struct exit_body {
    int32_t status;
    bool aborted;
    uint16_t collectives;
};

static inline void exit_pack(uint8_t *body, const struct exit_body *exit)
{
    put32(body, (uint32_t)exit->status);
    put32(body + 4, exit->aborted | (uint32_t)exit->collectives << 16);
}

static inline bool exit_unpack(const uint8_t *body, uint32_t bytes, struct exit_body *exit)
{
    if (bytes < EXIT_BYTES) {
        return false;
    }
    *exit = (struct exit_body){
        .status = (int32_t)get32(body), .aborted = body[4] != 0, .collectives = get16(body + 6)};
    return true;
}

struct report_body {
    char name[REPORT_NAME_BYTES];
    uint64_t bytes, steps, model_ns, predicted_ns, bound_ns, wall_ns, wrong;
};

static inline void report_pack(uint8_t *body, const struct report_body *report)
{
    memcpy(body, report->name, REPORT_NAME_BYTES);
    put64(body + 24, report->bytes);
    put64(body + 32, report->steps);
    put64(body + 40, report->model_ns);
    put64(body + 48, report->predicted_ns);
    put64(body + 56, report->bound_ns);
    put64(body + 64, report->wall_ns);
    put64(body + 72, report->wrong);
}

/* The name ends with a zero byte, whatever came. */
static inline bool report_unpack(const uint8_t *body, uint32_t bytes, struct report_body *report)
{
    if (bytes < REPORT_BYTES) {
        return false;
    }
    *report = (struct report_body){.bytes = get64(body + 24),
                                   .steps = get64(body + 32),
                                   .model_ns = get64(body + 40),
                                   .predicted_ns = get64(body + 48),
                                   .bound_ns = get64(body + 56),
                                   .wall_ns = get64(body + 64),
                                   .wrong = get64(body + 72)};
    memcpy(report->name, body, REPORT_NAME_BYTES - 1);
    return true;
}

struct receipt_body {
    int32_t status;
    uint32_t held_bytes;
    uint64_t model_ns;
    uint16_t first, count;
    bool last;
    const uint8_t *digests; /* DIGEST_BYTES each; unpacked: where they lie */
};

/* Returns the bytes of the body. */
static inline uint32_t receipt_pack(uint8_t *body, const struct receipt_body *receipt)
{
    put32(body, (uint32_t)receipt->status);
    put32(body + 4, receipt->held_bytes);
    put64(body + 8, receipt->model_ns);
    put16(body + 16, receipt->first);
    put16(body + 18, receipt->count);
    put32(body + 20, receipt->last);
    if (receipt->count > 0) {
        memcpy(body + RECEIPT_BYTES, receipt->digests, (size_t)receipt->count * DIGEST_BYTES);
    }
    return RECEIPT_BYTES + receipt->count * (uint32_t)DIGEST_BYTES;
}

static inline bool receipt_unpack(const uint8_t *body, uint32_t bytes, struct receipt_body *receipt)
{
    if (bytes < RECEIPT_BYTES ||
        get16(body + 18) > (bytes - RECEIPT_BYTES) / (uint32_t)DIGEST_BYTES) {
        return false;
    }
    *receipt = (struct receipt_body){.status = (int32_t)get32(body),
                                     .held_bytes = get32(body + 4),
                                     .model_ns = get64(body + 8),
                                     .first = get16(body + 16),
                                     .count = get16(body + 18),
                                     .last = body[20] != 0,
                                     .digests = body + RECEIPT_BYTES};
    return true;
}

enum block_kind {
    BLOCK_INPUT = 1,   /* the node's part of what is shared out */
    BLOCK_COMMON = 2,  /* the same for all nodes */
    BLOCK_PRIVATE = 3, /* the node's own; the program may write it */
    BLOCK_FILE = 4,
    BLOCK_STDIN = 5 /* what standard input reads */
};

enum { BLOCK_NAME_BYTES = 256 }; /* of a file's name and the zero byte behind it, at most */

struct block_header {
    uint32_t rank, size, argument_count, entry_count;
};

struct block_entry {
    uint32_t kind, address, bytes;
};

/* Whether a file can have this name, as it is drawn above. */
static inline bool block_name_is_good(const char *name)
{
    for (size_t at = 0;; at++) {
        size_t part = strcspn(name + at, "/");

        if (part == 0 || (part <= 2 && strncmp(name + at, "..", part) == 0)) {
            return false;
        }
        at += part;
        if (name[at] == '\0') {
            return at < BLOCK_NAME_BYTES;
        }
    }
}

/* Where the strings begin. */
static inline uint32_t block_strings(const struct block_header *header)
{
    return BLOCK_HEADER_BYTES + header->entry_count * BLOCK_ENTRY_BYTES;
}

static inline void block_pack(uint8_t *block, const struct block_header *header)
{
    put32(block, header->rank);
    put32(block + 4, header->size);
    put32(block + 8, header->argument_count);
    put32(block + 12, header->entry_count);
}

/* The entries that are counted fit the bytes, too. */
static inline bool block_unpack(const uint8_t *block, uint32_t bytes, struct block_header *header)
{
    if (bytes < BLOCK_HEADER_BYTES) {
        return false;
    }
    *header =
        (struct block_header){get32(block), get32(block + 4), get32(block + 8), get32(block + 12)};
    return header->entry_count <= (bytes - BLOCK_HEADER_BYTES) / BLOCK_ENTRY_BYTES;
}

static inline void block_entry_pack(uint8_t *block, uint32_t index, const struct block_entry *entry)
{
    uint8_t *at = block + BLOCK_HEADER_BYTES + index * BLOCK_ENTRY_BYTES;

    put32(at, entry->kind);
    put32(at + 4, entry->address);
    put32(at + 8, entry->bytes);
    put32(at + 12, 0);
}

static inline struct block_entry block_entry_at(const uint8_t *block, uint32_t index)
{
    const uint8_t *at = block + BLOCK_HEADER_BYTES + index * BLOCK_ENTRY_BYTES;

    return (struct block_entry){get32(at), get32(at + 4), get32(at + 8)};
}
