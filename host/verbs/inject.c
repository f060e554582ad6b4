/*
 * inject.c - ecube cut and ecube kill: faults for a machine that is up.
 */
#include "host/machine/client.h"
#include "host/command/options.h"
#include "host/command/verbs.h"

struct inject {
    struct name_arguments name_arguments;
    const char *missing; /* what to say when `what` is not there */
    const char *what;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct inject *inject = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &inject->name_arguments; break;
    case ARGP_KEY_ARG:
        if (inject->what) {
            options_reject("'%s' is one word too many", text);
        }
        inject->what = text;
        break;
    case ARGP_KEY_NO_ARGS: options_reject("%s", inject->missing); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&options_name_argp, 0, NULL, 1}, {0}};

static const struct argp cut_parser = {
    NULL,
    parse,
    "A-B",
    "Cuts the link between nodes A and B of a machine that is up. One that is dead already is "
    "refused.\vExample: ecube cut 0-1",
    children,
    NULL,
    NULL};

static const struct argp kill_parser = {NULL,
                                        parse,
                                        "NODE",
                                        "Kills a node of a machine that is up. One that is dead "
                                        "already is refused.\vExample: ecube kill 3",
                                        children,
                                        NULL,
                                        NULL};

static int inject(const struct argp *parser, const char *verb, const char *missing, int argc,
                  char **argv)
{
    struct inject arguments = {.missing = missing};

    options_parse(parser, argc, argv, 0, &arguments);
    return client_run(arguments.name_arguments.name,
                      json_pack("{s:s, s:s}", "verb", verb, "what", arguments.what), NULL, NULL,
                      NULL);
}

int verb_cut(int argc, char **argv)
{
    return inject(&cut_parser, "cut", "name the link, as in 'ecube cut 0-1'", argc, argv);
}

int verb_kill(int argc, char **argv)
{
    return inject(&kill_parser, "kill", "name the node, as in 'ecube kill 3'", argc, argv);
}
