/*
 * load.c - load: a program of 1 MiB whose nodes give back the part of the input that they have.
 *
 * load hash BYTES COUNT, load copy BYTES COUNT: all nodes together hash or copy BYTES, COUNT times,
 * with what the kernel hashes and copies with. Reports at node 0: the bytes of one node, and the
 * wall time until all have done it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecube.h>

#include "node/sha256.h"

enum { IMAGE_BYTES = 1 << 20 };

static const volatile uint8_t image[IMAGE_BYTES] = {1};

static void hash(const uint8_t *data, uint32_t bytes)
{
    struct sha256 sha;
    uint8_t digest[32];

    sha256_begin(&sha);
    sha256_add(&sha, data, bytes);
    sha256_end(&sha, digest);
}

/* The memory is touched before it is measured. */
static int work(const char *what, uint32_t bytes, uint32_t count)
{
    uint8_t *from = malloc(bytes), *to = malloc(bytes);

    if (!from || !to) {
        printf("no memory for twice %u bytes\n", (unsigned)bytes);
        return 1;
    }
    memset(from, 1, bytes);
    memset(to, 2, bytes);
    ecube_barrier();
    uint64_t start_ns = ecube_wall_ns();
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(what, "hash") == 0) {
            hash(from, bytes);
        } else {
            memcpy(to, from, bytes);
        }
    }
    ecube_barrier();
    struct ecube_report report = {
        .name = what, .bytes = (uint64_t)bytes * count, .wall_ns = ecube_wall_ns() - start_ns};
    if (ecube_rank() == 0) {
        ecube_report(&report);
    }
    return 0;
}

int main(int argc, char **argv)
{
    size_t bytes;
    const void *data = ecube_input(&bytes);

    if (argc > 3) {
        return work(argv[1], (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]));
    }
    return image[0] == 1 && ecube_output(data, bytes) == ECUBE_OK ? 0 : 1;
}
