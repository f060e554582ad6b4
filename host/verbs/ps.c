/*
 * ps.c - ecube ps: the nodes of a machine that is up: program, what it waits for, model time,
 * traffic.
 */
#include <stdio.h>
#include <string.h>

#include "host/console/cell.h"
#include "host/machine/client.h"
#include "host/console/fold.h"
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
};

static const struct option_row option_rows[] = {
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
            "Example: ecube ps --name lab",
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
    status =
        client_run(ps.name_arguments.name, json_pack("{s:s}", "verb", "ps"), NULL, NULL, &answer);
    if (!answer) {
        output_drop(&output);
        return status;
    }
    print_nodes(answer);
    /* These two are of the protocol between tool and machine. */
    json_object_del(answer, "event");
    json_object_del(answer, "status");
    if (output_write(&output, answer, &message) != 0) {
        status = message_print(&message);
    }
    json_decref(answer);
    return status;
}
