/*
 * ping.c - ping COUNT: 8 bytes from node 0 to the last node and back, COUNT times; reports the
 * median round trip.
 */
#include <stdint.h>
#include <stdlib.h>

#include <ecube.h>

enum { PING_BYTES = 8 };

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 5000;
    const int last = ecube_size() - 1;
    uint64_t *trips = calloc(count, sizeof *trips);
    uint8_t bytes[PING_BYTES] = {0};

    for (unsigned i = 0; i < count; i++) {
        uint64_t start_ns = ecube_wall_ns();
        if (ecube_rank() == 0) {
            if (ecube_send(bytes, PING_BYTES, last, 1) < 0 ||
                ecube_receive(bytes, PING_BYTES, last, 1, NULL) < 0) {
                return 1;
            }
        } else if (ecube_rank() == last) {
            if (ecube_receive(bytes, PING_BYTES, 0, 1, NULL) < 0 ||
                ecube_send(bytes, PING_BYTES, 0, 1) < 0) {
                return 1;
            }
        }
        trips[i] = ecube_wall_ns() - start_ns;
    }
    qsort(trips, count, sizeof *trips, compare);
    if (ecube_rank() == 0) {
        struct ecube_report report = {
            .name = "ping", .bytes = PING_BYTES, .wall_ns = trips[count / 2]};
        ecube_report(&report);
    }
    return 0;
}
