/*
 * receipt.c - the end of a download: what the node holds is hashed, what it only passed on cleared,
 * for a program finds its free memory clear, and the host hears of it.
 *
 *     HASHING --all hashed--> CLEARING --all clear--> RECEIPT --sent, the last one--> IDLE
 *     HASHING --as many as a packet has--> RECEIPT --sent, more to come--> HASHING
 *
 * The receipt is computed over memory, not over the bytes as they arrive, with a digest for each
 * own segment: what is wrong is sent again alone.
 */
#include <string.h>

#include "drivers/status.h"
#include "node/due.h"
#include "node/state.h"
#include "router/router.h"
#include "wire/load.h"

void receipt_begin(struct node *node)
{
    struct load *load = &node->load;

    load->segment = load_own_from(node, load->from_segment);
    load->done = 0;
    sha256_begin(&load->sha);
    load_enter(node, load->segment == load->to_segment ? LOAD_CLEARING : LOAD_HASHING);
}

/* An own segment has been hashed. A packet that is full goes before the next one. */
static void end_segment(struct node *node)
{
    struct load *load = &node->load;

    sha256_end(&load->sha, load->digests[load->receipt_count++]);
    sha256_begin(&load->sha);
    load->done = 0;
    load->segment = load_own_from(node, load->segment + 1);
    if (load->segment == load->to_segment) {
        load_enter(node, LOAD_CLEARING);
    } else if (load->receipt_count == RECEIPT_DIGESTS_MAX) {
        load_enter(node, LOAD_RECEIPT);
    }
}

/* Hashes a slice of an own segment, which may have to be copied before. It reads the program's
 * memory after everything has been passed on, not the bytes as they arrive, so the receipt covers
 * exactly the bytes that will run. In slices, because a step is bounded. */
static void hash_slice(struct node *node)
{
    struct load *load = &node->load;
    const uint8_t *came;
    struct load_run place = load_own_place(node, load->segment, &came);
    uint32_t left = place.bytes - load->done;
    uint32_t bytes = left < HASH_SLICE_BYTES ? left : HASH_SLICE_BYTES;

    if (came != place.at) {
        memmove(place.at + load->done, came + load->done, bytes);
    }
    sha256_add(&load->sha, place.at + load->done, bytes);
    load->done += bytes;
    if (load->done == place.bytes) {
        end_segment(node);
    }
}

/* Clears a slice of free memory: list, and what was passed on. Then the program is there. */
static void clear_slice(struct node *node)
{
    struct load *load = &node->load;
    uint32_t left = load->list_bytes + load->passed_on_bytes - load->done;
    uint32_t bytes = left < CLEAR_SLICE_BYTES ? left : CLEAR_SLICE_BYTES;

    memset(load_free_memory(node) + load->done, 0, bytes);
    load->done += bytes;
    if (bytes == left) {
        node->program = PROGRAM_LOADED;
        load_enter(node, LOAD_RECEIPT);
    }
}

/* Without a slot the state stays, and each step tries again. */
static void send_receipt(struct node *node)
{
    struct load *load = &node->load;
    struct receipt_body receipt = {.status = load->status,
                                   .held_bytes = load->held_bytes,
                                   .model_ns = load->clock_ns,
                                   .first = load->receipt_first,
                                   .count = load->receipt_count,
                                   .last = load->segment == load->to_segment,
                                   .digests = load->digests[0]};
    uint8_t body[RECEIPT_BYTES + sizeof load->digests];

    if (router_send(&node->router, PACKET_RECEIPT, ID_HOST, body, receipt_pack(body, &receipt)) ==
        E_OK) {
        load->receipt_first = (uint16_t)(load->receipt_first + load->receipt_count);
        load->receipt_count = 0;
        load_enter(node, receipt.last ? LOAD_IDLE : LOAD_HASHING);
    }
}

bool receipt_pump(struct node *node)
{
    struct load *load = &node->load;

    if (load->state == LOAD_HASHING) {
        hash_slice(node);
    }
    if (load->state == LOAD_CLEARING) {
        clear_slice(node);
    }
    if (load->state == LOAD_RECEIPT) {
        send_receipt(node);
    }
    return load->state == LOAD_HASHING || load->state == LOAD_CLEARING;
}
