/*
 * plan_page.c - ecube plan show --report: a plan as the page of a run that has not been yet.
 *
 * The page gets what --json says of a run, as far as a plan knows it, and the circuits as the
 * timeline of a run has them: when each is issued, what it waits for at each link, when it is done.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "drivers/check.h"
#include "host/command/map_option.h"
#include "host/computer/available.h"
#include "host/console/version.h"
#include "host/plan/plan.h"
#include "host/report/circuits.h"
#include "host/report/events.h"
#include "host/report/page.h"
#include "host/report/run_report.h"
#include "planner/build.h"

enum {
    PIECE_BYTES = 128, /* of memory, for a circuit and for each of its links, with its sorting */
    PAIR_BYTES = 512   /* the same, of a pair */
};

struct drawing {
    const struct plan *plan; /* of all nodes */
    const struct plan_command *command;
    struct circuit_sums *sums;
    uint64_t *free_ns; /* of node and port: when the link is free */
    json_t *tracks, *strings, *events;
    uint64_t left_out;
};

int plan_page_check(const struct plan *plan, struct message *message)
{
    uint64_t nodes = plan->invariant ? plan->network.nodes : 1;
    uint64_t circuits = plan->circuit_count * nodes, available = available_bytes();
    uint64_t need = (circuits + plan->hops * nodes) * PIECE_BYTES + circuits * PAIR_BYTES;

    if (circuits > PLAN_CIRCUITS_MAX || need > available - available / 8) {
        return message_set(message,
                           "a page of %" PRIu64 " circuits needs %.1f GB, and %.1f GB are "
                           "available: use a smaller network",
                           circuits, (double)need / 1e9, (double)available / 1e9);
    }
    return 0;
}

static double us(uint64_t ns)
{
    return (double)ns / 1e3;
}

/* Circuits ------------------------------------------------------------------------------------ */

/* The tracks are the links, in the order of their nodes and ports. */
static void name_tracks(struct drawing *drawing, uint32_t *track_of)
{
    const struct network *network = &drawing->plan->network;

    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned port = 0; port < network->ports; port++) {
            uint32_t to = network_neighbour(network, node, port);
            char owner[24], name[32];
            if (to == NETWORK_NO_NODE) {
                continue;
            }
            snprintf(owner, sizeof owner, "node %u", (unsigned)node);
            snprintf(name, sizeof name, "%u>%u", (unsigned)node, (unsigned)to);
            track_of[node * network->ports + port] = (uint32_t)json_array_size(drawing->tracks);
            json_array_append_new(drawing->tracks, json_pack("[s, s]", owner, name));
        }
    }
}

static void add_event(struct drawing *drawing, const struct shown_circuit *circuit, uint32_t track,
                      size_t name)
{
    if (json_array_size(drawing->events) == EVENTS_MAX) {
        drawing->left_out++;
        return;
    }
    json_array_append_new(drawing->events,
                          json_pack("[I, f, f, I, i]", (json_int_t)track, circuit->begin_us,
                                    circuit->end_us - circuit->begin_us, (json_int_t)name, 0));
}

static void add_links(struct drawing *drawing, const struct plan_circuit *circuit,
                      const struct plan_moment *moment, struct shown_circuit shown,
                      const uint32_t *track_of)
{
    const struct profile *profile = &drawing->command->profile;
    const struct network *network = &drawing->plan->network;
    uint64_t at_ns = moment->issue_ns + profile->xi_ns;
    uint32_t at = circuit->from;
    size_t name = json_array_size(drawing->strings);
    char text[48];

    snprintf(text, sizeof text, "%u>%u step %u", (unsigned)shown.from, (unsigned)shown.to,
             (unsigned)circuit->step);
    if (json_array_size(drawing->events) < EVENTS_MAX) {
        json_array_append_new(drawing->strings, json_string(text));
    }
    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        unsigned port = circuit_port(drawing->plan, circuit, at, hop);
        uint32_t link = at * network->ports + port;
        uint64_t own_ns = clock_max(at_ns, drawing->free_ns[link]);
        shown.begin_us = us(own_ns);
        circuit_sums_add_link(drawing->sums, &shown, at, port, us(own_ns - at_ns));
        add_event(drawing, &shown, track_of[link], name);
        drawing->free_ns[link] = moment->done_ns;
        at_ns = own_ns + profile->tau_ns;
        at = network_neighbour(network, at, port);
    }
}

static void add_circuits(struct drawing *drawing, const struct plan_moment *moments)
{
    const struct plan *plan = drawing->plan;
    const struct plan_command *command = drawing->command;
    size_t links = (size_t)plan->network.nodes * plan->network.ports + 1;
    uint32_t *track_of = calloc(links, sizeof *track_of);

    drawing->free_ns = calloc(links, sizeof *drawing->free_ns);
    CHECK(track_of && drawing->free_ns);
    name_tracks(drawing, track_of);
    json_array_append_new(drawing->strings, json_string("circuit"));
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        if (is_copy(circuit)) {
            continue;
        }
        struct shown_circuit shown = {
            .from = circuit->from,
            .to = circuit->to,
            .bytes =
                plan_circuit_bytes(plan, circuit, command->request.bytes, command->element_bytes),
            .step = (int32_t)circuit->step,
            .begin_us = us(moments[i].issue_ns),
            .end_us = us(moments[i].done_ns),
        };
        circuit_sums_add(drawing->sums, &shown);
        add_links(drawing, circuit, &moments[i], shown, track_of);
    }
    free(track_of);
    free(drawing->free_ns);
}

static json_t *draw(const struct plan *plan, const struct plan_command *command)
{
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
    struct drawing drawing = {.plan = all ? all : plan,
                              .command = command,
                              .sums = circuit_sums_make(&plan->network),
                              .tracks = json_array(),
                              .strings = json_array(),
                              .events = json_array()};
    struct plan_moment *moments = calloc((size_t)drawing.plan->circuit_count + 1, sizeof *moments);

    CHECK(moments);
    plan_replay(drawing.plan, command->request.bytes, command->element_bytes, &command->profile,
                moments);
    circuit_sums_name(drawing.sums, 0, operation_of(plan->operation)->name);
    add_circuits(&drawing, moments);
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:I}", "tracks", drawing.tracks, "strings", drawing.strings,
                  "events", drawing.events, "events_left_out", (json_int_t)drawing.left_out);
    circuit_sums_put(drawing.sums, object);
    circuit_sums_free(drawing.sums);
    free(moments);
    plan_free(all);
    return object;
}

/* What --json says of a run ------------------------------------------------------------------- */

static json_t *ports_of(const struct plan *plan)
{
    return plan->node_ports == PORTS_ALL ? json_string("all") : json_integer(plan->node_ports);
}

/* For all larger sizes, too: null. */
static json_t *size_of(uint32_t bytes)
{
    return bytes == UINT32_MAX ? json_null() : json_integer(bytes);
}

static json_t *describe(const struct plan *plan, const struct plan_command *command)
{
    const struct operation *operation = operation_of(plan->operation);
    struct plan_summary summary = plan_summary(plan);
    struct plan_time time =
        plan_time(plan, command->request.bytes, command->element_bytes, &command->profile);
    json_t *report = json_pack("{s:s, s:I, s:I, s:f, s:f}", "name", operation->name, "bytes",
                               (json_int_t)command->request.bytes, "steps", (json_int_t)plan->steps,
                               "predicted_us", us(time.model_ns), "bound_us", us(time.bound_ns));
    json_t *made =
        json_pack("{s:s, s:I, s:I, s:o, s:s}", "operation", operation->standard, "root",
                  (json_int_t)summary.root, "bytes_min", (json_int_t)summary.bytes_min, "bytes_max",
                  size_of(summary.bytes_max), "algorithm", summary.algorithm);
    json_t *planned =
        json_pack("{s:s, s:s, s:s, s:o}", "operation", operation->name, "algorithm",
                  summary.algorithm, "source", plan_source(plan), "ports", ports_of(plan));

    return json_pack("{s:s, s:s, s:o, s:I, s:{s:s}, s:n, s:[o], s:[], s:[o], s:o}", "version",
                     ECUBE_VERSION, "network", command->network_name, "map",
                     map_describe(&command->network), "nodes", (json_int_t)plan->network.nodes,
                     "profile", "name", command->profile_name, "status", "reports", report,
                     "troubles", "plans", made, "plan", planned);
}

int plan_page(const struct plan *plan, const struct plan_command *command, struct output *output,
              struct message *message)
{
    struct page page;

    if (page_take(&page, describe(plan, command), "the plan", message) != 0) {
        return -1;
    }
    page.events = draw(plan, command);
    int status = run_report_put(&page, output, message);
    page_free(&page);
    return status;
}
