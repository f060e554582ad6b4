/* Frame headers and HELLO payloads: what is packed comes back, what is damaged is refused. */
#include "network/network.h"
#include "tests/testing.h"

#include <string.h>

#include "router/incarnation.h"
#include "wire/frame.h"

static const struct frame example = {
    .type = FRAME_DATA,
    .flags = FLAG_CHECKED | FLAG_LAST,
    .length = 65536,
    .seq = 0xfffe,
    .ack = 0x1234,
    .control_credit = 0x8001,
    .incarnation = 0xa5c3,
    .data_credit = 0xdeadbeef,
};

TEST(a_packed_header_comes_back)
{
    uint8_t bytes[FRAME_HEADER_BYTES];
    struct frame frame;
    frame_pack(bytes, &example);
    assert_true(frame_unpack(bytes, &frame));
    assert_int_equal(frame.type, example.type);
    assert_int_equal(frame.flags, example.flags);
    assert_int_equal(frame.length, example.length);
    assert_int_equal(frame.seq, example.seq);
    assert_int_equal(frame.ack, example.ack);
    assert_int_equal(frame.control_credit, example.control_credit);
    assert_int_equal(frame.incarnation, example.incarnation);
    assert_int_equal(frame.data_credit, example.data_credit);
}

TEST(a_header_with_any_one_bit_flipped_is_refused)
{
    uint8_t bytes[FRAME_HEADER_BYTES];
    struct frame frame;
    frame_pack(bytes, &example);
    for (unsigned bit = 0; bit < 8 * FRAME_HEADER_BYTES; bit++) {
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
        assert_false(frame_unpack(bytes, &frame));
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
    }
    assert_true(frame_unpack(bytes, &frame));
}

TEST(a_hello_without_links_for_ranges_has_the_byte_of_its_network_alone)
{
    struct hello hello = {.version = PROTOCOL_VERSION, .network = NETWORK_TORUS}, back;
    uint8_t bytes[HELLO_BYTES];

    hello_pack(bytes, &hello);
    assert_int_equal(bytes[8], NETWORK_TORUS);
    assert_true(hello_unpack(bytes, sizeof bytes, &back));
    assert_int_equal(back.host_links, 0);
    for (unsigned log2 = 0; log2 <= 14; log2++) {
        hello.host_links = (uint16_t)(1u << log2);
        hello_pack(bytes, &hello);
        assert_true(hello_unpack(bytes, sizeof bytes, &back));
        assert_int_equal(back.host_links, hello.host_links);
        assert_int_equal(back.network, NETWORK_TORUS);
    }
}

TEST(a_packed_hello_comes_back)
{
    struct hello hello, back;
    memset(&hello, 0, sizeof hello);
    memset(&back, 0, sizeof back);
    hello.version = PROTOCOL_VERSION;
    hello.role = ROLE_HOST;
    hello.port = 7;
    hello.id = 0x01020304;
    hello.network = NETWORK_CUBE;
    hello.host_links = 8;
    hello.dims = 6;
    hello.heard = 1;
    hello.ports = 3;
    hello.data_window = 262144;
    hello.control_window = 24;
    hello.sigma_permille = 1500;
    hello.xi_ns = 65425;
    hello.tau_ns = 9575;
    hello.element_ns = 425;
    hello.element_bytes = 0x0102;
    hello.peer_id = ID_UNKNOWN;
    hello.dead_after_ms = 3600000;
    for (unsigned k = 0; k < HELLO_SIZES_MAX; k++) {
        hello.last[k] = (uint16_t)(0x1000 + k);
    }
    uint8_t bytes[HELLO_BYTES];
    hello_pack(bytes, &hello);
    for (uint32_t count = 0; count < HELLO_BYTES; count++) {
        assert_false(hello_unpack(bytes, count, &back));
    }
    assert_int_equal(bytes[8], NETWORK_CUBE | 4 << 4);
    assert_true(hello_unpack(bytes, sizeof bytes, &back));
    assert_int_equal(back.version, hello.version);
    assert_int_equal(back.role, hello.role);
    assert_int_equal(back.port, hello.port);
    assert_int_equal(back.id, hello.id);
    assert_int_equal(back.network, hello.network);
    assert_int_equal(back.host_links, hello.host_links);
    assert_int_equal(back.dims, hello.dims);
    assert_int_equal(back.heard, hello.heard);
    assert_int_equal(back.ports, hello.ports);
    assert_int_equal(back.data_window, hello.data_window);
    assert_int_equal(back.control_window, hello.control_window);
    assert_int_equal(back.sigma_permille, hello.sigma_permille);
    assert_int_equal(back.xi_ns, hello.xi_ns);
    assert_int_equal(back.tau_ns, hello.tau_ns);
    assert_int_equal(back.element_ns, hello.element_ns);
    assert_int_equal(back.element_bytes, hello.element_bytes);
    assert_int_equal(bytes[HELLO_BYTES - 2], 0x02);
    assert_int_equal(bytes[HELLO_BYTES - 1], 0x01);
    assert_memory_equal(back.last, hello.last, sizeof back.last);
    assert_int_equal(back.peer_id, hello.peer_id);
}

TEST(an_incarnation_is_another_one_than_the_last_however_soon_it_follows)
{
    for (uint32_t last = 0; last <= UINT16_MAX; last++) {
        const uint16_t later_ms[] = {0, 1, UINT16_MAX, INT16_MAX, (uint16_t)INT16_MAX + 1};

        for (unsigned i = 0; i < sizeof later_ms / sizeof later_ms[0]; i++) {
            uint64_t now_us = (uint64_t)(uint16_t)(last + later_ms[i]) * INCARNATION_US;
            uint16_t next = incarnation_next((uint16_t)last, now_us);

            assert_int_not_equal(next, 0);
            assert_int_not_equal(next, last);
        }
    }
}

/* As under a debugger that resets it again and again while its clock hardly goes on. */
TEST(incarnations_in_one_ms_are_all_different)
{
    static bool met[UINT16_MAX + 1];
    uint16_t last = incarnation_next(0xbeef, 70000 * (uint64_t)INCARNATION_US);

    for (unsigned i = 0; i < 1000; i++) {
        assert_false(met[last]);
        met[last] = true;
        last = incarnation_next(last, 70000 * (uint64_t)INCARNATION_US);
    }
}
