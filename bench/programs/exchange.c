/*
 * exchange.c - exchange BYTES COUNT wait|poll: COUNT complete exchanges of BYTES per pair, one
 * after the other, each begun after a barrier.
 *
 * `wait` waits for the end of each, `poll` asks for it until it is there. Reports the median of the
 * exchanges, each as long as on its slowest node.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecube.h>

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int exchange(const void *send, void *receive, uint32_t bytes, int poll)
{
    struct ecube_request request;
    int status = ecube_exchange_start(send, receive, bytes, &request);

    if (status < 0 || !poll) {
        return status < 0 ? status : ecube_wait(&request, NULL);
    }
    while ((status = ecube_test(&request, NULL)) == 0) {
    }
    return status;
}

/* At node 0, from every node's times: the median of the slowest. */
static int report(const uint64_t *mine, unsigned count, uint32_t bytes)
{
    const unsigned nodes = (unsigned)ecube_size();
    uint64_t *all = calloc((size_t)nodes * count, sizeof *all);
    uint64_t *slowest = calloc(count, sizeof *slowest);
    int status = ecube_gather(mine, all, (uint32_t)(count * sizeof *mine), 0);

    if (status < 0 || ecube_rank() != 0) {
        return status;
    }
    for (unsigned i = 0; i < nodes * count; i++) {
        if (slowest[i % count] < all[i]) {
            slowest[i % count] = all[i];
        }
    }
    qsort(slowest, count, sizeof *slowest, compare);
    struct ecube_report line = {.name = "exchange", .bytes = bytes, .wall_ns = slowest[count / 2]};
    return ecube_report(&line);
}

int main(int argc, char **argv)
{
    const uint32_t bytes = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000;
    const unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    const int poll = argc > 3 && strcmp(argv[3], "poll") == 0;
    void *send = calloc((size_t)ecube_size(), bytes),
         *receive = calloc((size_t)ecube_size(), bytes);
    uint64_t *times_ns = calloc(count, sizeof *times_ns);
    int status = 0;

    for (unsigned i = 0; status >= 0 && i < count; i++) {
        status = ecube_barrier();
        uint64_t start_ns = ecube_wall_ns();
        status = status < 0 ? status : exchange(send, receive, bytes, poll);
        times_ns[i] = ecube_wall_ns() - start_ns;
    }
    status = status < 0 ? status : report(times_ns, count, bytes);
    if (status < 0) {
        fprintf(stderr, "exchange: %s\n", ecube_error_text(status));
        return 1;
    }
    return 0;
}
