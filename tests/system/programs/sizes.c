/* In an exchange with a size for every pair node 2 expects a byte more from node 1 than that one
 * sends: each node says how it ended, and that the next one is right. */
#include <ecube.h>
#include <stdio.h>
#include <string.h>

enum { NODES_MAX = 16, BYTES = 1600 };

static uint8_t sent[NODES_MAX * BYTES], received[NODES_MAX * BYTES];

int main(void)
{
    int rank = ecube_rank(), size = ecube_size();
    struct ecube_block send[NODES_MAX], receive[NODES_MAX];

    ecube_errors(ECUBE_ERRORS_RETURN);
    for (int i = 0; i < size; i++) {
        send[i] = (struct ecube_block){(uint32_t)(i * BYTES), (uint32_t)(100 * i + rank)};
        receive[i] = (struct ecube_block){(uint32_t)(i * BYTES), (uint32_t)(100 * rank + i)};
        memset(sent + i * BYTES, rank * NODES_MAX + i, BYTES);
    }
    receive[1].bytes += rank == 2;
    printf("first: %s\n", ecube_error_text(ecube_exchangev(sent, send, received, receive)));
    receive[1].bytes -= rank == 2;
    memset(received, 0, sizeof received);
    int status = ecube_exchangev(sent, send, received, receive);
    int wrong = 0;
    for (int i = 0; i < size; i++) {
        for (int at = 0; at < BYTES; at++) {
            int mine = at < 100 * rank + i ? i * NODES_MAX + rank : 0;
            wrong += received[i * BYTES + at] != (uint8_t)mine;
        }
    }
    printf("second: %s, %d wrong\n", ecube_error_text(status), wrong);
    return wrong != 0;
}
