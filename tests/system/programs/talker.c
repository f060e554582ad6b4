/*
 * talker.c - prints: lines of so many bytes (talker lines COUNT BYTES), each with its number in
 * front.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecube.h>

static int print_lines(int count, int bytes)
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
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "lines") == 0) {
        return print_lines(atoi(argv[2]), atoi(argv[3]));
    }
    return 2;
}
