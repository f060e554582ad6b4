/*
 * page.c - the template with its parts put in, and what the tables of a run hold.
 */
#include "host/report/page.h"

#include <inttypes.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "host/report/assets.h"
#include "host/report/circuits.h"
#include "host/report/escape.h"
#include "host/report/events.h"
#include "host/report/link_rows.h"
#include "host/report/tables.h"
#include "include/ecube/abi.h"
#include "network/text.h"

enum {
    PAIRS_SHOWN = 20000, /* in the table, those with most bytes; the picture has all */
    CIRCUITS_SHOWN = 64, /* of a step */
    OUTPUT_BYTES_MAX = 1 << 18
};

/* Reading ------------------------------------------------------------------------------------- */

static int refuse(const char *path, const char *why, struct message *message)
{
    return message_set(message, "%.300s is not what --json of run, load or sim writes: %.200s",
                       path, why);
}

static bool is_or_null(const json_t *object, const char *key, json_type type)
{
    const json_t *value = json_object_get(object, key);

    return !value || json_is_null(value) || json_typeof(value) == type;
}

/* The members that are looked into, or without which it is no result. */
static const char *wrong_member(const json_t *run)
{
    static const struct {
        const char *name;
        json_type type;
        bool needed;
    } members[] = {
        {"version", JSON_STRING, true},   {"network", JSON_STRING, true},
        {"nodes", JSON_INTEGER, true},    {"status", JSON_INTEGER, true},
        {"reports", JSON_ARRAY, true},    {"troubles", JSON_ARRAY, true},
        {"profile", JSON_OBJECT, true},   {"plans", JSON_ARRAY, true},
        {"map", JSON_OBJECT, false},      {"exits", JSON_ARRAY, false},
        {"download", JSON_OBJECT, false}, {"trace", JSON_OBJECT, false},
        {"sim", JSON_OBJECT, false},      {"traffic", JSON_OBJECT, false},
        {"plan", JSON_OBJECT, false},
    };

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if ((members[i].needed && !json_object_get(run, members[i].name)) ||
            !is_or_null(run, members[i].name, members[i].type)) {
            return members[i].name;
        }
    }
    return NULL;
}

static bool all_objects(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!json_is_object(json_array_get(list, i))) {
            return false;
        }
    }
    return true;
}

/* Ranks are nodes where there is no map; else each node has one. */
static bool map_is_good(const json_t *run, uint32_t nodes)
{
    const json_t *map = json_object_get(run, "map");
    const json_t *list = json_object_get(map, "node_of_rank");
    bool good = json_array_size(list) == nodes;

    for (size_t i = 0; good && i < nodes; i++) {
        const json_t *node = json_array_get(list, i);
        good = json_is_integer(node) && json_integer_value(node) >= 0 &&
               json_integer_value(node) < nodes;
    }
    return !json_is_object(map) || good;
}

static int check_run(struct page *page, const char *path, struct message *message)
{
    static const struct network_limits limits = {.nodes = NETWORK_NODES_MAX, .place = "here"};
    const char *wrong = json_is_object(page->run) ? wrong_member(page->run) : "object";
    char why[NETWORK_ERROR_MAX + 32];

    if (wrong) {
        snprintf(why, sizeof why, "its member \"%s\" is missing, or no such", wrong);
        return refuse(path, json_is_object(page->run) ? why : "it is no object", message);
    }
    const char *name = json_string_value(json_object_get(page->run, "network"));
    if (!name || !network_parse(&page->network, name, &limits, why)) {
        return refuse(path, name ? why : "it has no network", message);
    }
    if (json_integer_value(json_object_get(page->run, "nodes")) != page->network.nodes) {
        return refuse(path, "its network has another number of nodes", message);
    }
    if (!all_objects(json_object_get(page->run, "reports")) ||
        !all_objects(json_object_get(page->run, "troubles")) ||
        !all_objects(json_object_get(page->run, "plans"))) {
        return refuse(path, "a report, plan or trouble is no object", message);
    }
    const json_t *traffic = json_object_get(page->run, "traffic");
    if (json_is_object(traffic) && !link_rows_fit(traffic, &page->network)) {
        return refuse(path, "its traffic is none of this network", message);
    }
    return map_is_good(page->run, page->network.nodes)
               ? 0
               : refuse(path, "its map is none of this network", message);
}

int page_take(struct page *page, json_t *run, const char *path, struct message *message)
{
    *page = (struct page){.run = run};
    if (check_run(page, path, message) != 0) {
        page_free(page);
        return -1;
    }
    return 0;
}

int page_read(struct page *page, FILE *file, const char *path, struct message *message)
{
    json_error_t error;
    json_t *run = json_loadf(file, JSON_REJECT_DUPLICATES, &error);

    return run ? page_take(page, run, path, message)
               : message_set(message, "%.300s: line %d: no JSON: %.160s", path, error.line,
                             error.text);
}

void page_free(struct page *page)
{
    json_decref(page->run);
    json_decref(page->events);
    *page = (struct page){0};
}

/* A simulation has it among what only that knows. */
static const json_t *trace_of(const struct page *page)
{
    const json_t *own = json_object_get(page->run, "trace");

    return json_is_object(own) ? own : json_object_get(json_object_get(page->run, "sim"), "trace");
}

const char *page_trace(const struct page *page)
{
    return json_string_value(json_object_get(trace_of(page), "file"));
}

const char *page_trace_digest(const struct page *page)
{
    return json_string_value(json_object_get(trace_of(page), "sha256"));
}

/* Head ------------------------------------------------------------------------------------- */

static json_t *member(const json_t *object, const char *outer, const char *inner)
{
    return json_object_get(json_object_get(object, outer), inner);
}

static const json_t *subject_of(const struct page *page)
{
    const json_t *program = json_object_get(page->run, "program");
    const json_t *planned = member(page->run, "plan", "operation");

    return json_is_string(program)   ? program
           : json_is_string(planned) ? planned
                                     : member(page->run, "sim", "scenario");
}

static bool is_plan(const struct page *page)
{
    return json_object_get(page->run, "plan") != NULL;
}

static void put_title(const struct page *page, FILE *file)
{
    const json_t *subject = subject_of(page);
    const char *path = json_string_value(subject), *slash = path ? strrchr(path, '/') : NULL;

    fputs(is_plan(page) ? "Plan of " : "", file);
    if (slash) {
        escape_text(file, slash + 1, strlen(slash + 1));
    } else {
        table_put_value(file, subject);
    }
    fputs(" on ", file);
    table_put_value(file, json_object_get(page->run, "network"));
}

static void put_note(FILE *file, const char *text)
{
    fprintf(file, "<p class=\"note\">%s</p>\n", text);
}

static void put_notes(const struct page *page, FILE *file)
{
    char text[256];

    if (!page->events) {
        put_note(file,
                 "There are no records of this run, so loads of links, the timeline, who sent "
                 "to whom and steps are missing: run it with --trace FILE to have them.");
        return;
    }
    json_int_t events = json_integer_value(json_object_get(page->events, "events_left_out"));
    json_int_t steps = json_integer_value(json_object_get(page->events, "steps_left_out"));
    if (events > 0) {
        snprintf(text, sizeof text,
                 "The timeline here has the first %d events of the trace; %" JSON_INTEGER_FORMAT
                 " more are counted in the tables alone.",
                 EVENTS_MAX, events);
        put_note(file, text);
    }
    if (steps > 0) {
        snprintf(text, sizeof text,
                 "%" JSON_INTEGER_FORMAT " steps have too many circuits to show.", steps);
        put_note(file, text);
    }
}

/* Tables -------------------------------------------------------------------------------------- */

/* Over the bound: what was measured, or else what is predicted. */
static json_t *report_rows(const struct page *page)
{
    json_t *rows = json_deep_copy(json_object_get(page->run, "reports")), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const json_t *measured = json_object_get(row, "model_us");
        double model_us = json_number_value(
            json_is_number(measured) ? measured : json_object_get(row, "predicted_us"));
        double bound_us = json_number_value(json_object_get(row, "bound_us"));
        if (bound_us > 0) {
            json_object_set_new(row, "over_bound", json_real(model_us / bound_us));
        }
    }
    return rows;
}

static void put_reports(const struct page *page, FILE *file)
{
    static const struct table_column planned[] = {
        {"operation", "name", 0},
        {"bytes", "bytes", 0},
        {"steps", "steps", 0},
        {"predicted \xc2\xb5s", "predicted_us", 0},
        {"bound \xc2\xb5s", "bound_us", 0},
        {"over bound", "over_bound", 0},
    };
    static const struct table_column measured[] = {
        {"measurement", "name", 0},
        {"bytes", "bytes", 0},
        {"steps", "steps", 0},
        {"measured \xc2\xb5s", "model_us", 0},
        {"predicted \xc2\xb5s", "predicted_us", 0},
        {"bound \xc2\xb5s", "bound_us", 0},
        {"over bound", "over_bound", 0},
        {"wall \xc2\xb5s", "wall_us", 0},
        {"wrong bytes", "wrong", 0},
    };
    json_t *rows = report_rows(page);

    if (is_plan(page)) {
        table_put(file, TABLE("reports", "Predicted and bound, in model time", planned), rows);
    } else {
        table_put(file, TABLE("reports", "Measured, predicted and bound, in model time", measured),
                  rows);
    }
    json_decref(rows);
}

static void put_plans(const struct page *page, FILE *file)
{
    static const struct table_column columns[] = {{"collective", "operation", 0},
                                                  {"root", "root", 0},
                                                  {"from bytes", "bytes_min", 0},
                                                  {"to bytes", "bytes_max", 0},
                                                  {"algorithm", "algorithm", 0}};

    table_put(file, TABLE("plans", "Plans of collectives", columns),
              json_object_get(page->run, "plans"));
}

static void put_troubles(const struct page *page, FILE *file)
{
    static const struct table_column columns[] = {
        {"kind", "kind", 0}, {"nodes", "nodes", 0}, {"what was said", "text", 0}};

    table_put(file, TABLE("troubles", "Faults and other troubles", columns),
              json_object_get(page->run, "troubles"));
}

static void put_summary(const struct page *page, FILE *file)
{
    const json_t *run = page->run;

    fputs("<table>\n<tbody>\n", file);
    table_put_fact(file,
                   is_plan(page)                                     ? "operation"
                   : json_is_string(json_object_get(run, "program")) ? "program"
                                                                     : "scenario",
                   subject_of(page));
    table_put_fact(file, "algorithm", member(run, "plan", "algorithm"));
    table_put_fact(file, "source", member(run, "plan", "source"));
    table_put_fact(file, "ports of a node", member(run, "plan", "ports"));
    table_put_fact(file, "arguments", json_object_get(run, "arguments"));
    table_put_fact(file, "network", json_object_get(run, "network"));
    table_put_fact(file, "nodes", json_object_get(run, "nodes"));
    table_put_fact(file, "map", member(run, "map", "map"));
    table_put_fact(file, "ranks form", member(run, "map", "as"));
    table_put_fact(file, "profile", member(run, "profile", "name"));
    table_put_fact(file, "exit status", json_object_get(run, "status"));
    table_put_fact(file, "boot, ms of wall time", json_object_get(run, "boot_ms"));
    table_put_fact(file, "download, &#181;s of model time", member(run, "download", "model_us"));
    table_put_fact(file, "download, predicted &#181;s", member(run, "download", "predicted_us"));
    table_put_fact(file, "run, ms of wall time", json_object_get(run, "run_ms"));
    table_put_fact(file, "version of ecube", json_object_get(run, "version"));
    fputs("</tbody>\n</table>\n<div>\n", file);
    put_troubles(page, file);
    put_reports(page, file);
    put_plans(page, file);
    fputs("</div>\n", file);
}

/* "1,3": its coordinates, as the network's name orders them. */
static json_t *place_of(const struct network *network, uint32_t node)
{
    char text[NETWORK_DIMS_MAX * 12] = "";
    int used = 0;

    for (unsigned i = network->dims; i-- > 0;) {
        const struct network_dimension *dimension = &network->dim[i];
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%u", used ? "," : "",
                         (unsigned)(node / dimension->stride % dimension->size));
    }
    return json_string(text);
}

/* Adds to a member of a row. */
static void add(json_t *row, const char *key, json_int_t more)
{
    json_object_set_new(row, key,
                        json_integer(json_integer_value(json_object_get(row, key)) + more));
}

static json_t *node_rows(const struct page *page)
{
    json_t *rows = json_array(), *pair;
    const json_t *nodes_of = member(page->run, "map", "node_of_rank");
    const json_t *exits = json_object_get(page->run, "exits");
    uint32_t nodes = page->network.nodes;
    size_t i;

    for (uint32_t node = 0; node < nodes; node++) {
        json_array_append_new(rows,
                              json_pack("{s:I, s:o, s:I}", "node", (json_int_t)node, "place",
                                        place_of(&page->network, node), "rank", (json_int_t)node));
    }
    for (uint32_t rank = 0; rank < nodes; rank++) {
        const json_t *node = json_array_get(nodes_of, rank);
        json_t *row = json_array_get(rows, node ? (size_t)json_integer_value(node) : rank);
        json_object_set_new(row, "rank", json_integer(rank));
    }
    for (uint32_t node = 0; node < nodes; node++) {
        json_object_set(json_array_get(rows, node), "exit", json_array_get(exits, node));
    }
    json_array_foreach(json_object_get(page->events, "pairs"), i, pair)
    {
        json_t *from = json_array_get(rows, (size_t)json_integer_value(json_array_get(pair, 0)));
        json_t *to = json_array_get(rows, (size_t)json_integer_value(json_array_get(pair, 1)));
        json_int_t circuits = json_integer_value(json_array_get(pair, 2));
        json_int_t bytes = json_integer_value(json_array_get(pair, 3));
        json_int_t passed = json_integer_value(json_array_get(pair, 5));
        if (circuits > 0) {
            add(from, "sent", circuits);
            add(from, "sent_bytes", bytes);
            add(to, "received", circuits);
            add(to, "received_bytes", bytes);
        }
        if (passed > 0) {
            add(from, "passed_bytes", passed);
        }
    }
    return rows;
}

static void put_nodes(const struct page *page, FILE *file)
{
    static const struct table_column columns[] = {
        {"node", "node", 0},
        {"coordinates", "place", 0},
        {"rank", "rank", 0},
        {"exit status", "exit", 0},
        {"circuits sent", "sent", 0},
        {"bytes sent", "sent_bytes", 0},
        {"circuits received", "received", 0},
        {"bytes received", "received_bytes", 0},
        {"download passed on", "passed_bytes", 0},
    };

    if (page->network.nodes > PAGE_NODES_MAX) {
        fprintf(file, "<p>The tables of nodes and links end at %d nodes.</p>\n", PAGE_NODES_MAX);
        return;
    }
    json_t *rows = node_rows(page);
    table_put(file, TABLE("nodes", "Nodes", columns), rows);
    json_decref(rows);
}

/* With what nodes have counted, where the run says it. */
static json_t *links_of(const struct page *page)
{
    const json_t *traffic = json_object_get(page->run, "traffic");
    json_t *links = page->events ? json_incref(json_object_get(page->events, "links"))
                                 : circuit_no_links(&page->network);

    if (!json_is_object(traffic)) {
        return links;
    }
    json_t *rows = link_rows_make(links, traffic, &page->network);
    json_decref(links);
    return rows;
}

static void put_links(const struct page *page, FILE *file)
{
    static const struct table_column columns[] = {
        {"from", NULL, 0},           {"to", NULL, 1},
        {"circuits", NULL, 2},       {"bytes", NULL, 3},
        {"busy \xc2\xb5s", NULL, 4}, {"circuits waited \xc2\xb5s", NULL, 5},
        {"download bytes", NULL, 7}, {"load %", NULL, 10},
        {"refused", NULL, 11},       {"frames", NULL, 12},
        {"repeats", NULL, 13},       {"damaged", NULL, 14}};
    bool counted = json_is_object(json_object_get(page->run, "traffic"));
    const size_t shown = counted ? sizeof columns / sizeof columns[0] : page->events ? 7 : 2;

    if (page->network.nodes <= PAGE_NODES_MAX) {
        json_t *links = links_of(page);
        const char *caption = counted ? "Links, each direction; downloads and frames since the boot"
                                      : "Links, each direction";
        table_put(file, &(const struct table){"links", caption, columns, shown}, links);
        json_decref(links);
    }
}

static int by_bytes(const void *left, const void *right)
{
    json_int_t a = json_integer_value(json_array_get(*(json_t *const *)left, 3));
    json_int_t b = json_integer_value(json_array_get(*(json_t *const *)right, 3));

    return a != b ? (a > b ? -1 : 1) : 0;
}

/* The rank of each node; NULL: it is the node's number. */
static uint32_t *ranks_of(const struct page *page)
{
    const json_t *nodes_of = member(page->run, "map", "node_of_rank");
    uint32_t *ranks = nodes_of ? calloc(page->network.nodes, sizeof *ranks) : NULL;

    for (uint32_t rank = 0; ranks && rank < page->network.nodes; rank++) {
        ranks[json_integer_value(json_array_get(nodes_of, rank))] = rank;
    }
    return ranks;
}

/* Those with most bytes, with their ranks. */
static json_t *pair_rows(const struct page *page)
{
    const json_t *pairs = json_object_get(page->events, "pairs");
    size_t count = json_array_size(pairs), shown = count < PAIRS_SHOWN ? count : PAIRS_SHOWN;
    json_t **sorted = malloc((count + 1) * sizeof *sorted), *rows = json_array();
    uint32_t *ranks = ranks_of(page);

    CHECK(sorted);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = json_array_get(pairs, i);
    }
    if (count > PAIRS_SHOWN) {
        qsort(sorted, count, sizeof *sorted, by_bytes);
    }
    for (size_t i = 0; i < shown; i++) {
        json_t *row = json_copy(sorted[i]);
        for (size_t end = 0; end < 2 && ranks; end++) {
            json_int_t node = json_integer_value(json_array_get(row, end));
            json_array_append_new(row, json_integer(ranks[node]));
        }
        json_array_append_new(rows, row);
    }
    free(sorted);
    free(ranks);
    return rows;
}

static void put_pairs(const struct page *page, FILE *file)
{
    static const struct table_column columns[] = {
        {"from", NULL, 0},           {"to", NULL, 1},
        {"circuits", NULL, 2},       {"bytes", NULL, 3},
        {"download bytes", NULL, 5}, {"from rank", NULL, 6},
        {"to rank", NULL, 7}};
    size_t count = json_array_size(json_object_get(page->events, "pairs"));
    bool mapped = member(page->run, "map", "node_of_rank") != NULL;
    json_t *rows = pair_rows(page);

    if (count > PAIRS_SHOWN) {
        fprintf(file, "<p>Of %zu pairs those %d with most bytes:</p>\n", count, PAIRS_SHOWN);
    }
    table_put(file,
              &(const struct table){"sent", "Who sent how much to whom", columns, mapped ? 7 : 5},
              rows);
    json_decref(rows);
}

/* "0>3, 1>2" */
static json_t *circuits_text(const json_t *circuits)
{
    char text[CIRCUITS_SHOWN * 24 + 32] = "";
    size_t count = json_array_size(circuits), used = 0;

    for (size_t i = 0; i < count && i < CIRCUITS_SHOWN; i++) {
        const json_t *circuit = json_array_get(circuits, i);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u>%u", i ? ", " : "",
                                 (unsigned)json_integer_value(json_array_get(circuit, 0)),
                                 (unsigned)json_integer_value(json_array_get(circuit, 1)));
    }
    if (count > CIRCUITS_SHOWN) {
        snprintf(text + used, sizeof text - used, " and %zu more", count - CIRCUITS_SHOWN);
    }
    return json_string(text);
}

static void put_steps(const struct page *page, FILE *file)
{
    static const struct table_column columns[] = {
        {"collective", "collective", 0},
        {"its number", "run", 0},
        {"step", "step", 0},
        {"begins \xc2\xb5s", "begin_us", 0},
        {"ends \xc2\xb5s", "end_us", 0},
        {"links used", "link_count", 0},
        {"circuits", "text", 0},
    };
    json_t *rows = json_array(), *step;
    size_t i;

    json_array_foreach(json_object_get(page->events, "steps"), i, step)
    {
        json_t *row = json_copy(step);
        json_object_set_new(row, "text", circuits_text(json_object_get(step, "circuits")));
        json_object_set_new(
            row, "link_count",
            json_integer((json_int_t)json_array_size(json_object_get(step, "links"))));
        json_array_append_new(rows, row);
    }
    table_put(file, TABLE("steps", "Steps of collectives", columns), rows);
    json_decref(rows);
}

static void begin_output(FILE *file)
{
    fputs("<pre id=\"output\" tabindex=\"0\" aria-label=\"Output of programs\">", file);
}

/* As on a terminal, behind the ranks of programs. */
static void put_lines(const struct kept_lines *kept, FILE *file)
{
    begin_output(file);
    for (size_t i = 0; i < kept->count; i++) {
        const struct kept_line *line = &kept->lines[i];
        bool error = line->stream == ECUBE_STREAM_ERROR;
        fprintf(file, "%s[%" PRIu32 "] ",
                error ? "<span class=\"error\" title=\"standard error\">" : "", line->rank);
        escape_text(file, kept->text + line->at, line->bytes);
        fprintf(file, "%s\n", error ? "</span>" : "");
    }
    fputs("</pre>\n", file);
    if (kept->left_out > 0) {
        fprintf(file, "<p class=\"note\">%" PRIu64 " more line%s left out here.</p>\n",
                kept->left_out, kept->left_out == 1 ? " is" : "s are");
    }
}

static void put_file(FILE *output, FILE *file)
{
    char *text = malloc(OUTPUT_BYTES_MAX + 1);

    CHECK(text);
    size_t bytes = fread(text, 1, OUTPUT_BYTES_MAX + 1, output);
    bool cut = bytes > OUTPUT_BYTES_MAX;
    begin_output(file);
    escape_text(file, text, cut ? OUTPUT_BYTES_MAX : bytes);
    fputs("</pre>\n", file);
    free(text);
    if (cut) {
        uint64_t left_out = 0;
        int c;
        while ((c = getc(output)) != EOF) {
            left_out += c == '\n';
        }
        fprintf(file,
                "<p class=\"note\">These are its first %d bytes; %" PRIu64
                " more lines are left out here.</p>\n",
                OUTPUT_BYTES_MAX, left_out);
    }
}

static void put_output(const struct page *page, FILE *file)
{
    bool printed = page->lines && page->lines->count + page->lines->left_out > 0;

    if (!page->output && !printed) {
        return;
    }
    fputs("<section id=\"printed\" aria-label=\"Output\">\n<h2>Output</h2>\n", file);
    if (page->output) {
        put_file(page->output, file);
    } else {
        put_lines(page->lines, file);
    }
    fputs("</section>\n", file);
}

static void put_tables(const struct page *page, FILE *file)
{
    put_steps(page, file);
    put_nodes(page, file);
    put_links(page, file);
    put_pairs(page, file);
}

/* The data of the script ---------------------------------------------------------------------- */

static void put_data(const struct page *page, FILE *file)
{
    const struct network *network = &page->network;
    json_t *dims = json_array(), *failed = json_array(), *trouble, *data;
    size_t i;

    for (unsigned d = 0; d < network->dims; d++) {
        const struct network_dimension *dimension = &network->dim[d];
        json_array_append_new(dims, json_pack("[I, I, b]", (json_int_t)dimension->size,
                                              (json_int_t)dimension->stride, dimension->wraps));
    }
    json_array_foreach(json_object_get(page->run, "troubles"), i, trouble)
    {
        json_array_extend(failed, json_object_get(trouble, "nodes"));
    }
    data = json_pack("{s:I, s:i, s:o, s:o, s:b}", "nodes", (json_int_t)network->nodes, "kind",
                     (int)network->kind, "dims", dims, "failed", failed, "plan", is_plan(page));
    json_object_update(data, page->events);
    json_object_set_new(data, "links", links_of(page));
    if (member(page->run, "map", "node_of_rank")) {
        json_object_set(data, "node_of_rank", member(page->run, "map", "node_of_rank"));
    }
    escape_json(file, data);
    json_decref(data);
}

/* The template -------------------------------------------------------------------------------- */

static void put_style(const struct page *page, FILE *file)
{
    (void)page;
    fwrite(report_css, 1, (size_t)(report_css_end - report_css), file);
}

/* What stands between the tags: as XML the script is a CDATA section. */
static const char script_head[] = "//<![CDATA[\n", script_tail[] = "//]]>";

static void put_script(const struct page *page, FILE *file)
{
    (void)page;
    fputs(script_head, file);
    fwrite(report_js, 1, (size_t)(report_js_end - report_js), file);
    fputs(script_tail, file);
}

static void put_script_digest(const struct page *page, FILE *file)
{
    struct sha256_ctx sha;
    uint8_t sum[SHA256_DIGEST_SIZE];
    char text[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE)];

    (void)page;
    sha256_init(&sha);
    sha256_update(&sha, sizeof script_head - 1, (const uint8_t *)script_head);
    sha256_update(&sha, (size_t)(report_js_end - report_js), (const uint8_t *)report_js);
    sha256_update(&sha, sizeof script_tail - 1, (const uint8_t *)script_tail);
    sha256_digest(&sha, sizeof sum, sum);
    base64_encode_raw(text, sizeof sum, sum);
    fprintf(file, "sha256-%.*s", (int)sizeof text, text);
}

static const struct {
    const char *mark;
    void (*put)(const struct page *page, FILE *file);
} parts[] = {
    {"@TITLE@", put_title},     {"@STYLE@", put_style},   {"@NOTES@", put_notes},
    {"@SUMMARY@", put_summary}, {"@DATA@", put_data},     {"@TABLES@", put_tables},
    {"@OUTPUT@", put_output},   {"@SCRIPT@", put_script}, {"@SCRIPT-DIGEST@", put_script_digest},
};

void page_write(const struct page *page, FILE *file)
{
    const char *at = report_html;

    while (at < report_html_end) {
        size_t plain = strcspn(at, "@"), part = 0;
        fwrite(at, 1, plain, file);
        at += plain;
        if (at == report_html_end) {
            break;
        }
        while (strncmp(at, parts[part].mark, strlen(parts[part].mark)) != 0) {
            part++;
            CHECK(part < sizeof parts / sizeof parts[0]);
        }
        parts[part].put(page, file);
        at += strlen(parts[part].mark);
    }
}
