#include "host/program/image.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/armv7a/host/processor.h"
#include "host/computer/target.h"
#include "wire/finding.h"
#include "wire/run.h"

enum { SEGMENTS_MAX = 64 };

static int check_header(const GElf_Ehdr *header, const char *path, struct message *message)
{
    if (header->e_machine != EM_ARM) {
        return message_set(message,
                           "%.300s is a program for another machine (ELF machine %u, ARM is %u): "
                           "compile it with ecube-cc",
                           path, header->e_machine, EM_ARM);
    }
    if (header->e_ident[EI_CLASS] != ELFCLASS32 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
        return message_set(message,
                           "%.300s is not a 32-bit little-endian program: compile it with ecube-cc",
                           path);
    }
    if (header->e_type != ET_EXEC) {
        return message_set(message,
                           "%.300s is not a linked executable (ELF type %u): link it with ecube-cc",
                           path, header->e_type);
    }
    return 0;
}

static int check_segment(const GElf_Phdr *segment, uint64_t file_bytes, const char *path,
                         struct message *message)
{
    const struct board *board = target_board();
    uint64_t start = segment->p_vaddr, end = start + segment->p_memsz;

    if (segment->p_offset > file_bytes || segment->p_filesz > file_bytes - segment->p_offset ||
        segment->p_filesz > segment->p_memsz) {
        return message_set(
            message,
            "%.300s is truncated: a segment of %llu bytes reaches past the end of the file", path,
            (unsigned long long)segment->p_filesz);
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
static int read_segments(Elf *elf, struct image *image, GElf_Phdr *segments, unsigned *count,
                         uint64_t file_bytes, const char *path, struct message *message)
{
    size_t total;
    uint64_t first = UINT64_MAX, end = 0, bss_end = 0;

    if (elf_getphdrnum(elf, &total) != 0) {
        return message_set(message, "%.300s is truncated or damaged: %s", path, elf_errmsg(-1));
    }
    *count = 0;
    for (size_t i = 0; i < total; i++) {
        GElf_Phdr segment;

        if (!gelf_getphdr(elf, (int)i, &segment)) {
            return message_set(message, "%.300s is truncated: its program headers are missing",
                               path);
        }
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0) {
            continue;
        }
        if (*count == SEGMENTS_MAX) {
            return message_set(message, "%.300s has more than %d loadable segments", path,
                               SEGMENTS_MAX);
        }
        if (check_segment(&segment, file_bytes, path, message) != 0) {
            return -1;
        }
        segments[(*count)++] = segment;
        first = segment.p_vaddr < first ? segment.p_vaddr : first;
        end = segment.p_vaddr + segment.p_filesz > end ? segment.p_vaddr + segment.p_filesz : end;
        bss_end = segment.p_vaddr + segment.p_memsz > bss_end ? segment.p_vaddr + segment.p_memsz
                                                              : bss_end;
    }
    if (*count == 0 || end == first) {
        return message_set(message, "%.300s has nothing to load: it has no loadable segment", path);
    }
    image->base = (uint32_t)first;
    image->bytes = (uint32_t)((end > first ? end : first) - first);
    image->bss_end = (uint32_t)bss_end;
    find_ends(image, segments, *count);
    return 0;
}

static int fill(Elf *elf, struct image *image, const GElf_Phdr *segments, unsigned count, int fd,
                const char *path, struct message *message)
{
    GElf_Ehdr header;
    bool inside = false;

    gelf_getehdr(elf, &header);
    image->entry = (uint32_t)header.e_entry;
    image->data = calloc(1, image->bytes);
    if (!image->data) {
        return message_set(message, "out of memory");
    }
    for (unsigned i = 0; i < count; i++) {
        const GElf_Phdr *segment = &segments[i];
        size_t bytes = (size_t)segment->p_filesz;

        if (pread(fd, image->data + (segment->p_vaddr - image->base), bytes,
                  (off_t)segment->p_offset) != (ssize_t)bytes) {
            return message_set(message, "cannot read %.300s: it is truncated", path);
        }
        inside |= processor_code_address(image->entry) >= segment->p_vaddr &&
                  image->entry < segment->p_vaddr + segment->p_filesz;
    }
    if (!inside) {
        return message_set(message, "%.300s starts at 0x%08x, which is in none of its segments",
                           path, image->entry);
    }
    if (image->code_end > image->base && image->entry >= image->code_end) {
        return message_set(message, "%.300s starts at 0x%08x, which is not in its code", path,
                           image->entry);
    }
    return 0;
}

/* A stripped file still has its notes. */
static bool has_note(Elf *elf)
{
    static const char owner[] = "ecube";
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Nhdr note;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE
                             ? elf_getdata(section, NULL)
                             : NULL;
        size_t at = 0, next, name_at, text_at;
        for (; data && (next = gelf_getnote(data, at, &note, &name_at, &text_at)) > 0; at = next) {
            if (note.n_type == NOTE_CHECKED && note.n_namesz == sizeof owner &&
                memcmp((const char *)data->d_buf + name_at, owner, sizeof owner) == 0) {
                return true;
            }
        }
    }
    return false;
}

static int read_elf(Elf *elf, struct image *image, int fd, const char *path,
                    struct message *message)
{
    GElf_Phdr segments[SEGMENTS_MAX];
    GElf_Ehdr header;
    struct stat status;
    unsigned count = 0;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return message_set(message, "%.300s is not a file", path);
    }
    if (!elf || elf_kind(elf) != ELF_K_ELF) {
        return message_set(message, "%.300s is not an ELF program%s: compile it with ecube-cc",
                           path, status.st_size == 0 ? " (it is empty)" : "");
    }
    if (!gelf_getehdr(elf, &header)) {
        return message_set(message, "%.300s is truncated: its ELF header is incomplete", path);
    }
    if (check_header(&header, path, message) != 0 ||
        read_segments(elf, image, segments, &count, (uint64_t)status.st_size, path, message) != 0) {
        return -1;
    }
    image->checked = has_note(elf);
    return fill(elf, image, segments, count, fd, path, message);
}

int image_read(struct image *image, const char *path, struct message *message)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf;
    int result;

    *image = (struct image){0};
    if (fd < 0) {
        return message_set(message, "cannot read the program %.300s: %s", path, strerror(errno));
    }
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    result = read_elf(elf, image, fd, path, message);
    elf_end(elf);
    close(fd);
    if (result != 0) {
        image_free(image);
    }
    return result;
}

void image_free(struct image *image)
{
    free(image->data);
    image->data = NULL;
}
