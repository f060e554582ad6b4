/*
 * plan_export.c - ecube plan export: a plan as JSON, one circuit on a line, as it goes along.
 *
 * The form is in doc/json.md. It is written by hand, circuit by circuit: a tree of it all would
 * take more memory than the plan. Every text in it is ours and has nothing to escape.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "planner/build.h"
#include "host/computer/available.h"
#include "host/plan/plan.h"
#include "host/plan/plan_blocks.h"
#include "host/console/terminal.h"
#include "reduction/reduction.h"

enum {
    BUFFER_BYTES = 1 << 20,
    SLOT_BYTES = 12,      /* of memory: its name, and that of a block on its way to it */
    CIRCUIT_BYTES = 128,  /* of memory, with what belongs to it in the pools */
    LOOK_CIRCUITS = 1024, /* between two looks at the clock */
    PROGRESS_MS = 200
};

static const uint64_t ns_per_us = 1000;

/* A line on the terminal that says how far it is, once it has taken a while. */
struct progress {
    uint64_t told_ms;
    bool terminal, open;
};

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void progress_clear(struct progress *progress)
{
    if (progress->open) {
        terminal_put(STDERR_FILENO, terminal_clear, strlen(terminal_clear));
        progress->open = false;
    }
}

static void progress_show(struct progress *progress, uint32_t done, uint32_t total)
{
    if (!progress->terminal || done % LOOK_CIRCUITS != 0 ||
        now_ms() - progress->told_ms < PROGRESS_MS) {
        return;
    }
    progress->told_ms = now_ms();
    char line[TERMINAL_LINE_MAX];
    terminal_progress(line, STDERR_FILENO, "export", done, total, "circuits");
    progress->open = true;
    terminal_put(STDERR_FILENO, line, strlen(line));
}

static uint64_t circuits_of(const struct plan *plan)
{
    return (uint64_t)plan->circuit_count * (plan->invariant ? plan->network.nodes : 1);
}

int plan_export_check(const struct plan *plan, struct message *message)
{
    uint64_t circuits = circuits_of(plan), available = available_bytes();
    uint64_t need = circuits * CIRCUIT_BYTES + plan_blocks_slots(plan) * SLOT_BYTES;

    if (plan->sums_apart) {
        return message_set(message,
                           "by %s nodes keep sums of others apart, and a file cannot say which: "
                           "name another with --algorithm",
                           plan_summary(plan).algorithm);
    }
    if (circuits > PLAN_CIRCUITS_MAX) {
        return message_set(message, "the plan has %" PRIu64 " circuits: an export has at most %d",
                           circuits, PLAN_CIRCUITS_MAX);
    }
    if (need > available - available / 8) {
        return message_set(message,
                           "the export needs %.1f GB, and %.1f GB are available: use a smaller "
                           "network",
                           (double)need / 1e9, (double)available / 1e9);
    }
    return 0;
}

static void write_us(FILE *file, const char *name, uint64_t ns)
{
    fprintf(file, "\"%s\":%" PRIu64 ".%03u", name, ns / ns_per_us, (unsigned)(ns % ns_per_us));
}

static void write_head(FILE *file, const struct plan *plan, const struct plan_command *command)
{
    const struct profile *profile = &command->profile;
    struct plan_time time =
        plan_time(plan, command->request.bytes, command->element_bytes, profile);
    const char *type =
        operation_of(plan->operation)->reduces ? reduction_type_name(command->request.type) : NULL;

    char ports[8] = "\"all\"";

    if (plan->node_ports != PORTS_ALL) {
        snprintf(ports, sizeof ports, "%u", (unsigned)plan->node_ports);
    }
    fprintf(file,
            "{\"network\":\"%s\",\"operation\":\"%s\",\"algorithm\":\"%s\",\n"
            "\"nodes\":%u,\"root\":%u,\"ports\":%s,\"bytes\":%u,\n"
            "\"profile\":{\"xi_ns\":%u,\"tau_ns\":%u,\"element_ns\":%u,\"element_bytes\":%u},\n"
            "\"segments\":%u,%s%s%s",
            command->network_name, operation_of(plan->operation)->standard,
            plan_summary(plan).algorithm, (unsigned)plan->network.nodes, (unsigned)plan->root,
            ports, (unsigned)command->request.bytes, (unsigned)profile->xi_ns,
            (unsigned)profile->tau_ns, (unsigned)profile->element_ns,
            (unsigned)clock_element_bytes(profile), (unsigned)plan->segments,
            type ? "\"type\":\"" : "", type ? type : "", type ? "\"," : "");
    write_us(file, "predicted_us", time.model_ns);
    fputc(',', file);
    write_us(file, "bound_us", time.bound_ns);
    fputs(",\n\"circuits\":[", file);
}

static void write_path(FILE *file, const struct plan *plan, const struct plan_circuit *circuit)
{
    uint32_t at = circuit->from;

    fprintf(file, "[%u", (unsigned)at);
    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        unsigned port = circuit->ports_at == PLAN_DIMENSION_ORDER
                            ? network_next_hop(&plan->network, at, circuit->to)
                            : plan->ports[circuit->ports_at + hop];
        at = network_neighbour(&plan->network, at, port);
        fprintf(file, ",%u", (unsigned)at);
    }
    fputc(']', file);
}

static void write_names(FILE *file, const struct plan *plan, const uint32_t *names, uint32_t count)
{
    bool pairs = operation_has_pairs(operation_of(plan->operation));
    unsigned width =
        (unsigned)operation_pair_width(operation_of(plan->operation), plan->network.nodes);
    char second[SECOND_TEXT_MAX];

    fputc('[', file);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            fputc(',', file);
        }
        if (pairs) {
            plan_blocks_second(plan, names[i], second);
            fprintf(file, "\"%u.%s\"", (unsigned)names[i] / width, second);
        } else {
            fprintf(file, "\"%u\"", (unsigned)names[i]);
        }
    }
    fputc(']', file);
}

/* Whose contributions the blocks hold, where their names do not say that. */
static void write_ranks(FILE *file, const struct plan_ranks *ranks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ranks[i].first > ranks[i].last) {
            return;
        }
    }
    fputs(",\"of\":[", file);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(file, ranks[i].first < ranks[i].last ? "%s\"%u-%u\"" : "%s\"%u\"", i > 0 ? "," : "",
                (unsigned)ranks[i].first, (unsigned)ranks[i].last);
    }
    fputc(']', file);
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

/* Whether a node's copy reads a slot of scratch, and combines it with what is elsewhere. */
static bool combines_slot(const struct plan *plan, const struct plan_circuit *copy, uint32_t slot)
{
    struct slot_ranges ranges = ranges_of(plan, sent_slots(copy), 0);
    struct slot_range range;

    while (ranges_next(&ranges, &range)) {
        if (range.space == SPACE_SCRATCH && slot >= range.first &&
            slot - range.first < range.count) {
            return copy->flags & ROW_COMBINES;
        }
    }
    return false;
}

/* Whether what comes is combined: by the circuit, or by a copy behind it in the same step. */
static bool is_combined(const struct plan *plan, const struct plan_circuit *circuit)
{
    const struct plan_circuit *end = plan->circuits + plan->circuit_count;
    struct slot_ranges ranges = ranges_of(plan, received_slots(circuit), 0);
    struct slot_range range;

    if (circuit->flags & ROW_COMBINES || !operation_of(plan->operation)->reduces ||
        operation_of(plan->operation)->prefix || !ranges_next(&ranges, &range) ||
        range.space != SPACE_SCRATCH) {
        return circuit->flags & ROW_COMBINES;
    }
    for (const struct plan_circuit *c = circuit; c < end && c->step <= circuit->step + 1; c++) {
        if (is_copy(c) && c->to == (plan->invariant ? 0 : circuit->to) &&
            combines_slot(plan, c, range.first)) {
            return true;
        }
    }
    return false;
}

static void write_circuit(FILE *file, const struct plan *plan, const struct plan_command *command,
                          const struct plan_circuit *circuit, const uint32_t *names,
                          const struct plan_ranks *ranks, uint32_t order)
{
    uint32_t each = command->request.bytes;
    uint64_t bytes = plan_circuit_bytes(plan, circuit, each, command->element_bytes);

    fprintf(
        file, "%s\n{\"step\":%u,\"order\":%u,\"from\":%u,\"to\":%u,\"path\":", order > 0 ? "," : "",
        (unsigned)circuit->step, (unsigned)order, (unsigned)circuit->from, (unsigned)circuit->to);
    write_path(file, plan, circuit);
    fputs(",\"blocks\":", file);
    write_names(file, plan, names, circuit->blocks);
    bool later = ranks && !operation_of(plan->operation)->prefix; /* when all has come */
    fprintf(file, ",\"combine\":%s,\"bytes\":", truth(!later && is_combined(plan, circuit)));
    if (bytes == (uint64_t)circuit->blocks * each) {
        fputs("null", file);
    } else {
        fprintf(file, "%" PRIu64, bytes);
    }
    fprintf(file, ",\"ahead\":%s", truth(circuit->flags & ROW_AHEAD));
    if (circuit->port > 0) {
        fprintf(file, ",\"port\":%u", (unsigned)circuit->port);
    }
    if (ranks) {
        write_ranks(file, ranks, circuit->blocks);
    }
    fputc('}', file);
}

/* Copies inside a node are the engine's affair: they move blocks, but nobody else sees them. */
static void write_circuits(FILE *file, const struct plan *plan, const struct plan_command *command)
{
    struct progress progress = {
        .told_ms = now_ms(), .terminal = terminal_redraws(STDERR_FILENO) && !isatty(fileno(file))};
    struct plan_blocks blocks;
    const struct plan_circuit *circuit;
    const uint32_t *names;
    uint32_t order = 0;

    plan_blocks_begin(&blocks, plan);
    while ((circuit = plan_blocks_next(&blocks, &names)) != NULL && !ferror(file)) {
        if (circuit->from != circuit->to) {
            write_circuit(file, plan, command, circuit, names, plan_blocks_ranks(&blocks), order++);
        }
        progress_show(&progress, blocks.next, plan->circuit_count);
    }
    progress_clear(&progress);
    plan_blocks_end(&blocks);
}

static int cannot_write(const struct output *output, int error, struct message *message)
{
    return message_set(message, "cannot write the %s %.300s: %s", output->what, output->path,
                       strerror(error));
}

int plan_export(const struct plan *plan, const struct plan_command *command, struct output *output,
                struct message *message)
{
    if (output_begin(output, message) != 0) {
        return -1;
    }
    FILE *file = fdopen(output->fd, "w");
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;

    if (!file) {
        plan_free(all);
        return cannot_write(output, errno, message);
    }
    output->fd = -1; /* the file has it */
    setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
    write_head(file, plan, command);
    write_circuits(file, all ? all : plan, command);
    fputs("\n]}\n", file);
    plan_free(all);
    bool failed = ferror(file);
    int error = errno;
    if (fclose(file) != 0 || failed) {
        return cannot_write(output, failed ? error : errno, message);
    }
    return 0;
}

/* The next circuit that is no copy. */
static const struct plan_circuit *next_circuit(struct plan_blocks *blocks, const uint32_t **names)
{
    const struct plan_circuit *circuit;

    do {
        circuit = plan_blocks_next(blocks, names);
    } while (circuit && is_copy(circuit));
    return circuit;
}

static bool same_way(const struct plan *a, const struct plan_circuit *of_a, const struct plan *b,
                     const struct plan_circuit *of_b)
{
    uint32_t at = of_a->from;
    bool same = of_a->from == of_b->from && of_a->to == of_b->to && of_a->hops == of_b->hops;

    for (unsigned hop = 0; same && hop < of_a->hops; hop++) {
        unsigned port = circuit_port(a, of_a, at, hop);
        same = port == circuit_port(b, of_b, at, hop);
        at = network_neighbour(&a->network, at, port);
    }
    return same;
}

static bool same_blocks(const struct plan_circuit *a, const uint32_t *names_a,
                        const struct plan_circuit *b, const uint32_t *names_b)
{
    return a->blocks == b->blocks &&
           (a->blocks == 0 || memcmp(names_a, names_b, a->blocks * sizeof *names_a) == 0);
}

bool plan_exports_alike(const struct plan *a, const struct plan *b)
{
    struct plan_blocks in_a, in_b;
    const struct plan_circuit *of_a, *of_b;
    const uint32_t *names_a, *names_b;
    bool same = a->segments == b->segments;

    plan_blocks_begin(&in_a, a);
    plan_blocks_begin(&in_b, b);
    do {
        of_a = next_circuit(&in_a, &names_a);
        of_b = next_circuit(&in_b, &names_b);
        if (!of_a || !of_b) {
            same = same && of_a == of_b;
            break;
        }
        same = same && of_a->step == of_b->step &&
               (of_a->flags & ROW_AHEAD) == (of_b->flags & ROW_AHEAD) &&
               same_way(a, of_a, b, of_b) && same_blocks(of_a, names_a, of_b, names_b);
    } while (same);
    plan_blocks_end(&in_a);
    plan_blocks_end(&in_b);
    return same;
}
