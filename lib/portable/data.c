/*
 * data.c - the data that came with the program.
 *
 * The block came over links: what it says is looked at once, when the program begins. After that
 * each string ends, and each entry lies in the program's memory.
 */
#include "lib/portable/data.h"

#include <string.h>

#include "include/ecube/ecube.h"
#include "lib/portable/call.h"
#include "wire/run.h"

extern const char _start[]; /* the image begins */

static const uint8_t *block;
static struct block_header header;
static const char *names; /* the strings of the entries */

/* Where the memory begins that a program may name. The stack lies below the image, and what is dead
 * of it below this frame. Of a program that runs on a stack of its own only the kernel knows. */
static uintptr_t memory_low(void)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

    return frame < (uintptr_t)_start ? frame : (uintptr_t)ecube_pointer(1);
}

bool ecube_data_inside(const void *data, size_t bytes)
{
    uintptr_t low = memory_low(), at = (uintptr_t)data;
    uintptr_t end = (uintptr_t)ecube_pointer(ecube_program_info()->heap_end);

    return bytes == 0 || (at >= low && at < end && bytes <= end - at);
}

/* The string behind `count` others; NULL: there are not so many before the end. */
static const char *skip_strings(const char *text, const char *end, uint32_t count)
{
    while (count-- > 0) {
        const char *zero = memchr(text, 0, (size_t)(end - text));
        if (!zero) {
            return NULL;
        }
        text = zero + 1;
    }
    return text;
}

static bool entries_inside(void)
{
    for (uint32_t i = 0; i < header.entry_count; i++) {
        struct block_entry entry = block_entry_at(block, i);
        if (!ecube_data_inside(ecube_pointer(entry.address), entry.bytes)) {
            return false;
        }
    }
    return true;
}

bool ecube_data_open(const void *given, uint32_t block_bytes)
{
    block = given;
    if (!block_unpack(block, block_bytes, &header)) {
        return false;
    }
    const char *text = (const char *)block + block_strings(&header);
    const char *end = (const char *)block + block_bytes;
    names = skip_strings(text, end, header.argument_count);
    return names && skip_strings(names, end, header.entry_count) && entries_inside();
}

bool ecube_data_next(struct data_entry *entry)
{
    if (entry->next == header.entry_count) {
        return false;
    }
    struct block_entry found = block_entry_at(block, entry->next);
    *entry =
        (struct data_entry){.next = entry->next + 1,
                            .kind = found.kind,
                            .data = ecube_pointer(found.address),
                            .bytes = found.bytes,
                            .name = entry->name ? entry->name + strlen(entry->name) + 1 : names};
    return true;
}

bool ecube_data_find(uint32_t kind, struct data_entry *entry)
{
    *entry = (struct data_entry){0};
    while (ecube_data_next(entry)) {
        if (entry->kind == kind) {
            return true;
        }
    }
    return false;
}

static void *data_of(uint32_t kind, size_t *bytes)
{
    struct data_entry entry;
    bool found = ecube_data_find(kind, &entry);

    if (bytes) {
        *bytes = found ? entry.bytes : 0;
    }
    return found ? entry.data : NULL;
}

const void *ecube_input(size_t *bytes)
{
    return data_of(BLOCK_INPUT, bytes);
}

const void *ecube_common(size_t *bytes)
{
    return data_of(BLOCK_COMMON, bytes);
}

void *ecube_private(size_t *bytes)
{
    return data_of(BLOCK_PRIVATE, bytes);
}
