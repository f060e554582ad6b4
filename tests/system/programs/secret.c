/*
 * secret.c - secret leave | look: the first run fills its memory with a word, the second looks for
 * it everywhere, and has a neighbour look at what it sends without having written it.
 *
 * Ends with status 0 when nothing was found.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecube.h>

#include "board.h"

enum { STACK_WORDS = 64 * 1024, HEAP_BYTES = 40 << 20, SENT_BYTES = 4 << 20, TAG = 1 };

/* The program's memory: its stack begins there. */
static const uintptr_t memory_start = BOARD_STACK_BASE, memory_end = BOARD_PROGRAM_END;

/* Made when it is needed, so that it does not stand in the image. */
static uint32_t secret(void)
{
    volatile uint32_t half = 0x5ec2;
    return half << 16 | (half ^ 0xffff);
}

static int leave(void)
{
    volatile uint32_t stack[STACK_WORDS];
    volatile uint32_t *heap = malloc(HEAP_BYTES);
    uint32_t word = secret();
    for (int i = 0; i < STACK_WORDS; i++) {
        stack[i] = word;
    }
    for (int i = 0; heap && i < HEAP_BYTES / 4; i++) {
        heap[i] = word;
    }
    return heap && stack[STACK_WORDS - 1] == word ? 0 : 1;
}

static int count(const volatile uint32_t *from, const volatile uint32_t *end)
{
    uint32_t word = secret();
    int found = 0;
    for (; from != end; from++) {
        found += *from == word;
    }
    return found;
}

static int look(void)
{
    int other = ecube_rank() ^ 1, found;
    uint32_t *sent = malloc(SENT_BYTES), *received = malloc(SENT_BYTES);
    if (!sent || !received || ecube_size() < 2 ||
        ecube_send_receive(sent, SENT_BYTES, other, TAG, received, SENT_BYTES, other, TAG, NULL) !=
            SENT_BYTES) {
        return 2;
    }
    found = count(received, received + SENT_BYTES / 4);
    if (found) {
        printf("%d words were sent that were never written\n", found);
        return 1;
    }
    found = count((const uint32_t *)memory_start, (const uint32_t *)memory_end);
    if (found) {
        printf("%d words of the program before\n", found);
    }
    return found != 0;
}

int main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "leave") == 0 ? leave() : look();
}
