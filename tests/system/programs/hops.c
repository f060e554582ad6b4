/*
 * hops.c - hops BYTES: messages on any network. First node 0 sends to each other node, one after
 * the other, and that node prints "took NS" of model time; then each sends to each at once. All
 * bytes are checked.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ecube.h>

enum { BYTES_MAX = 65536 };

static unsigned char out[BYTES_MAX], in[BYTES_MAX];

static void fill(int from, int to, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        out[i] = (unsigned char)(from * 31 + to * 7 + i);
    }
}

static int wrong(int from, int to, int bytes)
{
    int count = 0;

    for (int i = 0; i < bytes; i++) {
        count += in[i] != (unsigned char)(from * 31 + to * 7 + i);
    }
    return count;
}

/* Node 0 to all others; each answers, so that one is over when the next begins. Both clocks are the
 * same then: that of the answer. */
static int alone(int rank, int size, int bytes)
{
    uint64_t start = 0;

    for (int to = 1; to < size; to++) {
        if (rank == 0) {
            start = ecube_model_ns();
            fill(0, to, bytes);
            if (ecube_send(&start, sizeof start, to, 1) < 0 ||
                ecube_receive(&start, sizeof start, to, 2, NULL) < 0 ||
                ecube_send(out, (uint32_t)bytes, to, 3) < 0) {
                return -1;
            }
        } else if (rank == to) {
            if (ecube_receive(&start, sizeof start, 0, 1, NULL) < 0 ||
                ecube_send(&start, sizeof start, 0, 2) < 0) {
                return -1;
            }
            start = ecube_model_ns();
            if (ecube_receive(in, sizeof in, 0, 3, NULL) < 0) {
                return -1;
            }
            printf("took %llu\n", (unsigned long long)(ecube_model_ns() - start));
            if (wrong(0, to, bytes)) {
                return -1;
            }
        }
    }
    return 0;
}

/* Nobody goes on before node 0 has sent to the last. */
static int wait_for_all(int rank, int size)
{
    uint64_t go = 0;

    for (int to = 1; rank == 0 && to < size; to++) {
        if (ecube_send(&go, sizeof go, to, 5) < 0) {
            return -1;
        }
    }
    return rank == 0 ? 0 : ecube_receive(&go, sizeof go, 0, 5, NULL);
}

static int all(int rank, int size, int bytes)
{
    for (int k = 1; k < size; k++) {
        int to = (rank + k) % size, from = (rank + size - k) % size;

        fill(rank, to, bytes);
        if (ecube_send_receive(out, (uint32_t)bytes, to, 4, in, sizeof in, from, 4, NULL) < 0 ||
            wrong(from, rank, bytes)) {
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int bytes = argc > 1 ? atoi(argv[1]) : 1000;

    if (alone(ecube_rank(), ecube_size(), bytes) < 0 ||
        wait_for_all(ecube_rank(), ecube_size()) < 0 ||
        all(ecube_rank(), ecube_size(), bytes) < 0) {
        printf("failed\n");
        return 1;
    }
    return 0;
}
