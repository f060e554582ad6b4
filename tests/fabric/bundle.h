/*
 * bundle.h - loads of any segments for the nodes of a fabric: made or drawn, begun, and compared
 * with what every node has in the end.
 *
 * Two programs, of which the second is for the upper half of the nodes; segments lie one behind the
 * other, at whatever addresses that makes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "controller/controller.h"
#include "tests/fabric/fabric.h"
#include "wire/load.h"
#include "wire/run.h"

enum {
    BUNDLE_SEGMENTS_MAX = 24,
    BUNDLE_PROGRAMS = 2,
    BUNDLE_LIST_MAX = LOAD_LIST_HEADER_BYTES + BUNDLE_PROGRAMS * LOAD_PROGRAM_BYTES +
                      BUNDLE_SEGMENTS_MAX * LOAD_SEGMENT_BYTES,
    PAGE = PROTECTED_PAGE_BYTES
};

/* A load of any segments, and what the controller is told of it. */
struct bundle {
    uint8_t list[BUNDLE_LIST_MAX], list_digest[DIGEST_BYTES];
    uint32_t list_bytes, nodes, segments, end; /* end: where the next one is laid */
    struct load_segment segment[BUNDLE_SEGMENTS_MAX];
    uint8_t *strings[BUNDLE_SEGMENTS_MAX];
    uint8_t (*digests[BUNDLE_SEGMENTS_MAX])[DIGEST_BYTES];
    struct download_message messages[DOWNLOAD_MESSAGES_MAX];
    unsigned message_count;
    struct load_program program[BUNDLE_PROGRAMS];
};

/* Without segments; one message, to node 0. */
struct bundle *bundle_make(uint32_t nodes);
void bundle_free(struct bundle *bundle);

/* Lays a segment, with a random string, behind those before it. */
void bundle_add(struct bundle *bundle, struct load_segment segment, uint64_t *seed);

/* All segments are there: makes the list. Once more: makes it anew, after they were changed. */
void bundle_seal(struct bundle *bundle);

/* Segments of any shape for any ranks, and a block for each. */
struct bundle *bundle_draw(uint32_t nodes, uint64_t *seed);

enum controller_refusal bundle_load(struct fabric *fabric, struct bundle *bundle);

/* For fabric_run. */
bool bundle_has_booted(struct fabric *fabric);
bool bundle_is_over(struct fabric *fabric);

/* Every node has its own of each segment, and nothing else above its top. */
void bundle_expect_all(struct fabric *fabric, const struct bundle *bundle);
