/*
 * view.c - events and lines as people read them: progress, troubles, tables.
 *
 * A progress line stays open at the bottom of a terminal. Whatever is shown next clears it first
 * (view_clear), or the two would stand in one row.
 */
#include "host/console/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/check.h"
#include "host/console/report.h"
#include "host/console/sink.h"
#include "host/console/terminal.h"
#include "include/ecube/abi.h"

enum {
    REWRITE_US = 50 * 1000,
    PLAIN_US = 2 * 1000 * 1000,
    BYTES_SHOWN_MIN = 1000 * 1000 /* of a download: less is over before it is read */
};

void view_init(struct view *view, struct sink *sink, unsigned nodes, bool quiet)
{
    *view = (struct view){.sink = sink,
                          .quiet = quiet,
                          .terminal = isatty(STDERR_FILENO) == 1,
                          .redraws = terminal_redraws(STDERR_FILENO),
                          .shown_terminal = isatty(STDOUT_FILENO) == 1};
    view_set_nodes(view, nodes);
}

void view_set_nodes(struct view *view, unsigned nodes)
{
    view->rank_width = 1;
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
        sink_put(view->sink, STDERR_FILENO, terminal_clear, strlen(terminal_clear), NULL);
        view->line_open = false;
    }
}

static void open_line(struct view *view, const char line[TERMINAL_LINE_MAX])
{
    sink_put(view->sink, STDERR_FILENO, line, strlen(line), NULL);
    view->line_open = true;
}

void view_close(struct view *view)
{
    view_clear(view);
    sink_close(view->sink, UINT64_MAX, 0);
}

void view_trouble(struct view *view, const char *text)
{
    view_clear(view);
    sink_print(view->sink, STDERR_FILENO, "ecube: %s\n", text);
}

void view_line(struct view *view, const struct line *line)
{
    bool error = line->stream == ECUBE_STREAM_ERROR;
    char *text;
    size_t bytes;

    if (view->kept) {
        kept_add(view->kept, line);
    }
    view_clear(view);
    /* In one piece to the sink: lines of different nodes must not mix, and a receipt is of a whole
     * line. Control characters are shown only on a terminal; a file gets the bytes as they are. */
    FILE *file = open_memstream(&text, &bytes);
    CHECK(file);
    fprintf(file, "[%*u] ", (int)view->rank_width, (unsigned)line->rank);
    if (error ? view->terminal : view->shown_terminal) {
        line_write_shown(file, line->text, line->bytes);
    } else {
        fwrite(line->text, 1, line->bytes, file);
    }
    fputc('\n', file);
    CHECK(fclose(file) == 0);
    sink_put(view->sink, error ? STDERR_FILENO : STDOUT_FILENO, text, bytes, &line->receipt);
    free(text);
}

/* The same, from another process. */
static void show_line_event(struct view *view, const json_t *event)
{
    struct line line;
    char *memory;

    if (line_from_json(&line, event, &memory)) {
        view_line(view, &line);
    }
    free(memory);
}

static const char *unit_of(const char *phase, unsigned total)
{
    bool one = total == 1;

    if (strcmp(phase, "boot") == 0) {
        return one ? "node with all its links" : "nodes with all their links";
    }
    if (strcmp(phase, "program") == 0) {
        return one ? "node programmed" : "nodes programmed";
    }
    if (strcmp(phase, "download") == 0) {
        return one ? "receipt" : "receipts";
    }
    if (strcmp(phase, "scatter") == 0) {
        return one ? "part" : "parts";
    }
    if (strcmp(phase, "gather") == 0) {
        return one ? "output" : "outputs";
    }
    if (strcmp(phase, "trace") == 0) {
        return one ? "node's records" : "nodes' records";
    }
    if (strcmp(phase, "bench") == 0) {
        return one ? "size measured" : "sizes measured";
    }
    return one ? "program ended" : "programs ended";
}

/* A download of so much that it takes a while: "3 of 8 receipts, 12.3 of 61.0 MB, 5.2 MB/s, 9 s
 * left". */
static void draw_download(const struct view *view, unsigned done, unsigned total, double bytes,
                          double total_bytes, char line[TERMINAL_LINE_MAX])
{
    double seconds = (double)(sink_now_us() - view->begun_us) / 1e6;
    double rate = seconds > 0 ? bytes / seconds : 0;
    char longer[120], shorter[80];
    int used = snprintf(longer, sizeof longer, "%u of %u %s, %.1f of %.1f MB", done, total,
                        unit_of("download", total), bytes / 1e6, total_bytes / 1e6);

    if (rate > 0 && seconds > 1) {
        snprintf(longer + used, sizeof longer - (size_t)used, ", %.1f MB/s, %.0f s left",
                 rate / 1e6, (total_bytes - bytes) / rate);
    }
    snprintf(shorter, sizeof shorter, "%u of %u, %.1f of %.1f MB", done, total, bytes / 1e6,
             total_bytes / 1e6);
    terminal_bar(line, STDERR_FILENO, "download", (uint64_t)bytes, (uint64_t)total_bytes, longer,
                 shorter);
}

static void draw_progress(struct view *view, const json_t *event, const char *phase, unsigned done,
                          unsigned total)
{
    double bytes = number_of(event, "bytes"), total_bytes = number_of(event, "total_bytes");
    char line[TERMINAL_LINE_MAX];

    /* When the host has sent all, nodes still pass it on: then receipts say more. */
    if (total_bytes >= BYTES_SHOWN_MIN && bytes < total_bytes) {
        draw_download(view, done, total, bytes, total_bytes, line);
    } else {
        terminal_progress(line, STDERR_FILENO, phase, done, total, unit_of(phase, total));
    }
    open_line(view, line);
}

/* Plain lines: when a phase begins, every two seconds if it has come further, and when it is
 * complete. */
static void show_progress(struct view *view, const json_t *event)
{
    const char *phase = string_of(event, "phase");
    unsigned done = (unsigned)number_of(event, "done"), total = (unsigned)number_of(event, "total");
    uint64_t now = sink_now_us();
    bool new_phase = strcmp(phase, view->phase) != 0;

    if (!new_phase && done != total &&
        (now - view->told_us < (view->redraws ? REWRITE_US : PLAIN_US) ||
         (!view->redraws && done == view->done))) {
        return;
    }
    view->begun_us = new_phase ? now : view->begun_us;
    snprintf(view->phase, sizeof view->phase, "%s", phase);
    view->told_us = now;
    view->done = done;
    if (view->redraws) {
        draw_progress(view, event, phase, done, total);
    } else {
        sink_print(view->sink, STDERR_FILENO, "ecube: %s: %u of %u %s\n", phase, done, total,
                   unit_of(phase, total));
    }
}

/* What the strategies would take: asked for, so it is shown whatever else is not. */
static void show_strategies(struct view *view, const json_t *strategies)
{
    char *text;
    size_t bytes;

    view_clear(view);
    FILE *file = open_memstream(&text, &bytes);
    CHECK(file);
    report_print_strategies(file, strategies);
    CHECK(fclose(file) == 0);
    sink_say(view->sink, STDERR_FILENO, text, bytes);
    free(text);
}

/* Of a run whose lines are counted, that is its progress. */
static void show_reported(struct view *view)
{
    json_t *event = json_pack("{s:s, s:i, s:i}", "phase", "bench", "done", (int)++view->reported,
                              "total", (int)view->reports);

    show_progress(view, event);
    json_decref(event);
}

void view_event(struct view *view, const json_t *event)
{
    const char *kind = string_of(event, "event");

    if (strcmp(kind, "console") == 0) {
        show_line_event(view, event);
    } else if (strcmp(kind, "trouble") == 0) {
        view_trouble(view, string_of(event, "text"));
    } else if (strcmp(kind, "strategies") == 0) {
        show_strategies(view, json_object_get(event, "strategies"));
    } else if (view->quiet) {
        return;
    } else if (strcmp(kind, "report") == 0 && view->reports > 0) {
        show_reported(view);
    } else if (strcmp(kind, "progress") == 0 &&
               (view->reports == 0 || strcmp(string_of(event, "phase"), "run") != 0)) {
        show_progress(view, event);
    } else if (strcmp(kind, "report") == 0 && view->redraws) {
        char line[TERMINAL_LINE_MAX];

        terminal_note(line, STDERR_FILENO, "run      %s: %.0f bytes measured",
                      string_of(event, "name"), number_of(event, "bytes"));
        open_line(view, line);
    }
}

/* Nodes that held wrong bytes at first. */
static void print_repairs(FILE *file, const json_t *download)
{
    double repaired = number_of(download, "repaired");

    if (repaired > 0) {
        fprintf(file,
                "repaired  %.0f node%s held wrong bytes and got them again, in %.3f us more\n",
                repaired, repaired == 1 ? "" : "s", number_of(download, "repair_us"));
    }
}

/* What programs have left: how much has come, in which time. */
static void print_outputs(FILE *file, const json_t *outputs)
{
    const json_t *list = json_object_get(outputs, "bytes");
    const char *path = json_string_value(json_object_get(outputs, "output"));
    const char *folder = json_string_value(json_object_get(outputs, "files_to"));
    double bytes = 0;

    if (!json_is_real(json_object_get(outputs, "model_us"))) {
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        bytes += json_number_value(json_array_get(list, i));
    }
    fprintf(file, "gather    %.0f bytes, model %.3f us, predicted %.3f us", bytes,
            number_of(outputs, "model_us"), number_of(outputs, "predicted_us"));
    if (path) {
        fprintf(file, ", to %s", path);
    }
    if (folder) {
        double files = number_of(outputs, "files");

        fprintf(file, ", %.0f file%s to %s", files, files == 1 ? "" : "s", folder);
    }
    fputc('\n', file);
}

static void print_trace(FILE *file, const json_t *trace)
{
    if (json_is_string(json_object_get(trace, "file"))) {
        fprintf(file, "trace     %s, %.0f events, %.0f bytes\n", string_of(trace, "file"),
                number_of(trace, "events"), number_of(trace, "bytes"));
    }
}

void view_result(struct view *view, const json_t *result)
{
    const json_t *download = json_object_get(result, "download");
    unsigned nodes = (unsigned)number_of(result, "nodes");
    unsigned receipts = (unsigned)number_of(download, "receipts");
    unsigned host_links = (unsigned)number_of(result, "host_links");
    char *text, over[40] = "", parcels[40] = "";
    size_t bytes;

    view_clear(view);
    if (view->quiet) {
        return;
    }
    if (number_of(download, "parcel_bytes") > 0) {
        snprintf(parcels, sizeof parcels, "parcels of %.0f, ", number_of(download, "parcel_bytes"));
    }
    if (host_links > 0) {
        snprintf(over, sizeof over, " over %u host link%s", host_links, host_links == 1 ? "" : "s");
    }
    FILE *file = open_memstream(&text, &bytes);
    CHECK(file);
    report_print(file, json_object_get(result, "reports"));
    if (number_of(result, "boot_ms") > 0) {
        fprintf(file, "\nboot      %s, %u node%s, %.1f ms\n", string_of(result, "network"), nodes,
                nodes == 1 ? "" : "s", number_of(result, "boot_ms"));
    }
    if (receipts > 0 && json_is_null(json_object_get(download, "model_us"))) {
        fprintf(file, "download  %s, x %.0f, sends %.0f%s, %s%.0f bytes, receipts %u of %u\n",
                string_of(download, "strategy"), number_of(download, "x"),
                number_of(download, "sends"), over, parcels, number_of(download, "bytes"), receipts,
                nodes);
    } else if (receipts > 0) {
        double wall_ms = number_of(download, "wall_ms");
        char wall[40] = "";

        if (wall_ms > 0) { /* a simulated one takes none */
            snprintf(wall, sizeof wall, "wall %.1f ms, ", wall_ms);
        }
        fprintf(
            file,
            "download  %s, x %.0f, sends %.0f%s, %s%.0f bytes, model %.3f us, predicted %s%.3f us, "
            "%sreceipts %u of %u\n",
            string_of(download, "strategy"), number_of(download, "x"), number_of(download, "sends"),
            over, parcels, number_of(download, "bytes"), number_of(download, "model_us"),
            json_is_true(json_object_get(download, "contends")) ? "at least " : "",
            number_of(download, "predicted_us"), wall, receipts, nodes);
        print_repairs(file, download);
    }
    print_outputs(file, json_object_get(result, "outputs"));
    print_trace(file, json_object_get(result, "trace"));
    CHECK(fclose(file) == 0);
    sink_say(view->sink, STDERR_FILENO, text, bytes);
    free(text);
}
