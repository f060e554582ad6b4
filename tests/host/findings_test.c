/*
 * What the checks have found in programs becomes lines: one for all ranks that have the same, and
 * not before all of them have had time to come.
 */
#include "tests/testing.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "arch/processor.h"
#include "host/program/finding.h"
#include "host/program/findings.h"
#include "host/program/ranks.h"

enum { STACK = 0x20900000, SECOND_US = 1000 * 1000, LINES_MAX = 100, NODES = 128 };

static struct teller teller;
static struct findings findings;
static char lines[LINES_MAX][500];
static unsigned told;
static uint8_t stack[FINDINGS_MAX * FINDING_BYTES];
static const struct fault_code code = {0};

static void note(void *context, json_t *event)
{
    (void)context;
    assert_in_range(told, 0, LINES_MAX - 1);
    snprintf(lines[told++], sizeof lines[0], "%s",
             json_string_value(json_object_get(event, "text")));
    json_decref(event);
}

static void begin(void)
{
    told = 0;
    json_decref(teller.troubles);
    teller = (struct teller){.emit = note, .troubles = json_array()};
    findings_begin(&findings, &teller, NODES);
}

/* The fault of a program that has put so many findings on its stack, and says that there were
 * `all`. */
static struct fault_body fault_with(const struct finding *list, uint32_t count, uint32_t all)
{
    struct fault_body fault = {.kind = FAULT_FINDING,
                               .registers = {STACK + 4, count, all, 1},
                               .line = STACK + 4,
                               .tail = stack,
                               .tail_bytes = count * FINDING_BYTES};

    for (uint32_t i = 0; i < count; i++) {
        finding_pack(stack + i * FINDING_BYTES, &list[i]);
    }
    return fault;
}

static void add(uint32_t rank, struct finding finding, uint64_t now_us)
{
    struct fault_body fault = fault_with(&finding, 1, 1);

    assert_true(findings_add(&findings, &code, rank, &fault, now_us));
}

static const struct finding message = {
    .kind = FINDING_NOT_RECEIVED, .bytes = 1, .peer = 3, .tag = 5};

TEST(output_that_is_freed_is_told_with_its_size)
{
    struct finding freed = {.kind = FINDING_OUTPUT_FREED, .bytes = 10, .address = 0x20a00000};
    char text[FINDING_TEXT_MAX];

    finding_text(&freed, &processor_armv7a, NULL, text);
    assert_string_equal(text, "memory is freed of the output of 10 bytes that was named in a place "
                              "not known, and is read at the end");
    assert_string_equal(finding_name(&freed), "output-freed");
}

TEST(equal_ones_are_one_line_when_no_more_come)
{
    struct finding other = message;

    begin();
    add(2, message, 0);
    add(0, message, SECOND_US / 2);
    other.bytes = 20;
    add(1, other, SECOND_US);
    add(3, message, SECOND_US);
    findings_pass(&findings, 2 * SECOND_US - 1);
    assert_int_equal(told, 0);
    findings_pass(&findings, 2 * SECOND_US);
    assert_int_equal(told, 2);
    assert_string_equal(lines[0],
                        "ranks 0, 2, 3: never received: a message from rank 3, tag 5, 1 byte");
    assert_string_equal(lines[1], "rank 1: never received: a message from rank 3, tag 5, 20 bytes");
    json_t *first = json_array_get(teller.troubles, 0);
    assert_int_equal(json_array_size(json_object_get(first, "nodes")), 3);
    assert_string_equal(json_string_value(json_object_get(first, "finding")), "not-received");
    findings_pass(&findings, 9 * SECOND_US);
    findings_tell(&findings);
    assert_int_equal(told, 2);
}

TEST(one_that_a_program_has_often_is_counted)
{
    const struct finding list[] = {message, message, message};
    struct fault_body fault = fault_with(list, 3, 3);

    begin();
    findings_add(&findings, &code, 7, &fault, 0);
    findings_tell(&findings);
    assert_int_equal(told, 1);
    assert_string_equal(lines[0],
                        "rank 7: 3 times: never received: a message from rank 3, tag 5, 1 byte");
}

TEST(those_that_a_list_has_no_room_for_are_counted)
{
    struct fault_body fault = fault_with(&message, 1, 41);

    begin();
    findings_add(&findings, &code, 0, &fault, 0);
    findings_tell(&findings);
    assert_int_equal(told, 2);
    assert_string_equal(lines[1], "and 40 more findings");
    begin();
    for (int tag = 0; tag < FINDINGS_HELD_MAX + 2; tag++) {
        struct finding other = message;
        other.tag = tag;
        add(0, other, 0);
    }
    findings_tell(&findings);
    assert_int_equal(told, FINDINGS_HELD_MAX + 1);
    assert_string_equal(lines[told - 1], "and 2 more findings");
}

/* A program may execute the trap with anything in its registers. */
TEST(a_list_that_is_not_on_the_stack_is_none)
{
    static const uint32_t wrong[][2] = {
        {STACK, 1},    {STACK + 5, 1}, {0, 1}, {UINT32_MAX, 1}, {STACK + 4 + FINDING_BYTES, 1},
        {STACK + 4, 0}};

    begin();
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct fault_body fault = fault_with(&message, 1, UINT32_MAX);
        fault.registers[0] = wrong[i][0];
        fault.registers[1] = wrong[i][1];
        assert_false(findings_add(&findings, &code, 0, &fault, 0));
    }
    struct fault_body fault = fault_with(&message, 1, 1);
    fault.registers[1] = UINT32_MAX;
    assert_true(findings_add(&findings, &code, 0, &fault, 0));
    findings_tell(&findings);
    assert_int_equal(told, 1);
}

TEST(many_ranks_are_counted)
{
    struct ranks *ranks = ranks_make(NODES);
    char text[RANKS_TEXT_MAX];

    for (uint32_t rank = 0; rank < NODES; rank++) {
        ranks->rank[ranks->count++] = rank;
    }
    ranks_text(ranks, text);
    assert_string_equal(text, "ranks 0-127");
    ranks->count = 0;
    for (uint32_t rank = 0; rank < NODES; rank += 2) {
        ranks->rank[ranks->count++] = rank;
    }
    ranks_text(ranks, text);
    assert_string_equal(text, "ranks 0, 2, 4, 6, 8, 10 and 58 more");
    free(ranks);
}
