/*
 * primes.c - the primes below a limit: how many there are, which is the thousandth, and the largest
 * gap between two, with a scan and two reductions.
 *
 *   primes [limit]      default: 10000
 *
 * Every node looks at a part of the numbers, in the order of ranks. The scan of how many each has
 * found says to every node the number of its last prime, and so of each of its others: whoever has
 * the thousandth says it. The largest gap is found with the prime before it; of gaps of one size
 * the first counts, as the lower index does. Exit status 1 when the last prefix is not the sum.
 *
 * Example, limit 20 on 2 nodes: 2 3 5 7 | 11 13 17 19 gives the prefixes 4 and 8; the largest gap
 * is 4, from 7.
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/words.h"

enum { WANTED = 1000 };

static int is_prime(int32_t number)
{
    for (int32_t i = 2; i <= number / i; i++) {
        if (number % i == 0) {
            return 0;
        }
    }
    return number > 1;
}

static int32_t prime_before(int32_t number)
{
    do {
        number--;
    } while (number > 2 && !is_prime(number));
    return number;
}

/* The primes from `first` to before `end`: how many, and the largest gap that ends at one. */
static uint32_t count_primes(int32_t first, int32_t end, struct ecube_int32_int32 *gap)
{
    uint32_t count = 0;

    for (int32_t number = first; number < end; number++) {
        if (is_prime(number)) {
            int32_t before = number > 2 ? prime_before(number) : number;
            count++;
            if (number - before > gap->value) {
                *gap = (struct ecube_int32_int32){number - before, before};
            }
        }
    }
    return count;
}

/* The prime that is number `place` of those from `first` on, counted from 1. */
static int32_t prime_at(int32_t first, uint32_t place)
{
    int32_t number = first - 1;

    while (place > 0) {
        number++;
        place -= (uint32_t)is_prime(number);
    }
    return number;
}

int main(int argc, char **argv)
{
    int32_t limit = (int32_t)words_number("primes", argc, argv, 1, 10000, 1, INT32_MAX);
    int64_t rank = ecube_rank(), size = ecube_size();
    int32_t first = (int32_t)(limit * rank / size), end = (int32_t)(limit * (rank + 1) / size);
    struct ecube_int32_int32 mine = {0, 0}, largest;
    uint32_t found = count_primes(first, end, &mine), upto, all;

    ecube_scan(&found, &upto, 1, ECUBE_UINT32, ECUBE_SUM);
    ecube_allreduce(&found, &all, 1, ECUBE_UINT32, ECUBE_SUM);
    ecube_reduce(&mine, &largest, 1, ECUBE_INT32_INT32, ECUBE_MAXLOC, 0);
    if (upto - found < WANTED && upto >= WANTED) {
        printf("prime number %d is %ld\n", WANTED, (long)prime_at(first, WANTED - (upto - found)));
    }
    if (rank == 0) {
        printf("%lu primes below %ld; the largest gap is %ld, from %ld\n", (unsigned long)all,
               (long)limit, (long)largest.value, (long)largest.index);
    }
    return rank == size - 1 && upto != all;
}
