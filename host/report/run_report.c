#include "host/report/run_report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "host/computer/input_file.h"
#include "host/report/events.h"

static bool is_same(const char *path, const char *other)
{
    return other && strcmp(path, other) == 0;
}

/* Another process of the user's can open it by this name. */
static int make_trace(struct run_report *report, struct message *message)
{
    report->trace = tmpfile();
    if (!report->trace) {
        return message_set(message, "cannot make a file for the timeline of --report: %s",
                           strerror(errno));
    }
    fcntl(fileno(report->trace), F_SETFD, FD_CLOEXEC);
    snprintf(report->trace_path, sizeof report->trace_path, "/proc/%ld/fd/%d", (long)getpid(),
             fileno(report->trace));
    return 0;
}

static int refuse(const char *option, const char *path, struct message *message)
{
    return message_set(message, "%s %.300s: name a file of its own", option, path);
}

int run_report_open_page(struct output *output, const char *option, const char *path,
                         struct message *message)
{
    *output = (struct output){.fd = -1};
    return path && strcmp(path, "-") == 0 ? refuse(option, path, message)
                                          : output_open_as(output, "page", path, message);
}

int run_report_open(struct run_report *report, const char *path, const char **trace,
                    const char *json, struct message *message)
{
    *report = (struct run_report){.page = {.fd = -1}};
    if (!path) {
        return 0;
    }
    if (is_same(path, *trace) || is_same(path, json)) {
        return refuse("--report", path, message);
    }
    if (run_report_open_page(&report->page, "--report", path, message) != 0) {
        return -1;
    }
    if (!*trace) {
        if (make_trace(report, message) != 0) {
            run_report_drop(report);
            return -1;
        }
        *trace = report->trace_path;
    }
    return 0;
}

struct kept_lines *run_report_output(struct run_report *report)
{
    return report->page.path ? &report->output : NULL;
}

void run_report_take(const struct run_report *report, json_t *result)
{
    json_t *simulated = json_object_get(json_object_get(result, "sim"), "trace");
    json_t *trace = simulated ? simulated : json_object_get(result, "trace");

    if (report->trace && json_is_object(trace)) {
        json_object_set_new(trace, "file", json_null());
    }
}

void run_report_drop(struct run_report *report)
{
    output_drop(&report->page);
    kept_free(&report->output);
    if (report->trace) {
        fclose(report->trace);
    }
    *report = (struct run_report){.page = {.fd = -1}};
}

int run_report_put(const struct page *page, struct output *output, struct message *message)
{
    if (output_begin(output, message) != 0) {
        return -1;
    }
    FILE *file = fdopen(output->fd, "w");
    if (!file) {
        return message_set(message, "cannot write the page %.300s: %s", output->path,
                           strerror(errno));
    }
    output->fd = -1;
    page_write(page, file);
    bool failed = ferror(file);
    return fclose(file) != 0 || failed ? message_set(message, "cannot write the page %.300s: %s",
                                                     output->path, strerror(errno))
                                       : 0;
}

/* A run that never came to its end has no timeline. */
static int add_events(const struct run_report *report, struct page *page, struct message *message)
{
    char digest[65];

    if (!page_trace_digest(page)) {
        return 0;
    }
    if (report->trace) {
        rewind(report->trace);
        page->events = events_read(report->trace, "the timeline", &page->network, digest, message);
        return page->events ? 0 : -1;
    }
    FILE *file = input_file_open(page_trace(page), "trace", message);
    if (!file) {
        return -1;
    }
    page->events = events_read(file, page_trace(page), &page->network, digest, message);
    input_file_close(file);
    return page->events ? 0 : -1;
}

int run_report_write(struct run_report *report, json_t *result, struct message *message)
{
    struct page page;

    if (!report->page.path || !json_is_object(result)) {
        run_report_drop(report);
        return 0;
    }
    int status = page_take(&page, json_incref(result), "the result", message);
    if (status == 0) {
        page.lines = &report->output;
        status = add_events(report, &page, message);
        status = status == 0 ? run_report_put(&page, &report->page, message) : status;
        page_free(&page);
    }
    run_report_drop(report);
    return status;
}
