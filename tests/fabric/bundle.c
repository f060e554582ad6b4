#include "tests/fabric/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "node/state.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

/* The string that a segment has. */
static unsigned base_of(const struct bundle *bundle, unsigned segment)
{
    while (bundle->segment[segment].flags & LOAD_SAME) {
        segment--;
    }
    return segment;
}

static void add_string(struct bundle *bundle, unsigned i, uint64_t *seed)
{
    const struct load_segment *segment = &bundle->segment[i];
    uint32_t bytes = (segment->count - 1) * segment->step + segment->bytes;
    uint32_t digests = segment->step ? segment->count : 1;

    bundle->strings[i] = malloc(bytes);
    bundle->digests[i] = malloc(digests * sizeof *bundle->digests[i]);
    assert_true(bundle->strings[i] && bundle->digests[i]);
    for (uint32_t k = 0; k < bytes; k++) {
        bundle->strings[i][k] = (uint8_t)memory_random(seed);
    }
    for (uint32_t k = 0; k < digests; k++) {
        sha256_of(bundle->strings[i] + k * segment->step, segment->bytes, bundle->digests[i][k]);
    }
}

/* Lays a segment behind those before it, at whatever address that is. */
void bundle_add(struct bundle *bundle, struct load_segment segment, uint64_t *seed)
{
    unsigned i = bundle->segments++;

    assert_true(i < BUNDLE_SEGMENTS_MAX);
    segment.address = bundle->end;
    bundle->end += segment.bytes + memory_random(seed) % 7;
    bundle->segment[i] = segment;
    if (!(segment.flags & LOAD_SAME)) {
        add_string(bundle, i, seed);
    }
}

/* The first program ends behind all segments; a second one, of the upper half of the nodes, a page
 * further up. */
void bundle_seal(struct bundle *bundle)
{
    uint32_t top = (bundle->end + PAGE - 1) / PAGE * PAGE;
    uint32_t programs = bundle->nodes > 1 ? BUNDLE_PROGRAMS : 1;

    load_list_pack(bundle->list, bundle->nodes, programs, bundle->segments);
    for (uint32_t i = 0; i < programs; i++) {
        uint32_t half = programs == 1 ? bundle->nodes : bundle->nodes / 2;
        bundle->program[i] = (struct load_program){.first = i ? half : 0,
                                                   .count = i ? bundle->nodes - half : half,
                                                   .entry = FABRIC_IMAGE + 2 * i,
                                                   .bss_end = FABRIC_IMAGE,
                                                   .code_end = FABRIC_IMAGE,
                                                   .constants_end = FABRIC_IMAGE,
                                                   .data_start = FABRIC_IMAGE,
                                                   .data_end = FABRIC_IMAGE,
                                                   .top = top + i * PAGE};
        load_program_pack(bundle->list, i, &bundle->program[i]);
    }
    for (uint32_t i = 0; i < bundle->segments; i++) {
        load_segment_pack(bundle->list, i, &bundle->segment[i]);
    }
    bundle->list_bytes = load_list_bytes(programs, bundle->segments);
    sha256_of(bundle->list, bundle->list_bytes, bundle->list_digest);
}

void bundle_free(struct bundle *bundle)
{
    for (unsigned i = 0; i < bundle->segments; i++) {
        free(bundle->strings[i]);
        free(bundle->digests[i]);
    }
    free(bundle);
}

struct bundle *bundle_make(uint32_t nodes)
{
    struct bundle *bundle = calloc(1, sizeof *bundle);

    assert_non_null(bundle);
    bundle->nodes = nodes;
    bundle->end = FABRIC_IMAGE;
    bundle->messages[0] = (struct download_message){.root = 0, .count = nodes};
    bundle->message_count = 1;
    return bundle;
}

static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
    return (uint32_t)(memory_random(seed) % limit);
}

/* Segments of any shape for any ranks, and a block for each. */
struct bundle *bundle_draw(uint32_t nodes, uint64_t *seed)
{
    struct bundle *bundle = bundle_make(nodes);
    unsigned count = 1 + random_below(seed, BUNDLE_SEGMENTS_MAX - 1);

    for (unsigned i = 0; i < count; i++) {
        const struct load_segment *before = i ? &bundle->segment[i - 1] : NULL;
        struct load_segment segment = {.first = random_below(seed, nodes)};
        segment.count = 1 + random_below(seed, nodes - segment.first);
        segment.bytes = 1 + random_below(seed, random_below(seed, 4) ? 100 : 9000);
        segment.step = random_below(seed, 2) ? random_below(seed, segment.bytes + 1) : 0;
        if (before && before->step == 0 && random_below(seed, 2)) {
            segment.bytes = before->bytes;
            segment.step = 0;
            segment.flags = LOAD_SAME;
        }
        bundle_add(bundle, segment, seed);
    }
    bundle_add(bundle,
               (struct load_segment){.count = nodes, .bytes = 16, .step = 16, .flags = LOAD_BLOCK},
               seed);
    bundle_seal(bundle);
    return bundle;
}

enum controller_refusal bundle_load(struct fabric *fabric, struct bundle *bundle)
{
    struct controller_load load = {.list = bundle->list,
                                   .list_bytes = bundle->list_bytes,
                                   .list_digest = bundle->list_digest,
                                   .strings = (const uint8_t *const *)bundle->strings,
                                   .digests =
                                       (const uint8_t(*const *)[DIGEST_BYTES])bundle->digests,
                                   .messages = bundle->messages,
                                   .count = bundle->message_count};

    return controller_load(&fabric->controller, &load, fabric->now_us);
}

bool bundle_has_booted(struct fabric *fabric)
{
    return fabric->controller.phase == PHASE_READY;
}

bool bundle_is_over(struct fabric *fabric)
{
    return fabric->told[EVENT_LOADED] || fabric->told[EVENT_LOAD_FAILED];
}

static bool is_clear(const uint8_t *data, uint32_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0);
}

/* What a node has of the load, and nothing else above its top. */
static void expect_node(struct fabric *fabric, const struct bundle *bundle, uint32_t rank)
{
    const struct load *load = &fabric->nodes[rank].node->load;
    const struct load_program *program = &bundle->program[rank < bundle->program[0].count ? 0 : 1];
    uint32_t end = FABRIC_DATA + 2 * fabric->data_bytes;

    assert_int_equal(fabric->nodes[rank].node->program, PROGRAM_LOADED);
    assert_int_equal(load->entry, program->entry);
    assert_int_equal(load->top, program->top);
    assert_true(is_clear(fabric_at(fabric, rank, program->top), end - program->top));
    for (unsigned i = 0; i < bundle->segments; i++) {
        const struct load_segment *segment = &bundle->segment[i];
        if (rank - segment->first < segment->count) {
            const uint8_t *string = bundle->strings[base_of(bundle, i)];
            assert_memory_equal(fabric_at(fabric, rank, segment->address),
                                string + (rank - segment->first) * segment->step, segment->bytes);
        }
        if (segment->flags & LOAD_BLOCK) {
            assert_int_equal(load->block, segment->address);
            assert_int_equal(load->block_bytes, segment->bytes);
        }
    }
}

void bundle_expect_all(struct fabric *fabric, const struct bundle *bundle)
{
    assert_int_equal(fabric->told[EVENT_LOADED], 1);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        expect_node(fabric, bundle, rank);
    }
}
