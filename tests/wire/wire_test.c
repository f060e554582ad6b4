/*
 * Bodies of packets, and a private block: their bytes are those of the drawings in wire/, what is
 * packed comes back, and what is too short is refused.
 *
 * The golden bytes are written by hand from the drawings.
 */
#include "tests/testing.h"

#include <string.h>

#include "wire/circuit.h"
#include "wire/collective.h"
#include "wire/gather.h"
#include "wire/message.h"
#include "wire/packet.h"
#include "wire/plan.h"
#include "wire/record.h"
#include "wire/region.h"
#include "wire/report.h"
#include "wire/run.h"
#include "wire/traffic.h"

enum { UNTOUCHED = 0xa5 };

#define U16(v) (uint8_t)((v)&0xff), (uint8_t)((v) >> 8 & 0xff)
#define U32(v) U16((uint32_t)(v)&0xffff), U16((uint32_t)(v) >> 16)
#define U64(v) U32((uint64_t)(v)&0xffffffff), U32((uint64_t)(v) >> 32)

/* Packing `value` gives the golden bytes; unpacking those gives what packs to the same; fewer bytes
 * than `least` are refused. */
#define EXPECT_LAYOUT(pack, unpack, type, golden, least, value)                                    \
    do {                                                                                           \
        uint8_t packed[sizeof golden];                                                             \
        struct type back;                                                                          \
        memset(packed, UNTOUCHED, sizeof packed);                                                  \
        pack(packed, &value);                                                                      \
        assert_memory_equal(packed, golden, sizeof golden);                                        \
        assert_true(unpack(golden, sizeof golden, &back));                                         \
        memset(packed, UNTOUCHED, sizeof packed);                                                  \
        pack(packed, &back);                                                                       \
        assert_memory_equal(packed, golden, sizeof golden);                                        \
        for (uint32_t bytes = 0; bytes < (least); bytes++)                                         \
            assert_false(unpack(golden, bytes, &back));                                            \
    } while (0)

TEST(a_packet_header_is_laid_out_as_drawn)
{
    static const uint8_t golden[] = {38, 0, U16(1000), U32(0x12345678), U32(0xffffffff), 0,
                                     0,  0, 0};
    uint8_t packet[sizeof golden];

    assert_int_equal(sizeof golden, PACKET_HEADER_BYTES);
    packet_pack(packet, 38, 1000, 0x12345678, 0xffffffff);
    assert_memory_equal(packet, golden, sizeof golden);
    assert_int_equal(packet_kind(packet), 38);
    assert_int_equal(packet_body_bytes(packet), 1000);
    assert_int_equal(packet_src(packet), 0x12345678);
    assert_int_equal(packet_dst(packet), 0xffffffff);
    assert_int_equal(packet_hops(packet), 0);
    assert_ptr_equal(packet_body(packet), packet + PACKET_HEADER_BYTES);
    packet_set_hops(packet, 0x1234);
    assert_int_equal(packet_hops(packet), 0x1234);
    assert_int_equal(get16(packet + 12), 0x1234);
    packet_set_hops(packet, 0);
    assert_memory_equal(packet, golden, sizeof golden);
}

TEST(an_open_is_laid_out_as_drawn)
{
    static const uint8_t golden[OPEN_BODY_BYTES] = {U32(70000),      U32(0x01020304), U32(99),
                                                    U16(0x8001),     OPEN_IMAGE,      7,
                                                    U64(5000000000), U64(6000000001)};
    const struct open_body open = {.length = 70000,
                                   .match = 0x01020304,
                                   .tag = 99,
                                   .epoch = 0x8001,
                                   .flags = OPEN_IMAGE,
                                   .generation = 7,
                                   .clock_ns = 5000000000,
                                   .free_ns = 6000000001};
    uint8_t packet[OPEN_BYTES];

    packet_pack(packet, PACKET_OPEN, OPEN_BODY_BYTES, 1, 2);
    open_pack(packet, &open);
    assert_memory_equal(packet_body(packet), golden, sizeof golden);
    assert_int_equal(open_length(packet), open.length);
    assert_int_equal(open_match(packet), open.match);
    assert_int_equal(open_tag(packet), open.tag);
    assert_int_equal(open_charged(packet), 70000 - 99);
    assert_int_equal(open_epoch(packet), open.epoch);
    assert_int_equal(open_flags(packet), open.flags);
    assert_int_equal(open_generation(packet), open.generation);
    assert_int_equal(open_clock(packet), open.clock_ns);
    assert_int_equal(open_free(packet), open.free_ns);
    assert_ptr_equal(open_inlined(packet), packet + OPEN_BYTES);
    open_set_clock(packet, 0x1122334455667788);
    assert_int_equal(open_clock(packet), 0x1122334455667788);
    open_set_clock(packet, open.clock_ns);
    assert_memory_equal(packet_body(packet), golden, sizeof golden);
    for (uint32_t bytes = 0; bytes < OPEN_BYTES; bytes++) {
        assert_false(open_possible(packet, bytes));
    }
    assert_true(open_possible(packet, OPEN_BYTES));
}

TEST(of_downloads_and_gathers_alone_the_bytes_in_front_take_no_model_time)
{
    static const struct {
        uint32_t length, tag, charged;
        uint8_t flags;
    } cases[] = {{100, 30, 70, OPEN_IMAGE},  {100, 30, 70, OPEN_IMAGE | OPEN_OUTPUT},
                 {100, 100, 0, OPEN_IMAGE},  {100, 101, 100, OPEN_IMAGE},
                 {100, 0, 100, OPEN_IMAGE},  {100, 30, 100, 0},
                 {100, 30, 100, OPEN_EAGER}, {100, 30, 100, OPEN_SCHEDULE | OPEN_IMAGE}};
    uint8_t packet[OPEN_BYTES];

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open_pack(packet, &(struct open_body){.length = cases[i].length,
                                              .tag = cases[i].tag,
                                              .flags = cases[i].flags});
        assert_int_equal(open_charged(packet), cases[i].charged);
    }
}

TEST(a_share_says_in_its_open_which_it_is)
{
    static const uint8_t golden[] = {U32(0x01020304), 0xcd, 0xab, 2, 16, U32(0x0a0b0c0d)};
    uint8_t packet[OPEN_BYTES];

    open_pack(packet, &(struct open_body){.length = 0x01020304,
                                          .match = open_share_match(NAME_BIT | 0xabcd, 2, 16),
                                          .tag = 0x0a0b0c0d,
                                          .flags = OPEN_SHARE});
    assert_memory_equal(packet + PACKET_HEADER_BYTES, golden, sizeof golden);
    assert_int_equal(open_name(packet), NAME_BIT | 0xabcd);
    assert_int_equal(open_share_number(packet), 2);
    assert_int_equal(open_share_count(packet), 16);
    assert_true(open_is_share(OPEN_SHARE | OPEN_ROUTE));
    assert_false(open_is_share(OPEN_REQUEST | OPEN_BEHIND));
    assert_false(open_is_share(OPEN_ROUTE));
}

TEST(a_hop_list_is_laid_out_as_drawn)
{
    static const uint8_t golden[] = {3, 0xff, U16(0), 16, U16(0x1234), 0, U16(0xffff)};
    static const struct open_hop hops[] = {{HOP_DIMENSION_ORDER, 0}, {16, 0x1234}, {0, 0xffff}};
    uint8_t packet[OPEN_BYTES + sizeof golden];
    struct open_hop hop;

    packet_pack(packet, PACKET_OPEN, OPEN_BODY_BYTES + sizeof golden, 1, 2);
    open_pack(packet, &(struct open_body){.length = 1, .flags = OPEN_ROUTE});
    assert_int_equal(hop_list_pack(packet + OPEN_BYTES, hops, 3), sizeof golden);
    assert_memory_equal(open_hops(packet), golden, sizeof golden);
    assert_int_equal(hop_list_bytes(open_hops(packet)), sizeof golden);
    assert_int_equal(open_bytes(packet), sizeof packet);
    for (unsigned i = 0; i < 3; i++) {
        packet_set_hops(packet, i);
        assert_true(open_next_hop(packet, &hop));
        assert_int_equal(hop.port, hops[i].port);
        assert_int_equal(hop.turn, hops[i].turn);
    }
    packet_set_hops(packet, 3);
    assert_false(open_next_hop(packet, &hop));
    for (uint32_t bytes = 0; bytes < sizeof packet; bytes++) {
        assert_false(open_possible(packet, bytes));
    }
    assert_true(open_possible(packet, sizeof packet));
    open_pack(packet, &(struct open_body){.length = 1}); /* without a list: what does it carry? */
    assert_false(open_next_hop(packet, &hop));
    assert_false(open_possible(packet, sizeof packet));
}

TEST(what_rides_in_an_open_is_what_still_fits)
{
    assert_int_equal(open_inline_max(0), OPEN_INLINE_MAX);
    for (unsigned hops = 1; hops <= OPEN_HOPS_MAX; hops++) {
        uint32_t list = HOP_LIST_BYTES + hops * HOP_BYTES, most = open_inline_max(list);
        assert_true(OPEN_BODY_BYTES + list + most <= PACKET_BODY_MAX);
        assert_true(most == OPEN_INLINE_MAX || OPEN_BODY_BYTES + list + most == PACKET_BODY_MAX);
    }
    assert_int_equal(open_inline_max(HOP_LIST_BYTES_MAX), 674);
}

TEST(answers_to_a_circuit_are_laid_out_as_drawn)
{
    static const uint8_t accepted[] = {U64(0x123456789a)}, refused[] = {U32(-7), U32(-1)},
                         other[] = {U64(0x800000123456789a)}, positive[] = {U32(7), U32(0)};
    struct accept_body accept = {.done_ns = 0x123456789a};
    struct accept_body differs = {.done_ns = 0x123456789a, .other_length = true};
    struct refuse_body refuse = {-7};

    EXPECT_LAYOUT(accept_pack, accept_unpack, accept_body, accepted, ANSWER_BYTES, accept);
    EXPECT_LAYOUT(accept_pack, accept_unpack, accept_body, other, ANSWER_BYTES, differs);
    EXPECT_LAYOUT(refuse_pack, refuse_unpack, refuse_body, refused, ANSWER_BYTES, refuse);
    assert_false(refuse_unpack(positive, sizeof positive, &refuse));
}

TEST(the_packets_of_a_message_are_laid_out_as_drawn)
{
    static const uint8_t requests[] = {U32(1), U32(2), U32(3), U32(0x80000004), 5, 0, 0, 0},
                         clears[] = {U32(1), U32(2), U32(3)}, words[] = {U32(0xfedcba98)};
    struct rts_body rts = {.name = 1, .tag = 2, .length = 3, .behind = 0x80000004, .generation = 5};
    struct cts_body cts = {.name = 1, .match = 2, .room = 3};
    struct rts_reply_body word = {0xfedcba98};

    EXPECT_LAYOUT(rts_pack, rts_unpack, rts_body, requests, RTS_BYTES, rts);
    EXPECT_LAYOUT(cts_pack, cts_unpack, cts_body, clears, CTS_BYTES, cts);
    EXPECT_LAYOUT(rts_reply_pack, rts_reply_unpack, rts_reply_body, words, RTS_REPLY_BYTES, word);
}

TEST(an_entry_and_its_answer_are_laid_out_as_drawn)
{
    static const uint8_t golden[] = {
        U16(0x8002),     200,    0, U32(7), U16(-9), 0,         0,         U64(1000000007000),
        U32(3),          1,      2, 3,      0,       U32(1000), U32(63),   U32(0xabcdef01),
        U32(8),          U32(5), 4, 5,      6,       0,         U32(1001), U32(62),
        U32(0x12345678), U32(9)};
    static const uint8_t answers[] = {U16(0x8002), 200, 0, U16(-9), 0, 0, U64(1000000007000)};
    struct enter_body enter = {.epoch = 0x8002,
                               .generation = 200,
                               .failed = 7,
                               .status = -9,
                               .clock_ns = 1000000007000,
                               .first_rank = 3,
                               .first = {1, 2, 3, 1000, 63, 0xabcdef01, 8},
                               .other_rank = 5,
                               .other = {4, 5, 6, 1001, 62, 0x12345678, 9}};
    struct entered_body entered = {
        .epoch = 0x8002, .generation = 200, .status = -9, .clock_ns = 1000000007000};
    uint8_t positive[ENTER_BYTES];

    EXPECT_LAYOUT(enter_pack, enter_unpack, enter_body, golden, ENTER_BYTES, enter);
    EXPECT_LAYOUT(entered_pack, entered_unpack, entered_body, answers, ENTERED_BYTES, entered);
    enter.status = entered.status = 1;
    enter_pack(positive, &enter);
    assert_false(enter_unpack(positive, ENTER_BYTES, &enter));
    entered_pack(positive, &entered);
    assert_false(entered_unpack(positive, ENTERED_BYTES, &entered));
}

TEST(questions_for_plans_and_their_answers_are_laid_out_as_drawn)
{
    static const uint8_t asks[] = {U32(1), U32(2), 3, 4, 0, 0, U32(5), U32(6), U32(7)};
    static const uint8_t parts[] = {U32(1), U32(2), U32(3), U32(-4)};
    static const uint8_t predictions[] = {U32(1), U32(-2), U64(3000000000000), U64(4), U32(5)};
    struct plan_ask_body ask = {
        .question = 1, .offset = 2, .operation = 3, .type = 4, .root = 5, .bytes = 6, .choice = 7};
    struct plan_part_body part = {.question = 1, .offset = 2, .total = 3, .status = -4};
    struct predicted_body predicted = {
        .question = 1, .status = -2, .model_ns = 3000000000000, .bound_ns = 4, .steps = 5};
    const uint8_t longer[PLAN_PART_BYTES + 3] = {0};

    EXPECT_LAYOUT(plan_ask_pack, plan_ask_unpack, plan_ask_body, asks, PLAN_ASK_BYTES, ask);
    EXPECT_LAYOUT(plan_part_pack, plan_part_unpack, plan_part_body, parts, PLAN_PART_BYTES, part);
    EXPECT_LAYOUT(predicted_pack, predicted_unpack, predicted_body, predictions, PREDICTED_BYTES,
                  predicted);
    assert_true(plan_part_unpack(longer, sizeof longer, &part));
    assert_ptr_equal(part.data, longer + PLAN_PART_BYTES);
    assert_int_equal(part.bytes, 3);
}

TEST(what_loads_starts_and_reads_a_program_is_laid_out_as_drawn)
{
    static const uint8_t offers[] = {
        U32(1),  U32(2), U32(3), U32(4), U16(5), U16(6), U32(7), 8,  0,  0,  0,  U32(9),
        U32(10), 1,      2,      3,      4,      5,      6,      7,  8,  9,  10, 11,
        12,      13,     14,     15,     16,     17,     18,     19, 20, 21, 22, 23,
        24,      25,     26,     27,     28,     29,     30,     31, 32};
    static const uint8_t starts[] = {U64(1000000007000), 1, 3, 0, 0, U32(70000)};
    static const uint8_t takens[] = {U32(0xfffffff0), 9, 0, 0, 0};
    static const uint8_t blocks[] = {U32(3), U32(16), U32(2), U32(0)};
    struct offer_body offer = {.name = 1,
                               .count = 2,
                               .list_bytes = 3,
                               .message_bytes = 4,
                               .from_segment = 5,
                               .to_segment = 6,
                               .top = 7,
                               .generation = 8,
                               .parcel_bytes = 9,
                               .head = 10,
                               .digest = offers + 36};
    struct start_body start = {1000000007000, true, 3, 70000};
    struct taken_body taken = {.bytes = 0xfffffff0, .generation = 9};
    struct block_header block = {.rank = 3, .size = 16, .argument_count = 2};

    EXPECT_LAYOUT(offer_pack, offer_unpack, offer_body, offers, OFFER_BYTES, offer);
    EXPECT_LAYOUT(start_pack, start_unpack, start_body, starts, START_BYTES, start);
    EXPECT_LAYOUT(taken_pack, taken_unpack, taken_body, takens, TAKEN_BYTES, taken);
    EXPECT_LAYOUT(block_pack, block_unpack, block_header, blocks, BLOCK_HEADER_BYTES, block);
}

TEST(a_block_names_data_as_drawn)
{
    static const uint8_t golden[] = {U32(3), U32(16), U32(0), U32(2), U32(1), U32(0x40001000),
                                     U32(7), U32(0),  U32(4), U32(8), U32(9), U32(0)};
    static const struct block_entry entries[] = {{BLOCK_INPUT, 0x40001000, 7}, {BLOCK_FILE, 8, 9}};
    struct block_header header = {.rank = 3, .size = 16, .entry_count = 2};
    uint8_t block[sizeof golden];

    block_pack(block, &header);
    for (uint32_t i = 0; i < 2; i++) {
        block_entry_pack(block, i, &entries[i]);
        struct block_entry entry = block_entry_at(golden, i);
        assert_memory_equal(&entry, &entries[i], sizeof entry);
    }
    assert_memory_equal(block, golden, sizeof golden);
    assert_int_equal(block_strings(&header), sizeof golden);
    assert_true(block_unpack(golden, sizeof golden, &header));
    for (uint32_t bytes = 0; bytes < sizeof golden; bytes++) {
        assert_false(block_unpack(golden, bytes, &header));
    }
    memset(block + 12, 0xff, 4);
    assert_false(block_unpack(block, sizeof block, &header));
}

TEST(a_file_has_the_name_that_programs_find_it_by)
{
    static const char *const good[] = {"a", "a/b", "..x", ".x", "a/...", "a.", "a/b/c.d"};
    static const char *const bad[] = {"",   "/",   "/a",  "a/",   "a//b", ".",
                                      "..", "./a", "a/.", "../a", "a/..", "a/../b"};
    char longest[BLOCK_NAME_BYTES + 1] = "";

    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(block_name_is_good(good[i]));
    }
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(block_name_is_good(bad[i]));
    }
    memset(longest, 'n', BLOCK_NAME_BYTES - 1);
    assert_true(block_name_is_good(longest));
    longest[BLOCK_NAME_BYTES - 1] = 'n';
    assert_false(block_name_is_good(longest));
}

TEST(what_a_program_says_is_laid_out_as_drawn)
{
    static const uint8_t consoles[] = {2, 'h', 'i'}, exits[] = {U32(-3), 1, 0, U16(0x1234)};
    static const uint8_t reports[REPORT_BYTES] = {
        'a', 'b', [24] = U64(1), U64(2), U64(3), U64(4), U64(5), U64(6), U64(0x8000000000000007)};
    static const uint8_t receipts[RECEIPT_BYTES + 2 * DIGEST_BYTES] = {
        U32(-8), U32(5000), U64(77), U16(600), U16(2), 1, 0, 0, 0, 1, 2, 3, [87] = 9};
    struct console_body console = {2, (const uint8_t *)"hi", 2};
    struct exit_body ended = {-3, true, 0x1234};
    struct report_body report = {.name = "ab",
                                 .bytes = 1,
                                 .steps = 2,
                                 .model_ns = 3,
                                 .predicted_ns = 4,
                                 .bound_ns = 5,
                                 .wall_ns = 6,
                                 .wrong = 0x8000000000000007};
    struct receipt_body receipt = {.status = -8,
                                   .held_bytes = 5000,
                                   .model_ns = 77,
                                   .first = 600,
                                   .count = 2,
                                   .last = true,
                                   .digests = receipts + RECEIPT_BYTES};

    EXPECT_LAYOUT(console_pack, console_unpack, console_body, consoles, CONSOLE_HEADER_BYTES,
                  console);
    EXPECT_LAYOUT(exit_pack, exit_unpack, exit_body, exits, EXIT_BYTES, ended);
    EXPECT_LAYOUT(report_pack, report_unpack, report_body, reports, REPORT_BYTES, report);
    EXPECT_LAYOUT(receipt_pack, receipt_unpack, receipt_body, receipts, sizeof receipts, receipt);
}

TEST(the_name_in_a_report_ends_whatever_came)
{
    uint8_t body[REPORT_BYTES];
    struct report_body report;

    memset(body, 'x', sizeof body);
    assert_true(report_unpack(body, sizeof body, &report));
    assert_int_equal(strlen(report.name), REPORT_NAME_BYTES - 1);
}

/* `head`: wait and what stands at bytes 32 to 39. */
#define STATE_GOLDEN(wait, head)                                                                   \
    {                                                                                              \
        3, wait, 2, 5, U32(-1), U32(8), U32(-4), U32(9000), 1, 4, STATE_POLLS, 6, U64(123456789),  \
            head, U32(1000), U32(11), U32(12), U16(13), U16(14), U32(100), U32(101), U32(102),     \
            U32(103), U32(104), U32(105), U32(106), U32(107), U32(108), U32(109), U32(110),        \
            U32(111), U32(112), U32(113)                                                           \
    }

TEST(a_state_is_laid_out_as_drawn)
{
    static const uint8_t computes[STATE_BYTES] =
        STATE_GOLDEN(WAIT_NOTHING, U64(0x4020000020100000));
    static const uint8_t sleeps[STATE_BYTES] = STATE_GOLDEN(WAIT_SLEEP, U64(0x123456789a));
    struct state_body told = {.program = 3,
                              .wait = WAIT_NOTHING,
                              .transfer = 2,
                              .requests = 5,
                              .peer = -1,
                              .tag = 8,
                              .status = -4,
                              .bytes = 9000,
                              .stage = 1,
                              .operation = 4,
                              .flags = STATE_POLLS,
                              .stored = 6,
                              .model_ns = 123456789,
                              .pc = 0x20100000,
                              .lr = 0x40200000,
                              .collective_bytes = 1000,
                              .root = 11,
                              .partner = 12,
                              .step = 13,
                              .steps = 14};

    for (unsigned i = 0; i < STATE_COUNTERS; i++) {
        told.counters[i] = 100 + i;
    }
    EXPECT_LAYOUT(state_pack, state_unpack, state_body, computes, STATE_BYTES, told);
    told.wait = WAIT_SLEEP;
    told.pc = told.lr = 0;
    told.left_us = 0x123456789a;
    EXPECT_LAYOUT(state_pack, state_unpack, state_body, sleeps, STATE_BYTES, told);
}

TEST(the_state_of_a_program_that_waits_at_a_region_has_its_name)
{
    uint8_t golden[STATE_BYTES] = {3,         WAIT_REGION, 0, 0, U32(0), U32(0),        U32(0),
                                   U32(4096), 0,           0, 0, 0,      U64(123456789)};
    struct state_body told = {.program = 3,
                              .wait = WAIT_REGION,
                              .bytes = 4096,
                              .model_ns = 123456789,
                              .region = "twenty-three-characters"};

    memcpy(golden + 32, "twenty-three-characters", 24);
    EXPECT_LAYOUT(state_pack, state_unpack, state_body, golden, STATE_BYTES, told);
    golden[55] = 'x'; /* a name without an end */
    assert_false(state_unpack(golden, sizeof golden, &told));
}

TEST(a_fault_is_laid_out_as_drawn)
{
    static const uint8_t golden[] = {
        U16(33),  U16(7),   U32(4),   U32(0x805), U32(100), U32(101), U32(102), U32(103), U32(104),
        U32(105), U32(106), U32(107), U32(108),   U32(109), U32(110), U32(111), U32(112), U32(113),
        U32(114), U32(115), U32(16),  U32(17),    'a',      '.',      'c'};
    struct fault_body fault = {.kind = 33,
                               .collectives = 7,
                               .address = 4,
                               .status_register = 0x805,
                               .processor_status = 16,
                               .line = 17,
                               .tail = (const uint8_t *)"a.c",
                               .tail_bytes = 3};

    for (unsigned i = 0; i < FAULT_REGISTERS; i++) {
        fault.registers[i] = 100 + i;
    }
    EXPECT_LAYOUT(fault_pack, fault_unpack, fault_body, golden, FAULT_BYTES, fault);
}

TEST(what_a_node_tells_of_links_is_laid_out_as_drawn)
{
    static const uint8_t links[] = {2, 1, 0, 0, 2, 7, 0, 0, U32(5), 3, 1, 0, 0, U32(0xffffffff)};
    static const uint8_t deads[] = {3, 2, 0, 0, U32(0x01020304)};
    struct links_body told = {.port_count = 2, .complete = true, .ports = {{2, 7, 5}, {3, 1, -1u}}};
    struct link_dead_body dead = {.port = 3, .reason = 2, .peer = 0x01020304};
    uint8_t most[LINKS_BYTES_MAX + LINKS_PORT_BYTES] = {LINKS_PORTS_MAX};

    EXPECT_LAYOUT(links_pack, links_unpack, links_body, links, sizeof links, told);
    EXPECT_LAYOUT(link_dead_pack, link_dead_unpack, link_dead_body, deads, LINK_DEAD_BYTES, dead);
    assert_true(links_unpack(most, sizeof most, &told));
    most[0]++;
    assert_false(links_unpack(most, sizeof most, &told));
}

TEST(a_disagreement_is_laid_out_as_drawn)
{
    static const uint8_t golden[] = {0xfb, 0xff, 0xff, 0xff, U32(1),  U32(2), /* -5 */
                                     3,    4,    5,    0,    U32(6),  U32(7),  U32(8),  U32(15),
                                     9,    10,   11,   0,    U32(12), U32(13), U32(14), U32(16)};
    struct disagree_body disagree = {.status = -5,
                                     .first_rank = 1,
                                     .other_rank = 2,
                                     .first = {3, 4, 5, 6, 7, 8, 15},
                                     .other = {9, 10, 11, 12, 13, 14, 16}};

    EXPECT_LAYOUT(disagree_pack, disagree_unpack, disagree_body, golden, DISAGREE_BYTES, disagree);
}

TEST(what_a_gather_says_is_laid_out_as_drawn)
{
    static const uint8_t measures[] = {U32(0x80000005), 9, 0, 0, 0};
    static const uint8_t collects[] = {U32(0x80000006), U32(8), 1, 7, 0, 0, 0, 0, 0, 0,
                                       U64(5000000000)};
    static const uint8_t answers[] = {U32(0x80000007), 0xf5,       0xff,           0xff, 0xff,
                                      U32(1000),       U32(70000), U64(6000000001)}; /* -11 */
    struct measure_body measure = {.name = 0x80000005, .generation = 9};
    struct collect_body collect = {.name = 0x80000006,
                                   .count = 8,
                                   .stage = COLLECT_GRANT,
                                   .generation = 7,
                                   .base_ns = 5000000000};
    struct measured_body measured = {
        .name = 0x80000007, .status = -11, .bytes = 1000, .room = 70000, .model_ns = 6000000001};
    uint8_t bad[sizeof collects];

    EXPECT_LAYOUT(measure_pack, measure_unpack, measure_body, measures, MEASURE_BYTES, measure);
    EXPECT_LAYOUT(collect_pack, collect_unpack, collect_body, collects, COLLECT_BYTES, collect);
    EXPECT_LAYOUT(measured_pack, measured_unpack, measured_body, answers, MEASURED_BYTES, measured);
    memcpy(bad, collects, sizeof bad);
    bad[8] = COLLECT_GRANT + 1;
    assert_false(collect_unpack(bad, sizeof bad, &collect));
}

TEST(what_is_said_of_a_region_is_laid_out_as_drawn)
{
    uint8_t attends_at[ATTEND_BYTES] = {U32(0xc0050000), 9}, bad[ATTEND_BYTES];
    static const uint8_t leaves[] = {U32(0xc0060000), ECUBE_GATHERED, 0, 0, 0, U32(70000),
                                     U32(0),          U64(6000000001)};
    static const uint8_t answers[] = {U32(0xc0070000), 0xfe, 0xff, 0xff, 0xff, U32(1000), U32(0),
                                      U64(6000000001), 'i',  'n',  0,    'o',  0};
    uint8_t fills[FILLED_BYTES] = {U32(0xc0080000), 0xfe,   0xff,           0xff, 0xff,
                                   U32(1000),       U32(0), U64(6000000001)};
    struct attend_body attend = {.name = 0xc0050000, .generation = 9, .region = "in"};
    struct leave_body leave = {
        .name = 0xc0060000, .way = ECUBE_GATHERED, .bytes = 70000, .model_ns = 6000000001};
    struct attends_body attends = {.name = 0xc0070000,
                                   .status = -2,
                                   .bytes = 1000,
                                   .model_ns = 6000000001,
                                   .names = "in\0o",
                                   .name_bytes = 5};
    struct filled_body filled = {.name = 0xc0080000,
                                 .status = -2,
                                 .bytes = 1000,
                                 .model_ns = 6000000001,
                                 .digest = fills + 24};

    memcpy(attends_at + 8, "in", 2);
    for (uint8_t i = 0; i < DIGEST_BYTES; i++) {
        fills[24 + i] = (uint8_t)(i + 1);
    }
    EXPECT_LAYOUT(attend_pack, attend_unpack, attend_body, attends_at, ATTEND_BYTES, attend);
    EXPECT_LAYOUT(leave_pack, leave_unpack, leave_body, leaves, LEAVE_BYTES, leave);
    EXPECT_LAYOUT(attends_pack, attends_unpack, attends_body, answers, ATTENDS_BYTES, attends);
    EXPECT_LAYOUT(filled_pack, filled_unpack, filled_body, fills, FILLED_BYTES, filled);
    memcpy(bad, attends_at, sizeof bad);
    bad[ATTEND_BYTES - 1] = 'x';
    assert_false(attend_unpack(bad, sizeof bad, &attend));
    assert_false(attends_unpack(answers, sizeof answers - 1, &attends));
    memcpy(bad, leaves, sizeof leaves);
    bad[4] = 0;
    assert_false(leave_unpack(bad, sizeof leaves, &leave));
}

TEST(the_traffic_of_links_is_laid_out_as_drawn)
{
    static const uint8_t ask[] = {7, 0, 0, 0};
    static const uint8_t golden[TRAFFIC_HEADER_BYTES + 2 * TRAFFIC_PORT_BYTES] = {
        19,      5,       2,       0,       U64(1),  U64(2),  U64(3),  U32(4),  U32(5),  U64(6),
        U64(7),  U64(8),  U32(9),  U32(10), U32(11), U32(12), U32(13), U64(21), U64(22), U64(23),
        U32(24), U32(25), U64(26), U64(27), U64(28), U32(29), U32(30), U32(31), U32(32), U32(33)};
    uint8_t packed[sizeof golden], first;
    struct traffic_header header = {19, 5, 2};

    traffic_ask_pack(packed, 7);
    assert_memory_equal(packed, ask, sizeof ask);
    assert_true(traffic_ask_unpack(ask, sizeof ask, &first));
    assert_int_equal(first, 7);
    assert_false(traffic_ask_unpack(ask, sizeof ask - 1, &first));
    assert_int_equal(traffic_pack(packed, &header), sizeof golden);
    for (unsigned i = 0; i < 2; i++) {
        struct traffic_port port = traffic_port_at(golden, i);
        assert_int_equal(port.uses[TRAFFIC_HOST].waited_ns, 8 + 20 * i);
        assert_int_equal(port.damaged, 13 + 20 * i);
        traffic_port_pack(packed, i, &port);
    }
    assert_memory_equal(packed, golden, sizeof golden);
    assert_true(traffic_unpack(golden, sizeof golden, &header));
    for (uint32_t bytes = 0; bytes < sizeof golden; bytes++) {
        assert_false(traffic_unpack(golden, bytes, &header));
    }
    packed[1] = 18; /* 18 and 2 are more than 19 */
    assert_false(traffic_unpack(packed, sizeof packed, &header));
    assert_true((int)TRAFFIC_BYTES_MAX <= (int)PACKET_BODY_MAX);
    assert_int_equal(traffic_told(TRAFFIC_PORTS_MAX + 3, 0), TRAFFIC_PORTS_MAX);
    assert_int_equal(traffic_told(TRAFFIC_PORTS_MAX + 3, TRAFFIC_PORTS_MAX), 3);
    assert_int_equal(traffic_told(4, 5), 0);
}

TEST(a_row_of_the_table_of_outputs_is_laid_out_as_drawn)
{
    uint8_t golden[OUTPUT_ROW_BYTES] = {U32(3), U32(70000)}, packed[2 * OUTPUT_ROW_BYTES];
    struct output_row row = {.rank = 3, .bytes = 70000};

    for (uint8_t i = 0; i < DIGEST_BYTES; i++) {
        row.digest[i] = golden[8 + i] = (uint8_t)(i + 1);
    }
    output_row_pack(packed + OUTPUT_ROW_BYTES, &row);
    assert_memory_equal(packed + OUTPUT_ROW_BYTES, golden, sizeof golden);
    row = output_row_at(packed, 1);
    assert_int_equal(row.rank, 3);
    assert_int_equal(row.bytes, 70000);
    assert_memory_equal(row.digest, golden + 8, DIGEST_BYTES);
}

TEST(records_are_laid_out_as_drawn_and_what_cannot_be_is_refused)
{
    static const uint8_t link[] = {RECORD_LINK, 1,           OPEN_SCHEDULE,    2,       7,
                                   WAITED_TURN, U16(0x1234), U16(3),           U16(5),  U32(9),
                                   U64(10000),  U64(20000),  U64(70000000000), U32(12), U32(100000),
                                   U32(13),     U32(14)};
    static const uint8_t mark[RECORD_BYTES] = {
        RECORD_MARK, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, U64(5), 't', 'u', 'r', 'n'};
    static const uint8_t ask[] = {U64(0x100000007), U16(300), 9, 0};
    static const uint8_t head[] = {'c', 'e', 'c', 'r', U32(3), U64(0x200000001), U32(77), U32(88)};
    struct record_ring ring;
    struct records_ask_body asked = {0x100000007, 300, 9};
    struct node_record record = {.kind = RECORD_LINK,
                                 .about = 1,
                                 .flags = OPEN_SCHEDULE,
                                 .status = 2,
                                 .port = 7,
                                 .waits = WAITED_TURN,
                                 .epoch = 0x1234,
                                 .hop = 3,
                                 .hops = 5,
                                 .peer = 9,
                                 .begin_ns = 10000,
                                 .flow_ns = 20000,
                                 .end_ns = 70000000000,
                                 .other = 12,
                                 .bytes = 100000,
                                 .tag = 13,
                                 .detail = 14},
                       unpacked;
    uint8_t raw[RECORDS_HEADER_BYTES + 2 * RECORD_BYTES];
    struct records_body records = {.first = 40, .written = 42, .generation = 3, .count = 2}, came;

    assert_int_equal(sizeof link, RECORD_BYTES);
    record_pack(raw, &record);
    assert_memory_equal(raw, link, sizeof link);
    assert_true(record_unpack(link, &unpacked));
    assert_memory_equal(&unpacked, &record, sizeof record);
    assert_true(record_unpack(mark, &unpacked));
    assert_string_equal(unpacked.name, "turn");
    record_pack(raw, &unpacked);
    assert_memory_equal(raw, mark, sizeof mark);
    memset(raw + RECORD_NAME_AT, 'x', ECUBE_NAME_MAX);
    assert_false(record_unpack(raw, &unpacked));

    assert_int_equal(sizeof head, RECORD_RING_BYTES);
    assert_true(record_ring_unpack(head, 3, &ring));
    assert_int_equal(ring.written, 0x200000001);
    assert_int_equal(ring.room, 77);
    assert_int_equal(ring.at, 88);
    assert_false(record_ring_unpack(head, 4, &ring)); /* of another program */
    memcpy(raw, head, sizeof head);
    raw[0]++;
    assert_false(record_ring_unpack(raw, 3, &ring));

    /* of no kind, for nothing, and back in time */
    memcpy(raw, link, sizeof link);
    raw[0] = 0;
    assert_false(record_unpack(raw, &unpacked));
    raw[0] = RECORD_KINDS;
    assert_false(record_unpack(raw, &unpacked));
    memcpy(raw, link, sizeof link);
    raw[5] = RECORD_WAITS;
    assert_false(record_unpack(raw, &unpacked));
    memcpy(raw, link, sizeof link);
    raw[24] = raw[25] = 0; /* flow before begin */
    assert_false(record_unpack(raw, &unpacked));
    memcpy(raw, link, sizeof link);
    memset(raw + 32, 0, 8); /* end before flow */
    assert_false(record_unpack(raw, &unpacked));

    EXPECT_LAYOUT(records_ask_pack, records_ask_unpack, records_ask_body, ask, RECORDS_ASK_BYTES,
                  asked);

    assert_int_equal(records_pack(raw, &records), sizeof raw);
    assert_true(records_unpack(raw, sizeof raw, &came));
    assert_int_equal(came.first, 40);
    assert_int_equal(came.written, 42);
    assert_int_equal(came.generation, 3);
    assert_int_equal(came.count, 2);
    assert_ptr_equal(came.records, raw + RECORDS_HEADER_BYTES);
    /* a record that is cut off, and more than were written */
    assert_false(records_unpack(raw, sizeof raw - 1, &came));
    assert_false(records_unpack(raw, RECORDS_HEADER_BYTES - 1, &came));
    records.written = 41;
    records_pack(raw, &records);
    assert_false(records_unpack(raw, sizeof raw, &came));
    records.written = 39;
    records.count = 0;
    assert_false(records_unpack(raw, records_pack(raw, &records), &came));
    assert_true((int)PACKET_BODY_MAX >=
                (int)RECORDS_HEADER_BYTES + RECORDS_PACKET_MAX * (int)RECORD_BYTES);
}

/* Two of one number would not compile. */
static bool is_kind(int kind)
{
    switch (kind) {
    case PACKET_OPEN:
    case PACKET_ACCEPT:
    case PACKET_REFUSE:
    case PACKET_RTS:
    case PACKET_QUEUED:
    case PACKET_RETRY:
    case PACKET_CTS:
    case PACKET_CANCEL:
    case PACKET_ENTER:
    case PACKET_OFFER:
    case PACKET_START:
    case PACKET_STOP:
    case PACKET_QUERY:
    case PACKET_TAKEN:
    case PACKET_CONSOLE:
    case PACKET_EXIT:
    case PACKET_FAULT:
    case PACKET_REPORT:
    case PACKET_RECEIPT:
    case PACKET_LINKS:
    case PACKET_STATE:
    case PACKET_LINK_DEAD:
    case PACKET_DISAGREE:
    case PACKET_ENTERED:
    case PACKET_PLAN_PART:
    case PACKET_PREDICTED:
    case PACKET_PLAN_ASK:
    case PACKET_COLLECT:
    case PACKET_MEASURE:
    case PACKET_MEASURED:
    case PACKET_ATTEND:
    case PACKET_LEAVE:
    case PACKET_ATTENDS:
    case PACKET_FILLED:
    case PACKET_TRAFFIC_ASK:
    case PACKET_TRAFFIC:
    case PACKET_RECORDS_ASK:
    case PACKET_RECORDS:
    case PACKET_PREDICT: return true;
    default: return false;
    }
}

TEST(no_two_kinds_share_a_number_and_only_circuits_have_those_below_the_routed)
{
    unsigned count = 0;

    for (int kind = 0; kind <= UINT8_MAX; kind++) {
        count += is_kind(kind);
    }
    assert_int_equal(count, 39);
    for (int kind = 0; kind < PACKET_ROUTED; kind++) {
        assert_int_equal(is_kind(kind), kind >= PACKET_OPEN && kind <= PACKET_REFUSE);
    }
}
