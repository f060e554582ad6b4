/*
 * taker.c - taker [MIB]: every node takes so much memory, 1 MiB when none is said, writes to all of
 * it, and says so when all have.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ecube.h>

enum { PAGE = 4096, MIB = 1024 * 1024 };

int main(int argc, char **argv)
{
    size_t bytes = (argc > 1 ? (size_t)atoi(argv[1]) : 1) * MIB;
    volatile char *memory = malloc(bytes);

    if (!memory) {
        puts("there is none");
        return 1;
    }
    for (size_t at = 0; at < bytes; at += PAGE) {
        memory[at] = 1;
    }
    ecube_barrier();
    printf("%zu bytes\n", bytes);
    return 0;
}
