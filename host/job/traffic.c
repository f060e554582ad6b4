/*
 * traffic.c - what the links of a machine have carried: from answers of nodes to JSON, and from
 * that to a table.
 */
#include "host/job/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "host/console/cell.h"
#include "wire/frame.h"

bool traffic_init(struct traffic *traffic, const struct network *network)
{
    *traffic = (struct traffic){
        .network = network,
        .ports = calloc((size_t)network->nodes * (network->ports + 1), sizeof *traffic->ports),
        .told = calloc(network->nodes, sizeof *traffic->told)};
    return traffic->ports && traffic->told;
}

void traffic_free(struct traffic *traffic)
{
    free(traffic->ports);
    free(traffic->told);
    *traffic = (struct traffic){0};
}

static struct traffic_port *port_at(const struct traffic *traffic, uint32_t node, unsigned port)
{
    return &traffic->ports[(size_t)node * (traffic->network->ports + 1) + port];
}

void traffic_put(struct traffic *traffic, uint32_t node, unsigned port,
                 const struct traffic_port *known)
{
    *port_at(traffic, node, port) = *known;
    traffic->told[node] = (uint8_t)(port + 1);
}

void traffic_take(struct traffic *traffic, const struct controller_event *event)
{
    switch (event->kind) {
    case EVENT_LOADED: traffic->base_ns = event->model_ns + event->repair_ns; break;
    case EVENT_STATE:
        traffic->model_ns = clock_max(traffic->model_ns, event->state.model_ns);
        break;
    case EVENT_TRAFFIC:
        for (unsigned i = 0; i < event->traffic.told; i++) {
            struct traffic_port port = traffic_port_at(event->body, i);
            traffic_put(traffic, event->rank, event->traffic.first + i, &port);
        }
        break;
    default: break;
    }
}

void traffic_forget(struct traffic *traffic)
{
    memset(traffic->told, 0, traffic->network->nodes);
    traffic->model_ns = 0;
}

/* A directed link that is known. */
struct row {
    uint32_t node, to; /* to ID_HOST: the host */
    uint8_t port;
    const struct traffic_port *here, *there; /* there NULL: not known */
};

static bool find_row(const struct traffic *traffic, uint32_t node, unsigned port, struct row *row)
{
    const struct network *network = traffic->network;

    *row = (struct row){node, ID_HOST, (uint8_t)port, port_at(traffic, node, port), NULL};
    if (port == network->ports) {
        return network_host_link_of(network, node) >= 0;
    }
    row->to = network_neighbour(network, node, port);
    if (row->to == NETWORK_NO_NODE) {
        return false;
    }
    unsigned far = network_far_port(network, port);
    row->there = far < traffic->told[row->to] ? port_at(traffic, row->to, far) : NULL;
    return true;
}

/* Those that are busiest with programs first, then with the host's circuits. */
static int compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    for (unsigned user = 0; user < TRAFFIC_USERS; user++) {
        const struct traffic_use *u = &x->here->uses[user], *v = &y->here->uses[user];
        if (u->busy_ns != v->busy_ns) {
            return u->busy_ns > v->busy_ns ? -1 : 1;
        }
        if (u->bytes != v->bytes) {
            return u->bytes > v->bytes ? -1 : 1;
        }
    }
    if (x->node != y->node) {
        return x->node < y->node ? -1 : 1;
    }
    return x->port < y->port ? -1 : 1;
}

static json_t *describe_use(const struct traffic_use *use)
{
    return json_pack("{s:I, s:I, s:f, s:f, s:I}", "bytes", (json_int_t)use->bytes, "circuits",
                     (json_int_t)use->circuits, "busy_us", (double)use->busy_ns / 1e3, "waited_us",
                     (double)use->waited_ns / 1e3, "refused", (json_int_t)use->refused);
}

static json_t *describe_row(const struct row *row, uint64_t run_ns)
{
    const struct traffic_use *use = &row->here->uses[TRAFFIC_PROGRAM];
    uint64_t busy_ns = use->busy_ns < run_ns ? use->busy_ns : run_ns; /* it may be ahead of all */
    json_t *link = describe_use(use);

    json_object_set_new(link, "node", json_integer(row->node));
    json_object_set_new(link, "port", json_integer(row->port));
    json_object_set_new(link, "to", row->to == ID_HOST ? json_null() : json_integer(row->to));
    json_object_set_new(link, "load",
                        run_ns ? json_real((double)busy_ns / (double)run_ns) : json_null());
    json_object_set_new(link, "host", describe_use(&row->here->uses[TRAFFIC_HOST]));
    json_object_set_new(link, "frames", json_integer(row->here->frames));
    json_object_set_new(link, "repeats", json_integer(row->here->repeats));
    json_object_set_new(link, "damaged",
                        row->there ? json_integer(row->there->damaged) : json_null());
    return link;
}

json_t *traffic_describe(const struct traffic *traffic)
{
    const struct network *network = traffic->network;
    size_t count = 0, most = (size_t)network->nodes * (network->ports + 1);
    struct row *rows = malloc(most * sizeof *rows);
    bool runs = traffic->model_ns > traffic->base_ns;
    uint64_t run_ns = runs ? traffic->model_ns - traffic->base_ns : 0;
    json_t *links = json_array();

    for (uint32_t node = 0; rows && node < network->nodes; node++) {
        for (unsigned port = 0; port < traffic->told[node]; port++) {
            count += find_row(traffic, node, port, &rows[count]);
        }
    }
    if (count > 0) {
        qsort(rows, count, sizeof *rows, compare);
    }
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(links, describe_row(&rows[i], run_ns));
    }
    free(rows);
    return json_pack("{s:o, s:o}", "run_us", runs ? json_real((double)run_ns / 1e3) : json_null(),
                     "links", links);
}

/* The table ------------------------------------------------------------------------------------ */

enum { NODE = 5, PORT = 4, LOAD = 6, TIME = 10, COUNT = 7, FEW = 6 };

static double number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

/* Of programs and of the host. */
static double all_bytes(const json_t *link)
{
    return number(link, "bytes") + number(json_object_get(link, "host"), "bytes");
}

/* The same link some time before; NULL: it was not known. */
static const json_t *find_before(const json_t *before, const json_t *link)
{
    size_t i;
    json_t *other;

    json_array_foreach(json_object_get(before, "links"), i, other)
    {
        if (json_equal(json_object_get(other, "node"), json_object_get(link, "node")) &&
            json_equal(json_object_get(other, "port"), json_object_get(link, "port"))) {
            return other;
        }
    }
    return NULL;
}

/* Bytes a second; what a new job has carried since it began. */
static double rate(const json_t *link, const struct traffic_view *view)
{
    const json_t *then = find_before(view->before, link);
    double bytes = all_bytes(link) - (then ? all_bytes(then) : 0);

    return then && view->seconds > 0 ? (bytes > 0 ? bytes : 0) / view->seconds : 0;
}

/* The counts of a row, from the left; narrow tables have the first two. */
static const struct {
    const char *name, *heading;
    unsigned columns;
} counts[] = {{"circuits", "circuits", COUNT + 1}, {"bytes", "bytes", COUNT},
              {"refused", "refused", COUNT},       {"frames", "frames", COUNT},
              {"repeats", "again", FEW},           {"damaged", "broken", FEW}};

enum { COUNTS = sizeof counts / sizeof counts[0], COUNTS_NARROW = 2 };

static unsigned counts_shown(const struct traffic_view *view)
{
    return view->columns < TRAFFIC_COLUMNS ? COUNTS_NARROW : COUNTS;
}

static void print_heading(FILE *file, const struct traffic_view *view)
{
    fprintf(file, "%*s %*s %*s %*s %*s %*s", NODE, "node", PORT, "port", NODE, "to", LOAD, "load",
            TIME, "busy us", TIME, "waited us");
    for (unsigned i = 0; i < counts_shown(view); i++) {
        fprintf(file, " %*s", (int)counts[i].columns, counts[i].heading);
    }
    fprintf(file, " %*s\n", COUNT, view->before ? "B/s" : "host B");
}

static void print_row(FILE *file, const json_t *link, const struct traffic_view *view)
{
    char load[CELL_MAX] = "-", to[CELL_MAX] = "host", cell[CELL_MAX];
    const json_t *share = json_object_get(link, "load"), *peer = json_object_get(link, "to");

    if (!json_is_null(share)) {
        snprintf(load, sizeof load, "%.1f%%", 100 * json_number_value(share));
    }
    if (!json_is_null(peer)) {
        snprintf(to, sizeof to, "%lld", json_integer_value(peer));
    }
    fprintf(file, "%*lld %*lld %*s %*s", NODE, json_integer_value(json_object_get(link, "node")),
            PORT, json_integer_value(json_object_get(link, "port")), NODE, to, LOAD, load);
    fprintf(file, " %*s", TIME, cell_real(cell, TIME, number(link, "busy_us")));
    fprintf(file, " %*s", TIME, cell_real(cell, TIME, number(link, "waited_us")));
    for (unsigned i = 0; i < counts_shown(view); i++) {
        bool known = !json_is_null(json_object_get(link, counts[i].name));
        fprintf(file, " %*s", (int)counts[i].columns,
                known ? cell_count(cell, counts[i].columns, number(link, counts[i].name)) : "-");
    }
    double last = view->before ? rate(link, view) : number(json_object_get(link, "host"), "bytes");
    fprintf(file, " %*s\n", COUNT, cell_count(cell, COUNT, last));
}

void traffic_print(FILE *file, const json_t *object, const struct traffic_view *view)
{
    const json_t *links = json_object_get(object, "links");
    size_t i, count = json_array_size(links);
    json_t *link;

    if (count == 0) {
        fputs("no node has told of its links\n", file);
        return;
    }
    print_heading(file, view);
    json_array_foreach(links, i, link)
    {
        if (i < view->rows) {
            print_row(file, link, view);
        }
    }
    if (count > view->rows) {
        fprintf(file, "and %zu more links\n", count - view->rows);
    }
    if (number(object, "answers_cut") > 0) {
        fprintf(file, "%.0f answers of nodes were cut off\n", number(object, "answers_cut"));
    }
}
