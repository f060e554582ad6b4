/*
 * ending_test.c - programs that end at every moment of collectives: the others all hear the same,
 * nobody waits for ever, and the next program finds all as if nothing had happened.
 *
 * In every trial each node asks for two collectives, one behind the other, at a moment of its own;
 * the programs of the victims end after so many rounds of the fabric. Trials follow each other on
 * one fabric, with a download between them, until all ends come too late to matter.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/circuit.h"
#include "router/notice.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

enum { NODES = 8, BYTES = 1100, EACH = 2, STAGGER = 24, NEVER = 1 << 30, SPREAD = 40 };

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;

enum ending { BY_EXIT, BY_FAULT, BY_STOP, ENDINGS };

struct trial {
    struct fabric *fabric;
    struct ecube_abi_collective collectives[EACH];
    unsigned odd; /* this node asks for other bytes in the first; NODES: none does */
    unsigned asks[NODES], ends[NODES]; /* in which round */
    enum ending how[NODES];
    int32_t requests[NODES][EACH];
    bool asked[NODES], ended[NODES];
};

static struct ecube_abi_collective collective(const struct fabric *fabric, uint32_t operation)
{
    return (struct ecube_abi_collective){.operation = operation,
                                         .block_bytes = operation == ECUBE_BARRIER ? 0 : BYTES,
                                         .send = FABRIC_DATA,
                                         .receive = operation == ECUBE_EXCHANGE
                                                        ? FABRIC_DATA + fabric->count * (BYTES + 8)
                                                        : FABRIC_DATA + BYTES + 8};
}

static void end_program(struct trial *trial, unsigned rank)
{
    struct fabric *fabric = trial->fabric;
    struct node *node = fabric->nodes[rank].node;
    uint32_t arguments[4] = {3};
    struct fault fault = {.kind = FAULT_DATA, .address = 4};
    int32_t result;

    trial->ended[rank] = true;
    if (!node_program_runs(node)) {
        return;
    }
    switch (trial->how[rank]) {
    case BY_EXIT: node_call(node, fabric->now_us, ECUBE_CALL_EXIT, arguments, &result); break;
    case BY_FAULT: node_fault(node, fabric->now_us, &fault); break;
    default:
        while (router_send(&fabric->controller.router, PACKET_STOP, rank, NULL, 0) != E_OK) {
            fabric_round(fabric);
        }
        break;
    }
}

static void ask(struct trial *trial, unsigned rank)
{
    struct fabric *fabric = trial->fabric;

    trial->asked[rank] = node_program_runs(fabric->nodes[rank].node);
    for (unsigned i = 0; i < EACH && trial->asked[rank]; i++) {
        struct ecube_abi_collective arguments = trial->collectives[i];
        arguments.block_bytes += i == 0 && rank == trial->odd ? 4 : 0;
        trial->requests[rank][i] = fabric_collective(fabric, rank, &arguments);
        assert_true(trial->requests[rank][i] >= 0);
    }
}

/* Until every node has asked or ended, and every victim has ended. */
static void play(struct trial *trial)
{
    unsigned open = 2 * trial->fabric->count;

    for (unsigned round = 0; open > 0; round++) {
        open = 0;
        for (unsigned rank = 0; rank < trial->fabric->count; rank++) {
            if (round == trial->ends[rank]) {
                end_program(trial, rank);
            }
            if (round == trial->asks[rank] && !trial->ended[rank]) {
                ask(trial, rank);
            }
            open += round < trial->ends[rank] && trial->ends[rank] != NEVER;
            open += round < trial->asks[rank] && !trial->ended[rank];
        }
        fabric_round(trial->fabric);
    }
}

/* What those that go on hear of a collective: all the same. */
static int heard(struct trial *trial, unsigned which)
{
    int status = E_PEER_GONE;
    bool first = true;

    for (unsigned rank = 0; rank < trial->fabric->count; rank++) {
        if (trial->ended[rank]) {
            continue;
        }
        int mine = fabric_wait(trial->fabric, rank, trial->requests[rank][which]).status;
        if (first) {
            status = mine;
        }
        assert_int_equal(mine, status);
        first = false;
    }
    return status;
}

static uint8_t pattern(unsigned src, unsigned dst, unsigned i)
{
    return (uint8_t)(src * 31 + dst * 17 + i * 7 + (i >> 8));
}

/* The first collective of a program is right. */
static void first_collective(struct fabric *fabric)
{
    struct ecube_abi_collective arguments = collective(fabric, ECUBE_EXCHANGE);
    int32_t requests[NODES];

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        uint8_t *send = fabric_at(fabric, rank, arguments.send);
        memset(fabric_at(fabric, rank, arguments.receive), 0, fabric->count * BYTES);
        for (unsigned dst = 0; dst < fabric->count; dst++) {
            for (unsigned i = 0; i < BYTES; i++) {
                send[dst * BYTES + i] = pattern(rank, dst, i);
            }
        }
        requests[rank] = fabric_collective(fabric, rank, &arguments);
    }
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_OK);
        const uint8_t *received = fabric_at(fabric, rank, arguments.receive);
        for (unsigned src = 0; src < fabric->count; src++) {
            for (unsigned i = 0; src != rank && i < BYTES; i++) {
                assert_int_equal(received[src * BYTES + i], pattern(src, rank, i));
            }
        }
        assert_int_equal(fabric->nodes[rank].node->engine.epoch, 1);
    }
}

static void next_program(struct fabric *fabric)
{
    assert_true(fabric_load(fabric));
    first_collective(fabric);
}

static void stop_all(struct trial *trial)
{
    for (unsigned rank = 0; rank < trial->fabric->count; rank++) {
        trial->how[rank] = BY_STOP;
        end_program(trial, rank);
    }
}

static void prepare(struct trial *trial, struct fabric *fabric, uint32_t operation)
{
    *trial = (struct trial){.fabric = fabric, .odd = NODES};
    trial->collectives[0] = trial->collectives[1] = collective(fabric, operation);
    for (unsigned rank = 0; rank < NODES; rank++) {
        trial->asks[rank] = memory_random(&fabric->seed) % STAGGER;
        trial->ends[rank] = NEVER;
    }
}

/* A fabric whose programs have been started and have done nothing. */
static struct fabric *started(struct trial *trial, unsigned dims, uint64_t seed, uint32_t operation)
{
    struct fabric *fabric = fabric_make(dims, 2 * NODES * (BYTES + 8), seed, no_fault, ipsc860);

    assert_true(fabric_start(fabric));
    prepare(trial, fabric, operation);
    return fabric;
}

/* One trial; true when the others' collectives all were a success. */
static bool some_end(struct fabric *fabric, uint32_t operation, unsigned victims, enum ending how,
                     unsigned at)
{
    struct trial trial;

    prepare(&trial, fabric, operation);
    if (memory_random(&fabric->seed) % 4 == 0 && operation != ECUBE_BARRIER) {
        trial.odd = memory_random(&fabric->seed) % fabric->count;
    }
    for (unsigned i = 0; i < victims; i++) {
        unsigned victim = memory_random(&fabric->seed) % fabric->count;
        trial.ends[victim] = at + (i ? memory_random(&fabric->seed) % SPREAD : 0);
        trial.how[victim] = i ? memory_random(&fabric->seed) % ENDINGS : how;
    }
    play(&trial);
    int first = heard(&trial, 0), second = heard(&trial, 1);
    if (trial.odd == NODES) {
        assert_true(first == E_OK || first == E_PEER_GONE);
    } else {
        assert_true(first == E_MISMATCH || first == E_PEER_GONE);
    }
    assert_true(second == E_PEER_GONE || (second == E_OK && first != E_PEER_GONE));
    stop_all(&trial);
    next_program(fabric);
    stop_all(&trial);
    assert_true(fabric_load(fabric));
    return second == E_OK;
}

static void all_who_go_on_hear_the_same(unsigned dims, unsigned victims, enum ending how)
{
    static const uint32_t operations[] = {ECUBE_EXCHANGE, ECUBE_BROADCAST, ECUBE_GATHER,
                                          ECUBE_BARRIER};

    for (unsigned i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        struct trial trial;
        struct fabric *fabric = started(&trial, dims, 1 + 10 * dims + i, operations[i]);
        unsigned good = 0;
        for (unsigned at = 0; good < 20; at++) {
            good = some_end(fabric, operations[i], victims, how, at) ? good + 1 : 0;
        }
        fabric_free(fabric);
    }
}

TEST(when_one_program_ends_the_others_hear_the_same)
{
    for (unsigned dims = 2; dims <= 3; dims++) {
        for (unsigned how = 0; how < ENDINGS; how++) {
            all_who_go_on_hear_the_same(dims, 1, how);
        }
    }
}

TEST(when_two_programs_end_the_others_hear_the_same)
{
    for (unsigned how = 0; how < ENDINGS; how++) {
        all_who_go_on_hear_the_same(2, 2, how);
    }
}

TEST_LONG(so_they_do_on_8_nodes)
{
    for (unsigned how = 0; how < ENDINGS; how++) {
        all_who_go_on_hear_the_same(3, 2, how);
    }
}

/* As after --timeout: the words to stop and the next download go out at once. */
TEST(when_all_programs_are_stopped_the_next_one_is_loaded)
{
    static const uint32_t operations[] = {ECUBE_EXCHANGE, ECUBE_BROADCAST, ECUBE_GATHER,
                                          ECUBE_BARRIER};

    for (unsigned i = 0; i < 2 * 4; i++) {
        struct trial trial;
        struct fabric *fabric = started(&trial, 2 + i / 4, 100 + i, operations[i % 4]);
        for (unsigned at = 0; at < 200; at++) {
            prepare(&trial, fabric, operations[i % 4]);
            for (unsigned rank = 0; rank < fabric->count; rank++) {
                trial.ends[rank] = at;
                trial.how[rank] = BY_STOP;
            }
            play(&trial);
            next_program(fabric);
            stop_all(&trial);
            assert_true(fabric_load(fabric));
        }
        fabric_free(fabric);
    }
}

static void exit_now(struct trial *trial, unsigned rank)
{
    trial->how[rank] = BY_EXIT;
    end_program(trial, rank);
}

TEST(an_exit_is_told_at_once_and_what_the_program_had_begun_is_done)
{
    struct trial trial;
    struct fabric *fabric = started(&trial, 2, 41, ECUBE_EXCHANGE);

    ask(&trial, 1);
    exit_now(&trial, 1);
    fabric_settle(fabric);
    assert_int_equal(fabric_count_events(fabric, PACKET_EXIT), 1);
    for (unsigned rank = 0; rank < 4; rank++) {
        if (rank != 1) {
            ask(&trial, rank);
        }
    }
    assert_int_equal(heard(&trial, 0), E_OK);
    assert_int_equal(heard(&trial, 1), E_PEER_GONE);
    fabric_free(fabric);
}

/* Its answers find no slot when the program ends. */
TEST(a_node_with_much_to_say_answers_later)
{
    struct trial trial;
    struct fabric *fabric = started(&trial, 2, 42, ECUBE_EXCHANGE);

    for (unsigned rank = 1; rank < 4; rank++) {
        ask(&trial, rank);
    }
    fabric_settle(fabric);
    while (router_send(&fabric->nodes[0].node->router, PACKET_CONSOLE, ID_HOST, "", 1) == E_OK) {
    }
    exit_now(&trial, 0);
    assert_int_equal(heard(&trial, 0), E_PEER_GONE);
    fabric_free(fabric);
}

static bool third_is_loaded(struct fabric *fabric)
{
    return fabric->nodes[3].node->program == PROGRAM_LOADED;
}

/* Node 1 is the last to be stopped, and the last to be loaded. */
TEST(who_enters_with_a_node_that_has_the_next_program_hears_so)
{
    struct trial trial;
    struct fabric *fabric = started(&trial, 2, 43, ECUBE_EXCHANGE);

    exit_now(&trial, 0);
    exit_now(&trial, 2);
    exit_now(&trial, 3);
    assert_true(fabric_download(fabric));
    assert_true(fabric_run(fabric, third_is_loaded));
    ask(&trial, 1);
    fabric_settle(fabric);
    trial.how[1] = BY_STOP;
    end_program(&trial, 1);
    assert_true(fabric_begin(fabric));
    first_collective(fabric);
    fabric_free(fabric);
}

/* Node 3 is told to take another program before it is told to start the one it has. */
TEST(who_enters_with_a_program_that_never_starts_hears_so)
{
    struct trial trial;
    struct fabric *fabric = started(&trial, 2, 44, ECUBE_EXCHANGE);

    fabric->nodes[3].node->program = PROGRAM_LOADED;
    ask(&trial, 1);
    fabric_settle(fabric);
    for (unsigned rank = 0; rank < 3; rank++) {
        exit_now(&trial, rank);
    }
    next_program(fabric);
    fabric_free(fabric);
}

static bool first_is_loaded(struct fabric *fabric)
{
    return fabric_state(fabric, 0).program == PROGRAM_LOADED;
}

/* Node 0 has a program that may still be started, so it keeps the word of node 1, whose program
 * was. Then it is offered one that does not fit. */
TEST(who_enters_with_a_program_that_an_offer_without_room_ends_hears_so)
{
    struct trial trial;
    struct fabric *fabric = started(&trial, 1, 47, ECUBE_EXCHANGE);
    struct enter_body enter = {.epoch = 1,
                               .failed = ID_UNKNOWN,
                               .first_rank = 1,
                               .first = {.operation = ECUBE_ALIGN},
                               .other_rank = ID_UNKNOWN};
    struct offer_body offer = fabric_offer(fabric, FABRIC_IMAGE_BYTES, 0);
    uint8_t entry[ENTER_BYTES], offered[OFFER_BYTES];
    const struct memory_said *said = &fabric->nodes[0].ends[0].said;

    exit_now(&trial, 0);
    exit_now(&trial, 1);
    fabric_settle(fabric);
    assert_true(fabric_download(fabric));
    assert_true(fabric_run(fabric, first_is_loaded));
    enter.generation = fabric->runs;
    enter_pack(entry, &enter);
    unsigned entered = said->packets[PACKET_ENTERED], cancelled = said->packets[PACKET_CANCEL];
    assert_int_equal(
        router_send(&fabric->nodes[1].node->router, PACKET_ENTER, 0, entry, sizeof entry), E_OK);
    fabric_settle(fabric);
    assert_int_equal(said->packets[PACKET_ENTERED], entered);
    offer.generation = (uint8_t)(fabric->runs + 1);
    offer.message_bytes = UINT32_MAX;
    offer_pack(offered, &offer);
    assert_int_equal(
        router_send(&fabric->nodes[1].node->router, PACKET_OFFER, 0, offered, sizeof offered),
        E_OK);
    fabric_settle(fabric);
    assert_int_equal(said->packets[PACKET_CANCEL], cancelled + 1);
    assert_int_equal(said->packets[PACKET_ENTERED], entered + 1);
    fabric_free(fabric);
}

/* Neither has asked: the word of both comes from a line that carries what nobody said. */
TEST(two_programs_that_have_ended_do_not_answer_each_other_for_ever)
{
    struct trial trial;
    struct fabric *fabric = started(&trial, 1, 46, ECUBE_EXCHANGE);
    uint8_t enter[ENTER_BYTES];
    struct notice notice = {.kind = NOTICE_PACKET,
                            .packet_kind = PACKET_ENTER,
                            .src = 1,
                            .body = enter,
                            .bytes = sizeof enter};
    unsigned quiet = 0;

    exit_now(&trial, 0);
    exit_now(&trial, 1);
    fabric_settle(fabric);
    enter_pack(enter, &(struct enter_body){.epoch = 1});
    engine_packet(&fabric->nodes[0].node->engine, &fabric->nodes[0].node->router, &notice,
                  fabric->now_us);
    for (unsigned round = 0; round < 500; round++) {
        quiet = fabric_round(fabric) ? 0 : quiet + 1;
    }
    assert_true(quiet > 20);
    fabric_free(fabric);
}

/* A circuit for a step that will never come, as a dead link may leave it. */
TEST(a_circuit_for_a_collective_that_is_over_is_refused)
{
    struct trial trial;
    struct fabric *fabric = started(&trial, 1, 45, ECUBE_EXCHANGE);
    uint8_t bytes[5000] = {0};
    struct circuit_source step = {.match = 1,
                                  .flags = OPEN_SCHEDULE,
                                  .epoch = 1,
                                  .hops = one_hop,
                                  .data = {bytes},
                                  .bytes = {sizeof bytes}};

    ask(&trial, 0);
    exit_now(&trial, 0);
    assert_int_equal(router_open(&fabric->controller.router, &step), E_OK);
    fabric_settle(fabric);
    assert_int_equal(fabric->refused, 0); /* the collective may still begin */
    exit_now(&trial, 1);
    assert_true(fabric_load(fabric));
    assert_int_equal(fabric->refused, 1);
    fabric->nodes[0].node->program = PROGRAM_LOADED; /* its START has not come */
    assert_int_equal(router_open(&fabric->controller.router, &step), E_OK);
    fabric_settle(fabric);
    assert_int_equal(fabric->refused, 2);
    fabric_free(fabric);
}

/* Before its image comes, and once for each download. */
TEST(the_memory_of_a_program_is_nobodys_when_the_next_one_is_offered)
{
    uint32_t status[4] = {0};
    int32_t result;

    struct fabric *fabric = fabric_make(1, 4 << 20, 1, no_fault, ipsc860);
    struct node *node = fabric->nodes[1].node;
    assert_false(node_takes_memory(node));
    assert_true(fabric_start(fabric));
    assert_true(node_takes_memory(node));
    assert_false(node_takes_memory(node));
    for (unsigned rank = 0; rank < 2; rank++) {
        node_call(fabric->nodes[rank].node, fabric->now_us, ECUBE_CALL_EXIT, status, &result);
    }
    fabric_settle(fabric);
    assert_false(node_takes_memory(node));
    assert_true(fabric_download(fabric)); /* the root takes the image */
    assert_true(node_takes_memory(fabric->nodes[0].node));
    fabric_free(fabric);
}
