/*
 * Memory of programs that run is filled and fetched by the host while they wait at a region, on
 * real nodes: each rank's bytes, in the model time that is predicted, and all programs or none go
 * on.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "controller/words.h"
#include "drivers/status.h"
#include "network/network.h"
#include "node/sha256.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "wire/gather.h"

enum {
    DATA_BYTES = 512 * 1024,
    CALL = FABRIC_DATA, /* what a program says of its regions */
    REGIONS = FABRIC_DATA + 64,
    MEMORY = FABRIC_DATA + 4096,
    REGION_BYTES = 300 * 1024, /* more than a slice of the host's */
    FAILS_MAX = 300
};

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;
static const char *const networks[] = {"cube:0",   "cube:1",   "cube:3",    "ring:3",   "ring:8",
                                       "mesh:2x3", "mesh:4x3", "torus:3x3", "torus:5x2"};

/* A machine whose programs wait, and who meets them. */
struct meeting {
    struct fabric *fabric;
    struct controller_part *parts;
    uint8_t *memory; /* of the parts, REGION_BYTES each */
    void *scratch;
    struct controller_event attended, end;
};

static void *must(void *memory)
{
    assert_non_null(memory);
    return memory;
}

static uint8_t byte_of(uint32_t rank, uint32_t at, uint32_t round)
{
    return (uint8_t)(rank * 37 + at * 11 + (at >> 8) * 3 + round * 5);
}

static struct meeting make(const char *network, struct profile profile, uint64_t seed,
                           struct memory_fault fault)
{
    struct meeting meeting = {.fabric =
                                  fabric_make_named(network, DATA_BYTES, seed, fault, profile)};
    uint32_t count = meeting.fabric->count;

    assert_true(fabric_start(meeting.fabric));
    meeting.parts = must(calloc(count, sizeof *meeting.parts));
    meeting.memory = must(calloc(count, REGION_BYTES));
    meeting.scratch = must(malloc(gather_scratch_bytes(&meeting.fabric->network)));
    return meeting;
}

static void free_meeting(struct meeting *meeting)
{
    fabric_free(meeting->fabric);
    free(meeting->parts);
    free(meeting->memory);
    free(meeting->scratch);
}

/* The program of a rank has regions "in" and "out" of so many bytes, and calls to wait at one. */
static enum node_verdict call(struct fabric *fabric, uint32_t rank, uint32_t index, uint32_t bytes,
                              int32_t *result)
{
    const struct ecube_abi_region regions[] = {{"in", MEMORY, bytes}, {"out", MEMORY, bytes}};
    const struct ecube_abi_rendezvous rendezvous = {.regions = REGIONS, .count = 2, .index = index};
    const uint32_t arguments[4] = {CALL};

    memcpy(fabric_at(fabric, rank, REGIONS), regions, sizeof regions);
    memcpy(fabric_at(fabric, rank, CALL), &rendezvous, sizeof rendezvous);
    return node_call(fabric->nodes[rank].node, fabric->now_us, ECUBE_CALL_REGION, arguments,
                     result);
}

static void wait_at(struct fabric *fabric, uint32_t rank, uint32_t index, uint32_t bytes)
{
    int32_t result = 0;

    assert_int_equal(call(fabric, rank, index, bytes, &result), NODE_BLOCK);
}

static void all_wait(struct fabric *fabric, uint32_t index, uint32_t bytes)
{
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        wait_at(fabric, rank, index, bytes);
    }
}

static enum node_verdict resume(struct fabric *fabric, uint32_t rank, int32_t *result)
{
    return node_resume(fabric->nodes[rank].node, fabric->now_us, result);
}

static uint32_t moved_of(struct fabric *fabric, uint32_t rank)
{
    struct ecube_abi_rendezvous rendezvous;

    memcpy(&rendezvous, fabric_at(fabric, rank, CALL), sizeof rendezvous);
    return rendezvous.moved;
}

/* A program whose end does not matter waits still. */
static void nobody_goes_on(struct fabric *fabric)
{
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        int32_t result = 0;
        assert_int_equal(resume(fabric, rank, &result), NODE_BLOCK);
    }
}

static void all_go_on(const struct meeting *meeting, int32_t way)
{
    for (uint32_t rank = 0; rank < meeting->fabric->count; rank++) {
        int32_t result = 0;
        assert_int_equal(resume(meeting->fabric, rank, &result), NODE_RESUME);
        assert_int_equal(result, way);
        assert_int_equal(moved_of(meeting->fabric, rank), meeting->parts[rank].bytes);
    }
}

/* Host ---------------------------------------------------------------------------------------- */

static enum controller_refusal attend(struct meeting *meeting, const char *region)
{
    struct fabric *fabric = meeting->fabric;
    struct controller_rendezvous rendezvous = {region, meeting->parts, meeting->scratch};

    fabric->told[EVENT_REGION_ATTENDED] = fabric->told[EVENT_REGION_FAILED] = 0;
    fabric->told[EVENT_REGION_MOVED] = fabric->told[EVENT_REGION_LEFT] = 0;
    return controller_attend(&fabric->controller, &rendezvous, fabric->now_us);
}

static bool is_attended(struct fabric *fabric)
{
    return fabric->told[EVENT_REGION_ATTENDED] + fabric->told[EVENT_REGION_FAILED] > 0;
}

static bool is_moved(struct fabric *fabric)
{
    return fabric->told[EVENT_REGION_MOVED] + fabric->told[EVENT_REGION_FAILED] > 0;
}

static bool is_left(struct fabric *fabric)
{
    return fabric->told[EVENT_REGION_LEFT] > 0;
}

static void meet(struct meeting *meeting, const char *region)
{
    assert_int_equal(attend(meeting, region), CONTROLLER_OK);
    assert_true(fabric_run(meeting->fabric, is_attended));
    assert_int_equal(meeting->fabric->told[EVENT_REGION_ATTENDED], 1);
    meeting->attended = meeting->fabric->last_event;
}

static void digest_of(const uint8_t *data, uint32_t bytes, uint8_t digest[DIGEST_BYTES])
{
    struct sha256 sha;

    sha256_begin(&sha);
    sha256_add(&sha, data, bytes);
    sha256_end(&sha, digest);
}

static void give(struct meeting *meeting, uint32_t (*bytes_of)(uint32_t rank), uint32_t round)
{
    for (uint32_t rank = 0; rank < meeting->fabric->count; rank++) {
        struct controller_part *part = &meeting->parts[rank];

        *part = (struct controller_part){.data = meeting->memory + (size_t)rank * REGION_BYTES,
                                         .bytes = bytes_of(rank),
                                         .wanted = true,
                                         .attends = part->attends,
                                         .region_bytes = part->region_bytes};
        for (uint32_t i = 0; i < part->bytes; i++) {
            part->data[i] = byte_of(rank, i, round);
        }
        digest_of(part->data, part->bytes, part->digest);
    }
}

static void move(struct meeting *meeting, enum ecube_region_way way)
{
    struct fabric *fabric = meeting->fabric;

    controller_move(&fabric->controller, way, fabric->now_us);
    assert_true(fabric_run(fabric, is_moved));
    meeting->end = fabric->last_event;
}

static void leave(struct meeting *meeting)
{
    controller_leave(&meeting->fabric->controller, meeting->fabric->now_us);
    assert_true(fabric_run(meeting->fabric, is_left));
    fabric_settle(meeting->fabric);
}

static uint64_t busy_of(const struct fabric *fabric)
{
    uint64_t busy_ns = 0;

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        busy_ns = clock_max(busy_ns, node_busy_until(fabric->nodes[rank].node));
    }
    return busy_ns;
}

static void check_time(const struct meeting *meeting)
{
    const struct controller_event *end = &meeting->end;

    assert_int_equal(end->kind, EVENT_REGION_MOVED);
    assert_int_equal(end->base_ns, meeting->attended.base_ns);
    assert_int_equal(end->model_ns - end->base_ns, end->gather.predicted_ns);
    assert_int_equal(end->model_ns, clock_max(end->base_ns, busy_of(meeting->fabric)));
}

static void check_scattered(const struct meeting *meeting, uint32_t round)
{
    for (uint32_t rank = 0; rank < meeting->fabric->count; rank++) {
        const uint8_t *at = fabric_at(meeting->fabric, rank, MEMORY);

        assert_false(meeting->parts[rank].wanted);
        for (uint32_t i = 0; i < meeting->parts[rank].bytes; i++) {
            assert_int_equal(at[i], byte_of(rank, i, round));
        }
    }
}

static void take(struct meeting *meeting)
{
    for (uint32_t rank = 0; rank < meeting->fabric->count; rank++) {
        struct controller_part *part = &meeting->parts[rank];

        part->data = meeting->memory + (size_t)rank * REGION_BYTES;
        part->bytes = part->region_bytes;
        part->wanted = true;
    }
}

static void check_gathered(const struct meeting *meeting, uint32_t round)
{
    for (uint32_t rank = 0; rank < meeting->fabric->count; rank++) {
        const struct controller_part *part = &meeting->parts[rank];
        uint8_t digest[DIGEST_BYTES];

        assert_false(part->wanted);
        for (uint32_t i = 0; i < part->bytes; i++) {
            assert_int_equal(part->data[i], byte_of(rank, i, round));
        }
        digest_of(part->data, part->bytes, digest);
        assert_memory_equal(part->digest, digest, DIGEST_BYTES);
    }
}

/* What programs have there. */
static void fill(struct fabric *fabric, uint32_t bytes, uint32_t round)
{
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        uint8_t *at = fabric_at(fabric, rank, MEMORY);

        for (uint32_t i = 0; i < bytes; i++) {
            at[i] = byte_of(rank, i, round);
        }
    }
}

static uint32_t equal(uint32_t rank)
{
    (void)rank;
    return 1000;
}

static uint32_t unequal(uint32_t rank)
{
    static const uint32_t sizes[] = {3000, 0, 1, 4096, 17, 0, 900, 2000};

    return sizes[rank % 8];
}

static uint32_t all(uint32_t rank)
{
    (void)rank;
    return REGION_BYTES;
}

static const struct profile profiles[] = {
    {65425, 9575, 425, 1500, 0, 1}, {65425, 9575, 425, 500, 0, 7}, {1000, 1000, 1000, 4000, 1, 3}};

/* Tests --------------------------------------------------------------------------------------- */

TEST(what_is_scattered_comes_in_the_time_that_is_predicted_and_all_go_on)
{
    uint32_t (*const sizes[])(uint32_t) = {equal, unequal};

    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        for (unsigned s = 0; s < 2; s++) {
            struct meeting meeting =
                make(networks[n], profiles[(n + s) % 3], n * 2 + s + 1, no_fault);
            all_wait(meeting.fabric, 0, 4096);
            meet(&meeting, "in");
            give(&meeting, sizes[s], n);
            move(&meeting, ECUBE_SCATTERED);
            check_time(&meeting);
            check_scattered(&meeting, n);
            nobody_goes_on(meeting.fabric);
            leave(&meeting);
            all_go_on(&meeting, ECUBE_SCATTERED);
            free_meeting(&meeting);
        }
    }
}

TEST(what_is_gathered_comes_in_the_time_that_is_predicted_and_all_go_on)
{
    static const uint32_t sizes[] = {1, 4000};

    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        for (unsigned s = 0; s < 2; s++) {
            struct meeting meeting =
                make(networks[n], profiles[(n + s) % 3], n * 2 + s + 1, no_fault);
            fill(meeting.fabric, sizes[s], n);
            all_wait(meeting.fabric, 1, sizes[s]);
            meet(&meeting, "out");
            take(&meeting);
            move(&meeting, ECUBE_GATHERED);
            check_time(&meeting);
            check_gathered(&meeting, n);
            nobody_goes_on(meeting.fabric);
            leave(&meeting);
            all_go_on(&meeting, ECUBE_GATHERED);
            free_meeting(&meeting);
        }
    }
}

/* One port: xi and tau of the host's link are sigma times as much, and elements overlap hops. */
TEST(a_scatter_on_a_ring_takes_the_sum_of_its_circuits)
{
    struct meeting meeting = make("ring:8", ipsc860, 3, no_fault);
    uint64_t sum_ns = 0;

    all_wait(meeting.fabric, 0, 4096);
    meet(&meeting, "in");
    give(&meeting, equal, 1);
    move(&meeting, ECUBE_SCATTERED);
    for (uint32_t rank = 0; rank < 8; rank++) {
        uint32_t root = network_host_root(&meeting.fabric->network, rank);
        uint32_t hops = 1 + network_distance(&meeting.fabric->network, root, rank);

        sum_ns += 65425 * 3 / 2 + 9575 * 3 / 2 + (hops - 1) * 9575 + (hops + 999) * 425;
    }
    check_time(&meeting);
    assert_int_equal(meeting.end.gather.predicted_ns, sum_ns);
    free_meeting(&meeting);
}

/* Each program's clock is at the end of its own transfer, not of the last. */
TEST(a_program_goes_on_at_the_end_of_its_own_transfer)
{
    struct meeting meeting = make("cube:2", ipsc860, 9, no_fault);
    uint64_t last_ns = 0;

    all_wait(meeting.fabric, 0, 4096);
    meet(&meeting, "in");
    give(&meeting, equal, 1);
    move(&meeting, ECUBE_SCATTERED);
    leave(&meeting);
    all_go_on(&meeting, ECUBE_SCATTERED);
    for (uint32_t rank = 0; rank < 4; rank++) {
        uint64_t clock_ns = fabric_clock(meeting.fabric, rank);
        assert_true(clock_ns > last_ns);
        last_ns = clock_ns;
    }
    assert_int_equal(last_ns, meeting.end.model_ns);
    free_meeting(&meeting);
}

TEST(rounds_follow_each_other_with_what_is_large)
{
    struct meeting meeting = make("cube:2", ipsc860, 11, no_fault);
    uint64_t end_ns = 0;

    for (uint32_t round = 0; round < 4; round++) {
        bool scatters = round % 2 == 0;

        all_wait(meeting.fabric, 0, REGION_BYTES);
        meet(&meeting, "in");
        assert_true(meeting.attended.base_ns >= end_ns);
        if (scatters) {
            give(&meeting, all, round);
            move(&meeting, ECUBE_SCATTERED);
            check_scattered(&meeting, round);
        } else {
            memset(meeting.memory, 0, (size_t)REGION_BYTES * meeting.fabric->count);
            take(&meeting);
            move(&meeting, ECUBE_GATHERED);
            check_gathered(&meeting, round - 1);
        }
        check_time(&meeting);
        end_ns = meeting.end.model_ns;
        leave(&meeting);
        all_go_on(&meeting, scatters ? ECUBE_SCATTERED : ECUBE_GATHERED);
    }
    free_meeting(&meeting);
}

/* The time begins when the last comes. */
TEST(who_comes_late_is_waited_for)
{
    struct meeting meeting = make("cube:2", ipsc860, 4, no_fault);
    struct fabric *fabric = meeting.fabric;

    for (uint32_t rank = 1; rank < 4; rank++) {
        wait_at(fabric, rank, 0, 4096);
    }
    assert_int_equal(attend(&meeting, "in"), CONTROLLER_OK);
    fabric_settle(fabric);
    assert_false(is_attended(fabric));
    for (uint32_t rank = 0; rank < 4; rank++) {
        assert_int_equal(meeting.parts[rank].attends, rank > 0);
    }
    assert_int_equal(fabric_advance(fabric, 0, 7000000), E_OK);
    wait_at(fabric, 0, 0, 4096);
    assert_true(fabric_run(fabric, is_attended));
    meeting.attended = fabric->last_event;
    assert_int_equal(meeting.attended.kind, EVENT_REGION_ATTENDED);
    assert_int_equal(meeting.attended.base_ns, node_busy_until(fabric->nodes[0].node));
    give(&meeting, equal, 0);
    move(&meeting, ECUBE_SCATTERED);
    check_time(&meeting);
    free_meeting(&meeting);
}

/* At another region of its program it may wait for another person. */
TEST(who_waits_at_another_region_is_waited_for_if_it_has_this_one)
{
    struct meeting meeting = make("cube:1", ipsc860, 4, no_fault);
    struct fabric *fabric = meeting.fabric;
    char text[WORDS_MAX];

    wait_at(fabric, 0, 0, 64);
    wait_at(fabric, 1, 1, 64);
    assert_int_equal(attend(&meeting, "in"), CONTROLLER_OK);
    fabric_settle(fabric);
    assert_false(is_attended(fabric));
    controller_withdraw(&fabric->controller, fabric->now_us);
    assert_int_equal(attend(&meeting, "inn"), CONTROLLER_OK);
    assert_true(fabric_run(fabric, is_attended));
    assert_int_equal(fabric->last_event.kind, EVENT_REGION_FAILED);
    assert_int_equal(fabric->last_event.reason, REGION_UNKNOWN);
    assert_int_equal(fabric->last_event.bytes, sizeof "in" + sizeof "out");
    fabric->last_event.body = (const uint8_t *)"in\0out";
    assert_true(words_of_event(&fabric->controller, &fabric->last_event, text));
    assert_non_null(strstr(text, "has no region of this name: it has in, out"));
    nobody_goes_on(fabric);
    free_meeting(&meeting);
}

TEST(transfers_that_have_begun_come_to_their_end_before)
{
    enum { BUFFER = MEMORY + 8192, MORE = MEMORY + 4096, LARGE = 200000 };

    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct meeting meeting = make("cube:1", ipsc860, seed, no_fault);
        struct fabric *fabric = meeting.fabric;
        int32_t receive = fabric_message(fabric, 1, ECUBE_CALL_RECEIVE, 0, 3, BUFFER, LARGE);
        int32_t send = fabric_message(fabric, 0, ECUBE_CALL_SEND, 1, 3, BUFFER, LARGE);
        int32_t more = fabric_message(fabric, 1, ECUBE_CALL_RECEIVE, 0, 4, MORE, 16);

        all_wait(fabric, 0, 4096);
        meet(&meeting, "in");
        assert_true(fabric_is_done(fabric, 0, send));
        assert_true(fabric_is_done(fabric, 1, receive));
        assert_false(fabric_is_done(fabric, 1, more)); /* nothing has come for it */
        assert_int_equal(meeting.attended.base_ns, busy_of(fabric));
        assert_true(meeting.attended.base_ns > fabric_clock(fabric, 0));
        give(&meeting, equal, 0);
        move(&meeting, ECUBE_SCATTERED);
        check_time(&meeting);
        check_scattered(&meeting, 0);
        free_meeting(&meeting);
    }
}

TEST(a_call_that_cannot_be_is_refused)
{
    struct meeting meeting = make("cube:0", ipsc860, 6, no_fault);
    struct fabric *fabric = meeting.fabric;
    const uint32_t misaligned[4] = {CALL + 2}, outside[4] = {FABRIC_CODE_END - 64};
    int32_t result = 0;

    assert_int_equal(call(fabric, 0, 2, 64, &result), NODE_RESUME);
    assert_int_equal(result, E_FAULT);
    assert_int_equal(call(fabric, 0, 0, 0, &result), NODE_RESUME);
    assert_int_equal(result, E_ARGUMENT);
    assert_int_equal(call(fabric, 0, 0, 3 * DATA_BYTES, &result), NODE_RESUME);
    assert_int_equal(result, E_FAULT);
    node_call(fabric->nodes[0].node, fabric->now_us, ECUBE_CALL_REGION, misaligned, &result);
    assert_int_equal(result, E_FAULT);
    node_call(fabric->nodes[0].node, fabric->now_us, ECUBE_CALL_REGION, outside, &result);
    assert_int_equal(result, E_FAULT);
    free_meeting(&meeting);
}

TEST(where_nobody_can_scatter_a_program_does_not_wait)
{
    struct fabric *fabric = fabric_make(0, DATA_BYTES, 5, no_fault, ipsc860);
    int32_t result = 0;

    fabric->controller.config.attended = false;
    assert_true(fabric_start(fabric));
    assert_int_equal(call(fabric, 0, 0, 64, &result), NODE_RESUME);
    assert_int_equal(result, E_UNATTENDED);
    fabric_free(fabric);
}

static void exits(struct fabric *fabric, uint32_t rank)
{
    const uint32_t arguments[4] = {0};
    int32_t result;

    assert_int_equal(
        node_call(fabric->nodes[rank].node, fabric->now_us, ECUBE_CALL_EXIT, arguments, &result),
        NODE_END);
}

TEST(who_has_ended_is_told_and_the_others_wait)
{
    struct meeting meeting = make("cube:2", ipsc860, 8, no_fault);
    struct fabric *fabric = meeting.fabric;

    for (uint32_t rank = 0; rank < 3; rank++) {
        wait_at(fabric, rank, 0, 4096);
    }
    assert_int_equal(attend(&meeting, "in"), CONTROLLER_OK);
    fabric_settle(fabric);
    exits(fabric, 3);
    assert_true(fabric_run(fabric, is_attended));
    assert_int_equal(fabric->last_event.reason, REGION_ENDED);
    assert_int_equal(attend(&meeting, "in"), CONTROLLER_OK);
    fabric_settle(fabric);
    assert_int_equal(fabric->told[EVENT_REGION_FAILED], 1);
    assert_int_equal(fabric->last_event.reason, REGION_GONE);
    free_meeting(&meeting);
}

TEST(nobody_is_met_where_no_program_runs)
{
    struct meeting meeting = make("cube:1", ipsc860, 8, no_fault);
    struct fabric *fabric = meeting.fabric;

    all_wait(fabric, 0, 64);
    assert_int_equal(attend(&meeting, "in"), CONTROLLER_OK);
    assert_int_equal(attend(&meeting, "in"), CONTROLLER_BUSY);
    controller_stop(&fabric->controller, fabric->now_us);
    fabric_settle(fabric);
    assert_int_equal(fabric->told[EVENT_REGION_FAILED], 1);
    assert_int_equal(attend(&meeting, "in"), CONTROLLER_IDLE);
    free_meeting(&meeting);
}

/* What is given up amid a move leaves programs that wait, and the next one finds them. */
TEST(who_gives_up_amid_it_leaves_a_machine_that_works)
{
    for (unsigned way = ECUBE_SCATTERED; way <= ECUBE_GATHERED; way++) {
        for (unsigned rounds = 1; rounds < 60; rounds += 4) {
            struct meeting meeting = make("ring:5", ipsc860, rounds, no_fault);
            struct fabric *fabric = meeting.fabric;

            fill(fabric, REGION_BYTES, 1);
            all_wait(fabric, 0, REGION_BYTES);
            meet(&meeting, "in");
            if (way == ECUBE_SCATTERED) {
                give(&meeting, all, 1);
            } else {
                take(&meeting);
            }
            controller_move(&fabric->controller, (enum ecube_region_way)way, fabric->now_us);
            for (unsigned i = 0; i < rounds; i++) {
                fabric_round(fabric);
            }
            controller_withdraw(&fabric->controller, fabric->now_us);
            fabric_settle(fabric);
            nobody_goes_on(fabric);
            meet(&meeting, "in");
            give(&meeting, equal, 2);
            move(&meeting, ECUBE_SCATTERED);
            check_time(&meeting);
            check_scattered(&meeting, 2);
            leave(&meeting);
            all_go_on(&meeting, ECUBE_SCATTERED);
            assert_true(controller_quiet(&fabric->controller));
            free_meeting(&meeting);
        }
    }
}

TEST(what_came_wrong_is_wanted_still_and_can_be_sent_again)
{
    struct meeting meeting = make("cube:2", ipsc860, 8, no_fault);

    all_wait(meeting.fabric, 0, 4096);
    meet(&meeting, "in");
    give(&meeting, equal, 1);
    meeting.parts[2].digest[0] ^= 1; /* as if other bytes had come */
    move(&meeting, ECUBE_SCATTERED);
    assert_int_equal(meeting.end.done, 3);
    for (uint32_t rank = 0; rank < 4; rank++) {
        assert_int_equal(meeting.parts[rank].wanted, rank == 2);
    }
    meeting.parts[2].digest[0] ^= 1;
    meet(&meeting, "in");
    move(&meeting, ECUBE_SCATTERED);
    assert_int_equal(meeting.end.done, 1);
    check_scattered(&meeting, 1);
    leave(&meeting);
    all_go_on(&meeting, ECUBE_SCATTERED);
    free_meeting(&meeting);
}

TEST(links_that_damage_and_lose_bytes_change_nothing)
{
    const struct memory_fault fault = {.flip_per_million = 100, .drop_per_million = 100};

    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct meeting meeting = make("cube:3", ipsc860, seed, fault);

        all_wait(meeting.fabric, 0, 4096);
        meet(&meeting, "in");
        give(&meeting, equal, 3);
        move(&meeting, ECUBE_SCATTERED);
        check_time(&meeting);
        check_scattered(&meeting, 3);
        leave(&meeting);
        all_go_on(&meeting, ECUBE_SCATTERED);
        all_wait(meeting.fabric, 1, 1000);
        meet(&meeting, "out");
        memset(meeting.memory, 0, (size_t)REGION_BYTES * meeting.fabric->count);
        take(&meeting);
        move(&meeting, ECUBE_GATHERED);
        check_time(&meeting);
        check_gathered(&meeting, 3);
        leave(&meeting);
        all_go_on(&meeting, ECUBE_GATHERED);
        free_meeting(&meeting);
    }
}

static bool is_over(struct fabric *fabric)
{
    return is_moved(fabric) || fabric->controller.phase != PHASE_RUN;
}

/* Whatever a program does amid it, or a node: it is told, or all is there. */
TEST(an_end_or_a_death_at_any_moment_ends_it_with_a_word)
{
    for (unsigned way = ECUBE_SCATTERED; way <= ECUBE_GATHERED; way++) {
        for (unsigned moment = 0; moment < FAILS_MAX; moment += 7) {
            struct meeting meeting = make("cube:2", ipsc860, moment + 1, no_fault);
            struct fabric *fabric = meeting.fabric;
            bool dies = moment % 2;

            fill(fabric, 4096, 1);
            all_wait(fabric, 0, 4096);
            meet(&meeting, "in");
            if (way == ECUBE_SCATTERED) {
                give(&meeting, equal, 1);
            } else {
                take(&meeting);
            }
            controller_move(&fabric->controller, (enum ecube_region_way)way, fabric->now_us);
            for (unsigned i = 0; i < moment; i++) {
                fabric_round(fabric);
            }
            if (dies) {
                controller_node_died(&fabric->controller, 2, fabric->now_us);
            } else {
                exits(fabric, 2);
            }
            assert_true(fabric_run(fabric, is_over));
            assert_true(fabric->told[EVENT_REGION_MOVED] || fabric->told[EVENT_REGION_FAILED] ||
                        fabric->told[EVENT_BROKEN]);
            free_meeting(&meeting);
        }
    }
}

static void pass(struct fabric *fabric)
{
    for (unsigned i = 0; i < 60; i++) {
        fabric->now_us += 100 * 1000;
        controller_pass(&fabric->controller, 100 * 1000, fabric->now_us);
        fabric_settle(fabric);
    }
}

TEST(the_host_says_once_that_programs_wait)
{
    struct meeting meeting = make("cube:1", ipsc860, 8, no_fault);
    struct fabric *fabric = meeting.fabric;
    struct state_body said;

    all_wait(fabric, 1, 777);
    pass(fabric);
    assert_int_equal(fabric->told[EVENT_REGION_WAITS], 1);
    assert_int_equal(fabric->controller.phase, PHASE_RUN);
    said = fabric_state(fabric, 0);
    assert_int_equal(said.wait, WAIT_REGION);
    assert_string_equal(said.region, "out");
    assert_int_equal(said.bytes, 777);
    free_meeting(&meeting);
}

static bool has_booted(struct fabric *fabric)
{
    return fabric->controller.phase == PHASE_READY;
}

static bool is_loaded(struct fabric *fabric)
{
    return fabric->controller.phase == PHASE_LOADED;
}

/* The host may be at the region before a program has run its first instruction. */
TEST(who_is_asked_before_it_starts_comes_all_the_same)
{
    struct fabric *fabric = fabric_make(1, DATA_BYTES, 5, no_fault, ipsc860);
    struct controller_part parts[2] = {0};
    struct meeting meeting = {.fabric = fabric,
                              .parts = parts,
                              .scratch = must(malloc(gather_scratch_bytes(&fabric->network)))};

    assert_true(fabric_run(fabric, has_booted));
    assert_true(fabric_download(fabric));
    assert_true(fabric_run(fabric, is_loaded));
    assert_int_equal(attend(&meeting, "in"), CONTROLLER_IDLE);
    controller_run(&fabric->controller, fabric->now_us);
    while (attend(&meeting, "in") != CONTROLLER_OK) {
        fabric_round(fabric);
    }
    fabric_settle(fabric);
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct node_start start;
        assert_true(node_take_start(fabric->nodes[rank].node, &start));
    }
    all_wait(fabric, 0, 4096);
    assert_true(fabric_run(fabric, is_attended));
    assert_int_equal(fabric->told[EVENT_REGION_ATTENDED], 1);
    free(meeting.scratch);
    fabric_free(fabric);
}

/* No host can be at two regions, or where a program will never be. */
TEST(programs_that_never_all_come_to_one_region_stand)
{
    for (unsigned which = 0; which < 3; which++) {
        struct meeting meeting = make("cube:1", ipsc860, which + 1, no_fault);
        struct fabric *fabric = meeting.fabric;
        const uint32_t probe[4] = {CALL};
        int32_t result;

        wait_at(fabric, 0, 0, 64);
        if (which == 0) {
            wait_at(fabric, 1, 1, 64);
        } else if (which == 1) {
            exits(fabric, 1);
        } else {
            memcpy(fabric_at(fabric, 1, CALL), &(struct ecube_abi_probe){.peer = 0, .tag = 1},
                   sizeof(struct ecube_abi_probe));
            assert_int_equal(
                node_call(fabric->nodes[1].node, fabric->now_us, ECUBE_CALL_PROBE, probe, &result),
                NODE_BLOCK);
        }
        pass(fabric);
        assert_int_equal(fabric->told[EVENT_REGION_WAITS], 0);
        assert_int_equal(fabric->told[EVENT_ENDED], 1);
        free_meeting(&meeting);
    }
}
