#include "host/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/rundir.h"

struct found {
    unsigned count;
    char name[RUNDIR_NAME_MAX + 1]; /* the first */
    char names[200];
};

int client_open(const char *name, bool wait)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[RUNDIR_PATH_MAX];
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK), 0);
    int error;

    rundir_path(path, name);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/control", path);
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
    int fd = client_open(name, true);
    size_t used = strlen(found->names);

    if (fd < 0) { /* the directory of a run, or one whose machine is just ending */
        return;
    }
    close(fd);
    if (found->count == 0) {
        snprintf(found->name, sizeof found->name, "%s", name);
    }
    snprintf(found->names + used, sizeof found->names - used, "%s%s", found->count ? ", " : "",
             name);
    found->count++;
}

int client_connect(const char *name, struct message *message)
{
    struct found found = {0};
    int fd;

    rundir_sweep();
    if (!name) {
        rundir_list(visit, &found);
        if (found.count == 0) {
            return message_set(message, "no machine is up: start one with 'ecube up'");
        }
        if (found.count > 1) {
            return message_set(message, "several machines are up (%s): choose one with --name",
                               found.names);
        }
        name = found.name;
    }
    if (rundir_name_check(name, message) != 0) {
        return -1;
    }
    fd = client_open(name, true);
    if (fd < 0) {
        return message_set(message,
                           "no machine named '%.40s' is up: start it with 'ecube up --name %.40s'",
                           name, name);
    }
    return fd;
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

json_t *client_ask(int fd, json_t *request, void (*event)(void *context, const json_t *event),
                   void *context, struct message *message)
{
    FILE *answers = fdopen(dup(fd), "r");
    json_t *last = NULL;
    char *line = NULL;
    size_t room = 0;

    if (!answers || client_send(fd, request) != 0) {
        message_set(message, "the machine does not take requests");
        if (answers) {
            fclose(answers);
        }
        return NULL;
    }
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
    fclose(answers);
    if (!last) {
        message_set(message, "the machine has ended");
    }
    return last;
}

int client_run(const char *name, json_t *request, void (*event)(void *context, const json_t *event),
               void *context, json_t **answer)
{
    struct message message;
    int fd = client_connect(name, &message);
    json_t *last;
    const char *text;
    int status;

    if (answer) {
        *answer = NULL;
    }
    if (fd < 0) {
        json_decref(request);
        return message_print(&message);
    }
    last = client_ask(fd, request, event, context, &message);
    close(fd);
    if (!last) {
        message_print(&message);
        return STATUS_MACHINE;
    }
    status = (int)json_integer_value(json_object_get(last, "status"));
    text = json_string_value(json_object_get(last, "text"));
    if (text) {
        message_set(&message, "%s", text);
        message_print(&message);
    } else if (answer) {
        *answer = json_incref(last);
    }
    json_decref(last);
    return status;
}

json_t *client_info(const char *name, struct message *message)
{
    int fd = client_connect(name, message);
    json_t *answer;
    const char *text;

    if (fd < 0) {
        return NULL;
    }
    answer = client_ask(fd, json_pack("{s:s}", "verb", "info"), NULL, NULL, message);
    close(fd);
    text = json_string_value(json_object_get(answer, "text"));
    if (text) {
        message_set(message, "%s", text);
        json_decref(answer);
        answer = NULL;
    }
    return answer;
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
