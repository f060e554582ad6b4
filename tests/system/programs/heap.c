/* heap.c - the heap can be used up and given back; what is impossible is refused with ENOMEM. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECE_BYTES = 1 << 20, PIECES_MAX = 64, PIECES_LEAST = 50 };

static char *pieces[PIECES_MAX];
static int failures;

static void expect(int truth, const char *what)
{
    if (!truth) {
        printf("did not hold: %s\n", what);
        failures++;
    }
}

static int use_up(void)
{
    int count = 0;
    while (count < PIECES_MAX && (pieces[count] = malloc(PIECE_BYTES)) != NULL) {
        pieces[count][0] = pieces[count][PIECE_BYTES - 1] = 1;
        count++;
    }
    for (int i = 0; i < count; i++) {
        free(pieces[i]);
    }
    return count;
}

static int refused(void *memory)
{
    int none = memory == NULL && errno == ENOMEM;
    free(memory);
    errno = 0;
    return none;
}

static void aligned(void)
{
    enum { ALIGNMENT = 4096, NONE = 48 };
    volatile size_t much = SIZE_MAX - 100;
    void *memory = NULL;

    expect(posix_memalign(&memory, ALIGNMENT, 10) == 0 && (uintptr_t)memory % ALIGNMENT == 0,
           "posix_memalign aligns");
    free(memory);
    memory = aligned_alloc(ALIGNMENT, ALIGNMENT);
    expect(memory != NULL && (uintptr_t)memory % ALIGNMENT == 0, "aligned_alloc aligns");
    free(memory);
    expect(posix_memalign(&memory, NONE, 10) == EINVAL, "an alignment is a power of two");
    expect(posix_memalign(&memory, ALIGNMENT, much) == ENOMEM, "posix_memalign of too much");
    expect(posix_memalign(&memory, (size_t)1 << 31, much / 2 + 60) == ENOMEM,
           "posix_memalign of a sum beyond 2^32");
}

int main(void)
{
    volatile size_t half = (size_t)1 << 16, much = SIZE_MAX - 100;
    int first = use_up();
    expect(first >= PIECES_LEAST && first < PIECES_MAX, "the heap is as large as README says");
    expect(use_up() == first, "what is freed can be had again");
    errno = 0;
    expect(refused(malloc(much)), "malloc of almost everything");
    expect(refused(calloc(half, half)), "calloc of a product of 0 modulo 2^32");
    expect(refused(calloc(8, much)), "calloc of a large product");
    char *zeros = calloc(half, 4);
    expect(zeros != NULL && zeros[0] == 0 && zeros[half * 4 - 1] == 0, "calloc gives zeros");
    free(zeros);
    aligned();
    return failures > 0;
}
