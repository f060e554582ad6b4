/*
 * The host's link to the one node of cube:0, which is played by a router at the other end of its
 * socket: both start anew while the socket holds bytes of before.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/status.h"
#include "host/links/host_link.h"
#include "router/channel.h"
#include "router/port.h"
#include "router/router.h"
#include "wire/report.h"

enum { LOOKS = 200, CLOSE_TURNS = 10, TURN_US = 10000, NODE_INCARNATION = 7 };

struct fixture {
    uv_loop_t loop;
    struct host_links links;
    struct router host;
    void *host_memory;
    uint16_t host_incarnation;
    int fds[2];
    struct socket_link socket; /* the node's */
    struct link *link;
    struct network network;
    struct router node;
    void *memory;
    uint64_t now_us;
    unsigned heard; /* packets that the host has got */
    uint8_t last;   /* the first byte of the last one */
};

static const uint32_t host_peers[] = {0};

static void begin_host(struct fixture *f, uint16_t incarnation)
{
    struct router_config config = {.id = ID_HOST,
                                   .links = f->links.links,
                                   .link_count = 1,
                                   .network = &f->network,
                                   .profile = {.sigma_permille = 1000},
                                   .peers = host_peers,
                                   .incarnation = incarnation,
                                   .memory = f->host_memory};

    router_init(&f->host, &config);
}

static void take_notice(struct fixture *f, const struct notice *notice)
{
    if (notice->kind == NOTICE_PACKET) {
        f->heard++;
        f->last = notice->body[0];
    }
}

static void begin_node(struct fixture *f, uint16_t incarnation)
{
    struct router_config config = {.id = ID_UNKNOWN,
                                   .links = &f->link,
                                   .link_count = 1,
                                   .incarnation = incarnation,
                                   .memory = f->memory};

    router_init(&f->node, &config);
}

static void look(struct fixture *f, unsigned turns)
{
    const struct notice *notice;

    for (unsigned i = 0; i < turns; i++, f->now_us += TURN_US) {
        router_step(&f->node, f->now_us);
        while (router_notice(&f->node)) {
        }
        host_links_flush(&f->links);
        router_step(&f->host, f->now_us);
        while ((notice = router_notice(&f->host))) {
            take_notice(f, notice);
        }
    }
}

static uint8_t host_state(const struct fixture *f)
{
    uint32_t peer;
    uint8_t peer_port;

    return router_port_state(&f->host, 0, &peer, &peer_port);
}

static struct fixture *make_fixture(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct message message;

    uv_loop_init(&f->loop);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, f->fds), 0);
    assert_true(network_parse(&f->network, "cube:0", &machine_limits, message.text));
    assert_true(socket_link_init(&f->socket, f->fds[1]));
    f->link = &f->socket.link;
    f->memory = calloc(1, router_memory_bytes(1, 0));
    f->now_us = uv_hrtime() / 1000;
    begin_node(f, NODE_INCARNATION);
    assert_int_equal(host_links_open(&f->links, &f->loop, f->fds, 1, &message), 0);
    f->host_memory = aligned_alloc(64, (router_memory_bytes(1, 0) / 64 + 1) * 64);
    f->host_incarnation = 1;
    begin_host(f, f->host_incarnation);
    look(f, LOOKS);
    assert_int_equal(host_state(f), LINK_UP);
    return f;
}

static void free_fixture(struct fixture *f)
{
    host_links_close(&f->links);
    for (unsigned i = 0; i < CLOSE_TURNS; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(uv_loop_close(&f->loop), 0);
    host_links_free(&f->links);
    free(f->host_memory);
    socket_link_close(&f->socket);
    close(f->fds[0]);
    close(f->fds[1]);
    free(f->memory);
    free(f);
}

static void node_says(struct fixture *f, uint8_t number)
{
    assert_int_equal(router_send(&f->node, PACKET_LINKS, ID_HOST, &number, 1), E_OK);
    router_step(&f->node, f->now_us);
}

/* The host has given its link something that has not left. */
static void leave_segment(struct fixture *f)
{
    static const uint8_t half[FRAME_HEADER_BYTES / 2];
    struct link *link = f->links.links[0];

    assert_int_equal(link->ops->send(link, half, sizeof half), E_OK);
    assert_false(host_links_quiet(&f->links));
}

/* The node has greeted once more and said something that the host has not read, and half a word
 * more: this looks like the beginning of an incarnation. */
static void leave_words(struct fixture *f)
{
    uint8_t half[FRAME_HEADER_BYTES / 2] = {FRAME_SYNC & 0xff, FRAME_SYNC >> 8, FRAME_DATA};

    channel_greet_soon(&f->node.ports[0].channel, &f->node.due);
    router_step(&f->node, f->now_us);
    node_says(f, 1);
    node_says(f, 2);
    assert_int_equal(write(f->fds[1], half, sizeof half), sizeof half);
}

TEST(links_begin_anew_as_often_as_the_nodes_do)
{
    struct fixture *f = make_fixture();

    for (uint16_t number = NODE_INCARNATION + 1; number < NODE_INCARNATION + 11; number++) {
        leave_words(f);
        assert_int_equal(router_send(&f->host, PACKET_QUERY, 0, NULL, 0), E_OK);
        socket_link_restart(&f->socket);
        begin_node(f, number);
        leave_segment(f);
        host_links_restart(&f->links);
        assert_true(host_links_quiet(&f->links));
        begin_host(f, ++f->host_incarnation);
        assert_int_equal(host_state(f), LINK_SILENT);
        look(f, LOOKS);
        assert_int_equal(host_state(f), LINK_UP);
        assert_int_equal(f->heard, number - NODE_INCARNATION - 1);
        node_says(f, (uint8_t)number);
        look(f, 2);
        assert_int_equal(f->heard, number - NODE_INCARNATION);
        assert_int_equal(f->last, number);
    }
    free_fixture(f);
}

TEST(a_node_that_starts_anew_alone_is_found_out_when_it_is_spoken_to)
{
    struct fixture *f = make_fixture();

    socket_link_restart(&f->socket);
    begin_node(f, NODE_INCARNATION + 1);
    look(f, LOOKS);
    assert_int_equal(host_state(f), LINK_UP);
    assert_int_equal(router_send(&f->host, PACKET_QUERY, 0, NULL, 0), E_OK);
    look(f, LOOKS);
    assert_int_equal(host_state(f), LINK_DEAD);
    free_fixture(f);
}
