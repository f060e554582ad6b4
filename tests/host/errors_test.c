/*
 * Programs that errors of calls have ended: which argument breaks which rule, which errors are one
 * line, behind which cause, and which follow from what is told already.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/status.h"
#include "host/program/errors.h"
#include "host/console/message.h"
#include "host/computer/target.h"

enum { NODES = 8, TEXT_MAX = 2000, MS = 1000, TOLD_US = 1100 * MS, SP = 13 };

/* What was told, a line for each trouble. */
struct fixture {
    struct teller teller;
    struct errors errors;
    char told[TEXT_MAX];
};

static void note_event(void *context, json_t *event)
{
    struct fixture *f = context;
    size_t bytes = strlen(f->told);

    snprintf(f->told + bytes, sizeof f->told - bytes, "%s\n",
             json_string_value(json_object_get(event, "text")));
    json_decref(event);
}

static int begin(void **state)
{
    struct fixture *f = *state = calloc(1, sizeof *f);

    f->teller = (struct teller){.context = f, .emit = note_event, .troubles = json_array()};
    assert_true(errors_init(&f->errors, &f->teller, NODES));
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;

    errors_free(&f->errors);
    json_decref(f->teller.troubles);
    free(f);
    return 0;
}

/* Again, of so many nodes. */
static void begin_with(struct fixture *f, uint32_t nodes)
{
    errors_free(&f->errors);
    assert_true(errors_init(&f->errors, &f->teller, nodes));
}

static struct fault_call call_of(uint32_t number, int32_t status)
{
    struct fault_call call = {.error = {.status = status, .number = number, .given = true},
                              .place = " in main (a.c:7)"};

    call.error.called = (struct ecube_called){.number = number, .began = number};
    call.error.called.result.peer = ECUBE_ANY;
    call_error_name(&call.error, call.name);
    return call;
}

/* The collective with this number has failed at a rank, which has entered it. */
static void fail_collective(struct fixture *f, uint32_t rank, int32_t status, uint16_t number)
{
    struct fault_call call = call_of((uint32_t)ECUBE_CALLED_COLLECTIVE + ECUBE_ALLREDUCE, status);

    call.error.called.result.status = status;
    call.error.called.result.detail = number;
    errors_call(&f->errors, rank, &call, number, 0);
}

/* What a rank has sent to another ends so. */
static void fail_send(struct fixture *f, uint32_t rank, int32_t status, int32_t peer)
{
    struct fault_call call = call_of(ECUBE_CALLED_SEND, status);

    call.error.called.result.status = status;
    call.error.called.result.peer = peer;
    snprintf(call.reason, sizeof call.reason, "the program of rank %d has ended", (int)peer);
    errors_call(&f->errors, rank, &call, 0, 0);
}

static void fail_argument(struct fixture *f, uint32_t rank, const char *reason)
{
    struct fault_call call = call_of(ECUBE_CALLED_SEND, E_ARGUMENT);

    snprintf(call.reason, sizeof call.reason, "%s", reason);
    errors_call(&f->errors, rank, &call, 0, 0);
}

static void expect(const struct fixture *f, const char *told)
{
    assert_string_equal(f->told, told);
}

TEST_WITH(equal_errors_are_one_line, begin, end)
{
    struct fixture *f = *state;

    for (uint32_t rank = 0; rank < NODES; rank++) {
        fail_argument(f, (rank + 3) % NODES, rank == 6 ? "tag -5 is below 0" : "rank 99 of 8");
    }
    assert_int_equal(errors_end(&f->errors, false, 0), STATUS_CALL);
    expect(f, "ranks 0, 2-7: ecube_send: rank 99 of 8, in main (a.c:7)\n"
              "rank 1: ecube_send: tag -5 is below 0, in main (a.c:7)\n");
    json_t *nodes = json_object_get(json_array_get(f->teller.troubles, 0), "nodes");
    assert_int_equal(json_array_size(nodes), 7);
}

TEST_WITH(who_ended_without_the_collective_is_told_before, begin, end)
{
    struct fixture *f = *state;

    for (uint32_t rank = 0; rank < NODES; rank++) {
        if (rank != 1 && rank != 5) {
            fail_collective(f, rank, E_PEER_GONE, 4);
        }
    }
    errors_ended(&f->errors, 1, true, 3, 0);
    errors_ended(&f->errors, 5, true, 4, 0); /* it had begun it */
    assert_int_equal(errors_end(&f->errors, false, 0), STATUS_CALL);
    expect(f, "rank 1 ended without ecube_allreduce, which the others have called\n"
              "ranks 0, 2-4, 6, 7: ecube_allreduce in main (a.c:7)\n");
}

TEST_WITH(numbers_of_collectives_go_round, begin, end)
{
    struct fixture *f = *state;

    fail_collective(f, 0, E_PEER_GONE, 2);
    errors_ended(&f->errors, 1, true, 2, 0);
    errors_ended(&f->errors, 2, true, 0xffff, 0);
    assert_int_equal(errors_end(&f->errors, false, 0), STATUS_CALL);
    expect(f, "rank 2 ended without ecube_allreduce, which the others have called\n"
              "rank 0: ecube_allreduce in main (a.c:7)\n");
}

TEST_WITH(what_follows_from_a_crash_adds_nothing, begin, end)
{
    struct fixture *f = *state;

    errors_ended(&f->errors, 1, false, 3, 0);
    for (uint32_t rank = 2; rank < NODES; rank++) {
        fail_collective(f, rank, E_PEER_GONE, 4);
    }
    fail_send(f, 0, E_PEER_GONE, 2); /* follows from what follows */
    errors_pass(&f->errors, TOLD_US);
    assert_int_equal(errors_end(&f->errors, false, STATUS_MEMORY), STATUS_MEMORY);
    expect(f, "");
}

TEST_WITH(a_crash_after_its_collective_explains_none, begin, end)
{
    struct fixture *f = *state;

    errors_ended(&f->errors, 1, false, 4, 0);
    errors_ended(&f->errors, 3, true, 3, 0);
    fail_collective(f, 2, E_PEER_GONE, 4);
    assert_int_equal(errors_end(&f->errors, false, STATUS_MEMORY), STATUS_CALL);
    expect(f, "rank 3 ended without ecube_allreduce, which the others have called\n"
              "rank 2: ecube_allreduce in main (a.c:7)\n");
}

TEST_WITH(what_follows_from_an_error_of_another_adds_nothing, begin, end)
{
    struct fixture *f = *state;

    fail_argument(f, 3, "rank 99 of 8");
    fail_send(f, 4, E_PEER_GONE, 3);
    fail_collective(f, 5, E_PEER_GONE, 1);
    assert_int_equal(errors_end(&f->errors, false, 0), STATUS_CALL);
    expect(f, "rank 3: ecube_send: rank 99 of 8, in main (a.c:7)\n");
}

TEST_WITH(a_send_to_a_program_that_ended_well_is_an_error, begin, end)
{
    struct fixture *f = *state;

    fail_send(f, 4, E_PEER_GONE, 3);
    errors_pass(&f->errors, TOLD_US);
    expect(f, ""); /* how rank 3 has ended is not known yet */
    errors_ended(&f->errors, 3, true, 0, TOLD_US);
    errors_pass(&f->errors, 2 * TOLD_US);
    expect(f, "rank 4: ecube_send: the program of rank 3 has ended, in main (a.c:7)\n");
    assert_int_equal(errors_end(&f->errors, false, 0), STATUS_CALL);
}

TEST_WITH(dead_links_explain_what_a_broken_machine_cannot_do, begin, end)
{
    struct fixture *f = *state;

    fail_send(f, 4, E_LINK_DEAD, 3);
    fail_send(f, 5, E_PEER_GONE, 6);
    fail_argument(f, 2, "rank 99 of 8");
    assert_int_equal(errors_end(&f->errors, true, 0), STATUS_CALL);
    expect(f, "rank 2: ecube_send: rank 99 of 8, in main (a.c:7)\n");
}

TEST_WITH(what_nothing_explains_is_told, begin, end)
{
    struct fixture *f = *state;

    fail_send(f, 4, E_LINK_DEAD, 3);
    fail_collective(f, 5, E_PEER_GONE, 0);
    errors_pass(&f->errors, TOLD_US);
    expect(f, "");
    assert_int_equal(errors_end(&f->errors, false, 0), STATUS_CALL);
    expect(f, "rank 4: ecube_send: the program of rank 3 has ended, in main (a.c:7)\n"
              "rank 5: ecube_allreduce: the peer's program has ended, in main (a.c:7)\n");
}

/* Each says that the other has ended: what programs say may be anything. */
TEST_WITH(no_run_with_an_error_ends_well, begin, end)
{
    struct fixture *f = *state;

    fail_send(f, 4, E_PEER_GONE, 3);
    fail_send(f, 3, E_PEER_GONE, 4);
    assert_int_equal(errors_end(&f->errors, false, 0), STATUS_CALL);
    expect(f, "rank 3: ecube_send: the program of rank 4 has ended, in main (a.c:7)\n"
              "rank 4: ecube_send: the program of rank 3 has ended, in main (a.c:7)\n");
}

/* Rank 1 ends all, with status 0; another hears of it before it is stopped. */
TEST_WITH(who_hears_of_an_end_of_all_adds_nothing, begin, end)
{
    struct fixture *f = *state;

    fail_collective(f, 0, E_PEER_GONE, 1);
    errors_ended(&f->errors, 1, false, 0, 0);
    assert_int_equal(errors_end(&f->errors, true, 0), 0);
    expect(f, "");
}

TEST_WITH(bystanders_of_a_disagreement_are_not_told, begin, end)
{
    struct fixture *f = *state;

    errors_disagreed(&f->errors);
    fail_collective(f, 1, E_MISMATCH, 4);
    fail_collective(f, 2, E_MISMATCH, 4);
    fail_collective(f, 3, E_PEER_GONE, 5);
    assert_int_equal(errors_end(&f->errors, false, 1), STATUS_CALL);
    expect(f, "ranks 1, 2: ecube_allreduce in main (a.c:7)\n");
}

static void fail_entry(struct fixture *f, uint32_t rank)
{
    errors_failed(&f->errors, rank, E_FULL, tell_node_members("collective-failed", rank),
                  "node 2 (rank 2) could not enter allreduce", 0);
}

TEST_WITH(who_could_not_enter_says_why_and_the_others_say_who, begin, end)
{
    struct fixture *f = *state;

    fail_collective(f, 1, E_ELSEWHERE, 4);
    fail_collective(f, 2, E_FULL, 4);
    fail_entry(f, 2);
    fail_collective(f, 3, E_ELSEWHERE, 4);
    assert_int_equal(errors_end(&f->errors, false, 0), STATUS_CALL);
    expect(f, "ranks 1, 3: ecube_allreduce: rank 2 could not enter it, in main (a.c:7)\n"
              "rank 2: ecube_allreduce: no memory for its working buffer, in main (a.c:7)\n");
}

TEST_WITH(of_those_who_all_could_not_enter_none_is_the_reason, begin, end)
{
    struct fixture *f = *state;

    fail_collective(f, 1, E_FULL, 4);
    fail_collective(f, 2, E_FULL, 4);
    fail_entry(f, 1);
    assert_int_equal(errors_end(&f->errors, false, 0), STATUS_CALL);
    expect(f, "ranks 1, 2: ecube_allreduce: no memory for its working buffer, in main (a.c:7)\n");
}

TEST_WITH(that_one_could_not_enter_is_told_when_it_goes_on, begin, end)
{
    struct fixture *f = *state;

    fail_entry(f, 2);
    fail_entry(f, 2);
    expect(f, "node 2 (rank 2) could not enter allreduce\n");
    errors_pass(&f->errors, TOLD_US);
    expect(f, "node 2 (rank 2) could not enter allreduce\n"
              "node 2 (rank 2) could not enter allreduce\n");
    assert_int_equal(errors_end(&f->errors, false, 0), 0);
}

TEST_WITH(errors_are_told_when_no_more_come, begin, end)
{
    struct fixture *f = *state;
    struct fault_call call = call_of(ECUBE_CALLED_SEND, E_ARGUMENT);

    errors_call(&f->errors, 1, &call, 0, 0);
    errors_pass(&f->errors, 900 * MS);
    errors_call(&f->errors, 2, &call, 0, 900 * MS);
    errors_pass(&f->errors, 1800 * MS);
    expect(f, "");
    errors_pass(&f->errors, 1900 * MS);
    expect(f, "ranks 1, 2: ecube_send: impossible argument, in main (a.c:7)\n");
}

TEST_WITH(many_different_errors_are_counted, begin, end)
{
    struct fixture *f = *state;
    char reason[20];
    unsigned lines = 0;

    begin_with(f, 20);
    for (uint32_t rank = 0; rank < 20; rank++) {
        snprintf(reason, sizeof reason, "rank %u of 20", (unsigned)rank + 20);
        fail_argument(f, rank, reason);
    }
    assert_int_equal(errors_end(&f->errors, false, 0), STATUS_CALL);
    for (const char *p = f->told; *p; p++) {
        lines += *p == '\n';
    }
    assert_int_equal(lines, 9);
    assert_non_null(strstr(f->told, "and 12 more programs that errors of calls have ended\n"));
    assert_int_equal(json_array_size(f->teller.troubles), 21);
}

TEST_WITH(long_lists_of_ranks_are_cut, begin, end)
{
    struct fixture *f = *state;

    begin_with(f, 40);
    for (uint32_t rank = 0; rank < 40; rank += 2) {
        fail_argument(f, rank, "rank 99 of 40");
    }
    errors_end(&f->errors, false, 0);
    expect(f, "ranks 0, 2, 4, 6, 8, 10 and 14 more: ecube_send: rank 99 of 40, in main (a.c:7)\n");
}

/* The program that tells of itself ------------------------------------------------------------ */

enum { STACK = 0x20910000 /* anywhere */ };

/* What a call is told, with the address that it names. */
__attribute__((format(printf, 1, 0))) static const char *at(const char *format, uint32_t first,
                                                            uint32_t last)
{
    static char text[CALL_ERROR_TEXT_MAX];

    snprintf(text, sizeof text, format, first, last);
    return text;
}

static struct ecube_called given(uint32_t number)
{
    return (struct ecube_called){.number = number, .began = number};
}

/* As a node sends it: the record lies 8 bytes above the stack pointer. */
static struct call_error received(int32_t status, const struct ecube_called *called, uint32_t bytes)
{
    static uint8_t stack[8 + sizeof *called];
    struct fault_body fault = {.kind = FAULT_ERROR, .line = STACK, .tail = stack};

    memcpy(stack + 8, called, sizeof *called);
    fault.tail_bytes = 8 + bytes;
    fault.registers[0] = (uint32_t)status;
    fault.registers[1] = called->number;
    fault.registers[2] = fault.line + 8;
    fault.registers[SP] = fault.line;
    return call_error_of(&fault);
}

/* Of the program whose calls these are. */
static struct image program;

static void expect_reason(int32_t status, const struct ecube_called *called, const char *wanted)
{
    struct call_error error = received(status, called, sizeof *called);
    struct network network;
    char text[CALL_ERROR_TEXT_MAX] = "";

    assert_true(network_make(&network, NETWORK_MESH, (const uint32_t[]){2, 2}, 2));
    assert_true(error.given);
    assert_int_equal(call_error_reason(&error, &network, &program, 1, text), wanted != NULL);
    assert_string_equal(text, wanted ? wanted : "");
}

TEST(a_message_says_which_argument_is_wrong)
{
    struct ecube_called called = given(ECUBE_CALLED_SEND);

    called.message[0] = (struct ecube_abi_message){.data = target_board()->image_base, .bytes = 4};
    called.message[0].peer = 4;
    expect_reason(E_ARGUMENT, &called, "rank 4 of 4");
    called.message[0].peer = -1;
    expect_reason(E_ARGUMENT, &called, "rank -1 of 4");
    called.message[0].peer = 3;
    expect_reason(E_ARGUMENT, &called, NULL);
    called.message[0].tag = -1;
    expect_reason(E_ARGUMENT, &called, "tag -1 is below 0");
    called.message[0].data = 4;
    expect_reason(E_FAULT, &called,
                  "send of 4 bytes at 0x00000004 lies outside the program's memory");
    called.message[0].data = target_board()->image_end - 4;
    expect_reason(E_FAULT, &called, NULL);
    called.message[0].bytes = 5;
    expect_reason(E_FAULT, &called,
                  at("send of 5 bytes at 0x%08x lies outside the program's memory",
                     called.message[0].data, 0));
    called.number = called.began = ECUBE_CALLED_RECEIVE;
    called.message[0] = (struct ecube_abi_message){.peer = ECUBE_ANY, .tag = ECUBE_ANY};
    expect_reason(E_ARGUMENT, &called, NULL);
    called.message[0].tag = -2;
    expect_reason(E_ARGUMENT, &called, "tag -2 is below 0");
}

TEST(what_would_be_received_over_code_or_constants_is_named)
{
    struct ecube_called called = given(ECUBE_CALLED_RECEIVE);
    uint32_t base = target_board()->image_base;

    program = (struct image){.base = base, .code_end = base + 100, .constants_end = base + 200};
    called.message[0] = (struct ecube_abi_message){.data = base + 96, .bytes = 4};
    expect_reason(E_FAULT, &called,
                  at("receive of 4 bytes at 0x%08x lies in the program's code", base + 96, 0));
    called.message[0].data = base + 199;
    expect_reason(
        E_FAULT, &called,
        at("receive of 4 bytes at 0x%08x lies in the program's constants", base + 199, 0));
    called.message[0].data = base + 200;
    expect_reason(E_FAULT, &called, NULL);
    called.number = called.began = ECUBE_CALLED_SEND;
    called.message[0].data = base;
    expect_reason(E_FAULT, &called, NULL);
    called.number = called.began = (uint32_t)ECUBE_CALLED_COLLECTIVE + ECUBE_ALLGATHER;
    called.collective = (struct ecube_abi_collective){
        .operation = ECUBE_ALLGATHER, .block_bytes = 8, .send = base, .receive = base + 150};
    expect_reason(
        E_FAULT, &called,
        at("receive of 32 bytes at 0x%08x lies in the program's constants", base + 150, 0));
    program = (struct image){0};
}

TEST(the_half_of_a_send_receive_that_failed_is_looked_at)
{
    struct ecube_called called = given(ECUBE_CALLED_SEND_RECEIVE);

    called.message[0].peer = 7;
    called.message[1].peer = 9;
    called.began = ECUBE_CALLED_SEND;
    expect_reason(E_ARGUMENT, &called, "rank 7 of 4");
    called.began = ECUBE_CALLED_RECEIVE;
    expect_reason(E_ARGUMENT, &called, "rank 9 of 4");
}

TEST(a_collective_says_which_argument_is_wrong)
{
    struct ecube_called called = given((uint32_t)ECUBE_CALLED_START + ECUBE_GATHER);
    uint32_t base = target_board()->image_base;

    called.collective = (struct ecube_abi_collective){
        .operation = ECUBE_GATHER, .root = 4, .block_bytes = 8, .send = base, .receive = base + 8};
    expect_reason(E_ARGUMENT, &called, "root 4 of 4");
    called.collective.root = 1; /* this rank */
    expect_reason(E_ARGUMENT, &called, NULL);
    called.collective.receive = base + 7;
    expect_reason(E_ARGUMENT, &called,
                  at("send and receive overlap from 0x%08x to 0x%08x", base + 7, base + 7));
    called.collective.receive = 0;
    expect_reason(E_FAULT, &called,
                  "receive of 32 bytes at 0x00000000 lies outside the program's memory");
    called.collective.root = 0; /* here nothing is received */
    expect_reason(E_FAULT, &called, NULL);
    called.collective.send = 16;
    expect_reason(E_FAULT, &called,
                  "send of 8 bytes at 0x00000010 lies outside the program's memory");
}

TEST(a_collective_that_is_waited_for_says_which_argument_is_wrong)
{
    struct ecube_called called = given(ECUBE_CALLED_WAIT_ALL);
    uint32_t base = target_board()->image_base;

    called.wait.count = 5;
    called.began = (uint32_t)ECUBE_CALLED_START + ECUBE_SHIFT;
    called.result = (struct ecube_abi_result){.status = E_ARGUMENT, .peer = -1};
    called.collective =
        (struct ecube_abi_collective){.block_bytes = 8, .send = base, .receive = base};
    expect_reason(E_ARGUMENT, &called,
                  at("send and receive overlap from 0x%08x to 0x%08x", base, base + 7));
    called.began = (uint32_t)ECUBE_CALLED_START + ECUBE_OPERATIONS; /* there is none */
    expect_reason(E_ARGUMENT, &called, NULL);
}

TEST(a_reduction_says_what_does_not_go_together)
{
    struct ecube_called called = given((uint32_t)ECUBE_CALLED_COLLECTIVE + ECUBE_SCAN);

    called.collective = (struct ecube_abi_collective){.operation = ECUBE_SCAN, .type = 77};
    expect_reason(E_ARGUMENT, &called, "there is no type 77");
    called.collective.type = ECUBE_DOUBLE;
    called.collective.operator_ = 99;
    expect_reason(E_ARGUMENT, &called, "there is no operator 99");
    called.collective.operator_ = ECUBE_BITWISE_OR;
    expect_reason(E_ARGUMENT, &called, "bitwise-or is not for elements of type double");
}

TEST(a_message_that_is_cut_says_both_sizes)
{
    struct ecube_called called = given(ECUBE_CALLED_WAIT);

    called.began = ECUBE_CALLED_RECEIVE_START;
    called.result = (struct ecube_abi_result){
        .status = E_TRUNCATED, .peer = 3, .tag = 5, .bytes = 10, .detail = 100};
    expect_reason(E_TRUNCATED, &called,
                  "message of 100 bytes from rank 3 (tag 5), the buffer has 10");
}

TEST(a_request_that_is_not_open_is_named)
{
    struct ecube_called called = given(ECUBE_CALLED_WAIT_ALL);

    called.wait.index = 2;
    called.wait.count = 5;
    expect_reason(E_ARGUMENT, &called, "request 2 of 5 is not open");
    called.number = ECUBE_CALLED_CANCEL;
    called.began = ECUBE_CALLED_SEND_START;
    expect_reason(E_ARGUMENT, &called, "what ecube_send_start began is no receive");
}

/* Any program may execute the trap. */
TEST(what_a_program_says_is_data)
{
    struct ecube_called called = given(ECUBE_CALLED_SEND);
    struct fault_body fault = {.kind = FAULT_ERROR};
    char text[CALL_ERROR_TEXT_MAX];

    assert_false(received(E_ARGUMENT, &called, sizeof called - 1).given);
    assert_int_equal(received(E_OK, &called, sizeof called).number, 0);
    assert_int_equal(received(7, &called, sizeof called).number, 0);
    for (uint32_t number = 0; number < 2 * ECUBE_CALLED_NUMBERS; number++) {
        for (int32_t status = -17; status < 2; status++) {
            memset(&called, (int)number, sizeof called);
            called.number = number;
            struct call_error error = received(status, &called, sizeof called);
            struct network network;
            assert_true(network_make(&network, NETWORK_MESH, (const uint32_t[]){2, 2}, 2));
            call_error_name(&error, text);
            call_error_reason(&error, &network, &program, 1, text);
        }
    }
    fault.registers[0] = (uint32_t)E_ARGUMENT;
    fault.registers[1] = ECUBE_CALLED_SEND;
    fault.registers[2] = UINT32_MAX;
    assert_false(call_error_of(&fault).given);
}
