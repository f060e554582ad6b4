/*
 * nbody.c - bodies that attract each other: they travel round the ring of ranks, meet those of
 * every other node once, and go home with the forces that they have collected.
 *
 *   nbody [bodies [steps]]      default: 60 bodies, 20 steps
 *
 * Each node has an equal number of bodies (the last ones may have no mass) and sends a copy of them
 * round: a shift by 1 for each of N/2 rounds. Two bodies pull each other with one force, so a round
 * works it out once, adds it to the body that is here and takes it from the one that came by. Half
 * the way round everybody has met; a shift by -(N/2) takes the copies home. Where N is even the
 * last round would bring every pair of nodes together twice, so only the lower half works in it.
 *
 * Example, N = 4, which copies are where:     node    0 1 2 3
 *                                   first             0 1 2 3     pairs among themselves
 *                                   shift by 1        3 0 1 2     0-3 1-0 2-1 3-2
 *                                   shift by 1        2 3 0 1     0-2 1-3, nodes 2 and 3 rest
 *                                   shift by -2       0 1 2 3     at home
 *
 * The ring is one of ranks, and a shift takes any distance on any network. On ring:N each round is
 * one hop; elsewhere the plan finds the ways.
 *
 * Node 0 prints what must not change, the energy, and compares times. Exit status 1 when a force is
 * not what all bodies together give, or the energy is lost.
 *
 * Source   G. C. Fox et al., Solving Problems on Concurrent Processors, Prentice Hall 1988 (the
 *          long-range force on a ring); L. Verlet, Physical Review 159(1), 1967 (the steps in time)
 */
#include <ecube.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum {
    BODIES_MAX = 10000,
    STEPS_MAX = 1000000,
    PAIR_NS = 3000 /* of the machine's model: what one force takes */
};

static const double softness = 1e-4, step_time = 0.01;

/* What travels. */
struct body {
    double x, y, mass, force_x, force_y;
};

/* What stays. */
struct speed {
    double x, y;
};

struct system {
    int count; /* of this node's bodies */
    struct body *own, *copy, *next;
    struct speed *speed;
    double potential; /* of the pairs that this node has worked out */
    uint64_t pairs;
};

static void no_memory(void)
{
    fprintf(stderr, "nbody: there is no memory for it\n");
    exit(1);
}

/* A heavy body in the middle, the others on circles round it, of which each is a little wider. */
static void place_body(int number, int bodies, struct body *body, struct speed *speed)
{
    double radius = 1 + (double)number / bodies, angle = 2.4 * number;

    *body = (struct body){0};
    *speed = (struct speed){0, 0};
    if (number == 0) {
        body->mass = 1;
    } else if (number < bodies) {
        body->x = radius * cos(angle);
        body->y = radius * sin(angle);
        body->mass = 0.1 / bodies;
        speed->x = -sin(angle) / sqrt(radius);
        speed->y = cos(angle) / sqrt(radius);
    }
}

/* One force on both. Returns the pair's potential energy. */
static double attract(struct body *a, struct body *b)
{
    double dx = b->x - a->x, dy = b->y - a->y, r2 = dx * dx + dy * dy + softness;
    double potential = -a->mass * b->mass / sqrt(r2), pull = -potential / r2;

    a->force_x += pull * dx;
    a->force_y += pull * dy;
    b->force_x -= pull * dx;
    b->force_y -= pull * dy;
    return potential;
}

static void meet_each_other(struct system *s)
{
    for (int i = 0; i < s->count; i++) {
        for (int j = 0; j < i; j++) {
            s->potential += attract(&s->own[i], &s->own[j]);
        }
    }
    s->pairs += (uint64_t)s->count * (uint64_t)(s->count - 1) / 2;
}

static void meet_copies(struct system *s)
{
    for (int i = 0; i < s->count; i++) {
        for (int j = 0; j < s->count; j++) {
            s->potential += attract(&s->own[i], &s->copy[j]);
        }
    }
    s->pairs += (uint64_t)s->count * (uint64_t)s->count;
}

static void move_copies(struct system *s, int distance)
{
    struct body *came = s->next;

    ecube_shift(s->copy, came, (uint32_t)s->count * sizeof *came, distance);
    s->next = s->copy;
    s->copy = came;
}

static void charge(uint64_t pairs)
{
    ecube_compute(pairs * PAIR_NS);
}

/* The forces on the node's bodies, from all others. */
static void find_forces(struct system *s)
{
    int rank = ecube_rank(), size = ecube_size(), rounds = size / 2;
    uint64_t before = s->pairs;

    s->potential = 0;
    for (int i = 0; i < s->count; i++) {
        s->own[i].force_x = s->own[i].force_y = 0;
    }
    memcpy(s->copy, s->own, (size_t)s->count * sizeof *s->own);
    meet_each_other(s);
    charge(s->pairs - before);
    for (int round = 1; round <= rounds; round++) {
        move_copies(s, 1);
        before = s->pairs;
        if (2 * round < size || rank < rounds) {
            meet_copies(s);
        }
        charge(s->pairs - before);
    }
    move_copies(s, -rounds);
    for (int i = 0; i < s->count; i++) {
        s->own[i].force_x += s->copy[i].force_x;
        s->own[i].force_y += s->copy[i].force_y;
    }
}

/* How many of the node's forces are not what all bodies together give. */
static int count_wrong(const struct system *s)
{
    size_t bytes = (size_t)s->count * sizeof *s->own;
    struct body *all = malloc((size_t)ecube_size() * bytes);
    int first = ecube_rank() * s->count, wrong = 0;

    if (!all) {
        no_memory();
    }
    ecube_allgather(s->own, all, (uint32_t)bytes);
    for (int i = 0; i < s->count; i++) {
        struct body alone = s->own[i];
        alone.force_x = alone.force_y = 0;
        for (int j = 0; j < ecube_size() * s->count; j++) {
            if (j != first + i) {
                attract(&alone, &all[j]);
            }
        }
        wrong += fabs(alone.force_x - s->own[i].force_x) > 1e-12 ||
                 fabs(alone.force_y - s->own[i].force_y) > 1e-12;
    }
    free(all);
    return wrong;
}

/* The forces change the speeds for half a step. */
static void pull(struct system *s)
{
    for (int i = 0; i < s->count; i++) {
        if (s->own[i].mass > 0) {
            s->speed[i].x += s->own[i].force_x / s->own[i].mass * step_time / 2;
            s->speed[i].y += s->own[i].force_y / s->own[i].mass * step_time / 2;
        }
    }
}

static void move(struct system *s)
{
    for (int i = 0; i < s->count; i++) {
        s->own[i].x += s->speed[i].x * step_time;
        s->own[i].y += s->speed[i].y * step_time;
    }
}

/* Of all nodes, at all nodes. */
static double find_energy(const struct system *s)
{
    double mine = s->potential, all;

    for (int i = 0; i < s->count; i++) {
        const struct speed *v = &s->speed[i];
        mine += s->own[i].mass * (v->x * v->x + v->y * v->y) / 2;
    }
    ecube_allreduce(&mine, &all, 1, ECUBE_DOUBLE, ECUBE_SUM);
    return all;
}

static void start(struct system *s, int bodies)
{
    s->count = (bodies + ecube_size() - 1) / ecube_size();
    size_t count = (size_t)s->count;
    s->own = calloc(count, sizeof *s->own);
    s->copy = calloc(count, sizeof *s->copy);
    s->next = calloc(count, sizeof *s->next);
    s->speed = calloc(count, sizeof *s->speed);
    if (!s->own || !s->copy || !s->next || !s->speed) {
        no_memory();
    }
    for (int i = 0; i < s->count; i++) {
        place_body(ecube_rank() * s->count + i, bodies, &s->own[i], &s->speed[i]);
    }
}

int main(int argc, char **argv)
{
    int bodies = (int)words_number("nbody", argc, argv, 1, 60, 2, BODIES_MAX);
    int steps = (int)words_number("nbody", argc, argv, 2, 20, 1, STEPS_MAX);
    struct system system = {0};

    start(&system, bodies);
    find_forces(&system);
    int wrong = count_wrong(&system);
    double before = find_energy(&system);

    system.pairs = 0;
    ecube_align();
    uint64_t start_ns = ecube_model_ns();
    for (int step = 0; step < steps; step++) {
        pull(&system);
        move(&system);
        find_forces(&system);
        pull(&system);
    }
    ecube_align(); /* to the slowest node's clock */
    double all_ms = (double)(ecube_model_ns() - start_ns) / 1e6;

    double after = find_energy(&system);
    int lost = fabs(after - before) > 1e-4 * fabs(before);
    if (wrong > 0) {
        printf("%d forces are wrong\n", wrong);
    }
    if (ecube_rank() == 0) {
        double alone_ms = 0.5 * bodies * (bodies - 1) * steps * PAIR_NS / 1e6;
        printf("%d bodies, %d steps: the energy was %.6f and is %.6f\n", bodies, steps, before,
               after);
        printf("%.3f ms of model time, %.3f of it for node 0's forces; one node alone needs %.3f\n",
               all_ms, (double)(system.pairs * PAIR_NS) / 1e6, alone_ms);
        if (lost) {
            printf("that is too much: energy was lost\n");
        }
    }
    return wrong > 0 || lost;
}
