/*
 * figure4.c - the complete exchange of figure 4 of Thakur, Choudhary & Fox (PEX-GEN-SHIFT), line by
 * line; the modulus of its third line is p, as printed, or q, which it must be.
 *
 *   figure4 p|q [BYTES]      default: 1000 bytes for each rank
 *
 * Ranks that exchange with each other in a step send their ranks. As printed the partners of a step
 * do not match, and the tool says who waits for whom.
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1000, BYTES_MAX = 65536, STATUS_BAD_INPUT = 2 };

/* Exchanges with a rank; the number of wrong bytes. */
static int exchange(int mine, int other, int bytes)
{
    static unsigned char out[BYTES_MAX], in[BYTES_MAX];
    int wrong = 0;

    memset(out, mine, (size_t)bytes);
    memset(in, 0xff, (size_t)bytes);
    ecube_send_receive(out, (uint32_t)bytes, other, 0, in, (uint32_t)bytes, other, 0, NULL);
    for (int i = 0; i < bytes; i++) {
        wrong += in[i] != (unsigned char)other;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int mynumber = ecube_rank(), p = ecube_size(), q = 1, wrong = 0, exchanges = 0;
    int bytes = argc > 2 ? atoi(argv[2]) : BYTES;

    if (argc < 2 || (strcmp(argv[1], "p") != 0 && strcmp(argv[1], "q") != 0) || bytes < 1 ||
        bytes > BYTES_MAX) {
        fprintf(stderr, "figure4: p or q should follow, then at most %d bytes\n", BYTES_MAX);
        return STATUS_BAD_INPUT;
    }
    while (q < p) {
        q *= 2;
    }
    int shift = (q - p) / 2, myvirtual = (mynumber + shift) % (argv[1][0] == 'p' ? p : q);
    for (int j = 1; j < q; j++) {
        int destination = (myvirtual ^ j) - shift;
        if (destination < 0) {
            destination += q;
        }
        if (destination < p && destination != mynumber) {
            wrong += exchange(mynumber, destination, bytes);
            exchanges++;
        }
    }
    if (wrong || exchanges != p - 1) {
        printf("%d wrong bytes in %d exchanges\n", wrong, exchanges);
    }
    return wrong || exchanges != p - 1;
}
