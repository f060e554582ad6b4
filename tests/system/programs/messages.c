/*
 * messages.c - messages [BYTES]: a ring passes a buffer around, tags and sources are told apart,
 * errors are errors.
 *
 * Ends with status 0 on a node where everything held; else prints what did not.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecube.h>

#include "board.h"

static int failures;

static void expect(int truth, const char *what)
{
    if (!truth) {
        printf("did not hold: %s\n", what);
        failures++;
    }
}

static uint8_t pattern(uint32_t index, int rank)
{
    return (uint8_t)(index * 7 + (uint32_t)rank * 31);
}

static void pass_around(uint32_t bytes)
{
    const int rank = ecube_rank(), size = ecube_size();
    uint8_t *out = malloc(bytes + 1), *in = malloc(bytes + 1);
    for (uint32_t i = 0; i < bytes; i++) {
        out[i] = pattern(i, rank);
    }
    in[bytes] = 0x5a;
    struct ecube_request request;
    struct ecube_status status;
    const int before = (rank + size - 1) % size;
    expect(ecube_receive_start(in, bytes, before, 5, &request) == 0, "receive begins");
    expect(ecube_send(out, bytes, (rank + 1) % size, 5) >= 0, "send ends");
    expect(ecube_wait(&request, &status) == (int)bytes, "all bytes come");
    expect(status.source == before && status.tag == 5, "source and tag are told");
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        wrong += in[i] != pattern(i, before);
    }
    expect(wrong == 0, "the bytes are those sent");
    expect(in[bytes] == 0x5a, "nothing lies behind the buffer");
    free(out);
    free(in);
}

/* All at once in a circle, which blocking sends of long messages cannot do. */
static void shift(uint32_t bytes)
{
    const int rank = ecube_rank(), size = ecube_size(), before = (rank + size - 1) % size;
    uint8_t *out = malloc(bytes + 1), *in = malloc(bytes + 1);
    struct ecube_status status;
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < bytes; i++) {
        out[i] = pattern(i, rank);
    }
    expect(ecube_send_receive(out, bytes, (rank + 1) % size, 8, in, bytes, before, 8, &status) ==
               (int)bytes,
           "all bytes come as others go");
    expect(status.source == before && status.tag == 8 && status.bytes == bytes,
           "the status is the receive's");
    for (uint32_t i = 0; i < bytes; i++) {
        wrong += in[i] != pattern(i, before);
    }
    expect(wrong == 0, "the bytes that come are those sent");
    expect(ecube_send_receive(out, 1, size, 8, in, 1, before, 8, NULL) == ECUBE_E_ARGUMENT,
           "nothing goes to a rank that is none");
    expect(ecube_send_receive(out, 1, rank, 8, in, 1, size, 8, NULL) == ECUBE_E_ARGUMENT,
           "nothing comes from a rank that is none");
    expect(ecube_receive(in, 1, rank, 8, NULL) == 1, "what was sent beside has gone");
    free(out);
    free(in);
}

static void tags_are_told_apart(void)
{
    const int partner = ecube_rank() ^ 1;
    uint32_t first = 1, second = 2, got = 0;
    struct ecube_request requests[2];
    expect(ecube_send_start(&first, sizeof first, partner, 1, &requests[0]) == 0, "first begins");
    expect(ecube_send_start(&second, sizeof second, partner, 2, &requests[1]) == 0,
           "second begins");
    expect(ecube_receive(&got, sizeof got, partner, 2, NULL) == sizeof got && got == 2,
           "tag 2 comes first");
    expect(ecube_receive(&got, sizeof got, partner, ECUBE_ANY, NULL) == sizeof got && got == 1,
           "then tag 1");
    expect(ecube_wait_all(requests, 2, NULL) == 0, "both sends end");
}

static void errors_are_errors(void)
{
    uint8_t small[8], large[4096] = {0};
    struct ecube_request request;
    struct ecube_status status;
    const int partner = ecube_rank() ^ 1;
    expect(ecube_send(small, 8, ecube_size(), 0) == ECUBE_E_ARGUMENT, "there is no such rank");
    expect(ecube_send((const void *)BOARD_KERNEL_BASE, 8, partner, 0) < 0,
           "the kernel's memory cannot be sent");
    expect(ecube_send(small, 8, partner, -7) == ECUBE_E_ARGUMENT, "there is no such tag");
    expect(ecube_send_start(large, sizeof large, partner, 3, &request) == 0, "long message begins");
    expect(ecube_receive(small, sizeof small, partner, 3, &status) == ECUBE_E_TRUNCATED,
           "a long message is cut");
    (void)ecube_wait(&request, NULL);
    memset(&request, 0x55, sizeof request);
    expect(ecube_wait(&request, NULL) == ECUBE_E_ARGUMENT,
           "what was never begun cannot be awaited");
    memset(&request, 0x55, sizeof request);
    expect(ecube_test(&request, NULL) == ECUBE_E_ARGUMENT, "what was never begun cannot be tested");
}

int main(int argc, char **argv)
{
    expect(ecube_errors(ECUBE_ERRORS_RETURN) == ECUBE_ERRORS_FATAL, "errors are fatal");
    expect(ecube_errors(ECUBE_ERRORS_RETURN) == ECUBE_ERRORS_RETURN, "until it is asked for them");
    pass_around(argc > 1 ? (uint32_t)atoi(argv[1]) : 100000);
    pass_around(0);
    pass_around(1);
    pass_around(1024);
    pass_around(1025);
    shift(argc > 1 ? (uint32_t)atoi(argv[1]) : 100000);
    shift(3);
    if (ecube_size() > 1) {
        tags_are_told_apart();
        errors_are_errors();
    }
    uint64_t before = ecube_model_ns();
    expect(ecube_compute(UINT64_MAX) == ECUBE_E_ARGUMENT && ecube_model_ns() == before,
           "the model clock does not wrap");
    expect(ecube_compute(5000000000) == 0 && ecube_model_ns() == before + 5000000000,
           "computing takes its time");
    expect(ecube_barrier() >= 0, "a barrier passes");
    return failures ? 1 : 0;
}
