/*
 * options.h - command-line options that several verbs share: each table, and the struct that it
 * fills.
 *
 * A verb has the struct as a member, and in its own table a row that joins the shared one.
 */
#pragma once

#include <stdbool.h>

#include "collectives/operation.h"
#include "host/command/command_line.h"
#include "host/command/map_option.h"
#include "host/console/choice.h"
#include "host/job/request.h"
#include "host/machine/machine.h"
#include "host/profile/profiles.h"

enum { SIGMA_NOT_GIVEN = -1 };

/* --ports: numbers of ports to be compared, by who takes more than one. */
struct ports_wanted {
    uint8_t count, all[CLOCK_PORTS_MAX];
    bool many; /* more than one may be given */
};

/* --network, --profile, --sigma (the network), --host-links, --map, --as, --algorithm, --board,
 * --links, --patience, --kernel, --qemu */
struct machine_arguments {
    const char *network;
    uint32_t host_links; /* 0: not given */
    uint32_t paths;      /* 0: not given */
    const char *profile;
    double sigma;              /* SIGMA_NOT_GIVEN: the profile's */
    struct ports_wanted ports; /* none: the profile's */
    const char *algorithm;     /* NULL: not given */
    const char *board;         /* NULL: not given */
    const char *links;         /* NULL: not given */
    uint32_t patience_ms;      /* 0: not given */
    const char *kernel;
    const char *qemu;
    struct map_wanted map;
    bool divided; /* over computers: link_maker_choose is called where each part is known */
};

/* --common, --input, --window, --stride, --pad, --private, --file */
struct data_arguments {
    struct job_data list[JOB_DATA_MAX];
    unsigned count;
    const char *standard_input; /* --stdin; NULL: not given */
};

/* --trace, --node, --strategy, --x, --explain, --timeout, --output, --files-to, --json, --quiet,
 * --verbose, --check, those of data, and PROGRAM ARGUMENT... */
struct load_arguments {
    const char *strategy;
    int x;
    bool explain;
    uint32_t timeout_ms;
    struct outputs_request outputs;
    const char *trace, *report;
    const char *json;
    bool quiet;
    bool verbose;
    bool check;
    unsigned reports; /* lines that a program of the tool's own reports (view.h) */
    struct data_arguments data;
    struct map_wanted map; /* of `load`: the machine's, with all other verbs */
    struct job_program programs[JOB_PROGRAMS_MAX];
    unsigned program_count;
    const char *nodes; /* of the program that is named next; NULL: of all others */
    const char *const *arguments;
    unsigned argument_count;
};

/* --name */
struct name_arguments {
    const char *name;
};

extern const struct option_row options_network[];    /* sets a struct machine_arguments, too */
extern const struct option_row options_host_links[]; /* the same */
extern const struct option_row options_paths[];      /* the same */
extern const struct option_row options_machine[];
extern const struct option_row options_load[];
extern const struct option_row options_data[];
extern const struct option_row
    options_parts[]; /* of a scatter; sets a struct data_arguments, too */
extern const struct option_row options_stdin[]; /* sets a struct data_arguments, too */
extern const struct option_row options_name[];
extern const struct option_row options_outputs[]; /* sets a struct outputs_request */

/* The word is a program, and all that follow are its own: where they stand, and how many. */
const char *const *options_take_rest(struct argp_state *state, unsigned *count);

/* [--node NODES PROGRAM]... PROGRAM ARGUMENT...: a take_word that sets a struct load_arguments. */
void options_take_program(char *word, void *target, struct argp_state *state);

/* The time of --timeout, in ms: a uint32_t. */
void options_take_timeout(const struct option_row *option, char *text, void *target);

/* The order of the download that a word names. */
int options_find_strategy(const char *text, enum strategy *strategy, struct message *message);

/* Offers the collectives that there are, by both names of those that have two. Returns the one that
 * the word names; OPERATIONS: none. */
uint32_t options_choose_operation(struct choice *choice);

/* The network that a word names. */
int options_find_network(const char *text, const struct network_limits *limits,
                         struct network *network, struct message *message);

/* Gives the network the host links that were asked for, if any were. */
int options_find_host_links(const struct machine_arguments *arguments, struct network *network,
                            struct message *message);

/* The paths that long messages go over, if the profile's ports allow them. */
int options_find_paths(const struct machine_arguments *arguments, const struct profile *profile,
                       const char *profile_name, uint8_t *paths, struct message *message);

/* What --parameter is, and its number, of an operation that has one on this network. */
extern const char options_parameter_words[];
int options_find_parameter(const struct operation *operation, const struct network *network,
                           const char *text, uint32_t *value, struct message *message);

/* Takes the words of --type and --operator; what there is not is told with all that there are. */
int options_find_type(const char *text, uint32_t *type, struct message *message);
int options_find_operator(const char *text, uint32_t *operator_, struct message *message);

/* A help_filter of argp: the list of collectives, and a full stop, end the verb's description. */
char *options_name_operations(int key, const char *text, void *input);

/* Defaults of the structs above. */
struct machine_arguments options_machine_defaults(void);
struct load_arguments options_load_defaults(void);

/* The machine that --profile, --sigma and --ports name, and its name; a network has nodes with so
 * many links (NULL: that is not asked). */
int options_find_profile(const struct machine_arguments *arguments, const struct network *network,
                         struct profile *profile, char name[PROFILE_NAME_MAX],
                         struct message *message);

/* The number of --sigma: a double. */
void options_take_sigma(const struct option_row *option, char *text, void *target);

/* Turns the words into a machine to start, and finds kernel and QEMU. */
int options_make_machine(const struct machine_arguments *arguments, struct machine_options *options,
                         struct target *target, struct message *message);

/* Turns the words into a job, and reads the programs once so that a bad one is told before
 * anything starts. */
int options_make_job(const struct load_arguments *arguments, struct job_request *request,
                     struct message *message);

/* The message names the command that makes of the program one with checks; returns -1. */
int options_reject_unchecked(const struct image *image, const char *path, struct message *message);

/* What --help says of data, for the verbs that load some. */
#define OPTIONS_DATA_WORDS                                                                         \
    "Data: nodes get it with the program, and find it by calls of ecube.h. What they have in "     \
    "common travels once. Node i gets of an --input the --window bytes from i times --stride on; " \
    "without --window an equal part."

/* Adds "program", "programs", "arguments" and "data" to the object of --json. */
void options_describe_job(const struct job_request *request, json_t *result);

/* Takes "A-B,C-D": two cables to cross; the network must be known. */
int options_add_crossing(struct machine_options *options, const char *text,
                         struct message *message);

/* Takes "A-B@PHASE[+TIME]", where A may be "host", or "N@PHASE[+TIME]"; the network must be known.
 */
int options_add_injection(struct machine_options *options, const char *text, bool kill,
                          struct message *message);
