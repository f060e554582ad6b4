/*
 * client.c - how a verb finds a machine that is up, and how long it waits for it.
 *
 * A process that holds a machine answers at once, even in a boot. So silence has two causes. A
 * process that is stopped (Ctrl-Z, a debugger) answers nobody, and is given up as soon as that is
 * seen. One that is only busy gets much longer, for the computer may be overloaded.
 */
#include "host/machine/client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/computer/target.h"
#include "host/machine/rundir.h"

enum { ANSWER_MS = CLIENT_ANSWER_MS, BUSY_MS = 20 * ANSWER_MS };

struct found {
    unsigned count;
    char name[RUNDIR_NAME_MAX + 1]; /* the first */
    char names[200];
};

/* A socket's time for sending is that for connecting, too. */
int client_open(const char *name, bool wait)
{
    const struct timeval patience = {.tv_sec = ANSWER_MS / 1000};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[RUNDIR_PATH_MAX];
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK), 0);
    int error;

    rundir_path(path, name);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/control", path);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    }
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static void visit(void *context, const char *name)
{
    struct found *found = context;
    int fd = client_open(name, false);
    size_t used = strlen(found->names);

    /* A full queue of connections is a machine too: its process is stopped. */
    if (fd >= 0) {
        close(fd);
    } else if (errno != EAGAIN) { /* that of a run, or one whose machine is just ending */
        return;
    }
    if (found->count == 0) {
        snprintf(found->name, sizeof found->name, "%s", name);
    }
    snprintf(found->names + used, sizeof found->names - used, "%s%s", found->count ? ", " : "",
             name);
    found->count++;
}

/* False: the machine is not used on another computer, as far as is known here. */
static bool explain_elsewhere(const char *name, struct message *message)
{
    char found[RUNDIR_NAME_MAX + 1], computer[RUNDIR_COMPUTER_MAX];

    if (!rundir_find_elsewhere(name, found, computer)) {
        return false;
    }
    message_set(message,
                "the machine named '%s' is used on computer %s, where its rank 0 is: here are only "
                "nodes of it",
                found, computer);
    return true;
}

/* Why there is no connection. Returns the exit status, negative. */
static int explain_no_connection(const char *name, int error, struct message *message)
{
    char path[RUNDIR_PATH_MAX];

    rundir_path(path, name);
    if (error != EAGAIN && access(path, F_OK) != 0 && explain_elsewhere(name, message)) {
        return -STATUS_BAD_INPUT;
    }
    if (error == EAGAIN) {
        message_set(message,
                    "the machine named '%.40s' takes no more connections: is its process stopped?",
                    name);
        return -STATUS_MACHINE;
    }
    message_set(message,
                access(path, F_OK) == 0
                    ? "the machine named '%.40s' takes no requests: it is just starting or "
                      "ending, or an 'ecube run'"
                    : "no machine named '%.40s' is up: start it with 'ecube up --name %.40s'",
                name, name);
    return -STATUS_BAD_INPUT;
}

int client_connect(const char *name, struct message *message)
{
    struct found found = {0};
    int fd;

    rundir_sweep();
    if (!name) {
        rundir_list(visit, &found);
        if (found.count == 0 && explain_elsewhere(NULL, message)) {
            return -STATUS_BAD_INPUT;
        }
        if (found.count == 0) {
            message_set(message, "no machine is up: start one with 'ecube up'");
            return -STATUS_BAD_INPUT;
        }
        if (found.count > 1) {
            message_set(message, "several machines are up (%s): choose one with --name",
                        found.names);
            return -STATUS_BAD_INPUT;
        }
        name = found.name;
    }
    if (rundir_name_check(name, message) != 0) {
        return -STATUS_BAD_INPUT;
    }
    fd = client_open(name, true);
    return fd < 0 ? explain_no_connection(name, errno, message) : fd;
}

int client_send(int fd, json_t *request)
{
    char *text = json_dumps(request, JSON_COMPACT);
    size_t bytes = text ? strlen(text) : 0;
    int result = -1;

    json_decref(request);
    if (text) {
        text[bytes] = '\n';
        result = send(fd, text, bytes + 1, MSG_NOSIGNAL) == (ssize_t)bytes + 1 ? 0 : -1;
        free(text);
    }
    return result;
}

/* The process that holds the machine: it has made the socket. 0: it is not known. */
static pid_t holder_of(int fd)
{
    struct ucred holder = {0};
    socklen_t bytes = sizeof holder;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &holder, &bytes) == 0 ? holder.pid : 0;
}

/* Its state stands behind its name, which is in brackets and may hold any character. */
static bool is_stopped(pid_t process)
{
    char path[32], text[80] = "";
    const char *bracket;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    file = fopen(path, "re");
    if (!file) {
        return false;
    }
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    bracket = strrchr(text, ')');
    return bracket && strncmp(bracket, ") T", 3) == 0;
}

/* False, with a message, when it is stopped. */
static bool holder_goes_on(int fd, struct message *message)
{
    pid_t holder = holder_of(fd);

    if (holder == 0 || !is_stopped(holder)) {
        return true;
    }
    message_set(message,
                "the machine does not answer: its process %d is stopped; 'kill -CONT %d' lets it "
                "go on, 'kill -9 %d' ends the machine",
                (int)holder, (int)holder, (int)holder);
    return false;
}

bool client_ended(int fd)
{
    char byte;
    ssize_t bytes = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    return bytes == 0 || (bytes < 0 && errno != EAGAIN && errno != EINTR);
}

/* Until the machine says something, or has ended. It does so at once, whatever it has been asked:
 * one whose process is stopped is not waited for, one that is busy is for longer. */
static int await_word(int fd, struct message *message)
{
    struct pollfd end = {.fd = fd, .events = POLLIN};

    for (unsigned waited_ms = 0; waited_ms < BUSY_MS; waited_ms += ANSWER_MS) {
        if (poll(&end, 1, ANSWER_MS) > 0) {
            return 0;
        }
        if (!holder_goes_on(fd, message)) {
            return -1;
        }
    }
    return message_set(message, "the machine has not answered for %d s: its process %d is busy",
                       BUSY_MS / 1000, (int)holder_of(fd));
}

static int send_request(int fd, json_t *request, struct message *message)
{
    if (client_send(fd, request) == 0) {
        return 0;
    }
    return holder_goes_on(fd, message) ? message_set(message, "the machine does not take requests")
                                       : -1;
}

/* Where the answers come from. A process that is stopped amid them is not waited for. */
struct answers {
    int fd;
    struct message *message;
    bool given_up; /* with that message */
};

/* A program may print nothing for hours, so the wait for its next line has no bound of its own. */
static ssize_t read_on(void *context, char *buffer, size_t room)
{
    struct answers *answers = context;
    struct pollfd end = {.fd = answers->fd, .events = POLLIN};

    while (poll(&end, 1, ANSWER_MS) == 0) {
        if (!holder_goes_on(answers->fd, answers->message)) {
            answers->given_up = true;
            return 0;
        }
    }
    return recv(answers->fd, buffer, room, 0);
}

/* The answers, to the last one. */
static json_t *read_answers(FILE *answers, void (*event)(void *context, const json_t *event),
                            void *context)
{
    json_t *last = NULL;
    char *line = NULL;
    size_t room = 0;

    while (!last && getline(&line, &room, answers) > 0) {
        json_t *answer = json_loads(line, 0, NULL);
        const char *kind = json_string_value(json_object_get(answer, "event"));

        if (kind && (strcmp(kind, "end") == 0 || strcmp(kind, "error") == 0)) {
            last = answer;
        } else {
            if (kind && event) {
                event(context, answer);
            }
            json_decref(answer);
        }
    }
    free(line);
    return last;
}

json_t *client_ask(int fd, json_t *request, void (*event)(void *context, const json_t *event),
                   void *context, struct message *message)
{
    struct answers answers = {.fd = fd, .message = message};
    FILE *lines;
    json_t *last;

    if (send_request(fd, request, message) != 0 || await_word(fd, message) != 0) {
        return NULL;
    }
    lines = fopencookie(&answers, "r", (cookie_io_functions_t){.read = read_on});
    last = lines ? read_answers(lines, event, context) : NULL;
    if (!last && !answers.given_up) {
        message_set(message, "the machine has ended");
    }
    if (lines) {
        fclose(lines);
    }
    return last;
}

int client_status(const json_t *answer)
{
    const char *text = json_string_value(json_object_get(answer, "text"));
    struct message message;

    if (text) {
        message_set(&message, "%s", text);
        message_print(&message);
    }
    return (int)json_integer_value(json_object_get(answer, "status"));
}

int client_run(const char *name, json_t *request, void (*event)(void *context, const json_t *event),
               void *context, json_t **answer)
{
    struct message message;
    int fd = client_connect(name, &message);
    json_t *last;
    int status;

    if (answer) {
        *answer = NULL;
    }
    if (fd < 0) {
        json_decref(request);
        message_print(&message);
        return -fd;
    }
    last = client_ask(fd, request, event, context, &message);
    close(fd);
    if (!last) {
        message_print(&message);
        return STATUS_MACHINE;
    }
    status = client_status(last);
    if (answer && !json_object_get(last, "text")) {
        *answer = json_incref(last);
    }
    json_decref(last);
    return status;
}

/* Whether nothing of the machine is left. */
static int await_end(int fd, struct message *message)
{
    struct pollfd end = {.fd = fd}; /* whatever is unread: only its end is waited for */

    for (unsigned waited_ms = 0; waited_ms < BUSY_MS; waited_ms += ANSWER_MS) {
        if (poll(&end, 1, ANSWER_MS) > 0) {
            return 0;
        }
        if (!holder_goes_on(fd, message)) {
            return -1;
        }
    }
    return message_set(message, "the machine has not ended for %d s: its process %d is still there",
                       BUSY_MS / 1000, (int)holder_of(fd));
}

int client_end(int fd)
{
    struct message message;
    json_t *answer = client_ask(fd, json_pack("{s:s}", "verb", "down"), NULL, NULL, &message);
    int status = answer ? client_status(answer) : 0;

    json_decref(answer);
    if (status != 0 || client_ended(fd)) {
        return status;
    }
    /* The answer comes before the end. `down` returns when a new machine of that name can start. */
    if (answer && await_end(fd, &message) == 0) {
        return 0;
    }
    message_print(&message);
    return STATUS_MACHINE;
}

json_t *client_info(const char *name, int *status, struct message *message)
{
    int fd = client_connect(name, message);
    json_t *answer;
    const char *text;

    *status = STATUS_BAD_INPUT;
    if (fd < 0) {
        *status = -fd;
        return NULL;
    }
    answer = client_ask(fd, json_pack("{s:s}", "verb", "info"), NULL, NULL, message);
    close(fd);
    text = json_string_value(json_object_get(answer, "text"));
    *status = answer ? STATUS_BAD_INPUT : STATUS_MACHINE;
    if (text) {
        message_set(message, "%s", text);
        json_decref(answer);
        answer = NULL;
    }
    text = json_string_value(json_object_get(answer, "board"));
    if (text && target_choose(text, message) != 0) {
        json_decref(answer);
        answer = NULL;
    }
    return answer;
}

void client_take_board(const char *name)
{
    struct message message;
    int status;

    json_decref(client_info(name, &status, &message));
}

int client_check_free(const json_t *machine, int node, struct message *message)
{
    const json_t *list = json_object_get(machine, "debuggers");
    size_t nodes = json_array_size(list);

    for (size_t i = 0; i < nodes; i++) {
        const char *holder = json_string_value(json_object_get(json_array_get(list, i), "holder"));

        if (holder && (node == CLIENT_ALL_NODES || node == (int)i)) {
            return message_set(message, "node %u is held by %s: it can have one debugger",
                               (unsigned)i, holder);
        }
    }
    return 0;
}
