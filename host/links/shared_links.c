/*
 * shared_links.c - links in shared memory: a file in memory for each link, a doorbell for each
 * node.
 *
 * QEMU's ivshmem device expects a server that tells it who its peers are. All its words for one
 * node are known before the node starts, so they are written into a socket which QEMU then
 * inherits:
 *
 *     version, own id     port -> doorbell of the neighbour there, ...     card     own doorbell
 *
 * The card is what the device shows as its memory; it tells the node which of its memories is the
 * link at which port. A peer's id is the port that leads to it, so a node rings by port.
 */
#include "host/links/shared_links.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "drivers/check.h"
#include "drivers/link/shared_memory_layout.h"

enum {
    PROTOCOL_VERSION = 0,      /* of the ivshmem server */
    OWN_ID = SHARED_PORTS_MAX, /* a neighbour's is the port that leads to it */
    TELL_TRIES_MAX = 10000,    /* ten seconds */
    TELL_PAUSE_NS = 1000000
};

_Static_assert((int)MACHINE_PORTS_MAX <= (int)SHARED_PORTS_MAX, "ports on a card");

/* A file in memory of a size that nobody can change: a node that cut its file short would end its
 * neighbour with SIGBUS. */
static int make_memory(const char *name, size_t bytes, struct message *message)
{
    struct rlimit limit;
    int fd;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
        return message_set(message,
                           "files may have %llu bytes, and a link's memory needs %llu: raise the "
                           "limit with 'ulimit -f', or use --links serial",
                           (unsigned long long)limit.rlim_cur, (unsigned long long)bytes);
    }
    fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        int error = errno;

        if (fd >= 0) {
            close(fd);
        }
        return message_set(message,
                           "cannot make the memory of a link: %s; use --links serial, or a smaller "
                           "network",
                           strerror(error));
    }
    return fd;
}

int shared_links_init(struct shared_links *links, uint32_t nodes, unsigned link_max,
                      struct message *message)
{
    *links = (struct shared_links){.link_max = link_max,
                                   .ends = calloc(nodes, sizeof *links->ends),
                                   .links = calloc(link_max + 1, sizeof *links->links),
                                   .event_fds = calloc(nodes, sizeof *links->event_fds)};
    if (!links->ends || !links->links || !links->event_fds) {
        shared_links_free(links);
        return message_set(message, "out of memory");
    }
    for (uint32_t node = 0; node < nodes; node++) {
        for (unsigned p = 0; p < MACHINE_PORTS_MAX; p++) {
            links->ends[node][p].link = -1;
        }
    }
    for (; links->nodes < nodes; links->nodes++) {
        int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

        if (fd < 0) {
            message_set(message, "cannot make a node's doorbell (eventfd): %s", strerror(errno));
            shared_links_free(links);
            return -1;
        }
        links->event_fds[links->nodes] = fd;
    }
    return 0;
}

int shared_links_join(struct shared_links *links, uint32_t a, unsigned p, uint32_t b, unsigned q,
                      struct message *message)
{
    static const uint32_t up = SHARED_CARRIER_UP;
    int number = (int)links->link_count;
    int fd = make_memory("ecube-link", SHARED_LINK_BYTES, message);

    CHECK(links->link_count < links->link_max);
    if (fd < 0) {
        return -1;
    }
    links->links[links->link_count++] = (struct shared_link){.fd = fd};
    links->ends[a][p] = (struct shared_link_end){.link = number, .side = 0};
    links->ends[b][q] = (struct shared_link_end){.link = number, .side = 1};
    if (pwrite(fd, &up, sizeof up, offsetof(struct shared_memory, carrier)) != sizeof up) {
        return message_set(message, "cannot write to the memory of a link: %s", strerror(errno));
    }
    return 0;
}

void shared_links_swap(struct shared_links *links, uint32_t a, unsigned p, uint32_t b, unsigned q)
{
    struct shared_link_end end = links->ends[a][p];

    links->ends[a][p] = links->ends[b][q];
    links->ends[b][q] = end;
}

unsigned shared_links_memories(const struct shared_links *links, uint32_t node,
                               int fds[MACHINE_PORTS_MAX])
{
    unsigned count = 0;

    for (unsigned p = 0; p < MACHINE_PORTS_MAX; p++) {
        if (links->ends[node][p].link >= 0) {
            fds[count++] = links->links[links->ends[node][p].link].fd;
        }
    }
    return count;
}

/* The node at the other end of what is plugged into a port. */
static uint32_t find_peer(const struct shared_links *links, const struct shared_link_end *end)
{
    for (uint32_t node = 0; node < links->nodes; node++) {
        for (unsigned p = 0; p < MACHINE_PORTS_MAX; p++) {
            const struct shared_link_end *other = &links->ends[node][p];

            if (other->link == end->link && other->side != end->side) {
                return node;
            }
        }
    }
    CHECK(!"a link has two ends");
    return 0;
}

/* One word of the server, with a descriptor or without. */
static int say(int socket, int64_t word, int fd, struct message *message)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec data = {&word, sizeof word};
    struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1};

    if (fd >= 0) {
        header.msg_control = &control;
        header.msg_controllen = sizeof control.bytes;
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    }
    for (int tries = 0; sendmsg(socket, &header, MSG_NOSIGNAL) != sizeof word; tries++) {
        static const struct timespec pause = {.tv_nsec = TELL_PAUSE_NS};

        /* so many descriptors may be under way as one process may have open */
        if (errno != ETOOMANYREFS && errno != EINTR) {
            return message_set(message, "cannot tell a node of its links: %s", strerror(errno));
        }
        if (tries == TELL_TRIES_MAX) {
            return message_set(message, "cannot tell a node of its links, too many open files are "
                                        "under way: raise the limit with 'ulimit -n', or use "
                                        "--links serial");
        }
        nanosleep(&pause, NULL);
    }
    return 0;
}

static int make_card(const struct shared_links *links, uint32_t node, unsigned port_count,
                     struct message *message)
{
    struct shared_card card = {.magic = SHARED_CARD_MAGIC,
                               .version = SHARED_CARD_VERSION,
                               .port_count = port_count,
                               .spin_us = links->spin_us};
    int fd = make_memory("ecube-card", SHARED_CARD_BYTES, message);
    unsigned count = 0;

    for (unsigned p = 0; p < port_count; p++) {
        const struct shared_link_end *end = &links->ends[node][p];

        card.ports[p] = end->link < 0 ? (struct shared_card_port){.memory = SHARED_NO_MEMORY}
                                      : (struct shared_card_port){.memory = (uint8_t)count++,
                                                                  .side = (uint8_t)end->side,
                                                                  .bell = (uint16_t)p};
    }
    if (fd >= 0 && pwrite(fd, &card, sizeof card, 0) != sizeof card) {
        message_set(message, "cannot write a node's card: %s", strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

static int say_all(const struct shared_links *links, uint32_t node, unsigned port_count, int socket,
                   struct message *message)
{
    int card = make_card(links, node, port_count, message);
    int status = card < 0 || say(socket, PROTOCOL_VERSION, -1, message) != 0 ||
                         say(socket, OWN_ID, -1, message) != 0
                     ? -1
                     : 0;

    for (unsigned p = 0; status == 0 && p < port_count; p++) {
        if (links->ends[node][p].link >= 0) {
            status =
                say(socket, p, links->event_fds[find_peer(links, &links->ends[node][p])], message);
        }
    }
    if (status == 0) {
        status = say(socket, -1, card, message);
    }
    if (status == 0) {
        status = say(socket, OWN_ID, links->event_fds[node], message);
    }
    if (card >= 0) {
        close(card);
    }
    return status;
}

int shared_links_tell(const struct shared_links *links, uint32_t node, unsigned port_count, int *fd,
                      struct message *message)
{
    int ends[2], status;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return message_set(message, "cannot tell a node of its links (socketpair): %s",
                           strerror(errno));
    }
    status = say_all(links, node, port_count, ends[0], message);
    close(ends[0]);
    if (status != 0) {
        close(ends[1]);
        return -1;
    }
    *fd = ends[1];
    return 0;
}

static void ring(const struct shared_links *links, uint32_t node)
{
    uint64_t one = 1;

    (void)!write(links->event_fds[node], &one, sizeof one); /* full: it is rung already */
}

bool shared_links_lose(struct shared_links *links, uint32_t node, unsigned port)
{
    static const uint32_t lost = SHARED_CARRIER_LOST;
    const struct shared_link_end *end = &links->ends[node][port];
    struct shared_link *link = end->link < 0 ? NULL : &links->links[end->link];

    if (!link || link->lost) {
        return false;
    }
    link->lost = true;
    (void)!pwrite(link->fd, &lost, sizeof lost, offsetof(struct shared_memory, carrier));
    ring(links, node); /* both may sleep until something comes */
    ring(links, find_peer(links, end));
    return true;
}

void shared_links_free(struct shared_links *links)
{
    for (unsigned i = 0; i < links->link_count; i++) {
        close(links->links[i].fd);
    }
    for (uint32_t node = 0; node < links->nodes; node++) {
        close(links->event_fds[node]);
    }
    free(links->ends);
    free(links->links);
    free(links->event_fds);
    *links = (struct shared_links){0};
}
