/*
 * counter.c - counter COUNT: every node counts, in floating point too, and meets the others at a
 * barrier after each step; each prints "sum S halves H" at the end. For debuggers: `count` is where
 * to stop, `sum` what to watch, and any debugger may hold any node for as long as it likes.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ecube.h>

volatile int sum;
volatile double halves;

__attribute__((noinline)) void count(int step)
{
    sum += step;
    halves += 0.5 * step;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 10;

    for (int step = 1; step <= steps; step++) {
        count(step);
        if (ecube_barrier() < 0) {
            return 9;
        }
    }
    printf("sum %d halves %.1f\n", sum, halves);
    return 0;
}
