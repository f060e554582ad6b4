/*
 * profile.c - ecube profile: the machines whose time the model clock shows; finds one from times
 * that were measured.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/command/command_line.h"
#include "host/command/options.h"
#include "host/command/output.h"
#include "host/command/verbs.h"
#include "host/console/choice.h"
#include "host/console/fold.h"
#include "host/profile/fit.h"
#include "host/profile/fit_table.h"
#include "host/profile/profile_file.h"
#include "host/profile/profiles.h"

enum { ROWS_SHOWN = 40 };

enum action { ACTION_NONE, ACTION_LIST, ACTION_SHOW, ACTION_FIT };

static const uint64_t TAU_NOT_GIVEN = UINT64_MAX;

/* The command line as it stands. */
struct profile_arguments {
    enum action action;
    const char *word;        /* NAME, FILE or TABLE */
    const char *name, *json; /* NULL: not given */
    double sigma;            /* SIGMA_NOT_GIVEN */
    uint64_t tau_ns;         /* TAU_NOT_GIVEN: it is to be found */
    uint32_t element_bytes;  /* 0: not given */
    bool quiet;
};

static enum action parse_action(const char *text)
{
    static const char *const names[] = {"list", "show", "fit"};
    struct choice choice;

    choice_begin(&choice, text);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (choice_offer(&choice, names[i])) {
            return ACTION_LIST + i;
        }
    }
    if (choice.near) {
        command_line_reject("'%.40s': did you mean ecube profile %s?", text, choice.near);
    }
    command_line_reject("'%.40s': use list, show or fit, for example ecube profile show ipsc860",
                        text);
}

static void take_word(char *text, void *target, struct argp_state *state)
{
    struct profile_arguments *arguments = target;

    (void)state;
    if (arguments->action == ACTION_NONE) {
        arguments->action = parse_action(text);
    } else if (!arguments->word && arguments->action != ACTION_LIST) {
        arguments->word = text;
    } else {
        word_too_many(text);
    }
}

static const struct option_row option_rows[] = {
    {"name", "NAME", "fit: what the profile is called (default: fitted)", option_text,
     OPTION_AT(struct profile_arguments, name)},
    {"element-bytes", "N", "fit: bytes of an element (default 1)", option_whole,
     OPTION_AT(struct profile_arguments, element_bytes), .low = 1,
     .high = PROFILE_ELEMENT_MAX_BYTES},
    {"tau-ns", "NS", "fit: the set-up of a hop, where it is known, or 0 if there is none",
     option_whole, OPTION_AT(struct profile_arguments, tau_ns), .high = PROFILE_START_MAX_NS},
    {"sigma", "FACTOR",
     "fit: start-up time of a host message, as a multiple of a node's (default 1.5)",
     options_take_sigma, OPTION_AT(struct profile_arguments, sigma)},
    {"json", "FILE",
     "where the JSON goes (-, the default of show and fit: standard output); list writes all "
     "profiles",
     option_text, OPTION_AT(struct profile_arguments, json)},
    {"quiet", NULL, "fit: no table of errors", option_flag,
     OPTION_AT(struct profile_arguments, quiet), .letter = 'q'},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .words = "list\nshow PROFILE|FILE\nfit TABLE",
    .text =
        "The machines whose time the model clock shows. `list` prints those that are built in, and "
        "where their numbers are from. `show` writes one as JSON, as --profile takes it back: "
        "change the numbers, and you have a machine of your own. `fit` reads messages that were "
        "measured, and writes the profile that comes nearest to them by least squares; the errors "
        "that it leaves go to standard error.\n\n"
        "A message of k elements over i hops takes xi + i tau + (i + k - 1) element when nothing "
        "is in its way. TABLE has a row for each message, as bytes,hops,us; its first line may "
        "say so, with ns, us, ms or s for the time. doc/profiles.md has the whole of it."
        "\vExamples: ecube profile list\n"
        "          ecube profile show ipsc860 >mine.json\n"
        "          ecube run --profile mine.json --network cube:4 hello.elf\n"
        "          ecube profile fit measured.csv --name lab --json lab.json\n"
        "          ecube profile fit --tau-ns 0 sizes.csv\n\n"
        "Exit status: 0, or 2 for bad input.",
    .take_word = take_word,
};

/* Writes to --json FILE, or to standard output. */
static int write_json(const struct profile_arguments *arguments, json_t *object,
                      struct message *message)
{
    struct output output;
    int status = output_open(&output, arguments->json ? arguments->json : "-", message);

    if (status == 0) {
        status = output_write(&output, object, message);
        if (status != 0) {
            output_drop(&output);
        }
    }
    json_decref(object);
    return status;
}

static void print_words(const char *word, const char *text)
{
    printf("    %-6s %c%s\n", word, FOLD_HANG, text);
}

static void print_profile(const struct machine_profile *profile)
{
    const struct profile *p = &profile->profile;
    char ports[8], times[200];

    snprintf(ports, sizeof ports, "%u", clock_ports(p));
    snprintf(
        times, sizeof times,
        "%.3f us, %.3f us for each hop, %.3f us for each element of %u byte%s; sigma %g, %s port%s",
        p->xi_ns / 1e3, p->tau_ns / 1e3, p->element_ns / 1e3, (unsigned)clock_element_bytes(p),
        clock_element_bytes(p) == 1 ? "" : "s", p->sigma_permille / 1e3,
        clock_all_ports(p) ? "all" : ports, clock_ports(p) == 1 ? "" : "s");
    printf("%s%s\n", profile->name,
           strcmp(profile->name, profile_default) == 0 ? " (default)" : "");
    print_words("takes", times);
    print_words("from", profile->source);
    if (*profile->note) {
        print_words("note", profile->note);
    }
}

static int list(const struct profile_arguments *arguments, struct message *message)
{
    const struct machine_profile *one;
    json_t *all = json_array();

    for (unsigned i = 0; (one = profile_built_in(i)); i++) {
        if (arguments->json) {
            json_array_append_new(all, profile_to_json(one));
        } else {
            printf("%s", i ? "\n" : "");
            print_profile(one);
        }
    }
    if (arguments->json) {
        return write_json(arguments, all, message);
    }
    json_decref(all);
    return 0;
}

static int show(const struct profile_arguments *arguments, struct message *message)
{
    struct machine_profile profile;

    if (!arguments->word) {
        return message_set(message, "name a profile or its file: ecube profile show ipsc860");
    }
    return profile_find(arguments->word, &profile, message) == 0
               ? write_json(arguments, profile_to_json(&profile), message)
               : -1;
}

static void print_row(const struct fit_row *row, uint64_t ns)
{
    double error_ns = row->ns - (double)ns;

    fprintf(stderr, "%10u %5u %14.3f %14.3f %12.3f %8.2f\n", (unsigned)row->bytes,
            (unsigned)row->hops, row->ns / 1e3, (double)ns / 1e3, error_ns / 1e3,
            100 * error_ns / row->ns);
}

static void print_errors(const struct fit_table *table, const struct profile *machine,
                         const struct fit *fit)
{
    const struct fit_row *worst = &table->rows[fit->worst];

    fprintf(stderr, "%10s %5s %14s %14s %12s %8s\n", "bytes", "hops", "measured us", "profile us",
            "error us", "error %");
    for (unsigned i = 0; i < table->count && i < ROWS_SHOWN; i++) {
        print_row(&table->rows[i], fit_time_ns(machine, &table->rows[i]));
    }
    if (table->count > ROWS_SHOWN) {
        fprintf(stderr, "... and %u rows more\n", table->count - ROWS_SHOWN);
    }
    fprintf(stderr,
            "\nroot mean square %.3f us; the largest error is %.3f us, of %u bytes over %u "
            "hop%s\n",
            fit->rms_ns / 1e3, fabs(worst->ns - (double)fit_time_ns(machine, worst)) / 1e3,
            (unsigned)worst->bytes, (unsigned)worst->hops, worst->hops == 1 ? "" : "s");
}

/* What a reader of the numbers must know of them. */
static void print_remarks(const struct profile_arguments *arguments, const struct fit *fit)
{
    double rounded = fit->element_ns;

    if (fit->held_xi) {
        fputs("xi_ns is 0: the best would be negative\n", stderr);
    }
    if (fit->held_tau) {
        fputs("tau_ns is 0: the best would be negative\n", stderr);
    }
    if (fabs(fit->exact_element_ns - rounded) > rounded / 100) {
        fprintf(
            stderr,
            "element_ns is rounded from %.3f: elements of more than %u byte%s would come nearer "
            "(--element-bytes)\n",
            fit->exact_element_ns, (unsigned)arguments->element_bytes,
            arguments->element_bytes == 1 ? "" : "s");
    }
}

static int fit_rows(const struct profile_arguments *arguments, const struct fit_table *table,
                    struct message *message)
{
    const struct fit_request request = {
        .rows = table->rows,
        .count = table->count,
        .element_bytes = (uint16_t)arguments->element_bytes,
        .tau_ns = arguments->tau_ns == TAU_NOT_GIVEN ? -1 : (double)arguments->tau_ns};
    struct machine_profile profile = {.name = ""};
    struct message why;
    struct fit fit;

    if (fit_profile(&request, &fit, &why) != 0) {
        return message_set(message, "%.300s: %s", arguments->word, why.text);
    }
    profile.profile = fit_machine(&request, &fit);
    profile.profile.sigma_permille = (uint16_t)(arguments->sigma * 1000 + 0.5);
    snprintf(profile.name, sizeof profile.name, "%s", arguments->name);
    snprintf(profile.source, sizeof profile.source,
             "least squares of %u measured messages, root mean square of the errors %.3f us",
             table->count, fit.rms_ns / 1e3);
    if (!arguments->quiet) {
        print_errors(table, &profile.profile, &fit);
        print_remarks(arguments, &fit);
    }
    return write_json(arguments, profile_to_json(&profile), message);
}

static int fit(const struct profile_arguments *arguments, struct message *message)
{
    struct fit_table table;

    if (!arguments->word) {
        return message_set(message, "name a table of times: ecube profile fit TABLE");
    }
    if (!profile_name_is_good(arguments->name)) {
        return message_set(message,
                           "--name %.80s: use 1 to 63 letters, digits, '-', '_', '.' and "
                           "'+'",
                           arguments->name);
    }
    if (fit_table_read(arguments->word, &table, message) != 0) {
        return -1;
    }
    int status = fit_rows(arguments, &table, message);
    fit_table_free(&table);
    return status;
}

/* Gives what is for fit its defaults; the others have no use for it. */
static int check_options(struct profile_arguments *arguments, struct message *message)
{
    const char *other = arguments->name                      ? "--name"
                        : arguments->sigma >= 0              ? "--sigma"
                        : arguments->tau_ns != TAU_NOT_GIVEN ? "--tau-ns"
                        : arguments->element_bytes           ? "--element-bytes"
                        : arguments->quiet                   ? "--quiet"
                                                             : NULL;

    if (other && arguments->action != ACTION_FIT) {
        return message_set(message, "%s is for ecube profile fit", other);
    }
    arguments->name = arguments->name ? arguments->name : "fitted";
    arguments->sigma = arguments->sigma >= 0 ? arguments->sigma : 1.5;
    arguments->element_bytes = arguments->element_bytes ? arguments->element_bytes : 1;
    return 0;
}

int verb_profile(int argc, char **argv)
{
    struct profile_arguments arguments = {.sigma = SIGMA_NOT_GIVEN, .tau_ns = TAU_NOT_GIVEN};
    struct message message;
    int status;

    command_line_parse(&command_line, argc, argv, &arguments);
    if (check_options(&arguments, &message) != 0) {
        return message_print(&message);
    }
    switch (arguments.action) {
    case ACTION_LIST: status = list(&arguments, &message); break;
    case ACTION_SHOW: status = show(&arguments, &message); break;
    case ACTION_FIT: status = fit(&arguments, &message); break;
    default:
        status =
            message_set(&message, "say what to do: ecube profile list, show PROFILE|FILE, or fit "
                                  "TABLE");
    }
    return status == 0 ? 0 : message_print(&message);
}
