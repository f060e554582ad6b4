/* thread.c - the variables of the program's only thread: given values and zeros, of any alignment,
 * among variables of the program. */
#include <stdint.h>
#include <stdio.h>

enum { ALIGNMENT = 128, COUNT = 33 };

static _Thread_local char letter = 'x';
static _Thread_local _Alignas(ALIGNMENT) int given = 9;
static _Thread_local int zeros[COUNT];
static _Thread_local _Alignas(ALIGNMENT / 2) char aligned[COUNT];
static int others[COUNT], other = 77;

/* Whether everything has been counted up so often. */
static int holds(int rounds)
{
    int right = letter == 'x' + rounds && given == 9 + rounds && other == 77;

    for (int i = 0; i < COUNT; i++) {
        right &= zeros[i] == rounds && aligned[i] == rounds && others[i] == 0;
    }
    return right;
}

int main(void)
{
    int right = (uintptr_t)&given % ALIGNMENT == 0 && (uintptr_t)aligned % (ALIGNMENT / 2) == 0;

    for (int rounds = 0; rounds < 3; rounds++) {
        right &= holds(rounds);
        letter++;
        given++;
        for (int i = 0; i < COUNT; i++) {
            zeros[i]++;
            aligned[i]++;
        }
    }
    puts(right ? "right" : "wrong");
    return !right;
}
