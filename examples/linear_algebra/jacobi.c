/*
 * jacobi.c - equations with five points each, solved by Jacobi's iteration: synchronously, and
 * asynchronously, where nobody waits for a neighbour.
 *
 *   jacobi [SIDE [LOST [SLOW]]]      default: 4 x 4 points at each rank, 0 % lost, 1 times as slow
 *
 * 6 x(i,j) - its four neighbours on a torus of points = b(i,j). A sweep gives each point the value
 * that solves its own equation with its neighbours' old ones.
 *
 *   synchronous    each sweep begins with the neighbours' points (grid.h), and all ranks ask each
 *                  other after it how far they have moved (allreduce)
 *   asynchronous   a rank sweeps with what has come so far, gives its border away, and goes on. Of
 *                  LOST percent of borders the program loses every message; the last rank computes
 *                  SLOW times as long; `ecube sim --jitter` and `--slow` delay frames and nodes
 *
 * As each point's own number in its equation is greater than the others' together, it converges
 * whoever is late (Chazan and Miranker). When it has is harder to know, as old borders move nobody.
 * So ranks ask each other again and again, while they sweep, how far they have moved since the last
 * time. When nobody has, they stop, give each other their borders for certain, and look at what is
 * left (the residual); unless that is small they go on.
 *
 * A border is only sent while fewer than WINDOW of those before it have not been taken, which the
 * neighbour says by an empty message (it has 64 places for messages that it has not asked for). So
 * a slow neighbour gets fewer and newer ones.
 *
 * Exit status 1 when the solution is not the known one, there is no end, or a synchronous time is
 * not the predicted one.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 3.3.2 and 4; D. Chazan and W. Miranker, Linear Algebra and
 *          its Applications 2, 1969, 199-222
 */
#include "examples/linear_algebra/grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE_MAX = 128, /* a border is a short message */
    SLOW_MAX = 1000,
    LOST_MAX = 99,
    SWEEPS_MAX = 200000,
    WINDOW = 2,
    POINT_NS = 2000, /* what computing a point takes */
    VALUE = 0,       /* tags, of which each is four: the sender's side */
    TAKEN = 4,
    LAST = 8,
    TAGS = 12
};

static const double still = 1e-11;   /* a move that is none */
static const double allowed = 1e-10; /* of the residual, and so of the error, twice */

/* What a rank has of it. */
struct solver {
    struct grid grid;
    double *x, *next, *right;
    uint64_t sweep_ns;
    unsigned waiting[SIDES]; /* borders sent to a side that have not been taken */
    uint32_t chance, lost_percent;
    uint64_t sweeps, sent, lost, kept_back;
    double *border;
};

static double solution(const struct grid *grid, size_t row, size_t column)
{
    size_t height = grid->ranks_down * grid->height, width = grid->ranks_across * grid->width;

    return linear_element(row % height, column % width);
}

/* Zeros for x, and the right-hand sides of the known solution. */
static void begin(struct solver *s)
{
    struct grid *grid = &s->grid;
    size_t bottom = grid->ranks_down * grid->height, right = grid->ranks_across * grid->width;

    memset(s->x, 0, (grid->height + 2) * (grid->width + 2) * sizeof *s->x);
    for (size_t row = 1; row <= grid->height; row++) {
        for (size_t column = 1; column <= grid->width; column++) {
            size_t i = grid->top + row - 1, j = grid->left + column - 1;
            *grid_at(grid, s->right, row, column) =
                6 * solution(grid, i, j) - solution(grid, i + bottom - 1, j) -
                solution(grid, i + 1, j) - solution(grid, i, j + right - 1) -
                solution(grid, i, j + 1);
        }
    }
}

static double neighbours(const struct solver *s, size_t row, size_t column)
{
    size_t stride = s->grid.width + 2;
    const double *point = grid_at(&s->grid, s->x, row, column);

    return point[1] + point[-1] + point[stride] + *(point - stride);
}

/* One sweep; the farthest that a point has moved. */
static double sweep(struct solver *s)
{
    double farthest = 0, *other;

    for (size_t row = 1; row <= s->grid.height; row++) {
        for (size_t column = 1; column <= s->grid.width; column++) {
            double value =
                (*grid_at(&s->grid, s->right, row, column) + neighbours(s, row, column)) / 6;
            farthest = fmax(farthest, fabs(value - *grid_at(&s->grid, s->x, row, column)));
            *grid_at(&s->grid, s->next, row, column) = value;
        }
    }
    for (unsigned side = 0; side < SIDES; side++) { /* neighbours' points stay what they are */
        enum side at = (enum side)side;
        grid_take_outside(&s->grid, s->x, at, s->border);
        grid_put(&s->grid, s->next, at, s->border);
    }
    other = s->x;
    s->x = s->next;
    s->next = other;
    s->sweeps++;
    ecube_compute(s->sweep_ns);
    return farthest;
}

/* Of this rank, with what it knows of its neighbours. */
static double residual(const struct solver *s)
{
    double largest = 0;

    for (size_t row = 1; row <= s->grid.height; row++) {
        for (size_t column = 1; column <= s->grid.width; column++) {
            double left = *grid_at(&s->grid, s->right, row, column) + neighbours(s, row, column) -
                          6 * *grid_at(&s->grid, s->x, row, column);
            largest = fmax(largest, fabs(left));
        }
    }
    return largest;
}

/* How many points are not the solution's: with a residual of `allowed` at most none is farther from
 * it than half of that. */
static uint64_t count_wrong(const struct solver *s)
{
    uint64_t wrong = 0;

    for (size_t row = 1; row <= s->grid.height; row++) {
        for (size_t column = 1; column <= s->grid.width; column++) {
            double value = *grid_at(&s->grid, s->x, row, column);
            wrong += !(fabs(value - solution(&s->grid, s->grid.top + row - 1,
                                             s->grid.left + column - 1)) <= allowed);
        }
    }
    return wrong;
}

static double largest_of_all(double mine)
{
    double largest;

    ecube_allreduce(&mine, &largest, 1, ECUBE_DOUBLE, ECUBE_MAX);
    return largest;
}

/* Returns what is wrong. */
static uint64_t synchronous(struct solver *s)
{
    struct meter borders = {.name = "borders"}, moves = {.name = "moves"};
    struct ecube_request request;
    double mine, farthest = 1;

    begin(s);
    ecube_align();
    uint64_t began_ns = ecube_model_ns();
    while (farthest > still && s->sweeps < SWEEPS_MAX) {
        grid_exchange(&s->grid, s->x, &borders);
        mine = sweep(s);
        meter_begin(&moves);
        ecube_allreduce_start(&mine, &farthest, 1, ECUBE_DOUBLE, ECUBE_MAX, &request);
        meter_wait(&moves, &request, ECUBE_ALLREDUCE, 0, 1);
    }
    uint64_t took_ns = ecube_model_ns() - began_ns;
    borders.wrong = count_wrong(s) + (farthest > still);
    uint64_t wrong = meter_report(&borders) + meter_report(&moves);
    if (ecube_rank() == 0) {
        printf("synchronous: %llu sweeps, %llu wrong\n", (unsigned long long)s->sweeps,
               (unsigned long long)wrong);
        printf("it took %.3f us of model time\n", (double)took_ns / 1e3);
    }
    return wrong;
}

/* Takes messages that have come, up to one that says that its sender has stopped; with answers not
 * more than can be there at once, as neighbours go on sending what is answered. */
static void take(struct solver *s, int answer)
{
    struct ecube_status status;

    for (int i = 0; !answer || i < 2 * WINDOW * SIDES; i++) {
        if (!ecube_iprobe(ECUBE_ANY, ECUBE_ANY, &status) || status.tag >= LAST) {
            break;
        }
        enum side side = grid_opposite((enum side)(status.tag % SIDES));

        ecube_receive(s->border, status.bytes, status.source, status.tag, NULL);
        if (status.tag >= TAKEN) {
            s->waiting[side] -= s->waiting[side] > 0;
            continue;
        }
        grid_put(&s->grid, s->x, side, s->border);
        if (answer) {
            ecube_send(NULL, 0, status.source, TAKEN + (int)side);
        }
    }
}

/* The border on each side, unless it is lost, or too many are under way. */
static void give(struct solver *s)
{
    for (unsigned i = 0; i < SIDES; i++) {
        enum side side = (enum side)i;
        size_t bytes = grid_side(&s->grid, side) * sizeof *s->border;

        s->chance = s->chance * UINT32_C(1664525) + UINT32_C(1013904223);
        if (s->chance / 65536 % 100 < s->lost_percent) {
            s->lost++;
        } else if (s->waiting[side] >= WINDOW) {
            s->kept_back++;
        } else {
            grid_take(&s->grid, s->x, side, s->border);
            ecube_send(s->border, (uint32_t)bytes, s->grid.neighbour[side], VALUE + (int)side);
            s->waiting[side]++;
            s->sent++;
        }
    }
}

/* All have stopped: gets the borders as they are. What was sent before has come when these have. */
static void settle(struct solver *s)
{
    struct ecube_request requests[2 * SIDES];
    struct grid *grid = &s->grid;
    size_t room = grid->height + grid->width + 2;
    double *borders = linear_vector(2 * SIDES * room);

    for (unsigned i = 0; i < SIDES; i++) {
        enum side side = (enum side)i, behind = grid_opposite(side);
        uint32_t bytes = (uint32_t)(grid_side(grid, side) * sizeof *borders);
        ecube_receive_start(borders + i * room, bytes, grid->neighbour[side], LAST + (int)behind,
                            &requests[i]);
    }
    for (unsigned i = 0; i < SIDES; i++) {
        enum side side = (enum side)i;
        double *border = borders + (SIDES + i) * room;
        uint32_t bytes = (uint32_t)(grid_side(grid, side) * sizeof *border);
        grid_take(grid, s->x, side, border);
        ecube_send_start(border, bytes, grid->neighbour[side], LAST + (int)i, &requests[SIDES + i]);
    }
    ecube_wait_all(requests, 2 * SIDES, NULL);
    take(s, 0);
    for (unsigned i = 0; i < SIDES; i++) {
        grid_put(grid, s->x, (enum side)i, borders + i * room);
        s->waiting[i] = 0;
    }
    free(borders);
}

/* Sweeps until nobody moves. Returns 0: there is no end. */
static int sweep_freely(struct solver *s)
{
    struct ecube_request request;
    double farthest = sweep(s), mine = farthest, all = 1;

    give(s);
    ecube_allreduce_start(&mine, &all, 1, ECUBE_DOUBLE, ECUBE_MAX, &request);
    farthest = 0;
    for (;;) {
        take(s, 1);
        farthest = fmax(farthest, sweep(s));
        give(s);
        if (!ecube_test(&request, NULL)) {
            continue;
        }
        if (all <= still) {
            return 1;
        }
        mine = s->sweeps < SWEEPS_MAX ? farthest : INFINITY;
        if (isinf(all)) {
            return 0;
        }
        farthest = 0;
        ecube_allreduce_start(&mine, &all, 1, ECUBE_DOUBLE, ECUBE_MAX, &request);
    }
}

static uint64_t asynchronous(struct solver *s)
{
    uint64_t mine[5], all[5], wrong;
    int ends = 1, rounds = 0;

    s->sweeps = 0;
    begin(s);
    ecube_align();
    uint64_t began_ns = ecube_model_ns();
    do {
        ends = sweep_freely(s);
        settle(s);
        rounds++;
    } while (ends && largest_of_all(residual(s)) > allowed);
    ecube_align();
    uint64_t took_ns = ecube_model_ns() - began_ns;
    memcpy(mine, (uint64_t[]){count_wrong(s) + !ends, s->sent, s->lost, s->kept_back, s->sweeps},
           sizeof mine);
    ecube_allreduce(mine, all, 5, ECUBE_UINT64, ECUBE_SUM);
    wrong = all[0];
    ecube_allreduce(&s->sweeps, &mine[0], 1, ECUBE_UINT64, ECUBE_MIN);
    ecube_allreduce(&s->sweeps, &mine[1], 1, ECUBE_UINT64, ECUBE_MAX);
    if (ecube_rank() == 0) {
        printf("asynchronous: %s, %llu wrong\n", ends ? "converged" : "no end",
               (unsigned long long)wrong);
        printf("it took %.3f us of model time, %llu to %llu sweeps, %d looks at the residual\n",
               (double)took_ns / 1e3, (unsigned long long)mine[0], (unsigned long long)mine[1],
               rounds);
        printf("%llu borders sent, %llu lost, %llu kept back\n", (unsigned long long)all[1],
               (unsigned long long)all[2], (unsigned long long)all[3]);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    linear_begin("jacobi");
    size_t side = linear_number(argc, argv, 1, 4, 1, SIDE_MAX);
    size_t lost = linear_number(argc, argv, 2, 0, 0, LOST_MAX);
    size_t slow = linear_number(argc, argv, 3, 1, 1, SLOW_MAX);
    struct solver s = {.chance = (uint32_t)ecube_rank() * 77777, .lost_percent = (uint32_t)lost};

    grid_begin(&s.grid, side, side);
    s.x = grid_field(&s.grid);
    s.next = grid_field(&s.grid);
    s.right = grid_field(&s.grid);
    s.border = linear_vector(2 * side + 2);
    s.sweep_ns = (uint64_t)(side * side) * POINT_NS;
    s.sweep_ns *= ecube_rank() == ecube_size() - 1 ? slow : 1;
    uint64_t wrong = synchronous(&s) + asynchronous(&s);
    grid_end(&s.grid);
    free(s.x);
    free(s.next);
    free(s.right);
    free(s.border);
    return wrong > 0;
}
