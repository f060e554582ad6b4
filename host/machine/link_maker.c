/*
 * link_maker.c - decides between shared memory and serial lines before anything starts.
 *
 * Whether shared memory works is found by trying it in small: QEMU is asked for its device, and one
 * link is made and thrown away. A start that failed would show as dead nodes, and nobody could fall
 * back to serial lines then.
 */
#include "host/machine/link_maker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drivers/link/shared_memory_layout.h"
#include "host/computer/available.h"
#include "host/console/choice.h"
#include "host/machine/launcher.h"
#include "host/links/shared_links.h"

enum {
    WORDS_MAX = 4096,
    HELP_MAX = 80,
    ANSWER_MS = 10000, /* QEMU answers in some hundredths of a second */
    MEGABYTE = 1 << 20
};

enum maker { MAKER_AUTO, MAKER_SHARED, MAKER_SERIAL, MAKERS };

static const char *const names[MAKERS] = {"auto", "shared", "serial"};

static int find_maker(const char *text, enum maker *maker, struct message *message)
{
    const char *from = "unknown --links";
    struct choice words;

    if (!text) {
        text = getenv("ECUBE_LINKS");
        from = "unknown ECUBE_LINKS";
    }
    if (!text || text[0] == '\0') {
        text = names[MAKER_AUTO];
    }
    choice_begin(&words, text);
    for (int i = 0; i < MAKERS; i++) {
        if (choice_offer(&words, names[i])) {
            *maker = (enum maker)i;
            return 0;
        }
    }
    return choice_refuse(&words, from, message);
}

/* ---- what QEMU has ---- */

static _Noreturn void become_asker(const char *qemu, pid_t parent, int out)
{
    char help[HELP_MAX];
    int null = open("/dev/null", O_RDONLY);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127);
    }
    setpgid(0, 0); /* what a script has started ends with it */
    dup2(null, 0);
    dup2(out, 1);
    dup2(out, 2);
    snprintf(help, sizeof help, "%s,help", target_board()->shared_device);
    execl(qemu, qemu, "-device", help, (char *)NULL);
    _exit(127);
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads until the end or until it takes too long. */
static void read_words(int fd, char words[WORDS_MAX])
{
    int64_t end_ms = now_ms() + ANSWER_MS, left_ms;
    size_t used = 0;

    while ((left_ms = end_ms - now_ms()) > 0 && used < WORDS_MAX - 1) {
        struct pollfd input = {.fd = fd, .events = POLLIN};
        ssize_t bytes;

        if (poll(&input, 1, (int)left_ms) <= 0) {
            if (errno == EINTR) {
                continue;
            }
            break;
        }
        bytes = read(fd, words + used, WORDS_MAX - 1 - used);
        if (bytes <= 0) {
            break;
        }
        used += (size_t)bytes;
    }
    words[used] = '\0';
}

/* Whether QEMU says that it has not the device. One that says neither yes nor no shows what is
 * wrong with it when a node is started. */
static bool lacks_device(const char *qemu)
{
    char words[WORDS_MAX] = "";
    pid_t parent = getpid(), child;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    child = fork();
    if (child == 0) {
        become_asker(qemu, parent, ends[1]);
    }
    close(ends[1]);
    if (child > 0) {
        setpgid(child, child);
        read_words(ends[0], words);
        kill(-child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    return strstr(words, target_board()->shared_device) &&
           (strstr(words, "not found") || strstr(words, "not a valid device"));
}

/* ---- what this process may have ---- */

static int check_memory(uint32_t links, struct message *message)
{
    /* the rings, and a page of words for each side and the carrier */
    uint64_t link_bytes = 2 * SHARED_RING_BYTES + 3 * SHARED_PAGE_BYTES;
    uint64_t bytes = links * link_bytes;
    struct shared_links trial;

    if (available_bytes() < bytes) {
        return message_set(message,
                           "links in shared memory may take %u MiB, and %u are free: use --links "
                           "serial, or a smaller network",
                           (unsigned)(bytes / MEGABYTE) + 1,
                           (unsigned)(available_bytes() / MEGABYTE));
    }
    if (shared_links_init(&trial, 2, 1, message) != 0) {
        return -1;
    }
    int status = shared_links_join(&trial, 0, 0, 1, 0, message);
    shared_links_free(&trial);
    return status;
}

static int check_shared(uint32_t links, const struct target *target, struct message *message)
{
    const struct board *board = target_board();

    if (links == 0) {
        return 0;
    }
    if (!board->shared_device) {
        return message_set(
            message, "the board %s has no links in shared memory: use --links serial", board->name);
    }
    if (check_memory(links, message) != 0) {
        return -1;
    }
    return lacks_device(target->qemu)
               ? message_set(message,
                             "%.200s has no %s device, which links in shared memory "
                             "need: use --links serial, or Debian's package %s",
                             target->qemu, board->shared_device, board->emulator)
               : 0;
}

static int check_ports(const struct network *network, struct message *message)
{
    const struct board *board = target_board();
    char name[NETWORK_NAME_MAX];

    if (network->ports + 1u <= board->links_max) {
        return 0;
    }
    network_name(network, name);
    return message_set(message, "a node of %s needs %u links, and the board %s has %u", name,
                       network->ports + 1u, board->name, board->links_max);
}

int link_maker_choose(const char *text, const struct network *network,
                      const struct launcher_place *place, struct target *target,
                      struct message *message)
{
    struct launcher_place whole = launcher_whole(network);
    enum maker maker;

    place = place ? place : &whole;

    if (find_maker(text, &maker, message) != 0) {
        return -1;
    }
    if (check_ports(network, message) != 0) {
        return -1;
    }
    target->shared =
        maker == MAKER_SHARED || (maker == MAKER_AUTO && target_board()->shared_device != NULL);
    if (target->shared &&
        check_shared(launcher_links_within(network, place), target, message) != 0) {
        if (maker == MAKER_SHARED) {
            return -1;
        }
        fprintf(stderr, "ecube: %s; using serial lines\n", message->text);
        target->shared = false;
    }
    return launcher_check_descriptors(network, place, target->shared, message);
}

const char *link_maker_name(const struct target *target)
{
    return names[target->shared ? MAKER_SHARED : MAKER_SERIAL];
}
