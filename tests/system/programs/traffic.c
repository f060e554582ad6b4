/*
 * traffic.c - traffic ROUNDS CRASHER: nodes 1 and 2 exchange long messages through node 0 or 3,
 * while node CRASHER dereferences null; or, with CRASHER -1, nobody does. Every byte is checked.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <ecube.h>

enum { BYTES = 300000 };

static uint8_t out[BYTES], in[BYTES];
volatile uint32_t *volatile pointer;

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 10;
    const int crasher = argc > 2 ? atoi(argv[2]) : -1;
    const int rank = ecube_rank();
    int wrong = 0;

    if (rank == crasher) {
        return (int)*pointer;
    }
    if (rank != 1 && rank != 2) {
        return 0;
    }
    for (int round = 0; round < rounds; round++) {
        struct ecube_request request;
        for (int i = 0; i < BYTES; i++) {
            out[i] = (uint8_t)(i * 3 + round * 5 + rank);
        }
        int status = ecube_receive_start(in, BYTES, 3 - rank, round, &request);
        status = status < 0 ? status : ecube_send(out, BYTES, 3 - rank, round);
        status = status < 0 ? status : ecube_wait(&request, NULL);
        if (status < 0) {
            printf("round %d: %s\n", round, ecube_error_text(status));
            return 1;
        }
        for (int i = 0; i < BYTES; i++) {
            wrong += in[i] != (uint8_t)(i * 3 + round * 5 + 3 - rank);
        }
    }
    printf("%d rounds, %d wrong\n", rounds, wrong);
    return wrong ? 1 : 0;
}
