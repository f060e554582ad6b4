/*
 * window.c - window BYTES...: of each size node 1 sends node 0 16 messages, 4 of them under way at
 * a time; node 0 prints the model time that it took.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <ecube.h>

enum { MESSAGES = 16, SENDS_OPEN = 4, RECEIVES_OPEN = 8, BYTES_MAX = 9000 };

static char blocks[MESSAGES][BYTES_MAX];

static int begin(struct ecube_request *request, int message, uint32_t bytes)
{
    return ecube_rank() ? ecube_send_start(blocks[message], bytes, 0, message, request)
                        : ecube_receive_start(blocks[message], bytes, 1, message, request);
}

int main(int argc, char **argv)
{
    const int open = ecube_rank() ? SENDS_OPEN : RECEIVES_OPEN;
    struct ecube_request requests[MESSAGES];

    for (int i = 1; i < argc; i++) {
        int status = ecube_barrier();
        const uint64_t start_ns = ecube_model_ns();
        for (int message = 0; message < MESSAGES + open && status >= 0; message++) {
            if (message >= open) {
                status = ecube_wait(&requests[message - open], NULL);
            }
            if (message < MESSAGES && status >= 0) {
                status = begin(&requests[message], message, (uint32_t)atoi(argv[i]));
            }
        }
        if (status < 0) {
            printf("%s\n", ecube_error_text(status));
            return 1;
        }
        if (ecube_rank() == 0) {
            const uint64_t time_ns = ecube_model_ns() - start_ns;
            printf("%s bytes: %" PRIu64 ".%03d us\n", argv[i], time_ns / 1000,
                   (int)(time_ns % 1000));
        }
    }
    return 0;
}
