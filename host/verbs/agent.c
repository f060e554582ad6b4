/*
 * agent.c - ecube agent: executes ecube-agent, a program of its own, since it needs libraries that
 * nobody else does (packages-cluster.txt).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/command/verbs.h"
#include "host/computer/target.h"
#include "host/console/message.h"
#include "host/verbs/agent.h"

static void refuse_option(const struct option_row *option, char *text, void *target)
{
    (void)text;
    (void)target;
    command_line_reject("--%s: not over several computers; 'ecube up --%s' is for one",
                        option->name, option->name);
}

const struct option_row agent_options[] = {
    {"key-file", "FILE",
     "the key that all agents share, in a file of mode 600 on every computer (default: rank 0 "
     "makes "
     "one, and PMIx tells the others)",
     option_text, OPTION_AT(struct agent_arguments, key_file)},
    {"dry-run", NULL, "show which computer gets which nodes, and the links between; start nothing",
     option_flag, OPTION_AT(struct agent_arguments, dry_run)},
    {0},
};

static const struct option_row option_rows[] = {
    {.more = agent_options, OPTION_AT(struct agent_words, agents)},
    {"jtag", NULL, "refused: a JTAG chain is for one computer", refuse_option, .at = 0},
    {"blank", NULL, "refused, likewise", refuse_option, .at = 0},
    {.more = run_options, OPTION_AT(struct agent_words, run), .group = 1},
    {.more = options_name, OPTION_AT(struct agent_words, name), .group = 3},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .words = "[[--node NODES PROGRAM]... PROGRAM [ARGUMENT...]]",
    .text =
        "One agent of a machine over several computers, each of which runs one, under mpirun or "
        "srun, or started by hand. The nodes are divided among the computers by their memory, "
        "at most 128 on each and 512 in all. Rank 0 runs PROGRAM as 'ecube run' does; without "
        "one it boots a machine that stays until 'ecube down', and is used on its computer."
        "\vBy hand each agent has ECUBE_RANK, ECUBE_SIZE and ECUBE_ROOT=HOST:PORT, where rank "
        "0 listens, in its environment, and a --key-file (doc/cluster.md).\n\n"
        "The exit status is that of 'ecube run' at rank 0; the others exit with 0, with 2 "
        "when the machine could not be, or with 3 when rank 0 is gone.\n\n"
        "Examples: mpirun -n 4 ecube agent --network cube:8 hello.elf\n"
        "          srun --mpi=pmix -N 4 ecube agent --network cube:8 --name lab (not tried)\n"
        "          ecube run --hosts FILE --network cube:8 hello.elf, which calls mpirun",
    .take_word = options_take_program,
    .words_at = offsetof(struct agent_words, run.load),
    .in_order = true,
};

void agent_parse(struct agent_words *words, int argc, char **argv)
{
    *words = (struct agent_words){
        .run = {.machine = options_machine_defaults(), .load = options_load_defaults()}};
    words->run.machine.divided = true;
    command_line_parse(&command_line, argc, argv, words);
}

int agent_find(char path[TARGET_PATH_MAX], struct message *message)
{
    static const char *const places[] = {"ecube-agent", "../lib/ecube/ecube-agent", NULL};

    return target_find_part(path, "ecube-agent", places, message) == 0
               ? 0
               : message_set(message, "ecube-agent is not built: 'make cluster' does it, with the "
                                      "packages in packages-cluster.txt");
}

int verb_agent(int argc, char **argv)
{
    static struct agent_words words;
    char path[TARGET_PATH_MAX];
    struct message message;

    if (agent_find(path, &message) == 0) {
        execv(path, argv);
        message_set(&message, "cannot run %.300s: %s", path, strerror(errno));
    } else {
        agent_parse(&words, argc, argv); /* which knows --help, too */
    }
    return message_print(&message);
}
