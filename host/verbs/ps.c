/*
 * ps.c - ecube ps: the nodes of a machine that is up, program, what it waits for, model time,
 * traffic; or its links. ecube top: its links, again and again.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/console/cell.h"
#include "host/machine/client.h"
#include "host/command/duration.h"
#include "host/console/fold.h"
#include "host/console/terminal.h"
#include "host/job/traffic.h"
#include "host/command/options.h"
#include "host/command/output.h"
#include "host/command/verbs.h"

/* Columns of a time and a count; what a node does has the rest of the line, 29 of 80. */
enum { TIME = 12, COUNT = 5 };

static const char *const counters[] = {"frames_sent", "frames_received", "frames_resent",
                                       "circuits_forwarded"};

struct ps {
    struct name_arguments name_arguments;
    const char *json;
    bool links;
};

static const struct option_row option_rows[] = {
    {"links", NULL, "show directed links in place of nodes, the busiest first", option_flag,
     OPTION_AT(struct ps, links), .letter = 'l'},
    {"json", "FILE",
     "write everything, all counters too, to FILE (-: standard output, and the table to standard "
     "error)",
     option_text, OPTION_AT(struct ps, json)},
    {.more = options_name, OPTION_AT(struct ps, name_arguments), .group = 1},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .text = "Shows the nodes of a machine that is up: state of the program, model time, frames "
            "sent, received and sent again, circuits forwarded, and what the program does: where "
            "it computes, or what it waits for and for whom."
            "\vA send that the receiver \"has not asked for\" has no matching receive there. A "
            "node keeps 64 messages that its program has not received; where these places are full "
            "a send waits. A collective begins when all programs have called it: a program that "
            "waits \"for rank 5 to enter\" waits because rank 5 has not called it yet. Open "
            "requests are those that the program has not waited for yet.\n\n"
            "In --json each of \"nodes\" has \"doing\" (these words), \"requests\" (the open "
            "ones), \"stored\" (messages that have come and are not received), \"wait\" and "
            "\"collective\", null when there is none:\n\n"
            "  wait: kind (send, receive, probe, any, collective, plan, console, reader, sleep, "
            "region); "
            "of a message peer, tag (null: any), bytes and stage (open: nothing has come; known: "
            "the receiver's node knows of it; full: it has no place for it; moves); of a probe "
            "peer and tag; of any, which is one of several, requests (their number); of a sleep "
            "left_us; of a region region (its name) and bytes; polls (true) when the program tests "
            "again "
            "and again\n"
            "  collective (waited for or not): operation, bytes, root, stage (entry, steps), peer "
            "(missing at the entry, or of the step), step, steps\n\n"
            "A row of --links is a directed link: node, port and the node (or host) that it leads "
            "to. Of the job, or the last one: load, the share of the model time in which a circuit "
            "had the link; busy us, that time; waited us, the model time for which circuits waited "
            "for it; circuits and bytes that have gone over it; refused, circuits that were sent "
            "back for want of it and tried again. Since the boot: frames sent, sent again, and "
            "received broken at the other end; host B, bytes of downloads and gathers.\n\n"
            "Examples: ecube ps --name lab\n"
            "          ecube ps --links --json - | jq '.traffic.links[0]'",
};

static double counter(const json_t *node, const char *name)
{
    return json_number_value(json_object_get(json_object_get(node, "counters"), name));
}

/* "cube:3, whole" or "cube:3, broken, dead: node 3, link 0-1" */
static void print_machine(const json_t *answer)
{
    size_t i;
    json_t *name;

    printf("%s, %s", json_string_value(json_object_get(answer, "network")),
           json_string_value(json_object_get(answer, "state")));
    json_array_foreach(json_object_get(answer, "dead"), i, name)
    {
        printf("%s%s", i == 0 ? ", dead: " : ", ", json_string_value(name));
    }
    putchar('\n');
}

static void print_nodes(const json_t *answer)
{
    size_t i;
    json_t *node;

    print_machine(answer);
    printf("%4s %-8s %*s %*s %*s %*s %*s  %s\n", "node", "program", TIME, "model us", COUNT, "sent",
           COUNT, "recvd", COUNT, "again", COUNT, "relay", "doing");
    json_array_foreach(json_object_get(answer, "nodes"), i, node)
    {
        char time[CELL_MAX], counts[4][CELL_MAX];

        printf("%4lld %-8s %*s", json_integer_value(json_object_get(node, "node")),
               json_string_value(json_object_get(node, "program")), TIME,
               cell_real(time, TIME, json_number_value(json_object_get(node, "model_us"))));
        for (unsigned c = 0; c < 4; c++) {
            printf(" %*s", COUNT, cell_count(counts[c], COUNT, counter(node, counters[c])));
        }
        printf("  %c%s\n", FOLD_HANG, json_string_value(json_object_get(node, "doing")));
    }
}

static json_t *request(bool links)
{
    return json_pack("{s:s, s:b}", "verb", "ps", "links", (int)links);
}

int verb_ps(int argc, char **argv)
{
    struct ps ps = {0};
    struct output output;
    struct message message;
    json_t *answer;
    int status;

    command_line_parse(&command_line, argc, argv, &ps);
    if (output_open(&output, ps.json, &message) != 0) {
        return message_print(&message);
    }
    status = client_run(ps.name_arguments.name, request(ps.links), NULL, NULL, &answer);
    if (!answer) {
        output_drop(&output);
        return status;
    }
    if (ps.links) {
        print_machine(answer);
        traffic_print(
            stdout, json_object_get(answer, "traffic"),
            &(struct traffic_view){.columns = terminal_columns(STDOUT_FILENO), .rows = SIZE_MAX});
    } else {
        print_nodes(answer);
    }
    /* These two are of the protocol between tool and machine. */
    json_object_del(answer, "event");
    json_object_del(answer, "status");
    if (output_write(&output, answer, &message) != 0) {
        status = message_print(&message);
    }
    json_decref(answer);
    return status;
}

/* top ------------------------------------------------------------------------------------------ */

enum {
    INTERVAL_MS = 1000,
    INTERVAL_MS_MIN = 100,
    HOUR_MS = 3600 * 1000,
    AROUND_LINES = 4 /* machine, heading, what is left out, and the cursor's */
};

struct top {
    struct name_arguments name_arguments;
    uint32_t interval_ms;
    uint32_t count; /* 0: without end */
};

static void take_interval(const struct option_row *option, char *text, void *target)
{
    uint64_t ns;

    (void)option;
    if (!duration_parse(text, duration_s_ns, INTERVAL_MS_MIN * duration_ms_ns,
                        HOUR_MS * duration_ms_ns, &ns)) {
        command_line_reject("--interval %.40s: use a time from 100ms to 1h, for example 500ms or "
                            "2s; a number alone is seconds",
                            text);
    }
    *(uint32_t *)target = (uint32_t)(ns / duration_ms_ns);
}

static const struct option_row top_rows[] = {
    {"count", "N", "end after N times", option_whole, OPTION_AT(struct top, count), .low = 1,
     .high = UINT32_MAX},
    {"interval", "TIME", "the time between two (default: 1s)", take_interval,
     OPTION_AT(struct top, interval_ms)},
    {.more = options_name, OPTION_AT(struct top, name_arguments), .group = 1},
    {0},
};

static const struct command_line top_line = {
    top_rows,
    .text = "Shows the links of a machine that is up, the busiest first, again and again: on a "
            "terminal as many as fit, elsewhere all, until Ctrl-C or the machine's end."
            "\vColumns are those of 'ecube ps --links'; B/s are the bytes a second, of wall time, "
            "since the time before.\n\n"
            "Example: ecube top --name lab --interval 2s",
};

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* On a terminal in place of what stands there. */
static void show_links(const json_t *answer, const json_t *before, double seconds)
{
    unsigned lines = terminal_lines(STDOUT_FILENO);
    struct traffic_view view = {.columns = terminal_columns(STDOUT_FILENO),
                                .rows = SIZE_MAX,
                                .before = before,
                                .seconds = seconds};

    if (terminal_redraws(STDOUT_FILENO)) {
        fflush(stdout);
        terminal_put(STDOUT_FILENO, terminal_clear_all, strlen(terminal_clear_all));
        view.rows = lines > AROUND_LINES ? lines - AROUND_LINES : lines ? 1 : SIZE_MAX;
    }
    print_machine(answer);
    traffic_print(stdout, json_object_get(answer, "traffic"), &view);
    fflush(stdout);
}

/* The name that it has, also when it was the only one at first. */
static int find_machine(const char *name, char *found, size_t room)
{
    struct message message;
    int status;
    json_t *info = client_info(name, &status, &message);

    if (!info) {
        message_print(&message);
        return status;
    }
    snprintf(found, room, "%s", json_string_value(json_object_get(info, "name")));
    json_decref(info);
    return 0;
}

/* Whether its end is why it has not answered. */
static bool is_gone(const char *name)
{
    int fd = client_open(name, true);
    bool gone = fd < 0 || client_ended(fd);

    if (fd >= 0) {
        close(fd);
    }
    return gone;
}

int verb_top(int argc, char **argv)
{
    struct top top = {.interval_ms = INTERVAL_MS};
    char name[256];
    json_t *answer = NULL, *before = NULL;
    double asked_s = 0;
    int status;

    command_line_parse(&top_line, argc, argv, &top);
    status = find_machine(top.name_arguments.name, name, sizeof name);
    for (uint32_t done = 0; status == 0 && (top.count == 0 || done < top.count); done++) {
        double before_s = asked_s;

        if (done > 0) {
            poll(NULL, 0, (int)top.interval_ms);
        }
        asked_s = now_s();
        status = client_run(name, request(true), NULL, NULL, &answer);
        if (!answer) {
            status = done > 0 && is_gone(name) ? 0 : status;
            break;
        }
        show_links(answer, json_object_get(before, "traffic"), asked_s - before_s);
        if (ferror(stdout)) { /* nobody reads it any more: main.c says so */
            break;
        }
        json_decref(before);
        before = answer;
        answer = NULL;
    }
    json_decref(answer);
    json_decref(before);
    return status;
}
