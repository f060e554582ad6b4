/*
 * protect_test.c - code, constants and read-only data of a program, which a node knows from the
 * download: nobody writes there for the program, and from there everything can be sent.
 */
#include <stddef.h>
#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "node/state.h"
#include "router/notice.h"
#include "tests/fabric/collectives.h"
#include "tests/testing.h"

enum {
    DATA_BYTES = 1 << 20,
    BYTES = 64,
    LONG = 3000,
    SCRATCH = FABRIC_DATA + DATA_BYTES,
    PAGE = PROTECTED_PAGE_BYTES
};

/* In the code, in the constants, in the data, and across each of their ends but the one between the
 * first two. */
static const uint32_t fixed[] = {
    FABRIC_IMAGE, FABRIC_CODE_END,  FABRIC_CONSTANTS_END - 4, FABRIC_IMAGE - 4,
    FABRIC_BLOCK, FABRIC_BLOCK - 4, FABRIC_TOP - 4,           FABRIC_CONSTANTS_END - 1};
enum { FIXED = sizeof fixed / sizeof fixed[0], FIXED_ALIGNED = FIXED - 1 };

static struct fabric *started(void)
{
    return fabric_started(2, DATA_BYTES, 1);
}

/* What was downloaded is what is there. */
static void end_untouched(struct fabric *fabric)
{
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        assert_memory_equal(fabric_at(fabric, rank, FABRIC_IMAGE), fabric->image,
                            FABRIC_CONSTANTS_END - FABRIC_IMAGE);
    }
    fabric_free(fabric);
}

static int32_t receives(struct fabric *fabric, uint32_t data, uint32_t bytes)
{
    return fabric_message(fabric, 0, ECUBE_CALL_RECEIVE, 1, 0, data, bytes);
}

static struct ecube_abi_result sends(struct fabric *fabric, uint32_t data, uint32_t bytes)
{
    return fabric_wait(fabric, 1, fabric_message(fabric, 1, ECUBE_CALL_SEND, 0, 0, data, bytes));
}

TEST(a_receive_that_would_write_code_or_constants_is_refused)
{
    struct fabric *fabric = started();
    for (unsigned i = 0; i < FIXED; i++) {
        assert_int_equal(receives(fabric, fixed[i], BYTES), E_FAULT);
    }
    assert_int_equal(fabric->nodes[0].node->request_count, 0);
    end_untouched(fabric);
}

TEST(one_that_ends_before_them_or_begins_behind_them_is_right)
{
    static const uint32_t right[] = {FABRIC_IMAGE - BYTES, FABRIC_CONSTANTS_END};

    struct fabric *fabric = started();
    for (unsigned i = 0; i < 2; i++) {
        int32_t request = receives(fabric, right[i], BYTES);
        assert_int_equal(sends(fabric, FABRIC_DATA, BYTES).status, E_OK);
        assert_int_equal(fabric_wait(fabric, 0, request).status, E_OK);
    }
    assert_int_equal(receives(fabric, FABRIC_CODE_END, 0), 0); /* nothing is written */
    end_untouched(fabric);
}

TEST(constants_can_be_sent_short_and_long)
{
    static const uint32_t sizes[] = {BYTES, LONG};

    struct fabric *fabric = started();
    for (unsigned i = 0; i < 2; i++) {
        int32_t request = receives(fabric, FABRIC_DATA, LONG);
        assert_int_equal(sends(fabric, FABRIC_CODE_END, sizes[i]).status, E_OK);
        assert_int_equal(fabric_wait(fabric, 0, request).bytes, sizes[i]);
        assert_memory_equal(fabric_at(fabric, 0, FABRIC_DATA),
                            fabric->image + (FABRIC_CODE_END - FABRIC_IMAGE), sizes[i]);
    }
    end_untouched(fabric);
}

/* Each of the calls that answer in the program's memory, with all that it needs but a place. */
TEST(an_answer_that_would_be_written_there_is_refused_and_none_is_lost)
{
    struct fabric *fabric = started();
    int32_t request = receives(fabric, FABRIC_DATA, BYTES);
    sends(fabric, FABRIC_DATA, BYTES);
    fabric_message(fabric, 1, ECUBE_CALL_SEND, 0, 0, FABRIC_DATA, BYTES); /* to be probed */
    fabric_settle(fabric);
    for (unsigned i = 0; i < FIXED_ALIGNED; i++) {
        static const uint32_t calls[] = {ECUBE_CALL_INFO,    ECUBE_CALL_CLOCK,    ECUBE_CALL_PLAN,
                                         ECUBE_CALL_PREDICT, ECUBE_CALL_WAIT_ANY, ECUBE_CALL_PROBE};
        for (unsigned k = 0; k < sizeof calls / sizeof calls[0]; k++) {
            assert_int_equal(fabric_call(fabric, 0, calls[k], fixed[i], 0), E_FAULT);
        }
        assert_int_equal(fabric_call(fabric, 0, ECUBE_CALL_WAIT, (uint32_t)request, fixed[i]),
                         E_FAULT);
        assert_int_equal(fabric_call(fabric, 0, ECUBE_CALL_TEST, (uint32_t)request, fixed[i]),
                         E_FAULT);
    }
    assert_int_equal(fabric_wait(fabric, 0, request).status, E_OK);
    end_untouched(fabric);
}

static struct ecube_abi_collective call_of(uint32_t operation, uint32_t send, uint32_t receive)
{
    const struct operation *row = operation_of(operation);

    return (struct ecube_abi_collective){.operation = operation,
                                         .block_bytes = BYTES,
                                         .send = send,
                                         .receive = receive,
                                         .scratch = SCRATCH,
                                         .scratch_bytes = DATA_BYTES,
                                         .type = row->reduces ? ECUBE_INT32 : 0,
                                         .operator_ = row->reduces ? ECUBE_SUM : 0};
}

static void ends(struct fabric *fabric, const struct ecube_abi_collective *call, int status)
{
    struct ecube_abi_collective calls[COLLECTIVE_NODES_MAX];

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        calls[rank] = *call;
    }
    if (status == E_OK) {
        collective_all_end(fabric, calls, E_OK);
    } else {
        collective_fails(fabric, calls, COLLECTIVE_SOME, status);
    }
}

/* Whether the operation writes what a node gets: of those that do, some node does. */
static bool is_written(uint32_t operation)
{
    const struct operation *row = operation_of(operation);

    return row && row->planned && !row->sized && row->span[SPACE_RECEIVE] != SPAN_NONE;
}

TEST(a_collective_that_would_write_there_is_refused_at_all_nodes)
{
    struct fabric *fabric = started();
    for (uint32_t operation = 0; operation < ECUBE_OPERATIONS; operation++) {
        for (unsigned i = 0; is_written(operation) && i < FIXED_ALIGNED; i++) {
            struct ecube_abi_collective call = call_of(operation, FABRIC_DATA, fixed[i]);
            ends(fabric, &call, E_FAULT);
        }
    }
    end_untouched(fabric);
}

/* The plan of an allreduce works in scratch at all nodes. */
TEST(scratch_there_is_refused)
{
    struct fabric *fabric = started();
    struct ecube_abi_collective call =
        call_of(ECUBE_ALLREDUCE, FABRIC_DATA, FABRIC_DATA + DATA_BYTES / 2);
    for (unsigned i = 0; i < FIXED_ALIGNED; i++) {
        call.scratch = fixed[i];
        ends(fabric, &call, E_FAULT);
    }
    call.scratch = SCRATCH;
    ends(fabric, &call, E_OK);
    end_untouched(fabric);
}

static void put_blocks(struct fabric *fabric, uint32_t table, uint32_t first)
{
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        for (uint32_t i = 0; i < fabric->count; i++) {
            struct ecube_block block = {first + i * BYTES, BYTES};
            memcpy(fabric_at(fabric, rank, table + i * (uint32_t)sizeof block), &block,
                   sizeof block);
        }
    }
}

/* From an address before the code blocks reach into it and past it. */
TEST(blocks_with_sizes_of_their_own_do_not_reach_there)
{
    enum { TABLE = FABRIC_DATA + DATA_BYTES / 2, TO = FABRIC_IMAGE - PAGE };

    struct fabric *fabric = started();
    struct ecube_abi_collective call = call_of(ECUBE_EXCHANGEV, FABRIC_DATA, TO);
    call.send_blocks = TABLE;
    call.receive_blocks = TABLE + 4096;
    call.block_bytes = ECUBE_EXCHANGEV_BYTES;
    put_blocks(fabric, TABLE, 0);
    put_blocks(fabric, TABLE + 4096, PAGE - BYTES);
    ends(fabric, &call, E_FAULT);
    put_blocks(fabric, TABLE + 4096, PAGE - fabric->count * BYTES);
    ends(fabric, &call, E_OK);
    int32_t requests[COLLECTIVE_NODES_MAX];
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective(fabric, rank, &call);
    }
    put_blocks(fabric, TABLE + 4096, PAGE); /* what has been looked at is changed */
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_FAULT);
    }
    end_untouched(fabric);
}

TEST(the_root_of_a_broadcast_may_give_constants)
{
    struct fabric *fabric = started();
    struct ecube_abi_collective calls[COLLECTIVE_NODES_MAX];
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        calls[rank] = call_of(ECUBE_BROADCAST, 0, rank ? FABRIC_DATA : FABRIC_CODE_END);
    }
    collective_all_end(fabric, calls, E_OK);
    for (uint32_t rank = 1; rank < fabric->count; rank++) {
        assert_memory_equal(fabric_at(fabric, rank, FABRIC_DATA),
                            fabric->image + (FABRIC_CODE_END - FABRIC_IMAGE), BYTES);
    }
    calls[2].receive = FABRIC_CODE_END;
    collective_fails(fabric, calls, 2, E_FAULT);
    end_untouched(fabric);
}

TEST(an_image_that_protects_nothing_is_written_as_ever)
{
    struct fabric *fabric = started();
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        struct load *load = &fabric->nodes[rank].node->load;
        load->code_end = load->constants_end = load->data_start = load->data_end = FABRIC_IMAGE;
    }
    for (unsigned i = 0; i < FIXED; i++) {
        int32_t request = receives(fabric, fixed[i], BYTES);
        assert_int_equal(sends(fabric, FABRIC_DATA, BYTES).status, E_OK);
        assert_int_equal(fabric_wait(fabric, 0, request).status, E_OK);
        assert_int_equal(fabric_call(fabric, 0, ECUBE_CALL_INFO, fixed[i] & ~3u, 0), E_OK);
    }
    fabric_free(fabric);
}

/* What a node makes of a list with this program. */
static int status_of(const struct load_program *program)
{
    struct fabric *fabric =
        fabric_make(0, DATA_BYTES, 1, (struct memory_fault){0}, (struct profile){.xi_ns = 1});
    struct node *node = fabric->nodes[0].node;
    struct offer_body offered;
    uint8_t body[OFFER_BYTES];
    struct notice offer = {.kind = NOTICE_PACKET,
                           .packet_kind = PACKET_OFFER,
                           .src = ID_HOST,
                           .body = body,
                           .bytes = sizeof body};

    fabric_settle(fabric);
    offered = fabric_offer(fabric, FABRIC_IMAGE_BYTES, 0);
    load_program_pack(fabric->list, 0, program);
    sha256_of(fabric->list, sizeof fabric->list, fabric->list_digest);
    offer_pack(body, &offered);
    load_offer(node, &offer);
    assert_int_equal(node->load.state, LOAD_RECEIVING);
    memcpy(fabric_at(fabric, 0, FABRIC_TOP), fabric->list, sizeof fabric->list);
    sha256_add(&node->load.sha, fabric->list, sizeof fabric->list);
    int status = load_take_list(node);
    fabric_free(fabric);
    return status;
}

TEST(ends_that_cannot_be_are_refused)
{
    enum { BASE = FABRIC_IMAGE, LATEST = BASE + 2 * PAGE, DATA = FABRIC_BLOCK, TOP = FABRIC_TOP };
    struct load_program right = {.count = 1,
                                 .entry = BASE,
                                 .bss_end = BASE + FABRIC_IMAGE_BYTES,
                                 .code_end = BASE + PAGE,
                                 .constants_end = LATEST,
                                 .data_start = DATA,
                                 .data_end = TOP,
                                 .top = TOP};
    static const struct {
        uint32_t code_end, constants_end, entry, data_start, data_end;
        int status;
    } cases[] = {
        {BASE + PAGE, LATEST, BASE, DATA, TOP, E_OK},
        {BASE, BASE, BASE, DATA, TOP, E_OK},
        {BASE, BASE, BASE, DATA + 4, TOP - 4, E_OK}, /* nothing is protected */
        {BASE + PAGE, BASE + PAGE, BASE, DATA, DATA, E_OK},
        {BASE + PAGE, LATEST, BASE + PAGE - 2, TOP, TOP, E_OK},
        {0, 0, BASE, DATA, TOP, E_NO_ROOM},
        {BASE, BASE + PAGE, BASE, DATA, TOP, E_NO_ROOM}, /* no code */
        {BASE + PAGE, BASE, BASE, DATA, TOP, E_NO_ROOM},
        {LATEST, BASE + PAGE, BASE, DATA, TOP, E_NO_ROOM},
        {BASE + PAGE + 4, LATEST, BASE, DATA, TOP, E_NO_ROOM},
        {BASE + PAGE, LATEST - 1, BASE, DATA, TOP, E_NO_ROOM},
        {BASE + PAGE, LATEST + PAGE, BASE, DATA, TOP, E_NO_ROOM}, /* among what is written */
        {BASE + PAGE, LATEST, BASE + PAGE, DATA, TOP, E_NO_ROOM}, /* a start that is no code */
        {BASE - PAGE, BASE - PAGE, BASE, DATA, TOP, E_NO_ROOM},
        {BASE + PAGE, 0u - PAGE, BASE, DATA, TOP, E_NO_ROOM},
        {0u - PAGE, 0u - PAGE, BASE, DATA, TOP, E_NO_ROOM},
        {BASE + PAGE, LATEST, BASE, DATA + 4, TOP, E_NO_ROOM},
        {BASE + PAGE, LATEST, BASE, DATA, TOP - 4, E_NO_ROOM},
        {BASE + PAGE, LATEST, BASE, LATEST, TOP, E_NO_ROOM}, /* where the program writes */
        {BASE + PAGE, LATEST, BASE, DATA, TOP + PAGE, E_NO_ROOM},
        {BASE + PAGE, LATEST, BASE, TOP, DATA, E_NO_ROOM}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct load_program program = right;
        program.code_end = cases[i].code_end;
        program.constants_end = cases[i].constants_end;
        program.entry = cases[i].entry;
        program.data_start = cases[i].data_start;
        program.data_end = cases[i].data_end;
        assert_int_equal(status_of(&program), cases[i].status);
    }
    right.top -= PAGE; /* not the one that was offered */
    right.data_end -= PAGE;
    assert_int_equal(status_of(&right), E_NO_ROOM);
}

TEST(all_nodes_are_told_the_ends)
{
    struct fabric *fabric = fabric_started(3, DATA_BYTES, 1);
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        const struct load *load = &fabric->nodes[rank].node->load;
        assert_int_equal(load->code_end, FABRIC_CODE_END);
        assert_int_equal(load->constants_end, FABRIC_CONSTANTS_END);
        assert_int_equal(load->data_start, FABRIC_BLOCK);
        assert_int_equal(load->data_end, FABRIC_TOP);
    }
    fabric_free(fabric);
}
