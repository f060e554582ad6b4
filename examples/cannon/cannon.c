/*
 * cannon.c - the product of two matrices by Cannon's algorithm, on ranks that form a square torus.
 *
 *   cannon [SIDE]      default: blocks of 16 x 16 numbers at each rank
 *
 * Of q x q ranks that in row i and column j holds block (i, j) of both matrices. At first row i of
 * A goes i places to the left and column j of B goes j places up (the skew); then q times all ranks
 * add the product of the blocks that they have, and A goes one more place to the left, B one up:
 *
 *     A of 3 x 3 ranks     00 01 02       00 01 02      rank (1, 0) has A(1, 1) and B(1, 0): its
 *     after the skew       10 11 12  ->   11 12 10      sum of A(1, k) B(k, 0) begins with k = 1
 *                          20 21 22       22 20 21
 *
 * The skew is made of steps of one place too, in which those that are where they belong keep
 * theirs.
 * So all messages are between neighbours, and take the same time wherever neighbours in the torus
 * are neighbours in the machine:
 *
 *   ecube run --network torus:4x4 cannon.elf
 *   ecube run --network cube:4 --map gray --as torus:4x4 cannon.elf
 *
 * On ranks that form something else the square is the largest of q x q ranks with q q <= N, row by
 * row, whose neighbours may be further apart; the ranks that are left over do nothing. All numbers
 * are whole and small, so the product is exact: exit status 1 where it is not that of the two
 * matrices.
 *
 * Source  L. E. Cannon, A Cellular Computer to Implement the Kalman Filter Algorithm, Montana State
 *         University, 1969
 */
#include <ecube.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum { SIDE_MAX = 256, TAG_A = 1, TAG_B = 2 };

/* This rank's place in the square, and its neighbours. */
struct place {
    int q, row, column; /* row -1: it is left over */
    int left, right, up, down;
};

static int side;

static int rank_at(const struct place *place, int row, int column)
{
    return (row + place->q) % place->q * place->q + (column + place->q) % place->q;
}

/* Ranks of a torus are row by row, too: the last coordinate varies fastest. */
static struct place find_place(void)
{
    int rank = ecube_rank();
    struct place place = {.q = 1, .row = -1};

    while ((place.q + 1) * (place.q + 1) <= ecube_size()) {
        place.q++;
    }
    if (rank < place.q * place.q) {
        place.row = rank / place.q;
        place.column = rank % place.q;
        place.left = rank_at(&place, place.row, place.column - 1);
        place.right = rank_at(&place, place.row, place.column + 1);
        place.up = rank_at(&place, place.row - 1, place.column);
        place.down = rank_at(&place, place.row + 1, place.column);
    }
    return place;
}

/* The elements of both matrices. */
static int32_t a_at(int row, int column)
{
    return (row * 7 + column * 3) % 11 - 5;
}

static int32_t b_at(int row, int column)
{
    return (row * 5 + column * 2) % 13 - 6;
}

static void fill(const struct place *place, int32_t *block, int32_t (*element)(int, int))
{
    for (int i = 0; i < side; i++) {
        for (int j = 0; j < side; j++) {
            block[i * side + j] = element(place->row * side + i, place->column * side + j);
        }
    }
}

/* Gives a block to one neighbour and takes that of the opposite one in its place. */
static void pass(int32_t *block, int32_t *coming, int to, int from, int tag)
{
    uint32_t bytes = (uint32_t)(side * side) * (uint32_t)sizeof *block;

    if (to != ecube_rank()) {
        ecube_send_receive(block, bytes, to, tag, coming, bytes, from, tag, NULL);
        memcpy(block, coming, bytes);
    }
}

/* Block of A one place to the left, of B one up; in step `step` of the skew only in those rows, or
 * columns, that have so far to go. All begin together, so that times repeat. */
static void shift(const struct place *place, int32_t *a, int32_t *b, int32_t *coming, int step)
{
    ecube_align();
    if (place->row >= 0 && step <= place->row) {
        pass(a, coming, place->left, place->right, TAG_A);
    }
    ecube_align();
    if (place->row >= 0 && step <= place->column) {
        pass(b, coming, place->up, place->down, TAG_B);
    }
}

static void multiply(const int32_t *a, const int32_t *b, int32_t *c)
{
    for (int i = 0; i < side; i++) {
        for (int k = 0; k < side; k++) {
            for (int j = 0; j < side; j++) {
                c[i * side + j] += a[i * side + k] * b[k * side + j];
            }
        }
    }
}

/* How many elements of the product are not those of the definition. */
static uint32_t count_wrong(const struct place *place, const int32_t *c)
{
    uint32_t wrong = 0;

    for (int i = 0; place->row >= 0 && i < side; i++) {
        for (int j = 0; j < side; j++) {
            int32_t sum = 0;
            for (int k = 0; k < place->q * side; k++) {
                sum += a_at(place->row * side + i, k) * b_at(k, place->column * side + j);
            }
            wrong += c[i * side + j] != sum;
        }
    }
    return wrong;
}

/* Returns the time of the messages. */
static uint64_t run(const struct place *place, int32_t *a, int32_t *b, int32_t *c, int32_t *coming)
{
    if (place->row >= 0) {
        fill(place, a, a_at);
        fill(place, b, b_at);
    }
    ecube_align();
    uint64_t began_ns = ecube_model_ns();
    for (int step = 1; step < place->q; step++) {
        shift(place, a, b, coming, step);
    }
    for (int step = 0; step < place->q; step++) {
        if (place->row >= 0) {
            multiply(a, b, c);
        }
        if (step + 1 < place->q) {
            shift(place, a, b, coming, 0);
        }
    }
    ecube_align();
    return ecube_model_ns() - began_ns;
}

int main(int argc, char **argv)
{
    struct place place = find_place();
    int wanted = (int)words_number("cannon", argc, argv, 1, 16, 1, SIDE_MAX);
    uint32_t all = 0;

    side = wanted;
    size_t count = (size_t)side * (size_t)side;
    int32_t *blocks = calloc(4 * count, sizeof *blocks);
    if (!blocks) {
        fprintf(stderr, "cannon: no memory for blocks of %d x %d numbers\n", side, side);
        return 1;
    }
    int32_t *a = blocks, *b = a + count, *c = b + count, *coming = c + count;
    uint64_t took_ns = run(&place, a, b, c, coming);
    uint32_t wrong = count_wrong(&place, c);
    ecube_allreduce(&wrong, &all, 1, ECUBE_UINT32, ECUBE_SUM);
    if (ecube_rank() == 0) {
        printf("%d x %d blocks of %d x %d: %.3f us model time, %lu wrong\n", place.q, place.q, side,
               side, (double)took_ns / 1e3, (unsigned long)all);
    }
    free(blocks);
    return all > 0;
}
