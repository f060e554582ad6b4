/* native_calls.c - what tests/lib/native_test.c runs: its first argument says what to do. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/portable/call.h"

enum { WINDOW_BITS = 32, LOWEST = 16 };

static int global;
static int given[] = {5, 3, 9, 1};
static const char *const names[] = {"ring", "cube", "torus"}; /* addresses, in constants */
static _Thread_local int counted = 40;
static _Thread_local _Alignas(64) char zeros[100];

__attribute__((constructor)) static void at_begin(void)
{
    global = 17;
}

__attribute__((destructor)) static void at_end(void)
{
    puts("destroyed");
}

static void at_exit(void)
{
    puts("at exit");
}

static int by_value(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

static int library(void)
{
    char *end;
    double value;

    qsort(given, 4, sizeof *given, by_value);
    printf("sorted %d %d %d %d\n", given[0], given[1], given[2], given[3]);
    value = strtod("0.1e1x", &end);
    printf("number %.17g %s %.17g\n", value, end, sqrt(value + 1));
    srand(1);
    printf("random %d\n", rand() % 1000);
    errno = 0;
    value = log(-value);
    printf("error %d %s\n", errno == EDOM, strerror(ENOMEM));
    printf("name %s %zu %td\n", names[1], sizeof(void *), (char *)end - (char *)end);
    return 0;
}

static int memory(void)
{
    /* The compiler is to see neither sizes nor that nobody uses the memory. */
    static volatile size_t sizes[] = {(size_t)5 << 30, SIZE_MAX - 40,
                                      ((size_t)1 << WINDOW_BITS) + 64};
    char *volatile block = malloc(1000), *volatile large = malloc((size_t)20 << 20);

    printf("block %d %d\n", (uintptr_t)block % LOWEST == 0,
           (uintptr_t)block >> WINDOW_BITS == (uintptr_t)&global >> WINDOW_BITS);
    large[((size_t)20 << 20) - 1] = 1;
    free(large);
    printf("too much");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        errno = 0;
        block = malloc(sizes[i]);
        printf(" %d %d", block == NULL, errno == ENOMEM);
    }
    block = calloc(sizes[0], sizes[0]);
    printf(", %d\nbreak %d\n", block == NULL, sbrk((ptrdiff_t)1 << 40) == (void *)-1);
    return 0;
}

static int thread(void)
{
    int clear = 1;

    for (size_t i = 0; i < sizeof zeros; i++) {
        clear &= zeros[i]++ == 0;
    }
    printf("thread %d %d %d\n", ++counted, clear, (uintptr_t)zeros % 64 == 0);
    return 0;
}

static int addresses(void)
{
    const char *own = (const char *)&global;
    uintptr_t window = (uintptr_t)own >> WINDOW_BITS << WINDOW_BITS,
              size = (uintptr_t)1 << WINDOW_BITS;
    int local;

    printf("own %d %d %d\n", ecube_address(own) == (uint32_t)(uintptr_t)own,
           ecube_address(&local) == (uint32_t)(uintptr_t)&local,
           ecube_pointer(ecube_address(own)) == (const void *)own);
    printf("null %u\n", (unsigned)ecube_address(NULL));
    printf("above %u %u\n", (unsigned)ecube_address((void *)((uintptr_t)own + size)),
           (unsigned)ecube_address((void *)(window + size)));
    printf("below %u %u\n", (unsigned)ecube_address((void *)((uintptr_t)own - size)),
           (unsigned)ecube_address((void *)(window - 1)));
    printf("low %u\n", (unsigned)ecube_address((void *)(uintptr_t)0x12345670));
    printf("last %u\n", (unsigned)(ecube_address((void *)(window + size - 1)) == UINT32_MAX));
    printf("written %d\n", (int)write(STDOUT_FILENO, (void *)(window + size), 5));
    return 0;
}

static int clocks(void)
{
    struct timespec now;
    printf("clock %d %d\n", clock_gettime(CLOCK_MONOTONIC, &now), ecube_wall_ns() > 0);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "arguments") == 0) {
        for (int i = 1; i <= argc; i++) {
            printf("[%s]\n", argv[i] ? argv[i] : "none");
        }
        fprintf(stderr, "global %d", global);
        atexit(at_exit);
        return 42;
    }
    if (strcmp(what, "exit") == 0) {
        printf("unfinished");
        exit(7);
    }
    if (strcmp(what, "abort") == 0) {
        abort();
    }
    if (strcmp(what, "assert") == 0) {
        assert(argc == 1);
    }
    if (strcmp(what, "send") == 0) {
        return ecube_send(&global, sizeof global, 0, 3);
    }
    if (strcmp(what, "whole") == 0) {
        ecube_abort(9);
    }
    return strcmp(what, "library") == 0     ? library()
           : strcmp(what, "memory") == 0    ? memory()
           : strcmp(what, "thread") == 0    ? thread()
           : strcmp(what, "addresses") == 0 ? addresses()
           : strcmp(what, "clocks") == 0    ? clocks()
                                            : 1;
}
