/*
 * list.c - ecube list: the machines that are up, with the sockets by which others reach them.
 *
 * All are asked at once, so that one which does not answer delays the list by ANSWER_MS and no
 * more, however many such there are.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/machine/client.h"
#include "host/console/fold.h"
#include "host/command/output.h"
#include "host/machine/rundir.h"
#include "host/command/command_line.h"
#include "host/command/verbs.h"

enum { ANSWER_MS = CLIENT_ANSWER_MS, ANSWER_MAX = 1 << 16, MACHINES_MAX = 256 };

struct listed {
    char name[RUNDIR_NAME_MAX + 1];
    int fd; /* below 0: it takes nobody */
    char *text;
    size_t bytes;
    json_t *answer; /* NULL: none has come */
    bool ended;     /* while it was asked */
};

struct list {
    const char *json;
    struct listed machines[MACHINES_MAX];
    unsigned count;
};

static const struct option_row option_rows[] = {
    {"json", "FILE",
     "write it to FILE as JSON (-: standard output, and the table to standard error)", option_text,
     OPTION_AT(struct list, json)},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .text = "Shows your machines that are up: name, network, state, age, and the directory in "
            "which their sockets lie: n0.gdb, n1.gdb, ... for GDB."
            "\vA machine is whole; broken, when a node or link is dead; booting; or silent, when "
            "it has not answered within three seconds.\n\n"
            "Example: ecube list",
};

/* A directory whose machine takes nobody may be that of a run, or of one that is just ending. */
static void visit(void *context, const char *name)
{
    struct list *list = context;
    struct listed *machine = &list->machines[list->count];
    int fd = list->count < MACHINES_MAX ? client_open(name, false) : -1;

    if (list->count == MACHINES_MAX || (fd < 0 && errno != EAGAIN)) {
        return;
    }
    *machine = (struct listed){.fd = fd};
    snprintf(machine->name, sizeof machine->name, "%s", name);
    if (fd >= 0 && client_send(fd, json_pack("{s:s}", "verb", "info")) != 0) {
        close(fd);
        return;
    }
    list->count++;
}

static void finish(struct listed *machine)
{
    close(machine->fd);
    machine->fd = -1;
    free(machine->text);
    machine->text = NULL;
}

/* Takes what has come; an answer is one line. */
static void take(struct listed *machine)
{
    char *text = machine->text ? machine->text : malloc(ANSWER_MAX);
    ssize_t bytes = 0;

    machine->text = text;
    if (text && machine->bytes < ANSWER_MAX) {
        bytes = read(machine->fd, text + machine->bytes, ANSWER_MAX - machine->bytes);
    }
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    machine->bytes += bytes > 0 ? (size_t)bytes : 0;
    if (bytes > 0 && text[machine->bytes - 1] != '\n') {
        return;
    }
    machine->answer = text ? json_loadb(text, machine->bytes, 0, NULL) : NULL;
    machine->ended = bytes <= 0;
    finish(machine);
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wait_for_answers(struct list *list)
{
    struct pollfd ends[MACHINES_MAX];
    int64_t end_ms = now_ms() + ANSWER_MS, left_ms;

    for (;;) {
        bool any = false;

        for (unsigned i = 0; i < list->count; i++) {
            ends[i] = (struct pollfd){.fd = list->machines[i].fd, .events = POLLIN};
            any |= ends[i].fd >= 0;
        }
        left_ms = end_ms - now_ms();
        if (!any || left_ms <= 0) {
            break;
        }
        if (poll(ends, list->count, (int)left_ms) < 0 && errno != EINTR) {
            break;
        }
        for (unsigned i = 0; i < list->count; i++) {
            if (ends[i].fd >= 0 && ends[i].revents) {
                take(&list->machines[i]);
            }
        }
    }
    for (unsigned i = 0; i < list->count; i++) {
        if (list->machines[i].fd >= 0) {
            finish(&list->machines[i]);
        }
    }
}

static void drop_ended(struct list *list)
{
    unsigned count = 0;

    for (unsigned i = 0; i < list->count; i++) {
        if (!list->machines[i].ended) {
            list->machines[count++] = list->machines[i];
        } else {
            json_decref(list->machines[i].answer);
        }
    }
    list->count = count;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct listed *)a)->name, ((const struct listed *)b)->name);
}

/* "17 s", "5 min", "3 h", "2 d" */
static void age_text(double seconds, char *text, size_t room)
{
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    unsigned i = 0;

    while (i < 3 && seconds < units[i].seconds) {
        i++;
    }
    snprintf(text, room, "%lu %s", (unsigned long)(seconds / units[i].seconds), units[i].unit);
}

static const char *string_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "-";
}

static void print_machine(const struct listed *machine, int name_width)
{
    const json_t *answer = machine->answer;
    const json_t *age_s = json_object_get(answer, "age_s");
    long long links = json_integer_value(json_object_get(answer, "host_links"));
    char path[RUNDIR_PATH_MAX], age[24] = "-", nodes[16] = "-", notes[48] = "";

    rundir_path(path, machine->name);
    if (json_is_number(age_s)) {
        age_text(json_number_value(age_s), age, sizeof age);
        snprintf(nodes, sizeof nodes, "%lld", json_integer_value(json_object_get(answer, "nodes")));
    }
    if (links > 0) {
        snprintf(notes, sizeof notes, " (%lld host link%s)", links, links == 1 ? "" : "s");
    }
    printf("%-*s  %-7s %5s  %-7s %7s  %c%s%s%s\n", name_width, machine->name,
           string_of(answer, "network"), nodes, answer ? string_of(answer, "state") : "silent", age,
           FOLD_HANG, path, notes,
           json_is_string(json_object_get(answer, "chain")) ? " (chain)" : "");
}

static void print_list(const struct list *list)
{
    int width = 4;

    if (list->count == 0) {
        puts("no machine is up: start one with 'ecube up'");
        return;
    }
    for (unsigned i = 0; i < list->count; i++) {
        int length = (int)strlen(list->machines[i].name);

        width = length > width ? length : width;
    }
    printf("%-*s  %-7s %5s  %-7s %7s  %s\n", width, "name", "network", "nodes", "state", "age",
           "sockets");
    for (unsigned i = 0; i < list->count; i++) {
        print_machine(&list->machines[i], width);
    }
}

/* What of the answers is for others; null: it has not answered. */
static json_t *describe(const struct list *list)
{
    static const char *const keys[] = {"network", "host_links", "nodes",
                                       "age_s",   "chain",      "kernel"};
    json_t *machines = json_array();
    char path[RUNDIR_PATH_MAX];

    for (unsigned i = 0; i < list->count; i++) {
        const struct listed *machine = &list->machines[i];
        json_t *object;

        rundir_path(path, machine->name);
        object = json_pack("{s:s, s:s, s:s}", "name", machine->name, "state",
                           machine->answer ? string_of(machine->answer, "state") : "silent",
                           "directory", path);
        for (unsigned k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            json_t *value = json_object_get(machine->answer, keys[k]);

            json_object_set_new(object, keys[k], value ? json_incref(value) : json_null());
        }
        json_array_append_new(machines, object);
    }
    return json_pack("{s:o}", "machines", machines);
}

int verb_list(int argc, char **argv)
{
    static struct list list;
    struct output output;
    struct message message;
    json_t *object;
    int status = 0;

    command_line_parse(&command_line, argc, argv, &list);
    if (output_open(&output, list.json, &message) != 0) {
        return message_print(&message);
    }
    rundir_sweep(); /* what dead tools have left would show as machines that take nobody */
    rundir_list(visit, &list);
    wait_for_answers(&list);
    drop_ended(&list);
    qsort(list.machines, list.count, sizeof list.machines[0], compare);
    print_list(&list);
    object = describe(&list);
    if (output_write(&output, object, &message) != 0) {
        status = message_print(&message);
    }
    json_decref(object);
    for (unsigned i = 0; i < list.count; i++) {
        json_decref(list.machines[i].answer);
    }
    return status;
}
