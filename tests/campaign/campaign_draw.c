/*
 * campaign_draw.c - runs: their reference, one drawn from a seed, and the command that repeats one.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "drivers/check.h"
#include "network/text.h"
#include "sim/core/random.h"
#include "sim/programs/scenario.h"
#include "tests/campaign/campaign.h"
#include "wire/frame.h"

enum { ADVANCE_EVENTS = 50, BREAKS_MAX = 3 };

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};

struct sim_options campaign_options(const char *network, enum sim_scenario scenario)
{
    return (struct sim_options){.network = network_of(network),
                                .profile = ipsc860,
                                .scenario = scenario,
                                .sizes = {scenario == SIM_RANDOM ? 3000 : 300},
                                .size_count = 1,
                                .messages = 3,
                                .seed = 1,
                                .contents = SIM_CHECKED,
                                .scrub = true,
                                .image_bytes = 200,
                                .download_x = 1};
}

bool campaign_refer(const struct sim_options *options, struct campaign_reference *reference)
{
    struct sim_options plain = *options;
    struct sim_faults *faults = &plain.faults;
    struct sim_result result;
    enum sim_phase phase = SIM_BOOT;

    *reference = (struct campaign_reference){0};
    faults->drop = faults->flip = faults->duplicate = 0;
    faults->fail_event = 0;
    faults->count = 0;
    for (unsigned i = 0; i < options->faults.count; i++) {
        if (options->faults.list[i].kind == SIM_SLOW) {
            faults->list[faults->count++] = options->faults.list[i];
        }
    }
    struct sim *sim = sim_make(&plain);
    CHECK(sim);
    bool runs = true;
    while (runs) {
        runs = sim_advance(sim, ADVANCE_EVENTS);
        sim_result(sim, &result);
        while (phase != sim_phase(sim)) {
            reference->length_ns[phase] = result.model_ns - reference->start_ns[phase];
            reference->start_ns[++phase] = result.model_ns;
        }
    }
    reference->length_ns[phase] = result.model_ns - reference->start_ns[phase];
    reference->wall_ns = result.wall_ns;
    reference->events = result.events;
    reference->link_events = result.link_events;
    sim_free(sim);
    return result.verdict == SIM_GOOD && result.trouble_count == 0;
}

static bool one_in(uint64_t *seed, uint32_t n)
{
    return random_below(seed, n) == 0;
}

/* A number from 1 to `high`, each order of magnitude as likely as another. */
static uint32_t spread(uint64_t *seed, uint32_t high)
{
    uint32_t top = 1 + random_below(seed, high);

    return 1 + random_below(seed, one_in(seed, 2) ? top : 1 + (top - 1) / 16);
}

/* Half of the networks are cubes. */
static void draw_network(uint64_t *seed, struct network *network)
{
    static const char *const names[] = {"ring:2",    "ring:5",       "ring:6",     "ring:16",
                                        "mesh:1x7",  "mesh:3x4",     "mesh:5x1x3", "mesh:6x6",
                                        "torus:4x4", "torus:3x4x2",  "torus:5x3",  "torus:2x2",
                                        "ring:33",   "mesh:2x2x2x3", "torus:6x5x2"};
    unsigned dims = 2 + random_below(seed, 5);

    if (one_in(seed, 2)) {
        *network = network_of(names[random_below(seed, sizeof names / sizeof names[0])]);
        return;
    }
    if (dims == 6 && !one_in(seed, 3)) {
        dims = 2 + random_below(seed, 3);
    }
    CHECK(network_make(network, NETWORK_CUBE, NULL, dims));
}

/* Links of the host for ranges, as far as the network has so many; drawn beside all else. */
static void draw_host_links(uint64_t seed, struct network *network)
{
    unsigned links = 1u << random_below(&seed, 5);

    while (one_in(&seed, 2) && links > 0 && !network_set_host_links(network, links)) {
        links /= 2;
    }
}

static void draw_traffic(uint64_t *seed, struct sim_options *options)
{
    char why[SIM_WHY_MAX];

    draw_network(seed, &options->network);
    draw_host_links(*seed + 1, &options->network);
    do {
        options->scenario = (enum sim_scenario)random_below(seed, SIM_ENDING);
    } while (!sim_scenario_fits(options->scenario, &options->network, why));
    bool few = options->network.nodes < 32;
    options->size_count = one_in(seed, 4) ? 2 : 1;
    for (unsigned i = 0; i < options->size_count; i++) {
        uint32_t bytes = options->scenario == SIM_LOAD ? 16 + spread(seed, 20000)
                         : few                         ? spread(seed, 5000)
                                                       : spread(seed, 1500);
        options->sizes[i] = bytes * scenario_element_bytes(options);
    }
    options->messages = 1 + random_below(seed, few ? 16 : 4);
    options->image_bytes = 16 + spread(seed, 3000);
    options->download_x = random_below(seed, network_halvings(&options->network) + 1);
    options->shuffle = one_in(seed, 2) ? 1 + random_below(seed, 1u << 30) : 0;
}

/* What makes a run slower, and belongs to its reference too. */
static void draw_delays(uint64_t *seed, struct sim_options *options)
{
    struct sim_faults *faults = &options->faults;

    if (one_in(seed, 3)) {
        faults->delay_ns = spread(seed, 300000);
    }
    if (one_in(seed, 3)) {
        faults->jitter_ns = spread(seed, 300000);
    }
    if (one_in(seed, 6)) {
        faults->rate = 2000000 + random_below(seed, 100000000);
    }
    while (one_in(seed, 3) && faults->count < 3) {
        faults->list[faults->count++] = (struct sim_fault){
            .kind = SIM_SLOW,
            .a = one_in(seed, 8) ? ID_HOST : random_below(seed, options->network.nodes),
            .slow_ns = spread(seed, 1000000)};
    }
}

static void draw_damage(uint64_t *seed, struct sim_faults *faults)
{
    if (one_in(seed, 2)) {
        faults->drop = 0.0005 * spread(seed, 60);
    }
    if (one_in(seed, 3)) {
        faults->flip = 0.000001 * spread(seed, 50);
    }
    if (one_in(seed, 3)) {
        faults->duplicate = 0.0005 * spread(seed, 60);
    }
}

/* A node dies, or a link is cut or goes deaf, at any time of any phase. */
static void draw_break(uint64_t *seed, struct sim_options *options,
                       const struct campaign_reference *reference)
{
    struct sim_fault fault = {.kind = (uint8_t)random_below(seed, 3)};
    const struct network *network = &options->network;
    unsigned port = random_below(seed, network->ports + 1u);

    fault.phase = (uint8_t)random_below(seed, options->scenario == SIM_LOAD ? SIM_RUN : SIM_OVER);
    fault.a = random_below(seed, options->network.nodes);
    if (fault.kind == SIM_KILL) {
        fault.b = 0;
    } else if (port == network->ports ||
               network_neighbour(network, fault.a, port) == NETWORK_NO_NODE) {
        fault.a = network_host_node(network, random_below(seed, network_host_links(network)));
        fault.b = ID_HOST;
        if (fault.kind == SIM_ONEWAY && one_in(seed, 2)) {
            fault.b = fault.a;
            fault.a = ID_HOST;
        }
    } else {
        fault.b = network_neighbour(network, fault.a, port);
    }
    uint64_t length_ns = reference->length_ns[fault.phase];
    if (!one_in(seed, 8) && length_ns) {
        fault.at_ns = (random_next(seed) >> 1) % (length_ns + 1);
    }
    options->faults.list[options->faults.count++] = fault;
}

/* The host is stopped for a time, which breaks nothing, or dies. */
static void draw_host(uint64_t *seed, struct sim_options *options,
                      const struct campaign_reference *reference)
{
    struct sim_fault fault = {
        .kind = SIM_STOP, .a = ID_HOST, .slow_ns = 1 + spread(seed, 2000000000)};

    fault.phase = (uint8_t)random_below(seed, options->scenario == SIM_LOAD ? SIM_RUN : SIM_OVER);
    if (one_in(seed, 3)) {
        fault.kind = SIM_KILL;
        fault.slow_ns = 0;
    }
    uint64_t length_ns = reference->length_ns[fault.phase];
    if (!one_in(seed, 8) && length_ns) {
        fault.at_ns = (random_next(seed) >> 1) % (length_ns + 1);
    }
    options->faults.list[options->faults.count++] = fault;
}

/* A program aborts, at any time. */
static void draw_abort(uint64_t *seed, struct sim_options *options,
                       const struct campaign_reference *reference)
{
    struct sim_fault fault = {
        .kind = SIM_ABORT, .phase = SIM_RUN, .a = random_below(seed, options->network.nodes)};

    if (!one_in(seed, 8) && reference->length_ns[SIM_RUN]) {
        fault.at_ns = (random_next(seed) >> 1) % (reference->length_ns[SIM_RUN] + 1);
    }
    options->faults.list[options->faults.count++] = fault;
}

bool campaign_draw(uint64_t number, struct sim_options *options,
                   struct campaign_reference *reference)
{
    uint64_t seed = random_mix(number);
    struct sim_faults *faults = &options->faults;

    *options = (struct sim_options){
        .profile = ipsc860, .seed = number, .contents = SIM_CHECKED, .scrub = true};
    draw_traffic(&seed, options);
    draw_delays(&seed, options);
    if (!one_in(&seed, 3)) {
        draw_damage(&seed, faults);
    }
    options->payload_checked = faults->drop > 0 || faults->flip > 0 || faults->duplicate > 0;
    if (!campaign_refer(options, reference)) {
        return false;
    }
    if (one_in(&seed, 3) && reference->link_events) {
        faults->fail_event = 1 + random_below(&seed, (uint32_t)reference->link_events);
        faults->action = (uint8_t)(1 + random_below(&seed, CAMPAIGN_ACTIONS));
    }
    for (unsigned i = 0; i < BREAKS_MAX && one_in(&seed, 2); i++) {
        draw_break(&seed, options, reference);
    }
    if (one_in(&seed, 4)) {
        draw_host(&seed, options, reference);
    }
    if (options->scenario != SIM_LOAD && one_in(&seed, 6)) {
        draw_abort(&seed, options, reference);
    }
    options->payload_checked = sim_faults_damage(faults);
    return true;
}

struct line {
    char *text;
    size_t used;
};

static void put(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct line *line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length =
        vsnprintf(line->text + line->used, CAMPAIGN_TEXT_MAX - line->used, format, arguments);
    va_end(arguments);
    CHECK(length >= 0 && (size_t)length < CAMPAIGN_TEXT_MAX - line->used);
    line->used += (size_t)length;
}

static void put_end(struct line *line, uint32_t end)
{
    if (end == ID_HOST) {
        put(line, "host");
    } else {
        put(line, "%u", (unsigned)end);
    }
}

static void put_fault(struct line *line, const struct sim_fault *fault)
{
    static const char *const phases[] = {"boot", "download", "run"};

    put(line, " --%s ", sim_fault_name((enum sim_fault_kind)fault->kind));
    if (fault->kind == SIM_STOP) {
        put(line, "%" PRIu64 "ns", fault->slow_ns);
    } else {
        put_end(line, fault->a);
    }
    if (fault->kind == SIM_SLOW) {
        put(line, "@%" PRIu64 "ns", fault->slow_ns);
        return;
    }
    if (fault->kind == SIM_CUT || fault->kind == SIM_ONEWAY) {
        put(line, "-");
        put_end(line, fault->b);
    }
    put(line, fault->at_ns ? "@%s+%" PRIu64 "ns" : "@%s", phases[fault->phase], fault->at_ns);
}

static void put_faults(struct line *line, const struct sim_faults *faults)
{
    static const char *const actions[] = {
        "",    "drop",      "flip",      "duplicate",    "kill",
        "cut", "host-stop", "host-kill", "host-restart", "cancel"};

    if (faults->drop > 0) {
        put(line, " --drop %.17g", faults->drop);
    }
    if (faults->flip > 0) {
        put(line, " --flip %.17g", faults->flip);
    }
    if (faults->duplicate > 0) {
        put(line, " --duplicate %.17g", faults->duplicate);
    }
    if (faults->delay_ns) {
        put(line, " --delay %" PRIu64 "ns", faults->delay_ns);
    }
    if (faults->jitter_ns) {
        put(line, " --jitter %" PRIu64 "ns", faults->jitter_ns);
    }
    if (faults->rate) {
        put(line, " --rate %" PRIu64, faults->rate);
    }
    if (faults->fail_event) {
        put(line, " --fail %" PRIu64 ":%s", faults->fail_event, actions[faults->action]);
    }
    for (unsigned i = 0; i < faults->count; i++) {
        put_fault(line, &faults->list[i]);
    }
}

void campaign_command(const struct sim_options *options, char text[CAMPAIGN_TEXT_MAX])
{
    struct line line = {.text = text};
    char name[NETWORK_NAME_MAX];

    network_name(&options->network, name);
    put(&line, "ecube sim --network %s", name);
    if (options->network.host_links > 0) {
        put(&line, " --host-links %u", options->network.host_links);
    }
    if (options->profile.ports == PORTS_ALL) {
        put(&line, " --ports all");
    }
    if (options->paths) {
        put(&line, " --paths %u", options->paths);
    }
    put(&line, " --profile ipsc860 %s --bytes %u", sim_scenario_name(options->scenario),
        (unsigned)options->sizes[0]);
    for (unsigned i = 1; i < options->size_count; i++) {
        put(&line, ",%u", (unsigned)options->sizes[i]);
    }
    if (options->scenario != SIM_LOAD) {
        put(&line, " --image %u", (unsigned)options->image_bytes);
    }
    put(&line, " --messages %u --x %u --contents checked%s --seed %" PRIu64,
        (unsigned)options->messages, options->download_x, options->scrub ? " --scrub" : "",
        options->seed);
    if (options->shuffle) {
        put(&line, " --shuffle %" PRIu64, options->shuffle);
    }
    put_faults(&line, &options->faults);
}
