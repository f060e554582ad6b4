/*
 * allocate.c - malloc's family on the checked heap: the linker puts these functions in front of the
 * C library's (--wrap), whose other functions, strdup for example, come here as well.
 *
 * Source   newlib, libc manual, "malloc"; C11, 7.22.3; ld manual, --wrap
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/reent.h>

#include "lib/check/check.h"
#include "lib/portable/call.h"

void *__wrap__malloc_r(struct _reent *library, size_t bytes);
void *__wrap__calloc_r(struct _reent *library, size_t count, size_t bytes);
void *__wrap__memalign_r(struct _reent *library, size_t alignment, size_t bytes);
void *__wrap__realloc_r(struct _reent *library, void *block, size_t bytes);
void __wrap__free_r(struct _reent *library, void *block);
size_t __wrap__malloc_usable_size_r(struct _reent *library, void *block);

static struct blocks heap;

void ecube_check_heap_begin(uint32_t start, uint32_t end)
{
    uint32_t mask = ~(uint32_t)(BLOCKS_ALIGNMENT - 1);
    uint32_t first = (start + BLOCKS_ALIGNMENT - 1) & mask;

    ecube_blocks_init(&heap, ecube_pointer(first), (end & mask) - first);
}

struct blocks *ecube_check_heap(void)
{
    return &heap;
}

/* What does not fit 32 bits fits no heap. */
static void *take(struct _reent *library, size_t bytes, size_t alignment)
{
    struct finding found = {0};
    void *block = bytes <= UINT32_MAX && alignment <= UINT32_MAX
                      ? ecube_blocks_take(&heap, (uint32_t)bytes, (uint32_t)alignment,
                                          ecube_check_place, &found)
                      : NULL;

    if (found.kind != FINDING_NONE) {
        ecube_check_tell(&found);
    }
    if (!block) {
        library->_errno = ENOMEM;
    }
    return block;
}

static uint32_t size_of(const void *block)
{
    struct finding found;
    uint32_t bytes;

    if (!ecube_blocks_size(&heap, block, &bytes, &found)) {
        ecube_check_tell(&found);
    }
    return bytes;
}

void *__wrap__malloc_r(struct _reent *library, size_t bytes)
{
    return take(library, bytes, BLOCKS_ALIGNMENT);
}

void *__wrap__calloc_r(struct _reent *library, size_t count, size_t bytes)
{
    size_t all;

    if (__builtin_mul_overflow(count, bytes, &all)) {
        library->_errno = ENOMEM;
        return NULL;
    }
    void *block = take(library, all, BLOCKS_ALIGNMENT);
    return block ? memset(block, 0, all) : NULL;
}

void *__wrap__memalign_r(struct _reent *library, size_t alignment, size_t bytes)
{
    if ((alignment & (alignment - 1)) != 0) {
        library->_errno = EINVAL;
        return NULL;
    }
    return take(library, bytes, alignment);
}

void __wrap__free_r(struct _reent *library, void *block)
{
    struct finding found;

    (void)library;
    if (!block) {
        return;
    }
    ecube_check_spare(block, size_of(block));
    if (!ecube_blocks_release(&heap, block, ecube_check_place, &found)) {
        ecube_check_tell(&found);
    }
}

/* The block always moves, so that who has kept its old address is found out. */
void *__wrap__realloc_r(struct _reent *library, void *block, size_t bytes)
{
    if (!block) {
        return take(library, bytes, BLOCKS_ALIGNMENT);
    }
    uint32_t before = size_of(block);
    void *moved = take(library, bytes, BLOCKS_ALIGNMENT);
    if (moved) {
        memcpy(moved, block, before < bytes ? before : bytes);
        __wrap__free_r(library, block);
    }
    return moved;
}

size_t __wrap__malloc_usable_size_r(struct _reent *library, void *block)
{
    (void)library;
    return block ? size_of(block) : 0;
}
