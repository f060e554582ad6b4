/*
 * completion.c - reads words as argp will, and offers what the verb's table says of the next one.
 */
#include "host/command/completion.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collectives/operation.h"
#include "controller/download.h"
#include "host/command/command_line.h"
#include "host/computer/target.h"
#include "host/machine/client.h"
#include "host/machine/rundir.h"
#include "host/profile/profiles.h"
#include "network/text.h"
#include "planner/algorithms/candidates.h"
#include "reduction/reduction.h"

enum { WORD_MAX = 64 };

struct completion {
    const char *typed;  /* of the name, so far */
    const char *before; /* what stands before the name in the word, as --map= */
    bool whole;         /* only whether the typed name is one of those that are offered is asked */
    bool found;
};

/* What is known of the words before the last one. */
struct reading {
    const struct command_line *line;
    const struct option_row *const *rows;
    int row_count;
    char **places; /* the words that are no options and no values */
    int place_count;
    bool only_words;                /* -- has been there */
    const struct option_row *value; /* the last word is a value of this option; NULL: it is not */
};

void completion_offer(struct completion *completion, const char *name)
{
    if (completion->whole) {
        completion->found = completion->found || strcmp(name, completion->typed) == 0;
    } else if (strncmp(name, completion->typed, strlen(completion->typed)) == 0) {
        printf("%s%s\n", completion->before, name);
    }
}

/* Lists ---------------------------------------------------------------------------------------- */

void completion_list_operations(struct completion *completion)
{
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        const struct operation *operation = operation_of(i);
        if (operation && operation->planned) {
            completion_offer(completion, operation->name);
            if (strcmp(operation->name, operation->standard) != 0) {
                completion_offer(completion, operation->standard);
            }
        }
    }
}

static void list_boards(struct completion *completion)
{
    const char *name;

    for (unsigned i = 0; (name = target_board_name(i)) != NULL; i++) {
        completion_offer(completion, name);
    }
}

static void list_networks(struct completion *completion)
{
    const char *name;
    char kind[WORD_MAX];

    for (unsigned i = 0; (name = network_kind_name(i)) != NULL; i++) {
        snprintf(kind, sizeof kind, "%s:", name);
        completion_offer(completion, kind);
    }
}

static void list_profiles(struct completion *completion)
{
    const struct machine_profile *profile;

    for (unsigned i = 0; (profile = profile_built_in(i)) != NULL; i++) {
        completion_offer(completion, profile->name);
    }
}

/* Whether an operation before this one has an algorithm of this name. */
static bool is_listed(const char *name, uint32_t operation)
{
    const struct candidate *candidate;

    for (uint32_t i = 0; i < operation; i++) {
        for (unsigned j = 0; (candidate = candidate_of(i, j)) != NULL; j++) {
            if (strcmp(candidate->name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void list_algorithms(struct completion *completion)
{
    const struct candidate *candidate;

    for (uint32_t i = 0; i < OPERATIONS; i++) {
        for (unsigned j = 0; (candidate = candidate_of(i, j)) != NULL; j++) {
            if (!is_listed(candidate->name, i)) {
                completion_offer(completion, candidate->name);
            }
        }
    }
}

static void list_numbered(struct completion *completion, const char *(*name_of)(uint32_t number))
{
    const char *name;

    for (uint32_t i = 1; (name = name_of(i)) != NULL; i++) {
        completion_offer(completion, name);
    }
}

static void list_types(struct completion *completion)
{
    list_numbered(completion, reduction_type_name);
}

static void list_operators(struct completion *completion)
{
    list_numbered(completion, reduction_operator_name);
}

static void list_strategies(struct completion *completion)
{
    for (int i = 0; i < STRATEGY_NAMES; i++) {
        completion_offer(completion, download_strategy_name((enum strategy)i));
    }
}

/* A directory may be that of a run, or of a machine that has ended. */
static void offer_machine(void *context, const char *name)
{
    int fd = client_open(name, false);

    if (fd >= 0) {
        close(fd);
        completion_offer(context, name);
    }
}

static void list_machines(struct completion *completion)
{
    rundir_list(offer_machine, completion);
}

static const struct completion_kind shared_kinds[] = {
    {"ALGORITHM", list_algorithms},
    {"BOARD", list_boards},
    {"MACHINE", list_machines},
    {"NETWORK", list_networks},
    {"OPERATION", completion_list_operations},
    {"OPERATOR", list_operators},
    {"PROFILE", list_profiles},
    {"STRATEGY", list_strategies},
    {"TYPE", list_types},
    {0},
};

/* What a word of --help stands for ------------------------------------------------------------- */

static void list_kind(const struct completion_kind *kind, const char *placeholder,
                      struct completion *completion)
{
    for (; kind && kind->placeholder; kind++) {
        if (strcmp(kind->placeholder, placeholder) == 0) {
            kind->list(completion);
        }
    }
}

/* "gray|cycle|FILE", "[OPERATION]"; text of `length` bytes. */
static void offer_word(const struct command_line *line, const char *text, size_t length,
                       struct completion *completion)
{
    const char *end = text + length;

    while (text < end) {
        char part[WORD_MAX];
        size_t bytes = strspn(text, "[");

        text += bytes < (size_t)(end - text) ? bytes : (size_t)(end - text);
        bytes = strcspn(text, "|] \n");
        bytes = bytes < (size_t)(end - text) ? bytes : (size_t)(end - text);
        snprintf(part, sizeof part, "%.*s", (int)bytes, text);
        if ((part[0] >= 'a' && part[0] <= 'z') || (part[0] >= '0' && part[0] <= '9')) {
            completion_offer(completion, part);
        } else {
            list_kind(shared_kinds, part, completion);
            list_kind(line->kinds, part, completion);
        }
        text += bytes;
        text += text < end;
    }
}

/* Whether a word that was typed can be what --help has there: a small letter stands for itself. */
static bool word_fits(const char *text, size_t length, const char *typed)
{
    return text[0] < 'a' || text[0] > 'z' ||
           (strlen(typed) == length && strncmp(text, typed, length) == 0);
}

/* The word behind those of `places`, in each way that --help shows. */
static void offer_place(const struct reading *reading, struct completion *completion)
{
    const char *text = reading->line->words;

    while (text && *text) {
        bool fits = true;
        size_t length = strcspn(text, " \n");

        for (int i = 0; i < reading->place_count && fits; i++) {
            fits = length > 0 && word_fits(text, length, reading->places[i]);
            text += length;
            text += *text == ' ';
            length = strcspn(text, " \n");
        }
        if (fits && *text != '-') {
            offer_word(reading->line, text, length, completion);
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
}

/* What has been typed -------------------------------------------------------------------------- */

/* The option that a word before its '=' names: whole, by its beginning or by its letter. */
static const struct option_row *find_option(const struct reading *reading, const char *word)
{
    const char *name = word + strspn(word, "-");
    size_t length = strcspn(name, "=");
    const struct option_row *real = NULL, *found = NULL;

    for (int i = 0; i < reading->row_count; i++) {
        const struct option_row *row = reading->rows[i];

        real = row->help ? row : real;
        if (!row->name) {
            continue;
        }
        if (word[1] != '-' ? word[1] == row->letter && word[2] == '\0'
                           : strncmp(row->name, name, length) == 0 && row->name[length] == '\0') {
            return real;
        }
        if (word[1] == '-' && strncmp(row->name, name, length) == 0) {
            found = real;
        }
    }
    return found;
}

/* Words behind a program are its own: where options have an order, the first word is a program,
 * unless it is one of those that are offered. */
static bool takes_options(const struct reading *reading)
{
    const struct reading empty = {.line = reading->line};
    struct completion first = {.typed = reading->place_count ? reading->places[0] : "",
                               .whole = true};

    if (reading->only_words || !reading->line->in_order || reading->place_count == 0) {
        return !reading->only_words;
    }
    offer_place(&empty, &first);
    return first.found;
}

static void read_words(struct reading *reading, char **words, int count)
{
    for (int i = 0; i < count; i++) {
        const struct option_row *row;

        if (words[i][0] != '-' || words[i][1] == '\0' || !takes_options(reading)) {
            reading->places[reading->place_count++] = words[i];
        } else if (strcmp(words[i], "--") == 0) {
            reading->only_words = true;
        } else if ((row = find_option(reading, words[i])) && row->argument &&
                   !strchr(words[i], '=')) {
            reading->value = i + 1 == count ? row : NULL;
            i++;
        }
    }
}

static void offer_options(const struct reading *reading, const char *word)
{
    const char *equals = strchr(word, '=');
    char before[WORD_MAX] = "--";
    struct completion completion = {.typed = word + 2, .before = before};

    if (word[1] == '\0') {
        completion.typed = "";
    }
    if (!equals) {
        for (int i = 0; i < reading->row_count; i++) {
            if (reading->rows[i]->name) {
                completion_offer(&completion, reading->rows[i]->name);
            }
        }
        completion_offer(&completion, "help");
        return;
    }
    const struct option_row *row = find_option(reading, word);
    if (row && row->argument) {
        snprintf(before, sizeof before, "%.*s", (int)(equals + 1 - word), word);
        completion.typed = equals + 1;
        offer_word(reading->line, row->argument, strlen(row->argument), &completion);
    }
}

void completion_print(const struct command_line *line, const struct option_row *const *rows,
                      int row_count, char **words, int count)
{
    /* The words that are read are those that places may overwrite. */
    struct reading reading = {.line = line, .rows = rows, .row_count = row_count, .places = words};
    const char *last = count > 0 ? words[count - 1] : "";
    struct completion completion = {.typed = last, .before = ""};

    read_words(&reading, words, count - 1);
    if (reading.value) {
        offer_word(line, reading.value->argument, strlen(reading.value->argument), &completion);
    } else if (last[0] == '-' && takes_options(&reading)) {
        if (last[1] == '-' || last[1] == '\0') {
            offer_options(&reading, last);
        }
    } else {
        offer_place(&reading, &completion);
    }
}

void completion_print_names(const char *typed, const char *(*name)(unsigned index))
{
    struct completion completion = {.typed = typed, .before = ""};

    for (unsigned i = 0; name(i); i++) {
        completion_offer(&completion, name(i));
    }
}
