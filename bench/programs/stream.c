/*
 * stream.c - stream BYTES COUNT: node 0 sends COUNT messages of BYTES to the last node, eight at a
 * time in flight.
 *
 * Reports at the last node: all bytes, and the wall time from the first message's arrival to the
 * last's.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <ecube.h>

enum { FLIGHT = 8 };

static uint8_t *buffers[FLIGHT];

int main(int argc, char **argv)
{
    const uint32_t bytes = argc > 1 ? (uint32_t)atoi(argv[1]) : 65536;
    const uint32_t count = argc > 2 ? (uint32_t)atoi(argv[2]) : 1000;
    const int last = ecube_size() - 1;
    struct ecube_request requests[FLIGHT];
    struct ecube_report report = {.name = "stream", .bytes = (uint64_t)bytes * (count - FLIGHT)};
    uint64_t start_ns = 0;

    for (unsigned i = 0; i < FLIGHT; i++) {
        buffers[i] = calloc(1, bytes);
    }
    if (ecube_rank() != 0 && ecube_rank() != last) {
        return 0;
    }
    for (uint32_t i = 0; i < count + FLIGHT; i++) {
        struct ecube_request *request = &requests[i % FLIGHT];
        int status = i >= FLIGHT ? ecube_wait(request, NULL) : 0;
        if (i >= FLIGHT && status != (int)bytes) {
            printf("message %u: %s\n", (unsigned)(i - FLIGHT),
                   status < 0 ? ecube_error_text(status) : "wrong length");
            return 1;
        }
        if (i == 2 * FLIGHT - 1) {
            start_ns = ecube_wall_ns();
        }
        if (i < count) {
            uint8_t *buffer = buffers[i % FLIGHT];
            status = ecube_rank() == 0 ? ecube_send_start(buffer, bytes, last, 1, request)
                                       : ecube_receive_start(buffer, bytes, 0, 1, request);
            if (status < 0) {
                printf("message %u: %s\n", (unsigned)i, ecube_error_text(status));
                return 1;
            }
        }
    }
    report.wall_ns = ecube_wall_ns() - start_ns;
    if (ecube_rank() == last) {
        ecube_report(&report);
    }
    return 0;
}
