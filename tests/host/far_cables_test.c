/*
 * The cables between two ranges of a machine, whose agents are here one process: each leads from
 * its node to the neighbour's port and to no other, or it is told why there are none.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/cluster/arrivals.h"
#include "host/cluster/far_cables.h"
#include "tests/networks.h"

enum { TICK_MS = 10, STUCK_TICKS = 1000 };

static struct ranges {
    uv_loop_t loop;
    uv_timer_t timer;
    struct network network;
    struct node_range range[2];
    struct tls_keys keys[2];
    struct far_cables cables[2];
    struct arrivals arrivals; /* of the first */
    int listener;
    unsigned ticks;
    bool connected;
    char refusal[MESSAGE_MAX];
} both;

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
    both.ticks++;
}

static void on_connected(void *context)
{
    (void)context;
    both.connected = true;
}

static void on_refused(void *context, const char *text)
{
    (void)context;
    snprintf(both.refusal, sizeof both.refusal, "%s", text);
}

static void on_came(void *context, struct connection *connection, const json_t *line)
{
    (void)context;
    if (!far_cables_take(&both.cables[0], connection, line)) {
        connection_close(connection);
    }
}

/* keys: how many there are, one or one for each. */
static void open_ranges(const char *network, uint32_t first, unsigned keys)
{
    const struct arrivals_owner owner = {.came = on_came};
    struct message message;
    struct key key[2];

    both = (struct ranges){.network = network_of(network)};
    both.range[0] = (struct node_range){0, first};
    both.range[1] = (struct node_range){first, both.network.nodes - first};
    uv_loop_init(&both.loop);
    uv_timer_init(&both.loop, &both.timer);
    uv_timer_start(&both.timer, on_tick, TICK_MS, TICK_MS);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(key_make(&key[i], &message), 0);
        assert_int_equal(tls_keys_init(&both.keys[i], &key[i % keys], &message), 0);
        assert_int_equal(
            far_cables_open(&both.cables[i], &both.loop, &both.network, &both.range[i], &message),
            0);
    }
    both.cables[1].connected = on_connected;
    both.cables[1].refused = on_refused;
    both.listener = peers_listen("127.0.0.1", NULL, &message);
    assert_true(both.listener >= 0);
    arrivals_open(&both.arrivals, &both.loop, both.listener, &both.keys[0], &owner);
}

static void connect_to(uint16_t port)
{
    struct cable_place place = {.range = both.range[0], .computer = "oak", .host = "127.0.0.1"};

    snprintf(place.port, sizeof place.port, "%u", port);
    far_cables_connect(&both.cables[1], &both.keys[1], &place, 1);
    while (!both.connected && both.refusal[0] == '\0' && both.ticks < STUCK_TICKS) {
        uv_run(&both.loop, UV_RUN_ONCE);
    }
}

static void on_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

/* What streams and connections still wait for goes with the process. */
static void close_ranges(void)
{
    for (unsigned i = 0; i < 2; i++) {
        far_cables_close(&both.cables[i]);
    }
    uv_close((uv_handle_t *)&both.arrivals.poll, NULL);
    uv_close((uv_handle_t *)&both.arrivals.timer, NULL);
    close(both.listener);
    while (uv_loop_alive(&both.loop) && both.ticks < STUCK_TICKS) {
        uv_run(&both.loop, UV_RUN_ONCE);
        if (both.loop.active_handles == 1) {
            uv_walk(&both.loop, on_handle, NULL);
        }
    }
    assert_int_equal(uv_loop_close(&both.loop), 0);
    for (unsigned i = 0; i < 2; i++) {
        tls_keys_free(&both.keys[i]);
    }
}

/* Its name comes at the neighbour, and nobody else can have that end. */
static void expect_cable(uint32_t node, unsigned port)
{
    uint32_t peer = network_neighbour(&both.network, node, port);
    unsigned far_port = network_far_port(&both.network, port);
    char sent[32], got[32] = "";
    struct message message;
    int ends[2];

    assert_int_equal(far_cables_give(&both.cables[1], node, port, &ends[1], &message), 0);
    assert_int_equal(far_cables_give(&both.cables[0], peer, far_port, &ends[0], &message), 0);
    snprintf(sent, sizeof sent, "%u at %u", node, port);
    assert_int_equal(send(ends[1], sent, sizeof sent, 0), sizeof sent);
    while (recv(ends[0], got, sizeof got, MSG_DONTWAIT) < 0 && both.ticks < STUCK_TICKS) {
        uv_run(&both.loop, UV_RUN_ONCE);
    }
    assert_string_equal(got, sent);
    json_t *line = json_pack("{s:i, s:i}", "node", (int)peer, "port", (int)far_port);
    assert_false(far_cables_take(&both.cables[0], NULL, line));
    json_decref(line);
    close(ends[0]);
    close(ends[1]);
}

TEST(each_cable_leads_to_the_neighbour_s_port)
{
    static const struct {
        const char *network;
        uint32_t first;
    } cases[] = {{"cube:4", 8}, {"torus:3x4", 5}, {"ring:5", 2}, {"mesh:4x4", 7}, {"cube:1", 1}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned count = 0;

        open_ranges(cases[i].network, cases[i].first, 1);
        connect_to(peers_port_of(both.listener));
        assert_true(both.connected);
        for (uint32_t node = cases[i].first; node < both.network.nodes; node++) {
            for (unsigned port = 0; port < both.network.ports; port++) {
                if (network_neighbour(&both.network, node, port) < cases[i].first) {
                    expect_cable(node, port);
                    count++;
                }
            }
        }
        assert_int_equal(count, both.cables[1].count);
        close_ranges();
    }
}

TEST(another_key_is_told_and_at_which_link)
{
    open_ranges("cube:2", 2, 2);
    connect_to(peers_port_of(both.listener));
    assert_false(both.connected);
    assert_non_null(strstr(both.refusal, "cannot connect link 0-2 to computer oak: "));
    close_ranges();
}

TEST(a_computer_that_cannot_be_reached_is_named)
{
    struct message message;
    int unheard = peers_listen("127.0.0.1", NULL, &message);
    uint16_t port = peers_port_of(unheard);

    close(unheard);
    open_ranges("cube:2", 2, 1);
    connect_to(port);
    assert_non_null(strstr(both.refusal, "cannot reach computer oak at 127.0.0.1, port "));
    close_ranges();
}
