/*
 * agents_fuzz.c - rank 0 of a machine over three agents: the fuzzer is the others, which have the
 * key, the user's launcher and debuggers.
 *
 * An input's first bytes say which network it is and how far the machine has come. Its operations
 * connect, send raw bytes or lines with the protocol's words and drawn
 * numbers, close, take steps on the way to a machine, and ask of its nodes. Whatever comes: rank 0
 * says lines of JSON on control connections; why there is no machine is one line that names an
 * agent; an agent that is lost is lost with all its nodes, each told once; and when all agents have
 * hung up no connection, descriptor or memory is left of them.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "drivers/check.h"
#include "fuzz/fuzz.h"
#include "fuzz/input.h"
#include "host/cluster/root.h"
#include "host/cluster/root_parts.h"
#include "network/text.h"

enum {
    AGENTS = 3,
    NODES = 8,
    HOST_LINK = 1, /* its node is elsewhere */
    CONNECTIONS = 10,
    RAW_MAX = 255,
    FLOOD = CONNECTION_IN_MAX + 5000,
    TURNS = 4,
    QUIET_TURNS = 40,
    PATIENCE_TICKS = 40,
    ARRIVAL_TICKS = 20 /* at most, for a first line */
};

enum phase { PHASE_ALONE, PHASE_PRESENT, PHASE_DIVIDED, PHASE_PLACED, PHASE_RUNS, PHASE_COUNT };

enum move {
    DO_CONNECT,
    DO_RAW,
    DO_LINE,
    DO_LINE_AGAIN, /* most of what agents do */
    DO_CLOSE,
    DO_READ,
    DO_FLOOD,
    DO_TICKS,
    DO_DIVIDE,
    DO_PLACE,
    DO_JOIN,
    DO_FAR,
    DO_COUNT
};

static const char *const lines[] = {
    "{\"role\":\"control\",\"rank\":%d,\"computer\":\"oak\",\"version\":\"1\",\"memory\":%d000000}",
    "{\"role\":\"control\",\"rank\":%d,\"computer\":\"e\\nlm\",\"version\":\"1\",\"memory\":%d}",
    "{\"role\":\"control\",\"rank\":%d,\"computer\":\"ash\",\"version\":\"2\",\"refusal\":\"n%d\"}",
    "{\"role\":\"control\",\"rank\":\"%d\",\"computer\":%d}",
    "{\"role\":\"stream\",\"host\":%d,\"of\":%d}",
    "{\"role\":\"stream\",\"open\":%d,\"of\":%d}",
    "{\"role\":\"cable\",\"node\":%d,\"port\":%d}",
    "{\"is\":\"alive\",\"share\":%d,\"of\":%d}",
    "{\"is\":\"placed\",\"port\":%d,\"of\":%d}",
    "{\"is\":\"checked\",\"of\":[%d,%d]}",
    "{\"is\":\"died\",\"node\":%d,\"words\":\"killed\\u0007 by %d\"}",
    "{\"is\":\"died\",\"node\":%d,\"words\":%d}",
    "{\"is\":\"refused\",\"text\":\"no QEMU\\r\\n %d, %d\"}",
    "{\"is\":%d,\"text\":[%d]}",
    "[%d,%d]",
};

static struct root root;
static struct peers peers;
static uv_loop_t machine_loop;
static struct input input;
static int connections[CONNECTIONS], host_fd, taps[CONNECTIONS];
static bool divided, placed, told[NODES], killed[NODES];
static bool kept[CONNECTIONS]; /* that of come(), still */
static char directory[RUNDIR_PATH_MAX];

bool peers_pmix_told(void)
{
    return false;
}

int peers_pmix_find(struct peers *found, struct message *message)
{
    (void)found;
    return message_set(message, "no PMIx here");
}

static unsigned open_files(void)
{
    DIR *list = opendir("/proc/self/fd");
    unsigned count = 0;

    while (list && readdir(list)) {
        count++;
    }
    closedir(list);
    return count;
}

static void turn(void)
{
    for (unsigned i = 0; i < TURNS; i++) {
        uv_run(&root.loop, UV_RUN_NOWAIT);
    }
}

static struct sockaddr_un address_of(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory, name);
    return address;
}

static int listen_at(const char *name)
{
    struct sockaddr_un address = address_of(name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 100) == 0);
    return fd;
}

static int connect_to(const char *name)
{
    struct sockaddr_un address = address_of(name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void close_once(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

/* What rank 0 has said to an agent: lines of JSON. What streams carry is anything. Whether it told
 * of nodes that were lost. */
static bool read_all(int fd)
{
    static char text[1 << 16];
    bool lost = false;
    ssize_t bytes;

    while ((bytes = recv(fd, text, sizeof text - 1, 0)) > 0) {
        text[bytes] = '\0';
        lost |= strstr(text, "{\"do\":\"lost\",") != NULL;
        if (strncmp(text, "{\"do\":", 6) == 0) {
            char *end = memchr(text, '\n', (size_t)bytes);
            json_t *line = end ? json_loadb(text, (size_t)(end - text), 0, NULL) : NULL;

            CHECK(json_is_object(line));
            json_decref(line);
        }
    }
    return lost;
}

static void say(int fd)
{
    char text[300];
    unsigned which = input_u8(&input) % (sizeof lines / sizeof lines[0]);
    int a = (int8_t)input_u8(&input), b = (int8_t)input_u8(&input);

/* the formats above are all of two numbers */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int bytes = snprintf(text, sizeof text, lines[which], a, b);
#pragma GCC diagnostic pop
    text[bytes] = '\n';
    (void)!send(fd, text, (size_t)bytes + 1, MSG_NOSIGNAL);
}

static void flood(int fd, char byte)
{
    static char bytes[FLOOD];

    memset(bytes, byte, sizeof bytes);
    for (unsigned i = 0; i < 2; i++) {
        (void)!send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
        turn();
    }
}

/* Nobody says anything for so long that all are lost, whoever they are. */
static void pass(void)
{
    for (unsigned i = 0; i <= PATIENCE_TICKS; i++) {
        root.timer.timer_cb(&root.timer);
    }
    for (unsigned i = 1; i < AGENTS; i++) {
        CHECK(!root.members[i].connection);
    }
    for (unsigned i = 0; i < ARRIVAL_TICKS; i++) {
        root.arrivals.timer.timer_cb(&root.arrivals.timer);
    }
    CHECK(!root.arrivals.waiting);
}

/* The least of the agents that are there. */
static unsigned least_share(void)
{
    unsigned least = 1000;

    for (unsigned i = 1; i < AGENTS; i++) {
        const struct member *member = &root.members[i];

        least = member->connection && member->share < least ? member->share : least;
    }
    return least;
}

static void on_died(void *context, uint32_t node)
{
    struct launcher_lost lost;
    char text[LAUNCHER_NOTE_MAX];

    (void)context;
    CHECK(node < NODES && !told[node]);
    told[node] = true;
    if (root.far.lost(&root, node, &lost)) {
        CHECK(lost.node - lost.first < lost.count && strncmp(lost.text, "computer ", 9) == 0);
        CHECK(strpbrk(lost.text, "\r\n\a") == NULL);
    }
    root.far.describe(&root, node, text);
    CHECK(strpbrk(text, "\r\n\a") == NULL);
}

static void on_news(void *context)
{
    (void)context;
    root.far.reap(&root, on_died, NULL);
}

static bool all_are(enum member_state state)
{
    bool all = true;

    for (unsigned i = 1; i < AGENTS; i++) {
        all &= root.members[i].state == state;
    }
    return all;
}

static void divide(void)
{
    struct message message;

    divided =
        divided || (all_are(MEMBER_PRESENT) && root_divide(&root, &root.network, &message) == 0);
}

static void place(void)
{
    const struct root_start start = {.name = "lab"};
    struct message message;

    if (divided && !placed && all_are(MEMBER_CHECKED)) { /* it waits for nobody then */
        placed = true;
        root_place(&root, &start, &message);
    }
}

static void join(void)
{
    struct message message;

    if (placed && !root.joined && !root.taps && all_are(MEMBER_CHECKED) &&
        root.refusal[0] == '\0') {
        root.far.listen(&root, on_news, NULL);
        CHECK(root_join(&root, &machine_loop, directory, false, &message) == 0);
    }
}

/* The launcher does so once. */
static void take_host_link(void)
{
    struct message message;

    if (host_fd < 0 && root.host_fds[HOST_LINK] < 0) {
        CHECK(root.far.host_link(&root, HOST_LINK, &host_fd, &message) == 0);
    }
}

/* What the launcher and debuggers ask of a node elsewhere. */
static void ask_far(void)
{
    uint32_t here = root.members[0].range.count, node = here + input_u8(&input) % (NODES - here);
    unsigned what = input_u8(&input) % 5, port = input_u8(&input) % root.network.ports;
    uint32_t peer = network_neighbour(&root.network, node, port);
    char name[32];

    if (!root.joined) {
        return;
    }
    if (what == 0) {
        CHECK(!root.far.kill(&root, node) || !killed[node]); /* once */
        killed[node] = true;
    } else if (what == 1 && peer >= here) {
        root.far.cut(&root, node, peer);
    } else if (what == 2) {
        take_host_link();
    } else if (what == 3) {
        CHECK(root.far.share_permille(&root) == least_share());
    } else {
        snprintf(name, sizeof name, "n%u.%s", (unsigned)node, port & 1 ? "gdb" : "qmp");
        close_once(&taps[port]);
        taps[port] = connect_to(name);
    }
}

static void tell(int fd, const char *line)
{
    CHECK(send(fd, line, strlen(line), MSG_NOSIGNAL) == (ssize_t)strlen(line));
    turn();
}

/* The agents do what they should, as far as the input says. */
static void come(enum phase phase)
{
    for (unsigned i = 0; phase >= PHASE_PRESENT && i < AGENTS - 1; i++) {
        char line[120];

        snprintf(line, sizeof line,
                 "{\"role\":\"control\",\"rank\":%u,\"computer\":\"elm\",\"version\":\"1\","
                 "\"memory\":1000000000}\n",
                 i + 1);
        connections[i] = connect_to("root");
        tell(connections[i], line);
        kept[i] = true;
    }
    if (phase >= PHASE_DIVIDED) {
        divide();
        CHECK(divided);
    }
    for (unsigned i = 0; phase >= PHASE_PLACED && i < AGENTS - 1; i++) {
        tell(connections[i], "{\"is\":\"placed\",\"port\":7000}\n");
        tell(connections[i], "{\"is\":\"checked\"}\n");
    }
    if (phase >= PHASE_PLACED) {
        place();
        CHECK(placed && root.refusal[0] == '\0');
    }
    if (phase >= PHASE_RUNS) {
        join();
        CHECK(root.joined);
    }
}

static void operate(void)
{
    enum move move = input_u8(&input) % DO_COUNT;
    uint8_t byte = input_u8(&input);
    int *fd = &connections[byte % CONNECTIONS];
    const uint8_t *bytes;
    uint32_t count;

    switch (move) {
    case DO_CONNECT: *fd = *fd < 0 ? connect_to("root") : *fd; break;
    case DO_RAW:
        bytes = input_bytes(&input, input_u8(&input), &count);
        (void)!send(*fd, bytes, count, MSG_NOSIGNAL);
        break;
    case DO_LINE:
    case DO_LINE_AGAIN: say(*fd); break;
    case DO_CLOSE:
        close_once(fd);
        kept[byte % CONNECTIONS] = false;
        break;
    case DO_READ: read_all(*fd); break;
    case DO_FLOOD: flood(*fd, (char)input_u8(&input)); break;
    case DO_TICKS: pass(); break;
    case DO_DIVIDE: divide(); break;
    case DO_PLACE: place(); break;
    case DO_JOIN: join(); break;
    case DO_FAR: ask_far(); break;
    case DO_COUNT: break;
    }
    turn();
}

static void check(void)
{
    CHECK(root.refusal[0] == '\0' || strncmp(root.refusal, "computer ", 9) == 0 ||
          strncmp(root.refusal, "an agent at ", 12) == 0);
    CHECK(strpbrk(root.refusal, "\r\n\a") == NULL);
    for (unsigned i = 1; i < AGENTS; i++) {
        const struct member *member = &root.members[i];

        CHECK((member->connection != NULL) ==
              (member->state != MEMBER_ABSENT && member->state != MEMBER_GONE));
        for (uint32_t node = 0; root.taps && node < member->range.count; node++) {
            CHECK(member->state == MEMBER_RUNS || root.nodes[member->range.first + node].dead);
        }
    }
}

static void begin(void)
{
    const struct introduction self = {
        .computer = "here", .version = "1", .memory_bytes = 1000000000};
    const struct network_limits limits = {.nodes = NETWORK_NODES_MAX, .place = "here"};
    char error[NETWORK_ERROR_MAX];
    struct message message;
    struct network network;

    snprintf(directory, sizeof directory, "/tmp/agents-fuzz-XXXXXX");
    CHECK(mkdtemp(directory) && uv_loop_init(&machine_loop) == 0);
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        connections[i] = taps[i] = -1;
    }
    host_fd = -1;
    divided = placed = false;
    memset(told, 0, sizeof told);
    memset(kept, 0, sizeof kept);
    memset(killed, 0, sizeof killed);
    peers = (struct peers){.size = AGENTS, .listener = listen_at("root")};
    CHECK(root_gather(&root, &peers, &self, 0, &message) != 0); /* nobody is there */
    root.patience_ticks = PATIENCE_TICKS;
    CHECK(network_parse(&network, input_u8(&input) & 1 ? "cube:3" : "torus:2x4", &limits, error));
    network.host_links = HOST_LINK + 1;
    root.network = network;
    root_launcher_place(&root);
}

/* Of what waits in rank 0's loop when all others have hung up: its own sockets and timers. */
static void close_own(uv_handle_t *handle, void *context)
{
    unsigned *polls = context;
    int fd = -1;

    if (uv_is_closing(handle)) {
        return;
    }
    if (handle->type == UV_POLL && uv_fileno(handle, &fd) == 0 && fd != peers.listener) {
        (*polls)++;
    }
    uv_close(handle, NULL);
    if (fd >= 0) {
        close(fd);
    }
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

static void remove_directory(void)
{
    DIR *list = opendir(directory);
    struct dirent *entry;

    while ((entry = readdir(list)) != NULL) {
        unlinkat(dirfd(list), entry->d_name, 0);
    }
    closedir(list);
    CHECK(rmdir(directory) == 0);
}

/* Of two agents that run, the second hears that the first has hung up. */
static void lose_first(void)
{
    if (root.joined && all_are(MEMBER_RUNS) && kept[0] && kept[1]) {
        read_all(connections[1]);
        close_once(&connections[0]);
        turn();
        CHECK(root.members[1].state == MEMBER_GONE && read_all(connections[1]));
    }
}

static void finish(void)
{
    unsigned polls = 0;

    lose_first();
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        close_once(&connections[i]);
        close_once(&taps[i]);
    }
    take_host_link(); /* what its stream has brought waits for that */
    close_once(&host_fd);
    for (unsigned i = 0; i < QUIET_TURNS; i++) {
        turn();
    }
    check();
    for (unsigned i = 1; i < AGENTS; i++) {
        CHECK(root.members[i].connection == NULL);
    }
    CHECK(!root.openings && !root.arrivals.waiting);
    root_end(&root, 0, NULL);
    close_once(&root.host_fds[HOST_LINK]); /* of a link whose stream has not come */
    for (unsigned i = 0; i < QUIET_TURNS; i++) {
        turn();
    }
    uv_walk(&root.loop, close_own, &polls);
    CHECK(polls == root.tap_count);
    turn();
    CHECK(uv_loop_close(&root.loop) == 0);
    uv_walk(&machine_loop, close_handle, NULL);
    uv_run(&machine_loop, UV_RUN_NOWAIT);
    CHECK(uv_loop_close(&machine_loop) == 0);
    free(root.nodes);
    free(root.taps);
    remove_directory();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned files;

    if (size > FUZZ_INPUT_MAX) {
        return 0;
    }
    /* libuv opens what all loops of a process share with the first */
    CHECK(uv_loop_init(&machine_loop) == 0 && uv_loop_close(&machine_loop) == 0);
    files = open_files();
    input = (struct input){data, size};
    begin();
    come(input_u8(&input) % PHASE_COUNT);
    while (input.left > 0) {
        operate();
        check();
    }
    finish();
    CHECK(open_files() == files);
    return 0;
}
