/*
 * inject.c - ecube cut and ecube kill: faults for a machine that is up.
 */
#include "host/machine/client.h"
#include "host/command/options.h"
#include "host/command/verbs.h"

struct inject {
    struct name_arguments name_arguments;
    const char *what;
};

static const struct option_row option_rows[] = {
    {.more = options_name, OPTION_AT(struct inject, name_arguments), .group = 1},
    {0},
};

static const struct command_line cut_line = {
    option_rows,
    .words = "A-B",
    .text = "Cuts the link between nodes A and B of a machine that is up, or that between the host "
            "and a node, as host-0. One that is dead already is refused.\vExample: ecube cut 0-1",
    .take_word = word_only,
    .words_at = offsetof(struct inject, what),
    .missing = "name the link, as in 'ecube cut 0-1'",
};

static const struct command_line kill_line = {
    option_rows,
    .words = "NODE",
    .text = "Kills a node of a machine that is up. One that is dead already is refused.\vExample: "
            "ecube kill 3",
    .take_word = word_only,
    .words_at = offsetof(struct inject, what),
    .missing = "name the node, as in 'ecube kill 3'",
};

/* The process of the machine reads the words: only it knows the network, and what is dead. */
static int inject(const struct command_line *line, const char *verb, int argc, char **argv)
{
    struct inject arguments = {.what = NULL};

    command_line_parse(line, argc, argv, &arguments);
    return client_run(arguments.name_arguments.name,
                      json_pack("{s:s, s:s}", "verb", verb, "what", arguments.what), NULL, NULL,
                      NULL);
}

int verb_cut(int argc, char **argv)
{
    return inject(&cut_line, "cut", argc, argv);
}

int verb_kill(int argc, char **argv)
{
    return inject(&kill_line, "kill", argc, argv);
}
