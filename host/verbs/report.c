/*
 * report.c - ecube report: what --json has written of a run, as a page for a browser.
 */
#include <stdio.h>
#include <string.h>

#include "host/command/command_line.h"
#include "host/command/output.h"
#include "host/command/verbs.h"
#include "host/computer/input_file.h"
#include "host/console/message.h"
#include "host/report/events.h"
#include "host/report/page.h"
#include "host/report/run_report.h"

struct report_verb {
    const char *result, *page, *trace, *output;
};

static const struct option_row option_rows[] = {
    {"page", "FILE", "where the page goes (default: report.html)", option_text,
     OPTION_AT(struct report_verb, page), .letter = 'o'},
    {"trace", "FILE", "the timeline, when it is no longer where --trace of the run wrote it",
     option_text, OPTION_AT(struct report_verb, trace)},
    {"output", "FILE", "a text that the page shows: what programs have printed, kept by the shell",
     option_text, OPTION_AT(struct report_verb, output)},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .words = "RUN.json",
    .text = "Makes of what --json of run, load or sim has written one page for a browser, which "
            "needs nothing else: the network and what its links carried, a timeline, steps of "
            "collectives, measured, predicted and bound, who sent how much to whom, and faults; "
            "all of it in tables, too. Loads, timeline and steps are there when the run had "
            "--trace."
            "\vExamples: ecube run --json run.json --trace trace.json hello.elf\n"
            "          ecube report run.json -o page.html\n\n"
            "Exit status: 0, or 2 for bad input.",
    .take_word = word_only,
    .words_at = offsetof(struct report_verb, result),
    .missing = "name what --json of a run has written",
};

static int read_result(struct page *page, const char *path, struct message *message)
{
    FILE *file = input_file_open(path, "result", message);

    if (!file) {
        return -1;
    }
    int status = page_read(page, file, path, message);
    input_file_close(file);
    return status;
}

/* The timeline that the result names, or the user; that of another run is refused. */
static int read_trace(struct page *page, const char *wanted, struct message *message)
{
    const char *path = wanted ? wanted : page_trace(page), *digest = page_trace_digest(page);
    char found[65];

    if (!path) {
        return 0;
    }
    FILE *file = input_file_open(path, "trace", message);
    if (!file) {
        return -1;
    }
    page->events = events_read(file, path, &page->network, found, message);
    input_file_close(file);
    if (page->events && digest && strcmp(digest, found) != 0) {
        return message_set(message, "%.300s is the trace of another run: its SHA-256 differs",
                           path);
    }
    return page->events ? 0 : -1;
}

static int make_page(struct page *page, const struct report_verb *verb, struct message *message)
{
    struct output output;

    if (read_trace(page, verb->trace, message) != 0 ||
        (verb->output && !(page->output = input_file_open(verb->output, "output", message))) ||
        run_report_open_page(&output, "--page", verb->page, message) != 0) {
        return -1;
    }
    int status = run_report_put(page, &output, message);
    if (status == 0) {
        printf("page      %s\n", verb->page);
    }
    output_drop(&output);
    return status;
}

int verb_report(int argc, char **argv)
{
    static struct report_verb verb = {.page = "report.html"};
    struct message message;
    struct page page;

    command_line_parse(&command_line, argc, argv, &verb);
    if (read_result(&page, verb.result, &message) != 0) {
        return message_print(&message);
    }
    int status = make_page(&page, &verb, &message) == 0 ? 0 : message_print(&message);
    if (page.output) {
        input_file_close(page.output);
    }
    page_free(&page);
    return status;
}
