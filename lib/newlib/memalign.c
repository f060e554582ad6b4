/*
 * memalign.c - posix_memalign, which Debian's newlib lacks; its aligned_alloc calls it.
 *
 * Source   POSIX.1-2008, posix_memalign; C11, 7.22.3.1
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int posix_memalign(void **memory, size_t alignment, size_t bytes);

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) {
        return EINVAL;
    }
    /* The library adds the two without looking. */
    void *found =
        alignment <= INT32_MAX / 4 && bytes <= INT32_MAX / 4 ? memalign(alignment, bytes) : NULL;
    if (!found) {
        return ENOMEM;
    }
    *memory = found;
    return 0;
}
