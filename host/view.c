#include "host/view.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/download.h"
#include "host/report.h"

enum { REWRITE_US = 50 * 1000, PLAIN_US = 2 * 1000 * 1000, BAR_CELLS = 40, COLUMNS = 100 };

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void view_init(struct view *view, unsigned nodes)
{
    *view = (struct view){.terminal = isatty(STDERR_FILENO) == 1, .rank_width = 1};
    for (unsigned largest = nodes - 1; largest > 9; largest /= 10) {
        view->rank_width++;
    }
}

static const char *string_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));

    return text ? text : "";
}

static double number_of(const json_t *event, const char *key)
{
    return json_number_value(json_object_get(event, key));
}

void view_clear(struct view *view)
{
    if (view->line_open) {
        fputs("\r\033[K", stderr);
        view->line_open = false;
    }
}

static const char *unit_of(const char *phase)
{
    return strcmp(phase, "boot") == 0       ? "nodes with all their links"
           : strcmp(phase, "download") == 0 ? "receipts"
                                            : "programs ended";
}

/* Plain lines: when a phase begins, every two seconds, and when it is complete. */
static void show_progress(struct view *view, const json_t *event)
{
    const char *phase = string_of(event, "phase");
    unsigned done = (unsigned)number_of(event, "done"), total = (unsigned)number_of(event, "total");
    uint64_t now = now_us();
    bool new_phase = strcmp(phase, view->phase) != 0;

    if (!new_phase && done != total &&
        now - view->told_us < (view->terminal ? REWRITE_US : PLAIN_US)) {
        return;
    }
    snprintf(view->phase, sizeof view->phase, "%s", phase);
    view->told_us = now;
    if (view->terminal) {
        unsigned cells = total ? done * BAR_CELLS / total : 0;

        view_clear(view);
        fprintf(stderr, "%-8s [%.*s%*s] %u of %u %s", phase, (int)cells,
                "########################################", (int)(BAR_CELLS - cells), "", done,
                total, unit_of(phase));
        view->line_open = true;
    } else {
        fprintf(stderr, "ecube: %s: %u of %u %s\n", phase, done, total, unit_of(phase));
    }
    fflush(stderr);
}

/* What is too long for a line goes on in the next one, behind a comma if there is one. */
static void show_sentence(const char *text)
{
    const char *margin = "ecube: ";

    while (strlen(text) > COLUMNS - strlen(margin)) {
        size_t most = COLUMNS - strlen(margin), bytes = most;

        for (size_t i = most / 2; i < most; i++) {
            if (text[i] == ' ' && (text[i - 1] == ',' || bytes == most || text[bytes - 1] != ',')) {
                bytes = i;
            }
        }
        fprintf(stderr, "%s%.*s\n", margin, (int)bytes, text);
        text += bytes + (text[bytes] == ' ');
        margin = "       ";
    }
    fprintf(stderr, "%s%s\n", margin, text);
}

void view_event(struct view *view, const json_t *event)
{
    const char *kind = string_of(event, "event");

    if (strcmp(kind, "progress") == 0) {
        show_progress(view, event);
    } else if (strcmp(kind, "console") == 0) {
        const json_t *text = json_object_get(event, "text");

        view_clear(view);
        fprintf(stdout, "[%*d] ", (int)view->rank_width, (int)number_of(event, "rank"));
        fwrite(json_string_value(text), 1, json_string_length(text), stdout);
        fputc('\n', stdout);
        fflush(stdout);
    } else if (strcmp(kind, "trouble") == 0) {
        view_clear(view);
        fflush(stdout);
        show_sentence(string_of(event, "text"));
    } else if (strcmp(kind, "report") == 0 && view->terminal) {
        view_clear(view);
        fprintf(stderr, "run      %s: %.0f bytes measured", string_of(event, "name"),
                number_of(event, "bytes"));
        fflush(stderr);
        view->line_open = true;
    }
}

/* The number of the paper's formula; scatter is decremental scattering with one root. */
static int formula_of(const char *strategy)
{
    return strcmp(strategy, "sequential") == 0           ? 6
           : strcmp(strategy, "sequential-scatter") == 0 ? 8
                                                         : 9;
}

static const char *note_of(const json_t *download)
{
    return download_note((uint64_t)(1e3 * number_of(download, "model_us") + 0.5),
                         (uint64_t)(1e3 * number_of(download, "predicted_us") + 0.5));
}

void view_result(struct view *view, const json_t *result)
{
    const json_t *download = json_object_get(result, "download");
    unsigned nodes = (unsigned)number_of(result, "nodes");
    unsigned receipts = (unsigned)number_of(download, "receipts");
    int formula = formula_of(string_of(download, "strategy"));

    view_clear(view);
    report_print(stdout, json_object_get(result, "reports"));
    if (number_of(result, "boot_ms") > 0) {
        printf("\nboot      %s, %u nodes, %.1f ms\n", string_of(result, "mesh"), nodes,
               number_of(result, "boot_ms"));
    }
    if (receipts > 0 && json_is_null(json_object_get(download, "model_us"))) {
        printf("download  %s, x %.0f, %.0f bytes, receipts %u of %u\n",
               string_of(download, "strategy"), number_of(download, "x"),
               number_of(download, "bytes"), receipts, nodes);
    } else if (receipts > 0) {
        printf("download  %s, x %.0f, %.0f bytes, model %.3f us, by formula (%d) %.3f us,\n"
               "          wall %.1f ms, receipts %u of %u%s\n",
               string_of(download, "strategy"), number_of(download, "x"),
               number_of(download, "bytes"), number_of(download, "model_us"), formula,
               number_of(download, "predicted_us"), number_of(download, "wall_ms"), receipts, nodes,
               formula == 9 ? note_of(download) : "");
    }
    fflush(stdout);
}
