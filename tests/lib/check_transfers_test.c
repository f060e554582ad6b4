/*
 * The memory of open transfers in lib/check: which memory each call uses, what clashes, what was
 * changed before it could be.
 */
#include "tests/testing.h"

#include <string.h>

#include "collectives/operation.h"
#include "include/ecube/ecube.h"
#include "lib/check/transfers.h"

enum { BASE = 0x20a00000, BYTES = 0x100000, PLACE = 77, SIZE = 8, BLOCK = 12 };

static const struct stretch all = {BASE, BYTES};
static struct transfers transfers;
static struct finding found;
static uint8_t buffer[1000];

static void begin(void)
{
    memset(&transfers, 0, sizeof transfers);
    memset(&found, 0, sizeof found);
    memset(buffer, 3, sizeof buffer);
}

/* Of this process's own memory, whose addresses do not fit a system call's. */
static struct transfer own(uint32_t call, uint32_t from, uint32_t bytes)
{
    struct stretch memory = {(uintptr_t)buffer + from, bytes};
    struct transfer transfer = {.call = (uint8_t)call, .place = PLACE, .bytes = bytes, .tag = 9};

    *(call == ECUBE_CALL_SEND ? &transfer.sends : &transfer.receives) = memory;
    return transfer;
}

static bool fits(uint32_t call, uint32_t from, uint32_t bytes)
{
    struct transfer transfer = own(call, from, bytes);

    return ecube_transfers_fit(&transfers, &transfer, &found);
}

static void start(uint32_t number, uint32_t call, uint32_t from, uint32_t bytes)
{
    struct transfer transfer = own(call, from, bytes);

    ecube_transfers_begin(&transfers, number, &transfer);
}

TEST(a_message_uses_its_buffer)
{
    struct ecube_abi_message message = {.data = BASE + 16, .bytes = 100, .peer = 3, .tag = 4};
    struct transfer send = ecube_transfer_message(ECUBE_CALL_SEND, &message, all, PLACE);
    struct transfer receive = ecube_transfer_message(ECUBE_CALL_RECEIVE, &message, all, PLACE);

    assert_int_equal(send.sends.at, BASE + 16);
    assert_int_equal(send.sends.bytes, 100);
    assert_int_equal(send.receives.bytes, 0);
    assert_int_equal(receive.receives.at, BASE + 16);
    assert_int_equal(receive.receives.bytes, 100);
    assert_int_equal(receive.sends.bytes, 0);
}

TEST(memory_that_a_program_may_not_name_is_left_out)
{
    static const struct ecube_abi_message wrong[] = {
        {.data = BASE - 1, .bytes = 2},     {.data = BASE + BYTES - 1, .bytes = 2},
        {.data = BASE + BYTES, .bytes = 1}, {.data = 4, .bytes = 4},
        {.data = BASE, .bytes = BYTES + 1}, {.data = BASE + 4, .bytes = UINT32_MAX}};

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct transfer send = ecube_transfer_message(ECUBE_CALL_SEND, &wrong[i], all, PLACE);
        assert_int_equal(send.sends.bytes, 0);
        assert_int_equal(send.bytes, wrong[i].bytes);
    }
}

/* A call names the lower half of a pointer; the upper one is where all memory of the program is. */
TEST(an_address_is_the_lower_half_of_a_pointer)
{
    static struct ecube_block sends[] = {{8, 4}, {0, 4}}, receives[] = {{4, 4}, {16, 4}};
    static const struct stretch window = {(uintptr_t)0x51 << 32 | BASE, BYTES};
    struct stretch low = {(uintptr_t)sends & ~(uintptr_t)UINT16_MAX, 2 * UINT16_MAX};
    struct ecube_abi_message message = {.data = BASE + 16, .bytes = 100};
    struct ecube_abi_collective exchange = {.operation = ECUBE_EXCHANGEV,
                                            .send = (uint32_t)(uintptr_t)sends,
                                            .receive = (uint32_t)(uintptr_t)receives,
                                            .send_blocks = (uint32_t)(uintptr_t)sends,
                                            .receive_blocks = (uint32_t)(uintptr_t)receives};

    struct transfer send = ecube_transfer_message(ECUBE_CALL_SEND, &message, window, PLACE);
    assert_true(send.sends.at == window.at + 16);
    struct transfer sized = ecube_transfer_collective(&exchange, 0, 2, low, PLACE);
    assert_ptr_equal(sized.send_blocks, sends);
    assert_ptr_equal(sized.receive_blocks, receives);
    assert_true(sized.sends.at == (uintptr_t)sends && sized.sends.bytes == 12);
    assert_true(sized.receives.at == (uintptr_t)receives + 4 && sized.receives.bytes == 16);
    assert_true(sized.send_from == (uintptr_t)sends);
}

/* What the kernel's table of operations says, at a root and elsewhere. */
TEST(a_collective_uses_what_the_kernel_does)
{
    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        const struct operation *row = operation_of(operation);
        for (uint32_t rank = 0; rank < SIZE && !row->sized; rank++) {
            struct ecube_abi_collective call = {.operation = operation,
                                                .root = row->rooted ? 2 : 0,
                                                .block_bytes = BLOCK,
                                                .send = BASE,
                                                .receive = BASE + 1000};
            struct transfer t = ecube_transfer_collective(&call, rank, SIZE, all, PLACE);
            uint32_t sends = operation_slots(row, SPACE_SEND, SIZE, rank, call.root, 1) * BLOCK;
            uint32_t receives =
                operation_slots(row, SPACE_RECEIVE, SIZE, rank, call.root, 1) * BLOCK;
            if (operation == ECUBE_BROADCAST) { /* its one buffer is the root's to send */
                sends = rank == call.root ? receives : 0;
                receives -= sends;
            }
            assert_int_equal(t.sends.bytes, sends);
            assert_int_equal(t.receives.bytes, receives);
            assert_int_equal(t.operation, operation);
        }
    }
}

TEST(what_is_received_clashes_with_all_that_is_open)
{
    begin();
    start(0, ECUBE_CALL_SEND, 100, 50);
    start(1, ECUBE_CALL_RECEIVE, 200, 50);
    assert_true(fits(ECUBE_CALL_RECEIVE, 50, 50));
    assert_true(fits(ECUBE_CALL_RECEIVE, 150, 50));
    assert_true(fits(ECUBE_CALL_RECEIVE, 120, 0));
    assert_true(fits(ECUBE_CALL_SEND, 110, 20));
    assert_false(fits(ECUBE_CALL_RECEIVE, 50, 51));
    assert_int_equal(found.kind, FINDING_OVERLAP);
    assert_int_equal(found.call, ECUBE_CALL_SEND);
    assert_int_equal(found.address, (uint32_t)(uintptr_t)(buffer + 100));
    assert_int_equal(found.bytes, 1);
    assert_int_equal(found.place, PLACE);
    assert_false(fits(ECUBE_CALL_RECEIVE, 249, 9));
    assert_int_equal(found.call, ECUBE_CALL_RECEIVE);
    assert_false(fits(ECUBE_CALL_SEND, 190, 300));
    assert_int_equal(found.bytes, 50);
    assert_true(ecube_transfers_end(&transfers, 1, &found));
    assert_true(fits(ECUBE_CALL_SEND, 190, 300));
    assert_true(fits(ECUBE_CALL_RECEIVE, 200, 50));
}

TEST(every_changed_byte_of_a_send_is_seen)
{
    for (uint32_t bytes = 0; bytes < 40; bytes++) {
        for (uint32_t i = 0; i < 42; i++) {
            begin();
            start(5, ECUBE_CALL_SEND, 1, bytes);
            buffer[i] ^= 0x80;
            bool inside = i >= 1 && i <= bytes;
            assert_int_equal(ecube_transfers_end(&transfers, 5, &found), !inside);
            assert_int_equal(found.kind, inside ? FINDING_SEND_CHANGED : FINDING_NONE);
            assert_int_equal(found.place, inside ? PLACE : 0);
            assert_true(ecube_transfers_end(&transfers, 5, &found)); /* it is not open any more */
        }
    }
    begin();
    start(6, ECUBE_CALL_RECEIVE, 0, 100);
    buffer[50]++;
    assert_true(ecube_transfers_end(&transfers, 6, &found));
}

TEST(open_transfers_keep_their_memory)
{
    begin();
    start(3, ECUBE_CALL_RECEIVE, 100, 50);
    struct stretch below = {(uintptr_t)buffer, 100}, inside = {(uintptr_t)buffer + 149, 500};
    assert_true(ecube_transfers_spare(&transfers, below, &found));
    assert_false(ecube_transfers_spare(&transfers, inside, &found));
    assert_int_equal(found.kind, FINDING_FREED_OPEN);
    assert_int_equal(found.tag, 9);
    assert_true(ecube_transfers_end(&transfers, 3, &found));
    assert_true(ecube_transfers_spare(&transfers, inside, &found));
}

TEST(memory_of_a_function_that_has_returned_is_seen)
{
    uintptr_t at = (uintptr_t)buffer + 100, stack_end = (uintptr_t)buffer + 500;

    begin();
    start(3, ECUBE_CALL_RECEIVE, 100, 50);
    assert_true(ecube_transfers_in_frames(&transfers, at, stack_end, &found));
    assert_false(ecube_transfers_in_frames(&transfers, at + 1, stack_end, &found));
    assert_int_equal(found.kind, FINDING_FRAME_GONE);
    assert_true(ecube_transfers_in_frames(&transfers, at + 600, stack_end, &found)); /* no stack */
}

TEST(those_that_are_open_are_counted)
{
    struct finding list[2];

    begin();
    assert_int_equal(ecube_transfers_open(&transfers, list, 2), 0);
    for (uint32_t i = 0; i < 3; i++) {
        start(i * 20, ECUBE_CALL_RECEIVE, i * 10, 10 + i);
    }
    assert_int_equal(ecube_transfers_open(&transfers, list, 2), 3);
    assert_int_equal(list[1].kind, FINDING_STILL_OPEN);
    assert_int_equal(list[1].bytes, 11);
    assert_int_equal(list[1].place, PLACE);
}

/* Blocks in no order with gaps between them; their tables count from the buffers. */
static struct transfer sized(const struct ecube_block *sends, const struct ecube_block *receives)
{
    return (struct transfer){.call = ECUBE_CALL_COLLECTIVE,
                             .operation = ECUBE_EXCHANGEV,
                             .sends = {(uintptr_t)buffer, 100},
                             .receives = {(uintptr_t)buffer + 300, 100},
                             .send_blocks = sends,
                             .receive_blocks = receives,
                             .send_from = (uintptr_t)buffer,
                             .receive_from = (uintptr_t)buffer + 300,
                             .ranks = 3};
}

TEST(of_an_exchange_with_sizes_blocks_and_tables_count)
{
    struct ecube_block sends[] = {{80, 20}, {0, 10}, {40, 0}};
    struct ecube_block receives[] = {{0, 10}, {90, 10}, {50, 10}};
    struct transfer transfer = sized(sends, receives);

    begin();
    ecube_transfers_begin(&transfers, 7, &transfer);
    assert_true(fits(ECUBE_CALL_RECEIVE, 10, 70)); /* a gap */
    assert_true(fits(ECUBE_CALL_SEND, 310, 40));
    assert_false(fits(ECUBE_CALL_RECEIVE, 10, 71));
    assert_false(fits(ECUBE_CALL_SEND, 310, 41));
    buffer[50]++;
    assert_true(ecube_transfers_end(&transfers, 7, &found));
    ecube_transfers_begin(&transfers, 7, &transfer);
    buffer[99]++;
    assert_false(ecube_transfers_end(&transfers, 7, &found));
    ecube_transfers_begin(&transfers, 7, &transfer);
    struct stretch table = {(uintptr_t)receives, 1};
    assert_false(ecube_transfers_spare(&transfers, table, &found));
    receives[2].at = 1 << 30;
    sends[0].at = 1 << 30;
    assert_false(ecube_transfers_end(&transfers, 7, &found));
    assert_int_equal(found.kind, FINDING_SEND_CHANGED);
}

TEST(an_exchange_with_tables_elsewhere_is_the_kernels_to_refuse)
{
    static const uint32_t tables[] = {0, BASE - 8, BASE + 2, BASE + BYTES - 8 * SIZE + 8};

    for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct ecube_abi_collective call = {.operation = ECUBE_EXCHANGEV,
                                            .send = BASE,
                                            .receive = BASE,
                                            .send_blocks = tables[i],
                                            .receive_blocks = tables[i]};
        struct transfer transfer = ecube_transfer_collective(&call, 0, SIZE, all, PLACE);
        assert_int_equal(transfer.ranks + transfer.sends.bytes + transfer.receives.bytes, 0);
    }
}
