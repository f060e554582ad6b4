/*
 * talker.c - prints, on every node or on one alone:
 *
 *   talker lines COUNT BYTES [STATUS]   lines of so many bytes, each with its number in front
 *   talker bytes COUNT                  every byte there is, so many times, and an end of line
 *   talker both COUNT                   lines on standard output and standard error in turn
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecube.h>

enum { VALUES = 256 };

static int print_lines(int count, int bytes, int status)
{
    char *line = malloc((size_t)bytes + 12);

    if (!line) {
        return 1;
    }
    for (int i = 0; i < count; i++) {
        memset(line, 'x', (size_t)bytes);
        line[sprintf(line, "%d", i)] = ' ';
        line[bytes - 1] = '\n';
        fwrite(line, 1, (size_t)bytes, stdout);
    }
    free(line);
    return status;
}

static int print_bytes(int count)
{
    for (int i = 0; i < count * VALUES; i++) {
        putchar(i % VALUES);
    }
    putchar('\n');
    return 0;
}

static int print_both(int count)
{
    for (int i = 0; i < count; i++) {
        printf("out %d\n", i);
        fprintf(stderr, "error %d\n", i);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 4 && strcmp(argv[1], "lines") == 0) {
        return print_lines(atoi(argv[2]), atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 0);
    }
    if (argc == 3 && strcmp(argv[1], "bytes") == 0) {
        return print_bytes(atoi(argv[2]));
    }
    return argc == 3 && strcmp(argv[1], "both") == 0 ? print_both(atoi(argv[2])) : 2;
}
