/*
 * parallel.c - rank 0 sends BYTES to each other rank in turn, alone on the machine, over several
 * paths or as any message (WAY parallel or plain; started: with the form that is waited for). Each
 * receiver prints its rank, its hops, the model time in ns and how many bytes are wrong.
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char byte_of(int to, uint32_t i)
{
    return (unsigned char)(i * 7 + (i >> 8) * 3 + (uint32_t)to);
}

static void send(const char *way, const unsigned char *data, uint32_t bytes, int to)
{
    struct ecube_request request;

    if (strcmp(way, "plain") == 0) {
        ecube_send(data, bytes, to, 1);
    } else if (strcmp(way, "started") == 0) {
        ecube_send_parallel_start(data, bytes, to, 1, &request);
        ecube_wait(&request, NULL);
    } else {
        ecube_send_parallel(data, bytes, to, 1);
    }
}

int main(int argc, char **argv)
{
    uint32_t bytes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
    const char *way = argc > 2 ? argv[2] : "parallel";
    int rounds = argc > 3 ? atoi(argv[3]) : 1;
    unsigned char *data = calloc(1, bytes);

    for (int i = 0, to = 1; i < rounds * (ecube_size() - 1);
         i++, to = to % (ecube_size() - 1) + 1) {
        ecube_align();
        uint64_t before = ecube_model_ns();
        if (ecube_rank() == 0) {
            for (uint32_t k = 0; k < bytes; k++) {
                data[k] = byte_of(to, k);
            }
            send(way, data, bytes, to);
        } else if (ecube_rank() == to) {
            uint32_t wrong = 0;
            memset(data, 0, bytes);
            wrong += (uint32_t)ecube_receive(data, bytes, 0, 1, NULL) != bytes;
            uint64_t ns = ecube_model_ns() - before;
            for (uint32_t k = 0; k < bytes; k++) {
                wrong += data[k] != byte_of(to, k);
            }
            printf("%d %d %llu %u\n", to, ecube_hops(0), (unsigned long long)ns, (unsigned)wrong);
        }
    }
    return 0;
}
