/*
 * contention_test.c - the model time of two messages that ask for the same link, the same port of
 * their sender or of their receiver: the second one waits, and for no more than that.
 *
 * Source   t := t0 + xi; for each hop: t := max(t, link free) + tau; done := max(t, ports free,
 *          receiver ready) + (hops + bytes - 1) * element
 */
#include "drivers/status.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

enum { XI = 65425, TAU = 9575, ELEMENT = 425, LONG = 5000, SHORT = 500 };

static const struct profile ipsc860 = {XI, TAU, ELEMENT, 1500, 0, 1};
static const struct memory_fault no_fault;

struct message {
    unsigned from, to, hops;
    uint32_t bytes;
};

static uint64_t flow_ns(const struct message *message)
{
    return (uint64_t)(message->hops + message->bytes - 1) * ELEMENT;
}

/* Both are issued at the same model time; the first one is set up first. */
static void send_both(const struct message messages[2], const uint64_t expected_ns[2])
{
    int32_t sends[2], receives[2];
    struct fabric *fabric = fabric_make(3, 1 << 20, 7, no_fault, ipsc860);

    assert_true(fabric_start(fabric));
    uint64_t begin_ns = fabric_clock(fabric, 0);
    for (unsigned i = 0; i < 2; i++) {
        const struct message *m = &messages[i];
        assert_int_equal(fabric_clock(fabric, m->from), begin_ns);
        receives[i] = fabric_message(fabric, m->to, ECUBE_CALL_RECEIVE, (int32_t)m->from, 1,
                                     FABRIC_DATA, m->bytes);
        sends[i] = fabric_message(fabric, m->from, ECUBE_CALL_SEND, (int32_t)m->to, 1, FABRIC_DATA,
                                  m->bytes);
        fabric_settle(fabric);
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(fabric_wait(fabric, messages[i].from, sends[i]).done_ns - begin_ns,
                         expected_ns[i]);
        assert_int_equal(fabric_wait(fabric, messages[i].to, receives[i]).done_ns - begin_ns,
                         expected_ns[i]);
    }
    fabric_free(fabric);
}

TEST(a_link_that_is_held_is_waited_for)
{
    static const uint32_t sizes[] = {SHORT, LONG};

    for (unsigned i = 0; i < 4; i++) {
        /* by 0, 1, 3 and by 1, 3, 7 */
        struct message messages[] = {{0, 3, 2, sizes[i / 2]}, {1, 7, 2, sizes[i % 2]}};
        uint64_t first_ns = XI + 2 * TAU + flow_ns(&messages[0]);
        send_both(messages, (uint64_t[]){first_ns, first_ns + 2 * TAU + flow_ns(&messages[1])});
    }
}

TEST(a_port_of_the_sender_that_is_busy_is_waited_for)
{
    struct message messages[] = {{0, 1, 1, LONG}, {0, 2, 1, LONG}};
    uint64_t first_ns = XI + TAU + flow_ns(&messages[0]);

    send_both(messages, (uint64_t[]){first_ns, first_ns + flow_ns(&messages[1])});
}

TEST(a_port_of_the_receiver_that_is_busy_is_waited_for)
{
    struct message messages[] = {{1, 0, 1, LONG}, {6, 0, 2, LONG}};
    uint64_t first_ns = XI + TAU + flow_ns(&messages[0]);

    send_both(messages, (uint64_t[]){first_ns, first_ns + flow_ns(&messages[1])});
}

/* The links of its own path only: it is not one of several messages behind each other. */
TEST(a_message_of_another_node_waits_for_the_links_that_both_take)
{
    struct message messages[] = {{2, 0, 1, LONG}, {3, 0, 2, LONG}}; /* by 2 */
    uint64_t first_ns = XI + TAU + flow_ns(&messages[0]);

    send_both(messages, (uint64_t[]){first_ns, first_ns + TAU + flow_ns(&messages[1])});
}

TEST(messages_that_share_nothing_do_not_wait)
{
    struct message messages[] = {{0, 1, 1, LONG}, {1, 0, 1, LONG}};
    uint64_t alone_ns = XI + TAU + flow_ns(&messages[0]);

    send_both(messages, (uint64_t[]){alone_ns, alone_ns});
}
