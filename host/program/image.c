#include "host/program/image.h"

#include <stdbool.h>
#include <stdlib.h>

#include "arch/armv7a/host/processor.h"
#include "host/computer/target.h"
#include "host/program/elf_file.h"
#include "wire/finding.h"
#include "wire/run.h"

static int check_header(const struct elf_file *file, struct message *message)
{
    const GElf_Ehdr *header = &file->header;

    if (elf_file_is_native(file)) {
        return message_set(
            message, "%.300s is for 'ecube sim': compile it without --native for this", file->path);
    }
    if (header->e_machine != EM_ARM) {
        return message_set(message,
                           "%.300s is a program for another machine (ELF machine %u, ARM is %u): "
                           "compile it with ecube-cc",
                           file->path, header->e_machine, EM_ARM);
    }
    if (header->e_ident[EI_CLASS] != ELFCLASS32 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
        return message_set(message,
                           "%.300s is not a 32-bit little-endian program: compile it with ecube-cc",
                           file->path);
    }
    if (header->e_type != ET_EXEC) {
        return message_set(message,
                           "%.300s is not a linked executable (ELF type %u): link it with ecube-cc",
                           file->path, header->e_type);
    }
    return elf_file_check_version(file, "ecube-cc", message);
}

static int check_segment(const struct elf_file *file, const GElf_Phdr *segment,
                         struct message *message)
{
    const struct board *board = target_board();
    uint64_t start = segment->p_vaddr, end = start + segment->p_memsz;
    const char *path = file->path;

    if (elf_file_check_segment(file, segment, message) != 0) {
        return -1;
    }
    if (start < board->kernel_end && end > board->kernel_base) {
        return message_set(
            message, "%.300s overlaps the kernel: a segment at 0x%08llx, programs start at 0x%08x",
            path, (unsigned long long)start, board->image_base);
    }
    if (start < board->image_base || start >= board->image_end) {
        return message_set(
            message,
            "%.300s has a segment at 0x%08llx, outside the memory of programs, 0x%08x to 0x%08x",
            path, (unsigned long long)start, board->image_base, board->image_end);
    }
    if (end > board->image_end) {
        return message_set(
            message, "%.300s is too large: it ends at 0x%09llx, the memory of programs at 0x%08x",
            path, (unsigned long long)end, board->image_end);
    }
    return 0;
}

enum part { CODE, CONSTANTS, DATA, PARTS };

/* In what part of an image a segment lies; PARTS: one that is both written and executed. */
static enum part part_of(const GElf_Phdr *segment)
{
    switch (segment->p_flags & (PF_W | PF_X)) {
    case PF_X: return CODE;
    case 0: return CONSTANTS;
    case PF_W: return DATA;
    default: return PARTS;
    }
}

static uint64_t page_end(uint64_t address)
{
    return (address + PROTECTED_PAGE_BYTES - 1) / PROTECTED_PAGE_BYTES * PROTECTED_PAGE_BYTES;
}

/* A file as linkers make it by default, with one segment for all, is protected nowhere. */
static void find_ends(struct image *image, const GElf_Phdr *segments, unsigned count)
{
    uint64_t starts[PARTS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX}, ends[PARTS] = {0};

    image->code_end = image->constants_end = image->base;
    for (unsigned i = 0; i < count; i++) {
        enum part part = part_of(&segments[i]);
        uint64_t start = segments[i].p_vaddr, end = page_end(start + segments[i].p_memsz);

        if (part == PARTS) {
            return;
        }
        starts[part] = start < starts[part] ? start : starts[part];
        ends[part] = end > ends[part] ? end : ends[part];
    }
    uint64_t constants_end = ends[CONSTANTS] ? ends[CONSTANTS] : ends[CODE];
    if (starts[CODE] != image->base || starts[CONSTANTS] < ends[CODE] ||
        starts[DATA] < constants_end) {
        return;
    }
    image->code_end = (uint32_t)ends[CODE];
    image->constants_end = (uint32_t)constants_end;
    /* No heap begins on the last page of the constants. */
    if (image->bss_end < image->constants_end) {
        image->bss_end = image->constants_end;
    }
}

/* Collects the loadable segments and the span that they cover. */
static int read_segments(const struct elf_file *file, struct image *image,
                         struct elf_segments *segments, struct message *message)
{
    uint64_t first = UINT64_MAX, end = 0, bss_end = 0;

    if (elf_file_find_segments(file, PT_LOAD, segments, message) != 0) {
        return -1;
    }
    for (unsigned i = 0; i < segments->count; i++) {
        const GElf_Phdr *segment = &segments->list[i];
        uint64_t start = segment->p_vaddr;

        if (check_segment(file, segment, message) != 0) {
            return -1;
        }
        first = start < first ? start : first;
        end = start + segment->p_filesz > end ? start + segment->p_filesz : end;
        bss_end = start + segment->p_memsz > bss_end ? start + segment->p_memsz : bss_end;
    }
    if (segments->count == 0 || end == first) {
        return message_set(message, "%.300s has nothing to load: it has no loadable segment",
                           file->path);
    }
    image->base = (uint32_t)first;
    image->bytes = (uint32_t)((end > first ? end : first) - first);
    image->bss_end = (uint32_t)bss_end;
    find_ends(image, segments->list, segments->count);
    return 0;
}

static int fill(const struct elf_file *file, struct image *image,
                const struct elf_segments *segments, struct message *message)
{
    bool inside = false;

    image->entry = (uint32_t)file->header.e_entry;
    image->data = calloc(1, image->bytes);
    if (!image->data) {
        return message_set(message, "out of memory");
    }
    for (unsigned i = 0; i < segments->count; i++) {
        const GElf_Phdr *segment = &segments->list[i];

        if (elf_file_read(file, segment->p_offset, image->data + (segment->p_vaddr - image->base),
                          segment->p_filesz, message) != 0) {
            return -1;
        }
        inside |= processor_code_address(image->entry) >= segment->p_vaddr &&
                  image->entry < segment->p_vaddr + segment->p_filesz;
    }
    if (!inside) {
        return message_set(message, "%.300s starts at 0x%08x, which is in none of its segments",
                           file->path, image->entry);
    }
    if (image->code_end > image->base && image->entry >= image->code_end) {
        return message_set(message, "%.300s starts at 0x%08x, which is not in its code", file->path,
                           image->entry);
    }
    return 0;
}

int image_read(struct image *image, const char *path, struct message *message)
{
    struct elf_segments segments;
    struct elf_file file;

    *image = (struct image){.processor = &processor_armv7a};
    if (elf_file_open(&file, path, "ecube-cc", message) != 0) {
        return -1;
    }
    bool read = check_header(&file, message) == 0 &&
                read_segments(&file, image, &segments, message) == 0 &&
                fill(&file, image, &segments, message) == 0;
    image->checked = read && elf_file_has_note(&file, NOTE_CHECKED);
    elf_file_close(&file);
    if (!read) {
        image_free(image);
    }
    return read ? 0 : -1;
}

void image_free(struct image *image)
{
    free(image->data);
    image->data = NULL;
}
