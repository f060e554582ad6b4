#include "bench/stub_run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/computer/target.h"
#include "jtag/stub/rsp.h"

enum {
    CHUNK_BYTES = 0x7c0, /* QEMU's packets are 4,096 bytes at most, two for each byte */
    CONNECT_TRIES = 200,
    CONNECT_PAUSE_US = 50000,
    ANSWER_SECONDS = 20,
    ROUNDS = 100,
    WORDS_MAX = 60,
    SOCKET_BYTES = 64
};

struct peer {
    int fd;
    struct rsp_reader reader;
    char out[2 * RSP_PACKET_MAX];
    bool failed;
};

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static pid_t start_qemu(const char *build, const char *qemu, const char *socket)
{
    char text[2048];
    char *words[WORDS_MAX], *word;
    unsigned count = 0;
    pid_t child = fork();

    if (child != 0) {
        return child;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(text, sizeof text, "%s -kernel %s/%s/kernel.elf -gdb unix:%s,server=on,wait=off", qemu,
             build, target_board()->name, socket);
    for (word = strtok(text, " "); word && count + 1 < WORDS_MAX; word = strtok(NULL, " ")) {
        words[count++] = word;
    }
    words[count] = NULL;
    execvp(words[0], words);
    _exit(127);
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    for (unsigned i = 0; i < CONNECT_TRIES; i++) {
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
            return fd;
        }
        usleep(CONNECT_PAUSE_US);
    }
    close(fd);
    return -1;
}

static void put(struct peer *peer, const char *packet)
{
    size_t bytes = rsp_frame(peer->out, packet, strlen(packet));

    if (write(peer->fd, peer->out, bytes) != (ssize_t)bytes) {
        peer->failed = true;
    }
}

/* The next packet; a stop reply only when asked for one, for a late one may come at any time. */
static const char *get(struct peer *peer, bool stop)
{
    uint8_t byte;

    while (!peer->failed) {
        if (read(peer->fd, &byte, 1) != 1) {
            peer->failed = true;
        } else if (rsp_feed(&peer->reader, byte) == RSP_PACKET &&
                   (peer->reader.packet[0] == 'T') == stop) {
            return peer->reader.packet;
        }
    }
    return "";
}

static const char *ask(struct peer *peer, const char *packet)
{
    put(peer, packet);
    return get(peer, false);
}

static void halt(struct peer *peer)
{
    char stop = RSP_BREAK_BYTE;

    peer->failed |= write(peer->fd, &stop, 1) != 1;
    get(peer, true);
}

static void measure_run(struct peer *peer, struct stub_figures *figures)
{
    double halting = 0, resuming = 0, start;

    for (unsigned i = 0; i < ROUNDS && !peer->failed; i++) {
        start = now_ms();
        put(peer, "c");
        resuming += now_ms() - start;
        usleep(1000);
        start = now_ms();
        halt(peer);
        halting += now_ms() - start;
    }
    figures->halt_ms = halting / ROUNDS;
    figures->resume_ms = resuming / ROUNDS;
}

static void load(struct peer *peer, uint32_t address, uint32_t bytes)
{
    static char packet[2 * CHUNK_BYTES + 40];

    for (uint32_t at = 0; at < bytes && !peer->failed; at += CHUNK_BYTES) {
        uint8_t data[CHUNK_BYTES];
        uint32_t count = bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES;
        int head =
            snprintf(packet, sizeof packet, "M%x,%x:", (unsigned)(address + at), (unsigned)count);
        for (uint32_t i = 0; i < count; i++) {
            data[i] = (uint8_t)(at + i);
        }
        rsp_to_hex(packet + head, data, count);
        peer->failed |= strcmp(ask(peer, packet), "OK") != 0;
    }
}

static void compare(struct peer *peer, uint32_t address, uint32_t bytes, bool check)
{
    for (uint32_t at = 0; at < bytes && !peer->failed; at += CHUNK_BYTES) {
        uint8_t data[CHUNK_BYTES];
        uint32_t count = bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES;
        char packet[40];
        snprintf(packet, sizeof packet, "m%x,%x", (unsigned)(address + at), (unsigned)count);
        peer->failed |= !rsp_from_hex(data, count, ask(peer, packet));
        for (uint32_t i = 0; check && i < count; i++) {
            peer->failed |= data[i] != (uint8_t)(at + i);
        }
    }
}

static void measure_memory(struct peer *peer, uint32_t address, uint32_t bytes,
                           struct stub_figures *figures)
{
    double times[4];

    times[0] = now_ms();
    load(peer, address, bytes);
    times[1] = now_ms();
    compare(peer, address, bytes, false);
    times[2] = now_ms();
    compare(peer, address, bytes, true);
    times[3] = now_ms();
    figures->program_ms = times[1] - times[0];
    figures->load_kbs = bytes / (times[1] - times[0]);
    figures->read_kbs = bytes / (times[2] - times[1]);
    figures->verify_kbs = bytes / (times[3] - times[2]);
}

/* "system_reset", and the first look at the node. After it the MMU is off. */
static void measure_reset(struct peer *peer, struct stub_figures *figures)
{
    double start = now_ms();

    ask(peer, "qRcmd,73797374656d5f7265736574");
    ask(peer, "g");
    figures->reset_ms = now_ms() - start;
}

bool stub_run(const char *build, const char *qemu, uint32_t address, uint32_t bytes,
              struct stub_figures *figures)
{
    static struct peer peer;
    char socket_path[SOCKET_BYTES];
    pid_t child;

    snprintf(socket_path, sizeof socket_path, "/tmp/ecube-bench-%d.gdb", (int)getpid());
    child = start_qemu(build, qemu, socket_path);
    peer.fd = child > 0 ? connect_to(socket_path) : -1;
    peer.failed = peer.fd < 0;
    if (!peer.failed) {
        ask(&peer, "qSupported");
        usleep(CONNECT_PAUSE_US);
        measure_run(&peer, figures);
        measure_reset(&peer, figures);
        measure_memory(&peer, address, bytes, figures);
        close(peer.fd);
    }
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    unlink(socket_path);
    if (peer.failed) {
        fprintf(stderr, "bench: the emulator's stub does not answer\n");
    }
    return !peer.failed;
}
