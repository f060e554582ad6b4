/*
 * memory.c - memcpy, memmove and memset, in place of the C library's: those are assembly that saves
 * registers without making a frame, so that a fault's report would not find who called them.
 *
 * Source   Intel 64 and IA-32 Architectures Optimization Reference Manual, 3.7.6 (enhanced REP
 *          MOVSB and STOSB)
 */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    void *at = to;

    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    if ((uintptr_t)to - (uintptr_t)from >= bytes) {
        return memcpy(to, from, bytes);
    }
    /* `to` lies in what is copied: from the end. */
    const char *source = (const char *)from + bytes;
    char *at = (char *)to + bytes;
    for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t)) {
        uint64_t word;
        source -= sizeof word;
        at -= sizeof word;
        __builtin_memcpy(&word, source, sizeof word);
        __builtin_memcpy(at, &word, sizeof word);
    }
    while (bytes-- > 0) {
        *--at = *--source;
        __asm__ volatile("" : : : "memory"); /* a loop, which must not become a call of memmove */
    }
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    void *at = to;

    __asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(value) : "memory");
    return to;
}
