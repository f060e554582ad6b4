/*
 * socket_link.c - a link of the host's router over a stream socket.
 *
 * Segments are queued by reference and written together, so a packet is not copied on its way out.
 * Whatever goes wrong with the socket is a lost carrier: the router above knows what to do then,
 * and needs no other error.
 */
#include "host/links/socket_link.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/check.h"
#include "drivers/status.h"

enum { BUFFER_BYTES = LINK_HEADROOM + LINK_CHUNK_MAX, GATHER_MAX = 64 };

static struct socket_link *of(struct link *link)
{
    return (struct socket_link *)(void *)link;
}

static bool would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* A lost link swallows what it is given, so that nobody waits for it. */
static void drop_queue(struct socket_link *s)
{
    s->link.carrier = CARRIER_LOST;
    s->sent_count += s->count;
    s->count = 0;
}

static void take_off(struct socket_link *s, size_t bytes)
{
    while (bytes > 0) {
        struct iovec *segment = &s->queue[s->first];

        if (bytes < segment->iov_len) {
            segment->iov_base = (uint8_t *)segment->iov_base + bytes;
            segment->iov_len -= bytes;
            return;
        }
        bytes -= segment->iov_len;
        s->first = (s->first + 1) % SOCKET_LINK_SEGMENTS;
        s->count--;
        s->sent_count++;
    }
}

void socket_link_flush(struct socket_link *s)
{
    while (s->count > 0 && s->link.carrier == CARRIER_UP) {
        struct iovec gather[GATHER_MAX];
        struct msghdr message = {.msg_iov = gather};
        ssize_t bytes;

        for (unsigned i = 0; i < s->count && i < GATHER_MAX; i++) {
            gather[i] = s->queue[(s->first + i) % SOCKET_LINK_SEGMENTS];
            message.msg_iovlen = i + 1;
        }
        bytes = sendmsg(s->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (bytes < 0) {
            if (!would_block()) {
                drop_queue(s);
            }
            return;
        }
        take_off(s, (size_t)bytes);
    }
}

static int link_send(struct link *link, const void *data, uint32_t bytes)
{
    struct socket_link *s = of(link);

    CHECK(bytes > 0);
    if (s->link.carrier == CARRIER_LOST) {
        s->sent_count++;
        return E_OK;
    }
    if (s->count == SOCKET_LINK_SEGMENTS) {
        return E_FULL;
    }
    s->queue[(s->first + s->count) % SOCKET_LINK_SEGMENTS] =
        (struct iovec){.iov_base = (void *)(uintptr_t)data, .iov_len = bytes};
    s->count++;
    return E_OK;
}

static void link_kick(struct link *link)
{
    socket_link_flush(of(link));
}

static uint32_t link_sent(struct link *link)
{
    return of(link)->sent_count;
}

/* With no free buffer nothing is read: the socket fills, and its sender waits. */
static bool link_receive(struct link *link, struct link_chunk *chunk)
{
    struct socket_link *s = of(link);
    uint16_t buffer;
    uint8_t *data;
    ssize_t bytes;

    if (s->free_count == 0 || s->link.carrier != CARRIER_UP) {
        return false;
    }
    buffer = s->free_buffers[s->free_count - 1];
    data = s->memory + (size_t)buffer * BUFFER_BYTES + LINK_HEADROOM;
    bytes = recv(s->fd, data, LINK_CHUNK_MAX, MSG_DONTWAIT);
    if (bytes <= 0) {
        if (bytes == 0 || !would_block()) {
            drop_queue(s);
        }
        return false;
    }
    s->free_count--;
    *chunk = (struct link_chunk){.data = data, .bytes = (uint32_t)bytes, .buffer = buffer};
    return true;
}

static void link_release(struct link *link, uint16_t buffer)
{
    struct socket_link *s = of(link);

    CHECK(buffer < LINK_BUFFERS_MAX && s->free_count < LINK_BUFFERS_MAX);
    s->free_buffers[s->free_count++] = buffer;
}

static const struct link_ops ops = {
    .send = link_send,
    .kick = link_kick,
    .sent = link_sent,
    .receive = link_receive,
    .release = link_release,
};

void socket_link_restart(struct socket_link *s)
{
    *s = (struct socket_link){
        .link = {.ops = &ops, .carrier = s->link.carrier}, .fd = s->fd, .memory = s->memory};
    for (uint16_t i = 0; i < LINK_BUFFERS_MAX; i++) {
        s->free_buffers[s->free_count++] = i;
    }
}

bool socket_link_init(struct socket_link *s, int fd)
{
    *s = (struct socket_link){.link = {.carrier = CARRIER_UP}, .fd = fd};
    s->memory = malloc((size_t)LINK_BUFFERS_MAX * BUFFER_BYTES);
    socket_link_restart(s);
    return s->memory != NULL;
}

void socket_link_close(struct socket_link *s)
{
    free(s->memory);
    s->memory = NULL;
}

bool socket_link_wants_write(const struct socket_link *s)
{
    return s->count > 0 && s->link.carrier == CARRIER_UP;
}

bool socket_link_wants_read(const struct socket_link *s)
{
    return s->free_count > 0 && s->link.carrier == CARRIER_UP;
}
