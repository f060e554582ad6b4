#include "sim/core/limit.h"

#include "collectives/operation.h"
#include "network/network.h"
#include "router/channel.h"
#include "sim/programs/plans.h"
#include "sim/programs/scenario_program.h"
#include "sim/core/state.h"

enum {
    PATIENCE_S = 60,        /* what the host waits for, all told, when something is dead; */
                            /* and 60 times the longest that a frame takes */
    FRAMES_OF_A_HOP = 8,    /* its OPEN and answer, credit, and acknowledgements of these */
    FRAME_DATA_LEAST = 256, /* bytes that a frame of data carries, but for a circuit's last */
    FRAME_MOST = 16384,
    ROUNDS_LEAST = 1000 * 1000
};

static const uint64_t second_ns = UINT64_C(1000000000);

struct step {
    uint64_t model_ns; /* without faults */
    uint64_t frames;   /* one after the other, at most */
};

static struct step longer(struct step a, struct step b)
{
    return (struct step){.model_ns = clock_max(a.model_ns, b.model_ns),
                         .frames = clock_max(a.frames, b.frames)};
}

/* So many bytes over the longest way, and over `hops` links all told. */
static struct step step_of(const struct sim *sim, uint64_t hops, uint64_t bytes, uint64_t model_ns)
{
    uint64_t far = network_diameter(sim_network(sim)) + 1;

    return (struct step){.model_ns = model_ns,
                         .frames = FRAMES_OF_A_HOP * hops + far * (bytes / FRAME_DATA_LEAST)};
}

/* Every node's block by a message of its own. */
static struct step download(const struct sim *sim, uint32_t bytes)
{
    const struct profile *profile = &sim->options.profile;
    uint64_t hops = network_diameter(sim_network(sim)) + 1, nodes = sim->count;
    uint64_t each_ns = profile->xi_ns * (uint64_t)profile->sigma_permille / 1000 +
                       hops * profile->tau_ns + (uint64_t)bytes * profile->element_ns;

    return step_of(sim, nodes * hops, nodes * bytes, nodes * each_ns);
}

static struct step message(const struct sim *sim, uint32_t bytes)
{
    const struct profile *profile = &sim->options.profile;
    uint64_t hops = network_diameter(sim_network(sim)) + 1;

    return step_of(sim, hops, bytes,
                   2 * profile->xi_ns + hops * profile->tau_ns +
                       (uint64_t)bytes * profile->element_ns);
}

/* With the entry, which goes up and down a tree. */
static struct step collective(const struct sim *sim, unsigned size)
{
    const struct sim_plans *plans = sim->options.plans;

    return step_of(sim, plans->hops[size] + 2 * (uint64_t)sim->count,
                   plans->blocks[size] * sim->options.sizes[size], plans->times[size].model_ns);
}

static struct step longest(const struct sim *sim)
{
    const struct sim_options *options = &sim->options;
    struct step step = download(sim, options->image_bytes);

    for (unsigned i = 0; i < options->size_count; i++) {
        step = longer(step, options->scenario == SIM_LOAD ? download(sim, options->sizes[i])
                            : scenario_is_collective(options->scenario)
                                ? collective(sim, i)
                                : message(sim, options->sizes[i]));
    }
    return step;
}

/* For how long the host may do nothing. */
static uint64_t stopped_ns(const struct sim_faults *faults)
{
    uint64_t ns = faults->fail_event ? SIM_STOP_MS * UINT64_C(1000000) : 0;

    for (unsigned i = 0; i < faults->count; i++) {
        ns += faults->list[i].kind == SIM_STOP ? faults->list[i].slow_ns : 0;
    }
    return ns;
}

/* The longest that a frame takes until somebody looks at it. */
static uint64_t frame_ns(const struct sim_faults *faults)
{
    uint64_t slow_ns = 0;

    for (unsigned i = 0; i < faults->count; i++) {
        if (faults->list[i].kind == SIM_SLOW) {
            slow_ns = clock_max(slow_ns, faults->list[i].slow_ns);
        }
    }
    return faults->delay_ns + faults->jitter_ns + slow_ns +
           (faults->rate ? FRAME_MOST * second_ns / faults->rate : 0);
}

struct limit limit_of(const struct sim *sim)
{
    const struct sim_faults *faults = &sim->options.faults;
    const struct step step = longest(sim);
    uint64_t each_ns = frame_ns(faults);

    return (struct limit){.ns = PATIENCE_S * (second_ns + each_ns) + 2 * step.model_ns +
                                step.frames * each_ns + stopped_ns(faults),
                          .frames = step.frames,
                          .rounds = ROUNDS_LEAST + step.frames};
}

uint64_t limit_ns(const struct limit *limit, uint64_t damaged)
{
    uint64_t again_ns = 2 * (uint64_t)(RETRY_US + ACK_DELAY_US) * 1000;

    return limit->ns + (damaged < limit->frames ? damaged : limit->frames) * again_ns;
}
