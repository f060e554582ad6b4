/*
 * command_line.c - a verb's table of options in argp's words, and what is said of wrong ones.
 *
 * argp gets one flat list. It could join parsers of its own (children), but then each needs keys, a
 * function with a case for each option, and a way to its struct. Here a row has all of it. argp
 * prints the help, and takes abbreviations; its own errors are off (ARGP_NO_ERRS), for they are two
 * lines, and name no option that is near.
 */
#include "host/command/command_line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "host/console/choice.h"

enum { ROWS_MAX = 64, KEY_FIRST = 256 /* behind all letters */ };

/* All rows of a verb and of the tables that it joins, in one list. */
struct parse {
    const struct command_line *line;
    char *arguments;
    const struct option_row *rows[ROWS_MAX];
    void *targets[ROWS_MAX];
    struct argp_option list[ROWS_MAX + 2]; /* row by row; then --help, and the end */
    int count;
};

void command_line_reject(const char *format, ...)
{
    va_list arguments;

    fputs("ecube: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(STATUS_BAD_INPUT);
}

/* What an option does -------------------------------------------------------------------------- */

void option_flag(const struct option_row *option, char *text, void *target)
{
    (void)option;
    (void)text;
    *(bool *)target = true;
}

void option_text(const struct option_row *option, char *text, void *target)
{
    (void)option;
    *(const char **)target = text;
}

/* strtoull takes a sign and spaces, and makes the largest number of one that is larger. */
uint64_t option_number(const struct option_row *option, const char *text)
{
    char *end;

    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno || value < option->low ||
        value > option->high) {
        command_line_reject("--%s %.40s: use a number from %llu to %llu", option->name, text,
                            (unsigned long long)option->low, (unsigned long long)option->high);
    }
    return value;
}

void option_whole(const struct option_row *option, char *text, void *target)
{
    uint64_t value = option_number(option, text);

    if (option->bytes == sizeof(uint64_t)) {
        *(uint64_t *)target = value;
    } else {
        CHECK(option->bytes == sizeof(uint32_t));
        *(uint32_t *)target = (uint32_t)value;
    }
}

void word_too_many(const char *word)
{
    command_line_reject("'%.40s' is one word too many", word);
}

void word_only(char *word, void *target, struct argp_state *state)
{
    const char **only = target;

    (void)state;
    if (*only) {
        word_too_many(word);
    }
    *only = word;
}

bool foreign_words_take(struct foreign_words *foreign, struct argp_state *state)
{
    if (state->quoted == 0 || state->next <= state->quoted) {
        return false;
    }
    foreign->words = &state->argv[state->next - 1];
    foreign->count = (unsigned)(state->argc - state->next + 1);
    state->next = state->argc;
    return true;
}

/* What is no option ---------------------------------------------------------------------------- */

/* The row of an option that the word names, or whose letter it is; below 0: there is none, and the
 * choice knows which is near. */
static int choose_option(const struct parse *parse, struct choice *choice)
{
    int found = -1, real = -1;

    for (int i = 0; i <= parse->count; i++) {
        const struct argp_option *option = &parse->list[i];

        real = option->flags & OPTION_ALIAS ? real : i;
        if (option->name && (choice_offer(choice, option->name) ||
                             (choice->word[0] == option->key && choice->word[1] == '\0'))) {
            found = real;
        }
    }
    return found;
}

/* What getopt did not take is the word before the next one, or the next in a row of letters. */
static _Noreturn void reject_option(const struct parse *parse, const struct argp_state *state)
{
    const char *word = state->argv[state->next - 1];
    struct choice choice;
    char name[40];
    int found;

    if (word[0] != '-' && state->next < state->argc) {
        word = state->argv[state->next];
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    choice_begin(&choice, name + strspn(name, "-"));
    found = choose_option(parse, &choice);
    if (found >= 0) {
        const char *argument = parse->list[found].arg;

        command_line_reject(argument ? "%s needs its %s" : "%s goes without a value", name,
                            argument);
    }
    if (choice.near) {
        command_line_reject("unknown option '%s': did you mean --%s?", name, choice.near);
    }
    command_line_reject("unknown option '%s': '%s --help' lists them", name, state->name);
}

/* The parser ----------------------------------------------------------------------------------- */

static error_t take(int key, char *text, struct argp_state *state)
{
    const struct parse *parse = state->input;
    const struct command_line *line = parse->line;

    switch (key) {
    case 'h': argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP, state->name); exit(0);
    case ARGP_KEY_ERROR: reject_option(parse, state);
    case ARGP_KEY_ARG:
        if (!line->take_word) {
            word_too_many(text);
        }
        line->take_word(text, parse->arguments + line->words_at, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        if (line->missing) {
            command_line_reject("%s", line->missing);
        }
        return 0;
    default: break;
    }
    for (int i = 0; i < parse->count; i++) {
        if (parse->list[i].key == key) {
            parse->rows[i]->take(parse->rows[i], text, parse->targets[i]);
            return 0;
        }
    }
    return ARGP_ERR_UNKNOWN;
}

/* A row of a table that another joins is of both groups' sum, so each table stays together. Groups
 * begin at 1: to argp 0 means the group of the row before. */
static void add_rows(struct parse *parse, const struct option_row *row, char *struct_at, int group)
{
    for (; row->name || row->help || row->more; row++) {
        int i = parse->count;

        if (row->more) {
            add_rows(parse, row->more, struct_at + row->at, group + row->group);
            continue;
        }
        CHECK(i < ROWS_MAX);
        parse->count++;
        parse->rows[i] = row;
        parse->targets[i] = struct_at + row->at;
        parse->list[i] = (struct argp_option){.name = row->name,
                                              .arg = row->argument,
                                              .flags = row->help ? 0 : OPTION_ALIAS,
                                              .doc = row->help,
                                              .group = group + row->group};
        if (row->take) {
            parse->list[i].key = row->letter ? row->letter : KEY_FIRST + i;
        }
    }
}

void command_line_parse(const struct command_line *line, int argc, char **argv, void *arguments)
{
    struct parse parse = {.line = line, .arguments = arguments};
    const struct argp argp = {parse.list, take, line->words, line->text, NULL, line->filter, NULL};

    add_rows(&parse, line->options, arguments, 1);
    if (argc > 1 && strcmp(argv[1], COMMAND_LINE_COMPLETE) == 0) {
        completion_print(line, parse.rows, parse.count, argv + 2, argc - 2);
        exit(0);
    }
    parse.list[parse.count] =
        (struct argp_option){.name = "help", .key = 'h', .doc = "show this help", .group = -1};
    argp_parse(&argp, argc, argv,
               (line->in_order ? ARGP_IN_ORDER : 0) | ARGP_NO_HELP | ARGP_NO_ERRS, NULL, &parse);
}
