/*
 * peers.c - the maker of peers that reads the environment, and the sockets of both makers.
 */
#include "host/cluster/peers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host/cluster/division.h"
#include "host/cluster/introduction.h"

enum { BACKLOG = 1024, DIAL_MS = 2000, PAUSE_MS = 50 };

static struct addrinfo *resolve(const char *host, const char *port, int flags)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *found = NULL;

    return getaddrinfo(host, port, &hints, &found) == 0 ? found : NULL;
}

static int listen_at(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    int off = 0;

    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->ai_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int error = errno;

        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* IPv6 first, whose sockets take IPv4, too; where it is off IPv4 alone. */
int peers_listen(const char *host, const char *port, struct message *message)
{
    struct addrinfo *found = resolve(host, port ? port : "0", AI_PASSIVE);
    int fd = -1;

    for (int pass = 0; pass < 2 && fd < 0; pass++) {
        for (struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
            if ((at->ai_family == AF_INET6) == (pass == 0)) {
                fd = listen_at(at);
            }
        }
    }
    if (fd < 0) {
        message_set(message, "cannot listen at %.200s%s%s: %s", host ? host : "any address",
                    port ? ":" : "", port ? port : "", found ? strerror(errno) : "unknown host");
    }
    if (found) {
        freeaddrinfo(found);
    }
    return fd;
}

uint16_t peers_port_of(int socket)
{
    struct sockaddr_in6 address = {0};
    socklen_t bytes = sizeof address;

    /* the port lies at the same place in both families */
    return getsockname(socket, (struct sockaddr *)&address, &bytes) == 0 ? ntohs(address.sin6_port)
                                                                         : 0;
}

static bool write_address(const struct sockaddr_in6 *address, char text[64])
{
    const struct sockaddr_in *old = (const struct sockaddr_in *)(const void *)address;

    if (address->sin6_family == AF_INET) {
        return inet_ntop(AF_INET, &old->sin_addr, text, 64) != NULL;
    }
    if (address->sin6_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&address->sin6_addr)) {
        return inet_ntop(AF_INET, &address->sin6_addr.s6_addr[12], text, 64) != NULL;
    }
    return address->sin6_family == AF_INET6 &&
           inet_ntop(AF_INET6, &address->sin6_addr, text, 64) != NULL;
}

bool peers_own_address(int socket, char text[64])
{
    struct sockaddr_in6 address = {0};
    socklen_t bytes = sizeof address;

    return getsockname(socket, (struct sockaddr *)&address, &bytes) == 0 &&
           write_address(&address, text);
}

bool peers_far_address(int socket, char text[64])
{
    struct sockaddr_in6 address = {0};
    socklen_t bytes = sizeof address;

    return getpeername(socket, (struct sockaddr *)&address, &bytes) == 0 &&
           write_address(&address, text);
}

static int dial_at(const struct addrinfo *address, unsigned patience_ms)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = 0, on = 1;
    socklen_t bytes = sizeof error;

    if (fd < 0) {
        return -1;
    }
    if (connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
        struct pollfd end = {.fd = fd, .events = POLLOUT};

        error = errno;
        if (error == EINPROGRESS) {
            error = patience_ms == 0 || poll(&end, 1, (int)patience_ms) > 0 ? 0 : ETIMEDOUT;
        }
        if (error == 0 && patience_ms > 0) {
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
        }
    }
    if (error != 0) {
        close(fd);
        errno = error;
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

int peers_dial(const char *host, const char *port, unsigned patience_ms)
{
    struct addrinfo *found = resolve(host, port, 0);
    int fd = -1, error = 0;

    for (struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
        fd = dial_at(at, patience_ms);
        error = errno;
    }
    if (found) {
        freeaddrinfo(found);
    }
    errno = error;
    return fd;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* By hand agents are started in any order, so rank 0 may not listen yet; after PMIx's fence it
 * does. */
int peers_connect(const struct peers *peers, unsigned patience_ms, struct message *message)
{
    int64_t end_ms = now_ms() + patience_ms;
    int fd = -1, error = 0;

    do {
        char addresses[PEERS_ADDRESSES_MAX], *rest = addresses, *host;

        memcpy(addresses, peers->addresses, sizeof addresses);
        for (bool first = true; fd < 0 && (host = strsep(&rest, ",")) != NULL; first = false) {
            fd = peers_dial(host, peers->port, DIAL_MS);
            error = first ? errno : error; /* the last is that of this computer alone */
        }
        if (fd < 0 && !peers->wired) {
            poll(NULL, 0, PAUSE_MS);
        }
    } while (fd < 0 && !peers->wired && now_ms() < end_ms);
    if (fd < 0) {
        char computer[COMPUTER_NAME_MAX];

        introduction_name(peers->rank, computer);
        message_set(message, "computer %s (rank %u): rank 0 does not answer at %.300s, port %s: %s",
                    computer, peers->rank, peers->addresses, peers->port,
                    error ? strerror(error) : "unknown host");
    }
    return fd;
}

/* By a launcher that has told nothing by PMIx: MPICH's, and Slurm's without --mpi=pmix. */
static const char *foreign_rank(void)
{
    const char *rank = getenv("PMI_RANK");

    return rank ? rank : getenv("SLURM_PROCID");
}

unsigned peers_rank(void)
{
    const char *own = getenv("ECUBE_RANK"), *pmix = getenv("PMIX_RANK"), *foreign = foreign_rank();

    return (unsigned)strtoul(own ? own : pmix ? pmix : foreign ? foreign : "0", NULL, 10);
}

static int read_number(const char *name, unsigned low, unsigned high, unsigned *number,
                       struct message *message)
{
    const char *text = getenv(name);
    char *end;
    unsigned long value = strtoul(text ? text : "", &end, 10);

    if (!text || *text < '0' || *text > '9' || *end != '\0' || value < low || value > high) {
        return message_set(message, "%s=%.40s: use a number from %u to %u", name, text ? text : "",
                           low, high);
    }
    *number = (unsigned)value;
    return 0;
}

static int find_in_environment(struct peers *peers, struct message *message)
{
    const char *root = getenv("ECUBE_ROOT"), *colon = root ? strrchr(root, ':') : NULL;

    if (read_number("ECUBE_SIZE", 1, DIVISION_COMPUTERS_MAX, &peers->size, message) != 0 ||
        read_number("ECUBE_RANK", 0, peers->size - 1, &peers->rank, message) != 0) {
        return -1;
    }
    if (!colon || colon == root || colon[1] == '\0' || strlen(colon + 1) >= PEERS_PORT_MAX ||
        (size_t)(colon - root) >= PEERS_ADDRESSES_MAX ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1)) {
        return message_set(message,
                           "ECUBE_ROOT=%.200s: use HOST:PORT, where rank 0 is to listen, for "
                           "example 10.0.0.1:7000",
                           root ? root : "");
    }
    snprintf(peers->addresses, sizeof peers->addresses, "%.*s", (int)(colon - root), root);
    snprintf(peers->port, sizeof peers->port, "%s", colon + 1);
    if (peers->key.hex[0] == '\0') {
        return message_set(message, "an agent that is started by hand needs a key: --key-file "
                                    "FILE, for example of 'openssl rand -hex 32', mode 600");
    }
    if (peers->rank == 0) {
        peers->listener = peers_listen(peers->addresses, peers->port, message);
    }
    return peers->rank == 0 && peers->listener < 0 ? -1 : 0;
}

int peers_find(struct peers *peers, const char *key_file, struct message *message)
{
    *peers = (struct peers){.listener = -1};
    if (key_file && key_read(&peers->key, key_file, message) != 0) {
        return -1;
    }
    if (getenv("ECUBE_RANK") || getenv("ECUBE_SIZE") || getenv("ECUBE_ROOT")) {
        return find_in_environment(peers, message);
    }
    if (peers_pmix_told()) {
        return peers_pmix_find(peers, message);
    }
    if (!foreign_rank()) {
        return message_set(message, "agents are started by mpirun or 'srun --mpi=pmix', or by hand "
                                    "with ECUBE_RANK, ECUBE_SIZE and ECUBE_ROOT (doc/cluster.md)");
    }
    if (peers_rank() > 0) { /* one of them says it */
        message->text[0] = '\0';
        return -1;
    }
    char computer[COMPUTER_NAME_MAX];
    introduction_name(0, computer);
    return message_set(message,
                       "computer %s: its launcher has no PMIx: use Open MPI's mpirun, or srun "
                       "--mpi=pmix",
                       computer);
}
