/*
 * completion.h - what may stand next on a command line, for a shell that completes words.
 *
 * It is read off the words that --help shows, so that nothing is said twice: in "show OPERATION"
 * and "--map gray|cycle|FILE" what begins with a small letter or a digit stands for itself, and
 * capitals for one of many. A list of these is offered where there is one (NETWORK, MACHINE, ...).
 * Where nothing is offered the shell offers files.
 *
 *     $ ecube complete plan sh              $ ecube complete run --network t
 *     show                                  torus:
 *
 * What ends with ':' is not yet a whole word.
 */
#pragma once

struct command_line;
struct option_row;
struct completion;

/* Of words that only one verb has: what a word of --help in capitals may be. */
struct completion_kind {
    const char *placeholder; /* "SCENARIO"; NULL ends a table */
    void (*list)(struct completion *completion);
};

/* For `list`: prints the name if what has been typed is its beginning. */
void completion_offer(struct completion *completion, const char *name);

/* Prints what the last of count words may become, a line each; the others stand before it, and rows
 * are all of the verb's options. */
void completion_print(const struct command_line *line, const struct option_row *const *rows,
                      int row_count, char **words, int count);

/* The same of the only word: the names of verbs, and of what is in their place. */
void completion_print_names(const char *typed, const char *(*name)(unsigned index));

/* Of a verb's SCENARIO: the collectives that there are. */
void completion_list_operations(struct completion *completion);
