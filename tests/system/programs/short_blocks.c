/*
 * short_blocks.c - an exchange of short blocks with a size for every pair: its bytes, what it takes
 * beside the exchange of places of that size, and what comes of blocks that are too long, or not as
 * long as expected.
 */
#include <ecube.h>
#include <stdio.h>
#include <string.h>

enum { NODES_MAX = 64, BYTES_MAX = 21, ROOM = 32, PLACE_BYTES = 28 };

static uint8_t sent[NODES_MAX * ROOM], received[NODES_MAX * ROOM];
static uint8_t places[2][NODES_MAX * PLACE_BYTES];
static struct ecube_block send[NODES_MAX], receive[NODES_MAX];

/* The length of the block from one node to another; some have none. */
static uint32_t length(int from, int to)
{
    return (uint32_t)(7 * from + 3 * to) % (BYTES_MAX + 1);
}

static uint8_t byte_of(int from, int to, uint32_t at)
{
    return (uint8_t)(from * 31 + to * 7 + (int)at + 1);
}

/* What is wrong of all that was received. */
static int count_wrong(int rank, int size)
{
    int wrong = 0;

    for (int i = 0; i < size; i++) {
        for (uint32_t at = 0; at < ROOM; at++) {
            uint8_t right = at < length(i, rank) ? byte_of(i, rank, at) : 0;
            wrong += received[i * ROOM + (int)at] != right;
        }
    }
    return wrong;
}

int main(void)
{
    int rank = ecube_rank(), size = ecube_size();
    uint64_t began, taken;

    ecube_errors(ECUBE_ERRORS_RETURN);
    for (int i = 0; i < size; i++) {
        send[i] = (struct ecube_block){(uint32_t)(i * ROOM), length(rank, i)};
        receive[i] = (struct ecube_block){(uint32_t)(i * ROOM), length(i, rank)};
        for (uint32_t at = 0; at < send[i].bytes; at++) {
            sent[i * ROOM + (int)at] = byte_of(rank, i, at);
        }
    }
    ecube_align();
    began = ecube_model_ns();
    int status = ecube_exchangev_short(sent, send, received, receive, BYTES_MAX);
    ecube_align();
    taken = ecube_model_ns() - began;
    ecube_exchange(places[0], places[1], PLACE_BYTES);
    ecube_align();
    printf("%s, %d wrong, as an exchange: %s\n", ecube_error_text(status), count_wrong(rank, size),
           2 * taken == ecube_model_ns() - began ? "yes" : "no");

    memset(received, 0, sizeof received);
    receive[1].bytes += rank == 2;
    status = ecube_exchangev_short(sent, send, received, receive, BYTES_MAX);
    receive[1].bytes -= rank == 2;
    printf("another length: %s, %d wrong\n", ecube_error_text(status),
           count_wrong(rank, size) - (rank == 2 ? (int)length(1, 2) : 0));

    send[1].bytes = rank == 2 ? BYTES_MAX + 1 : send[1].bytes;
    status = ecube_exchangev_short(sent, send, received, receive, BYTES_MAX);
    send[1].bytes = length(rank, 1);
    printf("too long: %s\n", ecube_error_text(status));
    status = ecube_exchangev_short(sent, send, received, receive, UINT32_MAX - (uint32_t)rank % 2);
    printf("no memory: %s\n", ecube_error_text(status));

    memset(received, 0, sizeof received);
    status = ecube_exchangev_short(sent, send, received, receive, BYTES_MAX);
    printf("after: %s, %d wrong\n", ecube_error_text(status), count_wrong(rank, size));
    return 0;
}
