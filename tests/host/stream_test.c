/*
 * Two local sockets that streams join over a network: what is written at one comes at the other,
 * all of it and nothing else, and then its end; and no more of it is on the way than fits.
 */
#include "tests/testing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/cluster/stream.h"

enum {
    CASES = 40,
    BYTES_MAX = 3 << 20, /* more than is on the way at once */
    ON_THE_WAY_MAX = 1536 << 10,
    BUFFER = 64 * 1024, /* of the network */
    DRAWN_BUFFER = 256 * 1024,
    LOCAL_BUFFER = 32 * 1024,
    CHUNK_MAX = 100000,
    RECORD_MAX = 16 * 1024, /* of TLS */
    TICK_MS = 10,
    STUCK_TICKS = 500, /* of a stream that has lost bytes, or its end: as long as no other waits */
    FULL_TICKS = 50,
};

struct line {
    uv_loop_t loop;
    struct tls_keys keys;
    int ends[2]; /* ours */
    uv_timer_t timer;
    unsigned idle_ticks;
};

static void on_nothing(void *context)
{
    (void)context;
}

static void on_ended(void *context, const char *why)
{
    (void)context;
    (void)why;
}

static void on_tick(uv_timer_t *timer)
{
    struct line *line = timer->data;

    line->idle_ticks++;
}

static void turn(struct line *line, bool moved, bool waits)
{
    line->idle_ticks = moved ? 0 : line->idle_ticks;
    uv_run(&line->loop, moved || !waits ? UV_RUN_NOWAIT : UV_RUN_ONCE);
}

static void make_network(int ends[2], int size)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(listener, (struct sockaddr *)&address, bytes), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &bytes), 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(ends[0], (struct sockaddr *)&address, bytes), 0);
    ends[1] = accept(listener, NULL, NULL);
    close(listener);
    for (unsigned i = 0; i < 2; i++) {
        setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        setsockopt(ends[i], SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
}

static void open_line(struct line *line, int network_bytes)
{
    const struct connection_owner owner = {.moved = on_nothing, .ended = on_ended};
    struct message message;
    struct key key;
    int network[2], size = LOCAL_BUFFER;

    assert_int_equal(key_make(&key, &message), 0);
    assert_int_equal(tls_keys_init(&line->keys, &key, &message), 0);
    assert_int_equal(uv_loop_init(&line->loop), 0);
    uv_timer_init(&line->loop, &line->timer);
    line->timer.data = line;
    line->idle_ticks = 0;
    uv_timer_start(&line->timer, on_tick, TICK_MS, TICK_MS);
    make_network(network, network_bytes);
    for (unsigned i = 0; i < 2; i++) {
        struct connection *connection =
            connection_open(&line->loop, network[i], i == 1, &line->keys, &owner);
        int local[2];

        assert_non_null(connection);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, local), 0);
        setsockopt(local[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        line->ends[i] = local[0];
        stream_join(&line->loop, connection, local[1]);
    }
}

/* Both streams are over, and nothing of them is left in the loop. */
static void close_line(struct line *line)
{
    uv_unref((uv_handle_t *)&line->timer);
    while (uv_loop_alive(&line->loop) && line->idle_ticks < STUCK_TICKS) {
        turn(line, false, true);
    }
    uv_close((uv_handle_t *)&line->timer, NULL);
    uv_run(&line->loop, UV_RUN_NOWAIT);
    assert_int_equal(uv_loop_close(&line->loop), 0);
    tls_keys_free(&line->keys);
}

static char byte_at(size_t at)
{
    return (char)(at * 2654435761U >> 13);
}

/* Of a flow in one direction. */
struct flow {
    int from, to; /* -1: closed, ended */
    size_t bytes, written, read, chunk_max;
};

static bool push(struct flow *flow)
{
    char chunk[CHUNK_MAX];
    size_t count = 1 + (size_t)random() % flow->chunk_max, left = flow->bytes - flow->written;

    count = count < left ? count : left;
    for (size_t i = 0; i < count; i++) {
        chunk[i] = byte_at(flow->written + i);
    }
    ssize_t sent = send(flow->from, chunk, count, MSG_NOSIGNAL);
    flow->written += sent > 0 ? (size_t)sent : 0;
    return sent > 0;
}

/* False: there is nothing now, or the end. */
static bool pull(struct flow *flow)
{
    char chunk[CHUNK_MAX];
    ssize_t got = recv(flow->to, chunk, 1 + (size_t)random() % CHUNK_MAX, 0);

    if (got == 0 || (got < 0 && errno == ECONNRESET)) {
        close(flow->to);
        flow->to = -1;
    }
    for (ssize_t i = 0; i < got; i++) {
        assert_int_equal(chunk[i], byte_at(flow->read + (size_t)i));
    }
    flow->read += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* The reader reads now and then; the writer ends as soon as it has written all, when most of it may
 * be on the way, and so may bytes to it, which nobody will read; or when all has come. */
static void pass(struct line *line, struct flow *flow, bool answered, bool waits)
{
    static const char noise[CHUNK_MAX];

    while (flow->to >= 0 && line->idle_ticks < STUCK_TICKS) {
        bool reads = random() % 4 == 0, moved = false;

        if (answered && flow->from >= 0) {
            (void)!send(flow->to, noise, sizeof noise, MSG_NOSIGNAL);
        }
        if (flow->from >= 0 && flow->written < flow->bytes) {
            moved |= push(flow);
        } else if (flow->from >= 0 && (!waits || flow->read == flow->bytes)) {
            close(flow->from);
            flow->from = -1;
        }
        moved |= reads && pull(flow);
        turn(line, moved, reads);
    }
    assert_int_equal(flow->read, flow->bytes);
    assert_int_equal(flow->to, -1);
}

TEST(all_that_is_written_comes_and_then_the_end)
{
    for (unsigned seed = 0; seed < CASES; seed++) {
        struct line line;
        unsigned from = seed % 2;

        srandom(seed);
        open_line(&line, DRAWN_BUFFER);
        struct flow flow = {.from = line.ends[from],
                            .to = line.ends[!from],
                            .bytes = (size_t)random() % BYTES_MAX >> random() % 20,
                            .chunk_max = CHUNK_MAX};
        pass(&line, &flow, seed / 2 % 2 == 1, seed / 4 % 2 == 1);
        close_line(&line);
    }
}

/* Until it waits. */
static void write_ahead(struct line *line, struct flow *flow, unsigned ticks)
{
    while (line->idle_ticks < ticks) {
        turn(line, flow->written < flow->bytes && push(flow), true);
    }
    line->idle_ticks = 0;
}

TEST(what_nobody_reads_waits_with_its_writer)
{
    struct line line;

    srandom(1);
    open_line(&line, BUFFER);
    struct flow flow = {
        .from = line.ends[0], .to = line.ends[1], .bytes = BYTES_MAX, .chunk_max = CHUNK_MAX};
    write_ahead(&line, &flow, FULL_TICKS);
    assert_in_range(flow.written, 1, ON_THE_WAY_MAX);
    pass(&line, &flow, false, false);
    close_line(&line);
}

/* A part of its last record may be all that waits in TLS, of which the network does not tell. */
TEST(the_last_bytes_come_though_nothing_follows)
{
    for (unsigned seed = 0; seed < CASES; seed++) {
        struct line line;

        srandom(seed);
        open_line(&line, DRAWN_BUFFER);
        struct flow flow = {.from = line.ends[0],
                            .to = line.ends[1],
                            .bytes = CONNECTION_IN_MAX + (size_t)random() % (2 * LOCAL_BUFFER),
                            .chunk_max = RECORD_MAX};
        write_ahead(&line, &flow, 2);
        pass(&line, &flow, false, true);
        close_line(&line);
    }
}
