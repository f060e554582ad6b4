/*
 * leaves.c - leaves BYTES FILES END [NAME]: each node leaves an output of (rank + 1) * BYTES bytes
 * that it names, and so many files, "file-0" and so on, or NAME and "NAME-1" and so on; then it
 * ends:
 *
 *   exit     with status 0; rank 1 with 7
 *   wait     waits for a message that never comes
 *   spin     computes for ever
 *   stall    waits in a barrier, but rank 1 for a message
 *   abort    rank 1 ends the run, the others wait
 *   fault    rank 1 comes to an undefined instruction
 *   spoil    exits, rank 1 with a piece in its list that is not its memory
 *
 * Byte i of rank r's output is the letter 'A' + (r + i) % 26; file k of rank r has r + k lines
 * "rank r file k".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecube.h>

enum { CALL_OUTPUT = 19, FILES_MAX = 300, NAME_BYTES = 64, LINE_BYTES = 40 };

/* The library's. */
int32_t ecube_call(uint32_t number, uint32_t first, uint32_t second);
uint32_t ecube_window_address(uintptr_t pointer);

/* What wire/output.h draws: the first piece, which begins with the table of all. */
static struct {
    uint32_t pieces, spare;
    uint32_t table[2 + FILES_MAX][2]; /* address, bytes; the names stand behind the ones in use */
    char more[FILES_MAX * NAME_BYTES];
} list;

static uint32_t address_of(const void *pointer)
{
    return sizeof pointer == sizeof(uint32_t) ? (uint32_t)(uintptr_t)pointer
                                              : ecube_window_address((uintptr_t)pointer);
}

static void set(uint32_t piece, const void *data, size_t bytes)
{
    list.table[piece][0] = address_of(data);
    list.table[piece][1] = (uint32_t)bytes;
}

static char *make_output(size_t bytes)
{
    char *output = malloc(bytes + 1);

    for (size_t i = 0; output && i < bytes; i++) {
        output[i] = (char)('A' + ((size_t)ecube_rank() + i) % 26);
    }
    return output;
}

static void make_file(uint32_t piece, int number)
{
    int lines = ecube_rank() + number;
    char *text = malloc((size_t)lines * LINE_BYTES + 1);
    size_t bytes = 0;

    for (int i = 0; text && i < lines; i++) {
        bytes += (size_t)sprintf(text + bytes, "rank %d file %d\n", ecube_rank(), number);
    }
    set(piece, text, bytes);
}

static void leave(size_t bytes, int files, const char *name)
{
    char *output = make_output(bytes), *at;

    list.pieces = 2 + (uint32_t)files;
    at = (char *)list.table[list.pieces];
    for (int i = 0; i < files; i++) {
        make_file(2 + (uint32_t)i, i);
        at += (name && i == 0 ? sprintf(at, "%s", name)
                              : sprintf(at, "%s-%d", name ? name : "file", i)) +
              1;
    }
    set(1, output, bytes);
    set(0, &list, (size_t)(at - (char *)&list));
    if (ecube_call(CALL_OUTPUT, address_of(list.table), list.pieces) != 0) {
        puts("the kernel takes no output");
    }
}

static int end(const char *how)
{
    volatile unsigned spins = 0;
    char byte;

    if (strcmp(how, "abort") == 0) {
        ecube_barrier(); /* all have left what they leave */
        if (ecube_rank() == 1) {
            ecube_abort(5);
        }
    }
    while (strcmp(how, "spin") == 0) {
        spins++;
    }
    if (strcmp(how, "fault") == 0 && ecube_rank() == 1) {
        __builtin_trap();
    }
    if (strcmp(how, "stall") == 0 && ecube_rank() != 1) {
        ecube_barrier();
    }
    if (strcmp(how, "wait") == 0 || strcmp(how, "stall") == 0 || strcmp(how, "abort") == 0) {
        ecube_receive(&byte, 1, (ecube_rank() + 1) % ecube_size(), 9, NULL);
    }
    return strcmp(how, "exit") == 0 && ecube_rank() == 1 ? 7 : 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 3 ? argv[3] : "";

    if (argc < 3) {
        return 0;
    }
    leave((size_t)atol(argv[1]) * ((size_t)ecube_rank() + 1), atoi(argv[2]),
          argc > 4 ? argv[4] : NULL);
    if (strcmp(how, "spoil") == 0 && ecube_rank() == 1) {
        list.table[1][0] = 16;
    }
    return end(how);
}
