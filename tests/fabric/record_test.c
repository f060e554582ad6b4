/*
 * record_test.c - what nodes note of their work: it changes no model time, is the same in every
 * order of events, says what it has lost, and comes to the host whole.
 */
#include <stdlib.h>
#include <string.h>

#include "drivers/status.h"
#include "router/recorder.h"
#include "router/router.h"
#include "tests/fabric/collectives.h"
#include "tests/testing.h"
#include "wire/record.h"

enum {
    BYTES = 96,
    SPACE_BYTES = 12 * BYTES,
    DATA_BYTES = 1 << 16,
    NAME = FABRIC_DATA + DATA_BYTES - 64,
    MANY = 100000,
    FEW = 5,
    CLOCKS_MAX = 128
};

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;
static const char *const networks[] = {"cube:3", "ring:6", "mesh:3x4", "torus:3x3"};

/* Booted; programs keep so many records from the first load on. */
static struct fabric *keeping(const char *network, uint64_t seed, uint32_t records)
{
    struct fabric *fabric = fabric_make_named(network, DATA_BYTES, seed, no_fault, ipsc860);

    controller_keep_records(&fabric->controller, records);
    assert_true(fabric_start(fabric));
    return fabric;
}

static struct ecube_abi_collective call_of(uint32_t operation, uint32_t root)
{
    bool reduces = operation_of(operation)->reduces;

    return (struct ecube_abi_collective){.operation = operation,
                                         .root = root,
                                         .block_bytes = operation == ECUBE_ALIGN ? 0 : BYTES,
                                         .send = FABRIC_DATA,
                                         .receive = FABRIC_DATA + SPACE_BYTES,
                                         .scratch = FABRIC_DATA + DATA_BYTES,
                                         .scratch_bytes = DATA_BYTES,
                                         .type = reduces ? ECUBE_INT32 : 0,
                                         .operator_ = reduces ? ECUBE_SUM : 0};
}

static void mark(struct fabric *fabric, unsigned rank, const char *name)
{
    memcpy(fabric_at(fabric, rank, NAME), name, strlen(name));
    assert_int_equal(fabric_call(fabric, rank, ECUBE_CALL_MARK, NAME, (uint32_t)strlen(name)),
                     E_OK);
}

/* Programs compute for different times, call collectives, send a long message, and mark a place. */
static void work(struct fabric *fabric)
{
    const struct ecube_abi_collective calls[] = {
        call_of(ECUBE_ALIGN, 0), call_of(ECUBE_EXCHANGE, 0), call_of(ECUBE_ALLREDUCE, 0),
        call_of(ECUBE_BROADCAST, fabric->count - 1)};

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        assert_int_equal(fabric_advance(fabric, rank, 1000 * rank), E_OK);
    }
    for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        collective_all_call(fabric, &calls[i]);
        mark(fabric, 0, "turn \"1\"");
    }
    unsigned last = fabric->count - 1;
    int32_t receive = fabric_message(fabric, last, ECUBE_CALL_RECEIVE, 0, 7, FABRIC_DATA, 5000);
    int32_t send = fabric_message(fabric, 0, ECUBE_CALL_SEND, (int32_t)last, 7, FABRIC_DATA, 5000);
    assert_int_equal(fabric_wait(fabric, 0, send).status, E_OK);
    assert_int_equal(fabric_wait(fabric, last, receive).status, E_OK);
}

static void clocks_of(struct fabric *fabric, uint64_t clocks[CLOCKS_MAX])
{
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        clocks[rank] = fabric_clock(fabric, rank);
    }
}

/* Clocks after the work, and after that of the next load on the same nodes, which keeps `next`. */
static void clocks_with(const char *network, uint64_t seed, uint32_t records, uint32_t next,
                        uint64_t clocks[2][CLOCKS_MAX])
{
    struct fabric *fabric = keeping(network, seed, records);

    work(fabric);
    clocks_of(fabric, clocks[0]);
    assert_true((node_recorder(fabric->nodes[0].node) != NULL) == (records > 0));
    controller_stop(&fabric->controller, fabric->now_us);
    fabric_settle(fabric);
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        fabric->nodes[rank].started = false;
    }
    controller_keep_records(&fabric->controller, next);
    assert_true(fabric_load(fabric));
    work(fabric);
    clocks_of(fabric, clocks[1]);
    fabric_free(fabric);
}

TEST(no_model_time_depends_on_records_whether_none_some_or_too_many_are_kept)
{
    static const uint32_t kept[][2] = {{0, MANY}, {MANY, 0}, {FEW, FEW}, {MANY, FEW}};
    uint64_t without[2][CLOCKS_MAX], with[2][CLOCKS_MAX];

    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        memset(without, 0, sizeof without);
        clocks_with(networks[n], n + 1, 0, 0, without);
        for (unsigned i = 0; i < sizeof kept / sizeof kept[0]; i++) {
            memset(with, 0, sizeof with);
            clocks_with(networks[n], 10 * n + i + 1, kept[i][0], kept[i][1], with);
            assert_memory_equal(with, without, sizeof with);
        }
    }
}

/* Records in an order that is no run's. */
static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct node_record));
}

/* All records of a node; to be freed. */
static struct node_record *records_of(const struct fabric *fabric, unsigned rank, size_t *count)
{
    const struct recorder *recorder = node_recorder(fabric->nodes[rank].node);

    assert_non_null(recorder);
    assert_int_equal(recorder_oldest(recorder), 0);
    *count = (size_t)recorder->written;
    struct node_record *records = calloc(*count + 1, sizeof *records);
    assert_non_null(records);
    memcpy(records, recorder->records, *count * sizeof *records);
    qsort(records, *count, sizeof *records, compare);
    return records;
}

TEST(the_set_of_records_is_the_same_in_every_order_of_events)
{
    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        struct fabric *first = keeping(networks[n], 1, MANY);
        work(first);
        for (uint64_t seed = 2; seed < 6; seed++) {
            struct fabric *other = keeping(networks[n], seed, MANY);
            work(other);
            for (unsigned rank = 0; rank < first->count; rank++) {
                size_t count, others;
                struct node_record *one = records_of(first, rank, &count);
                struct node_record *two = records_of(other, rank, &others);
                assert_int_equal(count, others);
                assert_true(count > 10);
                assert_memory_equal(one, two, count * sizeof *one);
                free(one);
                free(two);
            }
            fabric_free(other);
        }
        fabric_free(first);
    }
}

static unsigned count_kind(const struct node_record *records, size_t count, enum record_kind kind)
{
    unsigned found = 0;

    for (size_t i = 0; i < count; i++) {
        found += records[i].kind == kind;
    }
    return found;
}

/* Of an exchange by AAP on a cube of 3 dimensions each node begins 7 circuits and ends 7; 12 pass
 * its three links, of 1, 2 or 3 hops. A link is one circuit's from the moment it takes it. */
TEST(circuits_are_noted_at_both_ends_and_on_each_of_their_links)
{
    struct fabric *fabric = keeping("cube:3", 3, MANY);
    struct ecube_abi_collective call = call_of(ECUBE_EXCHANGE, 0);
    uint64_t hops = 0;
    unsigned links = 0;

    call.choice = ecube_choice("AAP");
    collective_all_call(fabric, &call);
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        size_t count;
        struct node_record *records = records_of(fabric, rank, &count);
        assert_int_equal(count_kind(records, count, RECORD_SOURCE), 7);
        assert_int_equal(count_kind(records, count, RECORD_SINK), 7);
        assert_int_equal(count_kind(records, count, RECORD_STEP), 7);
        assert_int_equal(count_kind(records, count, RECORD_COLLECTIVE), 1);
        links += count_kind(records, count, RECORD_LINK);
        for (size_t i = 0; i < count; i++) {
            if (records[i].kind == RECORD_SOURCE) {
                hops += records[i].hops;
                assert_int_equal(records[i].end_ns,
                                 records[i].flow_ns + (records[i].hops + BYTES - 1u) * 425);
                assert_true(records[i].flow_ns >=
                            records[i].begin_ns + 65425 + records[i].hops * UINT64_C(9575));
            }
        }
        free(records);
    }
    assert_int_equal(links, 8 * 12);
    assert_int_equal(hops, 8 * 12);
    fabric_free(fabric);
}

static bool has_fetched(struct fabric *fabric)
{
    return fabric->told[EVENT_FETCHED] > 0;
}

/* The programs are stopped, and their records fetched. */
static void fetch(struct fabric *fabric)
{
    fabric_settle(fabric);
    fabric->event_count = 0;
    controller_stop(&fabric->controller, fabric->now_us);
    memset(fabric->told, 0, sizeof fabric->told);
    assert_int_equal(controller_fetch(&fabric->controller, fabric->now_us), CONTROLLER_OK);
    assert_true(fabric_run(fabric, has_fetched));
}

/* What the host has heard of a node, one packet behind the other, from record `first` on. */
static size_t heard_of(const struct fabric *fabric, uint32_t node, struct node_record *records,
                       uint64_t *first, uint64_t *written)
{
    size_t count = 0;

    for (unsigned i = 0; i < fabric->event_count; i++) {
        const struct fabric_event *event = &fabric->events[i];
        struct records_body body;
        if (event->kind != PACKET_RECORDS || event->src != node) {
            continue;
        }
        assert_true(records_unpack(event->body, event->bytes, &body));
        *first = count ? *first : body.first;
        *written = body.written;
        assert_int_equal(body.first, *first + count);
        for (uint32_t at = 0; at < body.count; at++) {
            assert_true(record_unpack(body.records + at * RECORD_BYTES, &records[count++]));
        }
    }
    return count;
}

/* Twice: what did not fit into a small ring is lost, the newest are kept, and it is told. */
TEST(the_host_gets_all_that_a_node_keeps_and_knows_what_is_lost)
{
    static struct node_record heard[8192];
    static const uint32_t kept[] = {MANY, 2 * FEW};

    for (unsigned i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        struct fabric *fabric = keeping("mesh:3x4", 4, kept[i]);
        work(fabric);
        fetch(fabric);
        assert_int_equal(fabric->told[EVENT_RECORDS_END], fabric->count);
        for (uint32_t node = 0; node < fabric->count; node++) {
            const struct recorder *recorder = node_recorder(fabric->nodes[node].node);
            uint64_t first = 0, written = 0;
            size_t count = heard_of(fabric, node, heard, &first, &written);
            assert_true(count > 0 && count <= kept[i]);
            assert_int_equal(written, recorder->written);
            assert_int_equal(first, recorder_oldest(recorder));
            assert_int_equal(first + count, written);
            assert_true(kept[i] == MANY || first > 0);
            for (size_t at = 0; at < count; at++) {
                assert_memory_equal(&heard[at], recorder_at(recorder, first + at), sizeof heard[0]);
            }
        }
        assert_int_equal(controller_fetch(&fabric->controller, fabric->now_us), CONTROLLER_OK);
        struct controller_load load = {0};
        assert_int_equal(controller_load(&fabric->controller, &load, fabric->now_us),
                         CONTROLLER_BUSY);
        controller_fetch_stop(&fabric->controller);
        fabric_free(fabric);
    }
}

TEST(without_records_a_node_says_that_it_has_none)
{
    struct fabric *fabric = keeping("ring:6", 5, 0);

    work(fabric);
    fetch(fabric);
    assert_int_equal(fabric->told[EVENT_RECORDS], 0);
    assert_int_equal(fabric->told[EVENT_RECORDS_END], fabric->count);
    fabric_free(fabric);
}

/* A node that is dead is named, the others' records come; packets that are cut off are counted, and
 * the records of their node are fetched all the same. */
TEST(a_dead_node_is_named_and_damaged_packets_are_counted)
{
    static const uint32_t cut[] = {RECORDS_HEADER_BYTES - 1, RECORDS_HEADER_BYTES + 1,
                                   RECORDS_HEADER_BYTES + RECORD_BYTES - 1};
    struct fabric *fabric = keeping("cube:3", 6, MANY);
    uint8_t body[RECORDS_HEADER_BYTES + RECORD_BYTES] = {0};

    work(fabric);
    controller_stop(&fabric->controller, fabric->now_us);
    fabric_settle(fabric);
    controller_node_died(&fabric->controller, 7, fabric->now_us);
    memset(fabric->told, 0, sizeof fabric->told);
    assert_int_equal(controller_fetch(&fabric->controller, fabric->now_us), CONTROLLER_OK);
    while (!fabric->controller.fetch.lanes[0].heard) {
        assert_false(has_fetched(fabric));
        fabric_round(fabric);
    }
    for (unsigned i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        assert_int_equal(
            router_send(&fabric->nodes[0].node->router, PACKET_RECORDS, ID_HOST, body, cut[i]),
            E_OK);
    }
    assert_true(fabric_run(fabric, has_fetched));
    assert_int_equal(fabric->told[EVENT_RECORDS_END], fabric->count);
    assert_int_equal(fabric->fetched[FETCH_DEAD], 1);
    assert_int_equal(fabric->fetched[FETCH_WHOLE], fabric->count - 1);
    assert_int_equal(fabric->damaged, sizeof cut / sizeof cut[0]);
    assert_true(fabric->told[EVENT_RECORDS] >= fabric->count - 1);
    fabric_free(fabric);
}

/* A mark moves nothing: who only sets marks is no program that gets on. Off, nothing is kept. */
TEST(a_mark_is_kept_with_its_name_and_is_no_progress)
{
    struct fabric *fabric = keeping("cube:1", 7, MANY);
    struct node *node = fabric->nodes[0].node;
    uint32_t progress = node->progress;
    size_t count;

    mark(fabric, 0, "a name that is longer than a record holds");
    assert_int_equal(node->progress, progress);
    assert_int_equal(fabric_call(fabric, 0, ECUBE_CALL_MARK, 16, 4), E_FAULT);
    struct node_record *records = records_of(fabric, 0, &count);
    assert_int_equal(count, 1);
    assert_int_equal(records[0].kind, RECORD_MARK);
    assert_string_equal(records[0].name, "a name that is longer t");
    assert_int_equal(records[0].begin_ns, fabric_clock(fabric, 0));
    free(records);
    fabric_free(fabric);

    fabric = keeping("cube:1", 7, 0);
    mark(fabric, 0, "nobody");
    assert_null(node_recorder(fabric->nodes[0].node));
    fabric_free(fabric);
}

/* A blocked call: what it waits for never comes. */
static void block(struct fabric *fabric, unsigned rank, uint32_t call, uint32_t argument)
{
    uint32_t arguments[4] = {argument, FABRIC_DATA};
    int32_t result;

    assert_int_equal(node_call(fabric->nodes[rank].node, fabric->now_us, call, arguments, &result),
                     NODE_BLOCK);
}

/* Its only record of this kind that waits. */
static struct node_record waiting_of(const struct fabric *fabric, unsigned rank,
                                     enum record_kind kind)
{
    struct node_record found = {0};
    size_t count;
    struct node_record *records = records_of(fabric, rank, &count);

    for (size_t i = 0; i < count; i++) {
        if (records[i].kind == kind && records[i].waits) {
            assert_int_equal(found.kind, 0);
            found = records[i];
        }
    }
    assert_int_equal(found.kind, kind);
    free(records);
    return found;
}

/* Rank 0 waits for a send that rank 1 never takes, 1 for a message of 2, 2 in a barrier that 3 does
 * not call, with another one behind it; 3 computes. */
static void stand(struct fabric *fabric)
{
    struct ecube_abi_collective barrier = call_of(ECUBE_ALIGN, 0);
    int32_t send = fabric_message(fabric, 0, ECUBE_CALL_SEND, 1, 7, FABRIC_DATA, 5000);
    int32_t receive = fabric_message(fabric, 1, ECUBE_CALL_RECEIVE, 2, 8, FABRIC_DATA, 300);

    assert_int_equal(fabric_advance(fabric, 0, 2000), E_OK);
    int32_t first = fabric_collective(fabric, 2, &barrier);
    assert_true(fabric_collective(fabric, 2, &barrier) >= 0);
    fabric_settle(fabric);
    block(fabric, 0, ECUBE_CALL_WAIT, (uint32_t)send);
    block(fabric, 1, ECUBE_CALL_WAIT, (uint32_t)receive);
    block(fabric, 2, ECUBE_CALL_WAIT, (uint32_t)first);
    fabric_settle(fabric);
}

static void check_stand(struct fabric *fabric)
{
    struct node_record send = waiting_of(fabric, 0, RECORD_MESSAGE);
    assert_int_equal(send.about, RECORD_SENT);
    assert_int_equal(send.waits, WAITED_RECEIVER);
    assert_int_equal(send.peer, 1);
    assert_int_equal(send.bytes, 5000);
    assert_int_equal(send.begin_ns + 2000, fabric_clock(fabric, 0));
    struct node_record call = waiting_of(fabric, 0, RECORD_PROGRAM);
    assert_int_equal(call.waits, WAITED_CALL);
    assert_int_equal(call.detail, WAIT_SEND);
    assert_int_equal(call.peer, 1);
    assert_int_equal(call.begin_ns, fabric_clock(fabric, 0));

    struct node_record receive = waiting_of(fabric, 1, RECORD_MESSAGE);
    assert_int_equal(receive.about, RECORD_RECEIVED);
    assert_int_equal(receive.waits, WAITED_SENDER);
    assert_int_equal(receive.peer, 2);
    assert_int_equal(receive.tag, 8);
    assert_int_equal(receive.bytes, 300);

    unsigned behind = 0, entry = 0;
    size_t count;
    struct node_record *records = records_of(fabric, 2, &count);
    for (size_t i = 0; i < count; i++) {
        bool collective = records[i].kind == RECORD_COLLECTIVE;
        behind += collective && records[i].waits == WAITED_COLLECTIVE;
        if (collective && records[i].waits == WAITED_NODE) {
            entry++;
            assert_int_equal(records[i].about, ECUBE_ALIGN);
            assert_int_equal(records[i].peer, 3);
        }
    }
    free(records);
    assert_int_equal(behind, 1);
    assert_int_equal(entry, 1);
    assert_int_equal(waiting_of(fabric, 2, RECORD_PROGRAM).detail, WAIT_COLLECTIVE);
    assert_int_equal(waiting_of(fabric, 3, RECORD_PROGRAM).waits, WAITED_END);
}

/* Whether the host stops the programs, or asks at once: they are the same. */
TEST(what_is_open_when_a_run_ends_is_noted_with_what_it_waits_for)
{
    for (unsigned stopped = 0; stopped < 2; stopped++) {
        for (uint64_t seed = 1; seed < 6; seed++) {
            struct fabric *fabric = keeping("cube:2", seed, MANY);
            stand(fabric);
            if (stopped) {
                fetch(fabric);
            } else {
                for (unsigned rank = 0; rank < fabric->count; rank++) {
                    node_close_records(fabric->nodes[rank].node);
                }
            }
            check_stand(fabric);
            fabric_free(fabric);
        }
    }
}

TEST(messages_that_a_program_leaves_open_at_its_end_are_cancelled_there)
{
    struct fabric *fabric = keeping("cube:1", 9, MANY);
    uint32_t arguments[4] = {0};
    int32_t result;
    size_t count;

    assert_true(fabric_message(fabric, 0, ECUBE_CALL_RECEIVE, 1, 3, FABRIC_DATA, 40) >= 0);
    assert_int_equal(fabric_advance(fabric, 0, 700), E_OK);
    assert_int_equal(
        node_call(fabric->nodes[0].node, fabric->now_us, ECUBE_CALL_EXIT, arguments, &result),
        NODE_END);
    node_close_records(fabric->nodes[0].node);
    struct node_record *records = records_of(fabric, 0, &count);
    assert_int_equal(count_kind(records, count, RECORD_MESSAGE), 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(records[i].waits, 0);
        if (records[i].kind == RECORD_MESSAGE) {
            assert_int_equal(-records[i].status, E_CANCELLED);
            assert_int_equal(records[i].end_ns, records[i].begin_ns + 700);
        }
    }
    free(records);
    fabric_free(fabric);
}

/* What a node's router and engine have open at this moment has a record that waits. */
static void check_open(const struct fabric *fabric, unsigned rank, unsigned seen[RECORD_WAITS])
{
    struct node *node = fabric->nodes[rank].node;
    const struct router *router = &node->router;
    unsigned setups = 0, links = 0, sources = 0, collectives = 0;
    bool active = engine_is_active(&node->engine);
    size_t count;

    for (unsigned port = 0; port < router->port_count; port++) {
        setups += router->ports[port].setup_count;
    }
    node_close_records(node);
    struct node_record *records = records_of(fabric, rank, &count);
    for (size_t i = 0; i < count; i++) {
        if (!records[i].waits) {
            continue;
        }
        links += records[i].kind == RECORD_LINK && records[i].waits == WAITED_ANSWER;
        sources += records[i].kind == RECORD_SOURCE;
        collectives += records[i].kind == RECORD_COLLECTIVE;
        seen[records[i].waits]++;
    }
    free(records);
    assert_int_equal(links, setups);
    assert_int_equal(sources, router->opening_count);
    assert_int_equal(collectives, active);
}

/* All exchange, or all send rank 0 a long message. */
static void set_out(struct fabric *fabric, bool messages)
{
    struct ecube_abi_collective call = call_of(ECUBE_EXCHANGE, 0);

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        int32_t made = E_OK;
        if (!messages) {
            made = fabric_collective(fabric, rank, &call);
        } else if (rank > 0) {
            assert_true(fabric_message(fabric, 0, ECUBE_CALL_RECEIVE, (int32_t)rank, 0, FABRIC_DATA,
                                       5000) >= 0);
            made = fabric_message(fabric, rank, ECUBE_CALL_SEND, 0, 0, FABRIC_DATA, 5000);
        }
        assert_true(made >= 0);
    }
}

/* A run that ends after so many rounds, at which circuits are anywhere on their way. */
TEST(circuits_and_steps_on_their_way_are_noted_wherever_they_are)
{
    static const enum record_wait all[] = {WAITED_LINK,     WAITED_TURN, WAITED_ANSWER,
                                           WAITED_RECEIVER, WAITED_PLAN, WAITED_SENDER,
                                           WAITED_NODE,     WAITED_BYTES};
    unsigned seen[RECORD_WAITS] = {0};

    for (unsigned rounds = 0; rounds < 150; rounds++) {
        struct fabric *fabric = keeping(rounds % 2 ? "ring:6" : "cube:3", rounds + 1, MANY);
        set_out(fabric, rounds % 3 == 2);
        for (unsigned round = 0; round < rounds; round++) {
            fabric_round(fabric);
        }
        for (unsigned rank = 0; rank < fabric->count; rank++) {
            check_open(fabric, rank, seen);
        }
        fabric_free(fabric);
    }
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!seen[all[i]]) {
            fail_msg("nothing has waited for %u", all[i]);
        }
    }
}

/* What a link's channel has counted since the load, of a node that has begun to note then. */
static void check_frames(const struct fabric *fabric, unsigned rank,
                         const struct channel_counters before[PORTS_MAX], unsigned *told)
{
    const struct router *router = &fabric->nodes[rank].node->router;
    uint32_t found = 0;
    size_t count;

    node_close_records(fabric->nodes[rank].node);
    struct node_record *records = records_of(fabric, rank, &count);
    for (size_t i = 0; i < count; i++) {
        if (records[i].kind != RECORD_FRAMES) {
            continue;
        }
        unsigned port = records[i].port;
        const struct channel_counters *now = &router->ports[port].channel.counters;
        assert_true(port < router->port_count && !(found >> port & 1));
        found |= UINT32_C(1) << port;
        assert_int_equal(records[i].tag, now->retransmissions - before[port].retransmissions);
        assert_int_equal(records[i].detail, now->damaged - before[port].damaged);
        assert_true(records[i].bytes >= records[i].tag);
    }
    free(records);
    for (unsigned port = 0; port < router->port_count; port++) {
        const struct channel_counters *now = &router->ports[port].channel.counters;
        bool any = now->retransmissions != before[port].retransmissions ||
                   now->damaged != before[port].damaged;
        assert_int_equal(found >> port & 1, any);
        *told += any;
    }
}

TEST(links_whose_frames_were_repaired_in_the_run_are_noted)
{
    static struct channel_counters before[CLOCKS_MAX][PORTS_MAX];

    for (uint32_t losses = 0; losses < 2; losses++) {
        const struct memory_fault fault = {20000 * losses, 20000 * losses};
        struct fabric *fabric = fabric_make_named("cube:3", DATA_BYTES, 11, fault, ipsc860);
        unsigned told = 0;

        controller_keep_records(&fabric->controller, MANY);
        assert_true(fabric_start(fabric));
        for (unsigned rank = 0; rank < fabric->count; rank++) {
            for (unsigned port = 0; port < PORTS_MAX; port++) {
                const struct router *router = &fabric->nodes[rank].node->router;
                before[rank][port] = port < router->port_count
                                         ? router->ports[port].channel.counters
                                         : (struct channel_counters){0};
            }
        }
        work(fabric);
        for (unsigned rank = 0; rank < fabric->count; rank++) {
            check_frames(fabric, rank, before[rank], &told);
        }
        assert_int_equal(told > 0, losses);
        fabric_free(fabric);
    }
}
