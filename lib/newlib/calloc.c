/*
 * calloc.c - calloc that has no memory for more bytes than there are addresses.
 *
 * newlib 3.3 multiplies without looking: calloc(65536, 65536) gives a few bytes. The linker puts
 * this function in front of the library's (--wrap in ecube-cc).
 *
 * Source   C11, 7.22.3.2; ld manual, --wrap
 */
#include <errno.h>
#include <stddef.h>
#include <sys/reent.h>

void *__real__calloc_r(struct _reent *library, size_t count, size_t bytes);
void *__wrap__calloc_r(struct _reent *library, size_t count, size_t bytes);

void *__wrap__calloc_r(struct _reent *library, size_t count, size_t bytes)
{
    size_t all;

    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return __real__calloc_r(library, count, bytes);
}
