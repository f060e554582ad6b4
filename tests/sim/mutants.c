/*
 * mutants.c - draws a plan of the catalogue, exports it, changes its file, reads, proves and
 * executes it.
 *
 * Changes are those that leave many plans right: other ways, other steps, other orders, circuits
 * twice, set-ups ahead. Claims, which would give most of them away, are left out.
 */
#include "tests/sim/mutants.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "planner/algorithms/candidates.h"
#include "drivers/check.h"
#include "host/plan/plan.h"
#include "host/plan/plan_file.h"
#include "reduction/reduction.h"
#include "sim/core/random.h"
#include "tests/sim/execution.h"
#include "tests/networks.h"

enum { PATH_ROOM = 40, CHANGES_MAX = 4, WALK_MAX = 4, SHOWN_MAX = 5, ELEMENTS_MAX = 60 };

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};

/* What is drawn and changed. */
struct mutant {
    uint64_t seed;
    struct network network;
    json_t *head, *circuits;
};

static uint32_t draw(struct mutant *m, uint32_t below)
{
    return random_below(&m->seed, below);
}

/* The plan that is changed --------------------------------------------------------------------- */

static struct network draw_network(struct mutant *m)
{
    static const char *const names[] = {"ring:2",   "ring:3", "ring:4",    "ring:5",     "ring:6",
                                        "mesh:1x3", "cube:1", "cube:2",    "cube:3",     "mesh:2x3",
                                        "mesh:3x3", "cube:4", "torus:3x3", "torus:2x2x3"};

    return network_of(names[draw(m, sizeof names / sizeof names[0])]);
}

static const struct candidate *draw_candidate(struct mutant *m, uint32_t *number)
{
    const struct candidate *candidate;
    uint32_t operation, count = 0;

    do {
        operation = draw(m, OPERATIONS);
    } while (!operation_of(operation) || !operation_of(operation)->planned);
    while (candidate_of(operation, count)) {
        count++;
    }
    do {
        candidate = candidate_of(operation, *number = draw(m, count));
    } while (!candidate->possible(&m->network));
    return candidate;
}

/* A variant that stands its proof on this network. */
static struct plan *draw_plan(struct mutant *m, struct plan_command *command)
{
    struct plan_fault fault;
    uint32_t number;
    const struct candidate *candidate = draw_candidate(m, &number);
    const struct operation *operation = operation_of(candidate->operation);

    *command = (struct plan_command){.network = m->network, .profile = ipsc860};
    network_name(&m->network, command->network_name);
    command->request =
        (struct plan_request){.operation = candidate->operation,
                              .root = draw(m, operation_roots(operation, &m->network)),
                              .type = operation->reduces ? ECUBE_INT32 : 0,
                              .profile = &command->profile};
    command->element_bytes = operation->reduces ? reduction_element_bytes(ECUBE_INT32) : 1;
    command->request.bytes = draw(m, ELEMENTS_MAX) * command->element_bytes;
    unsigned variants = candidate_variants(candidate, &m->network, &command->request);
    return candidate_plan(candidate, number, variants ? draw(m, variants) : 0, &m->network,
                          &command->request, &fault);
}

/* A file in memory. */
static int make_file(char path[PATH_ROOM])
{
    int fd = memfd_create("plan", 0);

    CHECK(fd >= 0);
    snprintf(path, PATH_ROOM, "/proc/self/fd/%d", fd);
    return fd;
}

/* What the export of a plan says, but for its claims. */
static void load(struct mutant *m, const struct plan *plan, const struct plan_command *command)
{
    struct output output;
    struct message message;
    char path[PATH_ROOM];
    int fd = make_file(path);
    size_t i;
    json_t *circuit;

    CHECK(output_open(&output, path, &message) == 0);
    CHECK(plan_export(plan, command, &output, &message) == 0);
    m->head = json_load_file(path, 0, NULL);
    m->circuits = json_object_get(m->head, "circuits");
    CHECK(m->head && m->circuits);
    json_object_del(m->head, "predicted_us");
    json_array_foreach(m->circuits, i, circuit) json_object_del(circuit, "bytes");
    close(fd);
}

/* Changes -------------------------------------------------------------------------------------- */

static json_t *draw_circuit(struct mutant *m)
{
    return json_array_get(m->circuits, draw(m, (uint32_t)json_array_size(m->circuits)));
}

static uint32_t number_of(json_t *circuit, const char *name)
{
    return (uint32_t)json_integer_value(json_object_get(circuit, name));
}

static void set_number(json_t *circuit, const char *name, uint32_t number)
{
    json_object_set_new(circuit, name, json_integer(number));
}

/* One more than there are, so that something can come behind all. */
static uint32_t draw_step(struct mutant *m)
{
    uint32_t steps = 0;
    json_t *circuit;
    size_t i;

    json_array_foreach(m->circuits, i, circuit) if (number_of(circuit, "step") >= steps) steps =
        number_of(circuit, "step") + 1;
    return draw(m, steps + 1);
}

/* The links go by the steps. */
static void forget_order(struct mutant *m)
{
    json_t *circuit;
    size_t i;

    json_array_foreach(m->circuits, i, circuit) json_object_del(circuit, "order");
}

static void change_step(struct mutant *m)
{
    set_number(draw_circuit(m), "step", draw_step(m));
    forget_order(m);
}

static void swap(struct mutant *m, const char *name)
{
    json_t *a = draw_circuit(m), *b = draw_circuit(m);
    uint32_t of_a = number_of(a, name);

    if (json_object_get(a, name)) {
        set_number(a, name, number_of(b, name));
        set_number(b, name, of_a);
    }
}

static void swap_steps(struct mutant *m)
{
    swap(m, "step");
    forget_order(m);
}

static void swap_orders(struct mutant *m)
{
    swap(m, "order");
}

/* Makes room behind a step. */
static void spread_steps(struct mutant *m)
{
    uint32_t first = draw_step(m);
    json_t *circuit;
    size_t i;

    json_array_foreach(m->circuits, i, circuit) if (number_of(circuit, "step") >= first)
        set_number(circuit, "step", number_of(circuit, "step") + 1);
}

static void turn(struct mutant *m, const char *name)
{
    json_t *circuit = draw_circuit(m);

    json_object_set_new(circuit, name, json_boolean(!json_is_true(json_object_get(circuit, name))));
}

static void turn_ahead(struct mutant *m)
{
    turn(m, "ahead");
}

static void turn_combine(struct mutant *m)
{
    turn(m, "combine");
}

static uint32_t draw_neighbour(struct mutant *m, uint32_t node)
{
    uint32_t next;

    do {
        next = network_neighbour(&m->network, node, draw(m, m->network.ports));
    } while (next == NETWORK_NO_NODE);
    return next;
}

/* From one node of its way on it goes some steps anywhere, then straight to a later one. */
static void change_path(struct mutant *m)
{
    json_t *circuit = draw_circuit(m), *old = json_object_get(circuit, "path");
    json_t *path = json_array();
    size_t count = json_array_size(old), i = 0;

    if (count < 2 || m->network.nodes < 2) {
        json_decref(path);
        return;
    }
    size_t leave = draw(m, (uint32_t)count - 1);
    size_t join = leave + 1 + draw(m, (uint32_t)(count - leave - 1));
    for (; i <= leave; i++) {
        json_array_append(path, json_array_get(old, i));
    }
    uint32_t at = (uint32_t)json_integer_value(json_array_get(old, leave));
    uint32_t to = (uint32_t)json_integer_value(json_array_get(old, join));
    for (uint32_t steps = draw(m, WALK_MAX); steps > 0; steps--) {
        at = draw_neighbour(m, at);
        json_array_append_new(path, json_integer(at));
    }
    while (at != to) {
        at = network_neighbour(&m->network, at, network_next_hop(&m->network, at, to));
        json_array_append_new(path, json_integer(at));
    }
    for (i = join + 1; i < count; i++) {
        json_array_append(path, json_array_get(old, i));
    }
    json_object_set_new(circuit, "path", path);
}

static void forget_path(struct mutant *m)
{
    json_object_del(draw_circuit(m), "path");
}

static void change_end(struct mutant *m)
{
    json_t *circuit = draw_circuit(m);

    set_number(circuit, draw(m, 2) ? "from" : "to", draw(m, m->network.nodes));
    json_object_del(circuit, "path");
}

static void repeat(struct mutant *m)
{
    json_t *again = json_deep_copy(draw_circuit(m));

    set_number(again, "step", draw_step(m));
    json_array_append_new(m->circuits, again);
    forget_order(m);
}

static void leave_out(struct mutant *m)
{
    json_array_remove(m->circuits, draw(m, (uint32_t)json_array_size(m->circuits)));
    forget_order(m);
}

/* Two blocks change places, or one is another one. */
static void change_blocks(struct mutant *m)
{
    json_t *blocks = json_object_get(draw_circuit(m), "blocks");
    json_t *others = json_object_get(draw_circuit(m), "blocks");
    uint32_t count = (uint32_t)json_array_size(blocks);

    if (!count || !json_array_size(others)) {
        return;
    }
    uint32_t a = draw(m, count), b = draw(m, (uint32_t)json_array_size(others));
    json_t *one = json_copy(json_array_get(blocks, a));
    json_t *other = json_copy(json_array_get(others, b));
    json_array_set_new(blocks, a, other);
    if (draw(m, 2)) {
        json_array_set_new(others, b, one);
    } else {
        json_decref(one);
    }
}

/* The last blocks of a circuit go in another one, a step later. */
static void split(struct mutant *m)
{
    json_t *circuit = draw_circuit(m), *rest = json_deep_copy(circuit);
    json_t *blocks = json_object_get(circuit, "blocks"), *later = json_object_get(rest, "blocks");
    uint32_t count = (uint32_t)json_array_size(blocks);

    if (count < 2) {
        json_decref(rest);
        return;
    }
    uint32_t kept = 1 + draw(m, count - 1);
    for (uint32_t i = 0; i < kept; i++) {
        json_array_remove(later, 0);
    }
    while (json_array_size(blocks) > kept) {
        json_array_remove(blocks, kept);
    }
    set_number(rest, "step", number_of(circuit, "step") + 1);
    json_array_append_new(m->circuits, rest);
    forget_order(m);
}

static void forget_sets(struct mutant *m)
{
    json_t *circuit;
    size_t i;

    json_array_foreach(m->circuits, i, circuit) json_object_del(circuit, "of");
}

static void change(struct mutant *m)
{
    static void (*const ways[])(struct mutant *) = {
        change_path,  change_path, change_path, change_step,  swap_steps,   swap_orders,
        spread_steps, turn_ahead,  turn_ahead,  turn_combine, change_end,   forget_path,
        repeat,       leave_out,   split,       forget_sets,  change_blocks};

    for (uint32_t changes = 1 + draw(m, CHANGES_MAX);
         changes > 0 && json_array_size(m->circuits) > 0; changes--) {
        ways[draw(m, sizeof ways / sizeof ways[0])](m);
    }
}

/* What becomes of it --------------------------------------------------------------------------- */

/* The plan, if it is accepted. */
static struct plan *prove(const struct mutant *m, const struct plan_command *command)
{
    struct plan_file file;
    struct message message;
    struct plan *plan = NULL;
    char path[PATH_ROOM];
    int fd = make_file(path);

    CHECK(json_dumpfd(m->head, fd, 0) == 0);
    if (plan_file_read(&file, path, &message) == 0) {
        plan = plan_file_prove(&file, command->request.bytes, command->element_bytes, &message);
        plan_file_free(&file);
    }
    close(fd);
    return plan;
}

static void complain(const struct mutant *m, uint64_t number, const char *why)
{
    fprintf(stderr, "mutant %llu: %s\n", (unsigned long long)number, why);
    json_dumpf(m->head, stderr, JSON_COMPACT);
    fputc('\n', stderr);
}

static void one(uint64_t number, struct mutants_tally *tally)
{
    struct mutant m = {.seed = random_mix(number)};
    struct plan_command command;
    char why[SIM_TEXT_MAX];

    m.network = draw_network(&m);
    struct plan *original = draw_plan(&m, &command);
    if (!original) {
        return;
    }
    load(&m, original, &command);
    plan_free(original);
    change(&m);
    tally->drawn++;
    struct plan *plan = prove(&m, &command);
    if (plan) {
        tally->accepted++;
        if (!execution_is_right(plan, &ipsc860, command.request.bytes, command.request.type, why) &&
            tally->failed++ < SHOWN_MAX) {
            complain(&m, number, why);
        }
        plan_free(plan);
    }
    json_decref(m.head);
}

struct mutants_tally mutants_run(uint64_t first, uint64_t accepted)
{
    struct mutants_tally tally = {0};

    for (; tally.accepted < accepted; first++) {
        one(first, &tally);
    }
    return tally;
}
