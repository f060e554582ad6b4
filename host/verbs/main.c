/*
 * main.c - ecube: boots a machine of emulated nodes, downloads programs, shows what happened.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host/console/choice.h"
#include "host/console/message.h"
#include "host/console/version.h"
#include "host/command/command_line.h"
#include "host/command/plan_shelf.h"
#include "host/command/process.h"
#include "host/command/verbs.h"
#include "host/verbs/hosts.h"

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};

static const struct verb verbs[] = {
    {"run", verb_run, "boot a machine, run a program on every node, end the machine"},
    {"up", verb_up, "boot a machine that stays"},
    {"agent", verb_agent, "a machine over several computers, or a part of it"},
    {"load", verb_load, "run a program on a machine that is up"},
    {"list", verb_list, "show the machines that are up"},
    {"ps", verb_ps, "show the nodes of a machine that is up, or its links"},
    {"top", verb_top, "show the links of a machine that is up, again and again"},
    {"console", verb_console, "show what programs print on a machine that is up"},
    {"scatter", verb_scatter, "fill a region of the programs on a machine that is up"},
    {"gather", verb_gather, "fetch a region of the programs on a machine that is up"},
    {"debug", verb_debug, "GDB at a node of a machine that is up, or at all"},
    {"core", verb_core, "write a node of a machine that is up as an ELF core"},
    {"openocd", verb_openocd, "OpenOCD at the JTAG chain of a machine that is up"},
    {"cut", verb_cut, "cut a link of a machine that is up"},
    {"kill", verb_kill, "kill a node of a machine that is up"},
    {"down", verb_down, "end a machine that is up"},
    {"sim", verb_sim, "simulate a machine of up to 65536 nodes in model time"},
    {"bench", verb_bench, "measure messages and collectives over sizes"},
    {"report", verb_report, "make of the results of a run a page for a browser"},
    {"plan", verb_plan, "show or export the plan of a collective"},
    {"map", verb_map, "show how one network lies in another"},
    {"profile", verb_profile, "show the machines whose time is modelled, or find one from times"},
};

enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static const struct verb *find_verb(struct choice *choice, const char *name)
{
    choice_begin(choice, name);
    for (unsigned i = 0; i < VERB_COUNT; i++) {
        if (choice_offer(choice, verbs[i].name)) {
            return &verbs[i];
        }
    }
    return NULL;
}

static int run_verb(const struct verb *verb, int argc, char **argv)
{
    char name[32];

    snprintf(name, sizeof name, "ecube %s", verb->name);
    argv[0] = name;
    return verb->run(argc, argv);
}

static int print_help(FILE *file)
{
    fprintf(file,
            "Usage: ecube VERB [OPTION...]\n\n"
            "A machine of emulated ARM nodes: boot it, run programs on it, see what happened.\n\n");
    for (unsigned i = 0; i < VERB_COUNT; i++) {
        fprintf(file, "  %-8s %s\n", verbs[i].name, verbs[i].summary);
    }
    fprintf(file,
            "\nExample: ecube run --network cube:4 hello.elf\n"
            "\n'ecube VERB --help' tells more, 'ecube --version' prints the version.\n"
            "\nExit status: the largest of the programs' (0 to 255); 132, 133, 134, 136, 139 "
            "undefined instruction, breakpoint, abort, division by zero, memory fault; 159 an "
            "error of a call; 135 what the checks have found; 124 timeout; 3 a dead node or link; "
            "2 bad input; 141 the reader of "
            "the output is gone; after ecube_abort its status, 1 for 0.\n");
    return 0;
}

/* What may be in a verb's place; NULL behind the last. */
static const char *name_first_word(unsigned index)
{
    static const char *const others[] = {"help", "--help", "--version", NULL};

    return index < VERB_COUNT ? verbs[index].name : others[index - VERB_COUNT];
}

/* ecube complete WORD...: for the shells' completion, what the last word may become. */
static int complete(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const struct verb *verb;
    struct choice choice;
    char marker[] = COMMAND_LINE_COMPLETE;

    if (argc <= 2 || (strcmp(name, "help") == 0 && argc == 3)) {
        completion_print_names(argc > 1 ? argv[argc - 1] : "", name_first_word);
        return 0;
    }
    verb = find_verb(&choice, name);
    if (!verb) {
        return 0;
    }
    argv[1] = marker;
    return run_verb(verb, argc, argv);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    const struct verb *verb;
    struct choice choice;
    struct message message;

    process_begin();
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts("ecube " ECUBE_VERSION);
        return 0;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
        (strcmp(word, "help") == 0 && argc == 2)) {
        return print_help(stdout);
    }
    if (strcmp(word, "complete") == 0) {
        return process_end(complete(argc - 1, argv + 1));
    }
    if (strcmp(word, "launch") == 0) {
        return hosts_launch(argc - 1, argv + 1);
    }
    bool help = strcmp(word, "help") == 0;
    const char *name = help ? argv[2] : word;
    verb = find_verb(&choice, name);
    if (verb && help) {
        char option[] = "--help";
        char *arguments[] = {argv[0], option, NULL};

        return run_verb(verb, 2, arguments);
    }
    if (verb) {
        plan_shelf_begin();
        return process_end(run_verb(verb, argc - 1, argv + 1));
    }
    if (choice.near) {
        message_set(&message, "unknown verb '%.40s': did you mean %s?", name, choice.near);
    } else {
        message_set(&message,
                    name[0] ? "unknown verb '%.40s': 'ecube help' lists them"
                            : "name a verb%s: 'ecube help' lists them",
                    name);
    }
    return message_print(&message);
}
