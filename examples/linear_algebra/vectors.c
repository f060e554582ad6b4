/*
 * vectors.c - an inner product, the word that ends a relaxation, and shifts of a vector.
 *
 *   vectors [SHARE [DISTANCE]]      default: 4 numbers of each vector at a rank; 1, 2, 4, ... ranks
 *
 * Corresponding numbers of two vectors lie at one rank, which adds up its products; an accumulation
 * (reduce) brings the sum to rank 0. In a relaxation that is the norm of the error: when it is
 * small enough rank 0 says so to all (broadcast). A shift moves a vector by ranks that follow each
 * other, as in a ring: in a cube along a Gray code, where 2^k ranks on is one hop for k = 0 and two
 * hops else:
 *
 *   ecube run --network cube:4 --map gray vectors.elf
 *
 * Where there are 2^d ranks, any other distance is made of such shifts, one after the other, up or
 * down: its digits 1 and -1 in the form in which no two follow each other. Along the Gray code that
 * takes d hops at most, as a number moved round all ranks is where it was.
 *
 * Example, 16 ranks: 7 = 8 - 1 takes 2 + 1 hops, 11 = 16 - 4 - 1 takes 2 + 1.
 *
 * Exit status 1 when a number is not what one rank works out alone, or a time not the predicted
 * one.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 3.1 and appendix A
 */
#include "examples/linear_algebra/linear.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE_MAX = 1 << 16, DISTANCE_MAX = 65535 };

static double number_of(int vector, size_t index)
{
    return linear_element((size_t)vector, index);
}

static uint64_t inner_product(size_t share)
{
    size_t first = (size_t)ecube_rank() * share, order = (size_t)ecube_size() * share;
    struct meter accumulation = {.name = "inner product"}, word = {.name = "termination"};
    double mine = 0, sum = 0, direct = 0, told;
    struct ecube_request request;

    for (size_t i = 0; i < share; i++) {
        mine += number_of(0, first + i) * number_of(1, first + i);
    }
    meter_begin(&accumulation);
    ecube_reduce_start(&mine, &sum, 1, ECUBE_DOUBLE, ECUBE_SUM, 0, &request);
    meter_wait(&accumulation, &request, ECUBE_REDUCE, 0, 1);
    told = sum;
    meter_begin(&word);
    ecube_broadcast_start(&told, sizeof told, 0, &request);
    meter_wait(&word, &request, ECUBE_BROADCAST, 0, 1);
    for (size_t i = 0; i < order; i++) {
        direct += number_of(0, i) * number_of(1, i);
    }
    accumulation.wrong = ecube_rank() == 0 && sum != direct;
    word.wrong = told != direct;
    if (ecube_rank() == 0) {
        printf("two vectors of %lu numbers: the inner product is %.0f\n", (unsigned long)order,
               sum);
    }
    return meter_report(&accumulation) + meter_report(&word);
}

/* Moves a block and gets another, in its place. */
static void move(struct meter *meter, double *block, size_t share, size_t distance)
{
    double *came = linear_vector(share);
    struct ecube_request request;

    meter_begin(meter);
    ecube_shift_start(block, came, (uint32_t)(share * sizeof *block), (int)distance, &request);
    meter_wait(meter, &request, ECUBE_SHIFT, (int)distance, share);
    memcpy(block, came, share * sizeof *block);
    free(came);
}

/* By all digits of a distance, from the least on; `size` is a power of two. */
static void move_by_digits(struct meter *meter, double *block, size_t share, size_t distance)
{
    size_t size = (size_t)ecube_size();

    for (size_t power = 1, rest = distance; rest > 0 && power < size; power *= 2, rest /= 2) {
        int up = rest % 4 == 1, down = rest % 4 == 3;
        rest += (size_t)down - (size_t)up;
        if (up || down) {
            move(meter, block, share, up ? power : size - power);
        }
    }
}

static uint64_t shift(size_t share, size_t distance, int by_digits)
{
    size_t size = (size_t)ecube_size(), rank = (size_t)ecube_rank();
    size_t source = (rank + size - distance % size) % size;
    double *block = linear_vector(share);
    char name[24];
    struct meter meter = {.name = name};

    snprintf(name, sizeof name, "shift by %lu%s", (unsigned long)distance,
             by_digits ? ", digits" : "");
    for (size_t i = 0; i < share; i++) {
        block[i] = number_of(0, rank * share + i);
    }
    if (by_digits) {
        move_by_digits(&meter, block, share, distance % size);
    } else {
        move(&meter, block, share, distance % size);
    }
    for (size_t i = 0; i < share; i++) {
        meter.wrong += block[i] != number_of(0, source * share + i);
    }
    free(block);
    return meter_report(&meter);
}

int main(int argc, char **argv)
{
    linear_begin("vectors");
    size_t share = linear_number(argc, argv, 1, 4, 1, SHARE_MAX);
    size_t distance = linear_number(argc, argv, 2, 0, 1, DISTANCE_MAX);
    uint64_t wrong = inner_product(share);

    if (distance > 0) {
        size_t size = (size_t)ecube_size();
        wrong += shift(share, distance, 0);
        wrong += (size & (size - 1)) == 0 ? shift(share, distance, 1) : 0;
    }
    for (size_t power = 1; distance == 0 && power < (size_t)ecube_size(); power *= 2) {
        wrong += shift(share, power, 0);
    }
    return wrong > 0;
}
