/*
 * circle.c - every rank tells the one before it something, and hears from the next one.
 *
 *   circle [send|receive]      default: send
 *
 * Who sends first goes on at once: a short message waits at its receiver. When all receive first,
 * nobody ever sends: the tool ends the run, and says who waits for whom.
 */
#include <ecube.h>
#include <stdio.h>
#include <string.h>

#include "examples/words.h"

int main(int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : "send";
    int rank = ecube_rank(), size = ecube_size(), heard = -1;
    int next = (rank + 1) % size, before = (rank + size - 1) % size;

    if (strcmp(first, "send") != 0 && strcmp(first, "receive") != 0) {
        words_refuse("circle", "'%s' is neither send nor receive", first);
    }
    if (strcmp(first, "send") == 0) {
        ecube_send(&rank, sizeof rank, before, 0);
        ecube_receive(&heard, sizeof heard, next, 0, NULL);
    } else {
        ecube_receive(&heard, sizeof heard, next, 0, NULL);
        ecube_send(&rank, sizeof rank, before, 0);
    }
    printf("rank %d has heard from rank %d\n", rank, heard);
    return heard != next;
}
