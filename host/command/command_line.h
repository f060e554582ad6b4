/*
 * command_line.h - what a verb takes, as a table: its options, its words, and its --help.
 *
 * A verb is a struct of what it is told, a table of options, and its work. An option names the
 * member that it sets, and the function that sets it. Options that several verbs have are tables of
 * their own (options.h), which a row joins to the verb's.
 *
 *     struct greet { const char *whom; bool loud; struct name_arguments name; };
 *
 *     static const struct option_row option_rows[] = {
 *         {"whom", "NAME", "who is greeted", option_text, OPTION_AT(struct greet, whom)},
 *         {"loud", NULL, "in capitals", option_flag, OPTION_AT(struct greet, loud), .letter = 'l'},
 *         {.more = options_name, OPTION_AT(struct greet, name), .group = 1},
 *         {0}};
 *     static const struct command_line command_line = {
 *         option_rows, .text = "Greets.\vExample: ecube greet"};
 *
 * argp reads the words and prints the help; only command_line.c knows it well.
 *
 * Errors   whatever is wrong on the command line ends the tool with one line and STATUS_BAD_INPUT
 */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/command/completion.h"

struct option_row {
    const char *name;     /* NULL, with help: a headline in front of its group */
    const char *argument; /* as --help shows it; NULL: it goes without a value */
    const char *help;     /* NULL: another name for the option in the row before */
    void (*take)(const struct option_row *option, char *text, void *target);
    size_t at, bytes;              /* the member that it sets */
    uint64_t low, high;            /* bounds of option_whole */
    unsigned kind;                 /* which one it is, where several have the same `take` */
    int letter;                    /* the short option; 0: there is none */
    int group;                     /* of --help, which sorts the options of a group */
    const struct option_row *more; /* in place of all this: a table for the struct at `at` */
};

/* The member that an option sets, in the struct of its table. */
#define OPTION_AT(type, member) .at = offsetof(type, member), .bytes = sizeof(((type *)0)->member)

struct command_line {
    const struct option_row *options;
    const char *words; /* besides options, as --help shows them; NULL: none */
    const char *text;  /* of --help; what stands behind \v comes behind the options */
    void (*take_word)(char *word, void *target, struct argp_state *state); /* NULL: none */
    size_t words_at;     /* of its target in the verb's struct */
    const char *missing; /* what is said when no word is there; NULL: that is right */
    bool in_order;       /* a word is taken before the options behind it are read */
    char *(*filter)(int key, const char *text, void *input); /* argp's help_filter */
    const struct completion_kind *kinds; /* of its words, for completion; NULL: none of its own */
};

/* Fills the verb's struct, which holds the defaults. -h is --help. With COMMAND_LINE_COMPLETE as
 * the first word it prints instead what the last one may become (completion.h), and ends the tool.
 */
#define COMMAND_LINE_COMPLETE "--complete"
void command_line_parse(const struct command_line *line, int argc, char **argv, void *arguments);

/* Says what is wrong with a word on the command line, and ends the tool with STATUS_BAD_INPUT. */
_Noreturn void command_line_reject(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For `take`: a bool becomes true; a const char * is the text; a number, which has 4 or 8 bytes, is
 * one from low to high. */
void option_flag(const struct option_row *option, char *text, void *target);
void option_text(const struct option_row *option, char *text, void *target);
void option_whole(const struct option_row *option, char *text, void *target);
/* The number of option_whole. */
uint64_t option_number(const struct option_row *option, const char *text);

/* For `take_word`: a const char * is the only word. */
void word_only(char *word, void *target, struct argp_state *state);
_Noreturn void word_too_many(const char *word);

/* The words behind "--", which are for another program. */
struct foreign_words {
    char **words;
    unsigned count;
};

/* Takes this word and all behind it when they stand behind "--". */
bool foreign_words_take(struct foreign_words *foreign, struct argp_state *state);
