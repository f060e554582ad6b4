/*
 * loop.c - what happens next.
 *
 * Two clocks run. Model time is how far the machine of the papers has come; a frame with an OPEN is
 * shown, and a program goes on, when it has come to theirs. Wall time is what the nodes' clocks
 * show; frames take some of it when links have delay, and protocol timers wait for it. They move
 * together, but for two cases: when nothing is left but wall events, model time stands still; and
 * while a frame is withheld for model time, at most two epochs of wall time pass, for its sender
 * counts the time until it is acknowledged.
 */
#include <stdarg.h>
#include <stdio.h>

#include "drivers/check.h"
#include "sim/ahead.h"
#include "sim/internal.h"
#include "sim/program.h"
#include "sim/random.h"
#include "sim/waits.h"

enum {
    PATIENCE_S = 60, /* wall time without progress after which a run is stuck */
    IDLE_STEPS_MAX = 1000000,
    STUCK_LINES = 5 /* nodes that wait, in words */
};

static const uint64_t second_ns = UINT64_C(1000000000);

void sim_digest(struct sim *sim, uint64_t a, uint64_t b)
{
    uint64_t *digest = sim->result.digest;

    digest[0] = (digest[0] ^ a) * UINT64_C(0x9fb21c651e98df25);
    digest[0] ^= digest[0] >> 35;
    digest[1] = (digest[1] + (b ^ digest[0])) * UINT64_C(0xd6e8feb86659fd93);
    digest[1] ^= digest[1] >> 32;
}

void sim_end(struct sim *sim, enum sim_verdict verdict)
{
    if (sim->verdict == SIM_RUNS)
        sim->verdict = (uint8_t)verdict;
}

void sim_trouble(struct sim *sim, const char *format, ...)
{
    struct sim_result *result = &sim->result;
    va_list arguments;

    if (result->trouble_count == 0)
        result->trouble_event = result->events;
    if (result->trouble_count++ >= SIM_TROUBLES_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(result->troubles[result->trouble_count - 1], SIM_TEXT_MAX, format, arguments);
    va_end(arguments);
}

/* What could not be kept is lost, so the run ends here, whatever else the present step does. */
void sim_no_memory(struct sim *sim)
{
    uint64_t bytes = sim->layout.total_bytes + sim->pool.bytes;

    if (sim->verdict == SIM_RUNS)
        sim_trouble(sim,
                    "out of memory: %.0f MB are taken, and more frames are under way: simulate a "
                    "smaller cube, or fewer bytes",
                    (double)bytes / 1e6);
    sim_end(sim, SIM_NO_MEMORY);
}

static uint64_t next_order(struct sim *sim)
{
    uint64_t number = sim->order++;

    return sim->options.shuffle ? random_next(&sim->shuffle) << 40 | (number & 0xffffffffff)
                                : number;
}

void sim_at_model(struct sim *sim, uint64_t time_ns, enum event_kind kind, uint32_t index)
{
    if (!queue_add(&sim->model, (struct event){time_ns, next_order(sim), kind, index}))
        sim_no_memory(sim);
}

void sim_at_wall(struct sim *sim, uint64_t time_ns, enum event_kind kind, uint32_t index)
{
    if (!queue_add(&sim->wall, (struct event){time_ns, next_order(sim), kind, index}))
        sim_no_memory(sim);
}

static void make_ready(struct sim *sim, uint32_t actor)
{
    uint32_t at = sim->ready_first + sim->ready_count++;

    sim->ready[at < sim->ready_room ? at : at - sim->ready_room] = actor;
}

void sim_wake(struct sim *sim, uint32_t actor)
{
    struct actor *a = &sim->actors[actor];

    if (a->queued || a->dead)
        return;
    a->queued = true;
    if (a->slow_ns)
        sim_at_wall(sim, sim->wall_ns + a->slow_ns, EVENT_LOOK, actor);
    else
        make_ready(sim, actor);
}

static uint32_t take_ready(struct sim *sim)
{
    if (sim->options.shuffle && sim->ready_count > 1) {
        uint32_t first = sim->ready_first;
        uint32_t other = first + random_below(&sim->shuffle, sim->ready_count);
        other = other < sim->ready_room ? other : other - sim->ready_room;
        uint32_t actor = sim->ready[other];
        sim->ready[other] = sim->ready[first];
        sim->ready[first] = actor;
    }
    uint32_t actor = sim->ready[sim->ready_first];
    sim->ready_first = sim->ready_first + 1 == sim->ready_room ? 0 : sim->ready_first + 1;
    sim->ready_count--;
    return actor;
}

/* Keeps a timer for an actor's deadline. A later wish finds the earlier timer and goes on from
 * there. */
static void arm(struct sim *sim, uint32_t actor, uint64_t deadline_us)
{
    struct actor *a = &sim->actors[actor];

    a->wanted_ns = deadline_us > UINT64_MAX / 1000 ? UINT64_MAX : deadline_us * 1000;
    if (a->wanted_ns < a->armed_ns) {
        a->armed_ns = a->wanted_ns > sim->wall_ns ? a->wanted_ns : sim->wall_ns;
        sim_at_wall(sim, a->armed_ns, EVENT_TIMER, actor);
    }
}

static void step(struct sim *sim, uint32_t actor)
{
    bool more;

    sim->actors[actor].queued = false;
    if (sim->actors[actor].dead)
        return;
    sim->result.steps++;
    if (actor == sim->count) {
        more = host_step(sim);
        arm(sim, actor, host_deadline(sim));
    } else {
        struct node *node = sim_node(sim, actor);
        more = node_step(node, sim->wall_ns / 1000);
        if (sim->tasks[actor].state != TASK_ENDED)
            more |= program_look(sim, actor);
        arm(sim, actor, node_deadline(node));
    }
    if (more)
        sim_wake(sim, actor);
}

static void timer(struct sim *sim, uint32_t actor, uint64_t time_ns)
{
    struct actor *a = &sim->actors[actor];

    if (a->armed_ns != time_ns || a->dead)
        return; /* an earlier one has taken its place */
    a->armed_ns = UINT64_MAX;
    if (a->wanted_ns <= sim->wall_ns) {
        sim_wake(sim, actor);
    } else if (a->wanted_ns != UINT64_MAX) {
        a->armed_ns = a->wanted_ns;
        sim_at_wall(sim, a->armed_ns, EVENT_TIMER, actor);
    }
}

static void dispatch(struct sim *sim, const struct event *event)
{
    switch (event->kind) {
    case EVENT_HELD:
    case EVENT_HELD1: sim->withheld[event->kind == EVENT_HELD1]--; /* fallthrough */
    case EVENT_LINK: sim_end_due(&sim->ends[event->index]); return;
    case EVENT_TIMER:
        sim->result.events++;
        timer(sim, event->index, event->time_ns);
        return;
    case EVENT_LOOK:
        sim->result.events++;
        make_ready(sim, event->index);
        return;
    case EVENT_PROGRAM:
        sim->result.events++;
        if (program_wake(sim, event->index, event->time_ns))
            sim_wake(sim, event->index);
        return;
    default:
        sim->result.events++;
        fault_apply(sim, &sim->options.faults.list[event->index]);
        return;
    }
}

/* How far wall time may go while frames are withheld. */
static uint64_t wall_limit(const struct sim *sim)
{
    uint64_t epoch = sim->wall_ns / HOLD_EPOCH_NS;

    if (sim->withheld[~epoch & 1])
        return (epoch + 1) * HOLD_EPOCH_NS - 1;
    if (sim->withheld[epoch & 1])
        return (epoch + 2) * HOLD_EPOCH_NS - 1;
    return UINT64_MAX;
}

/* Takes the next event off its queue, and moves the clocks to it. */
static struct event next_event(struct sim *sim)
{
    uint64_t model_ns = queue_time(&sim->model), wall_ns = queue_time(&sim->wall);

    if (model_ns == UINT64_MAX) {
        if (wall_ns > sim->wall_ns)
            sim->wall_ns = wall_ns;
        return queue_take(&sim->wall);
    }
    uint64_t gap_ns = model_ns > sim->now_ns ? model_ns - sim->now_ns : 0;
    uint64_t room_ns = wall_limit(sim) - sim->wall_ns;
    uint64_t shared_ns = gap_ns < room_ns ? gap_ns : room_ns;
    if (wall_ns <= sim->wall_ns + shared_ns) {
        uint64_t moved_ns = wall_ns > sim->wall_ns ? wall_ns - sim->wall_ns : 0;
        sim->wall_ns += moved_ns;
        sim->now_ns += moved_ns;
        return queue_take(&sim->wall);
    }
    sim->wall_ns += shared_ns;
    sim->now_ns += gap_ns;
    return queue_take(&sim->model);
}

/* Who waits for whom, round; or for what those wait that others wait for. */
static void tell_waits(struct sim *sim)
{
    struct wait_found found;

    if (!wait_search(sim, &found) || found.line_count == 0)
        return;
    sim_trouble(sim, found.cycle ? "deadlock, each waits for the next:"
                                 : "nobody waits in a circle; all wait for these:");
    for (unsigned i = 0; i < found.line_count; i++)
        sim_trouble(sim, "  %s", found.lines[i]);
    if (found.cycle > found.line_count)
        sim_trouble(sim, "  and %u more, and so round", found.cycle - found.line_count);
    else if (found.cycle)
        sim_trouble(sim, "  and so round");
}

/* Nothing more can happen, or nothing has for long. */
static void stuck(struct sim *sim)
{
    char text[STUCK_LINES][SIM_TEXT_MAX];
    unsigned count = sim_waits(sim, text, STUCK_LINES);

    sim_trouble(sim, "no progress: %u nodes wait", count);
    tell_waits(sim);
    for (unsigned i = 0; i < count && i < STUCK_LINES; i++)
        sim_trouble(sim, "%s", text[i]);
    sim_end(sim, SIM_STUCK);
}

static void one_event(struct sim *sim)
{
    if (sim->model.count == 0 && sim->wall.count == 0) {
        stuck(sim);
        return;
    }
    struct event event = next_event(sim);
    ahead_events(sim);
    if (sim->model.count == 0 && sim->wall_ns > sim->progress_ns + PATIENCE_S * second_ns) {
        stuck(sim);
        return;
    }
    dispatch(sim, &event);
}

/* Whether another event belongs to this very moment: a node takes all that comes at one time in one
 * step. */
static bool more_now(const struct sim *sim)
{
    return queue_time(&sim->model) <= sim->now_ns || queue_time(&sim->wall) <= sim->wall_ns;
}

bool sim_advance(struct sim *sim, uint64_t events)
{
    uint64_t end = sim->result.events + events;
    unsigned idle = 0;

    if (sim->options.stop_at && sim->options.stop_at < end)
        end = sim->options.stop_at;
    sim->pause = false;
    while (sim->verdict == SIM_RUNS && sim->result.events < end && !sim->pause) {
        uint64_t before = sim->result.events;
        if (sim->ready_count && !more_now(sim)) {
            ahead_ready(sim);
            step(sim, take_ready(sim));
        } else
            one_event(sim);
        idle = sim->result.events == before ? idle + 1 : 0;
        if (idle > IDLE_STEPS_MAX) {
            sim_trouble(sim, "nodes are stepped for ever, and nothing moves");
            stuck(sim);
        }
    }
    if (sim->verdict == SIM_RUNS && sim->options.stop_at &&
        sim->result.events >= sim->options.stop_at)
        sim_end(sim, SIM_STOPPED);
    return sim->verdict == SIM_RUNS;
}
