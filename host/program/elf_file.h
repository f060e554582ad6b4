/*
 * elf_file.h - the file of a program: opened, known to be ELF, and its notes.
 *
 * Every number in a file is data from outside. libelf is trusted to keep inside the file, and with
 * nothing else.
 *
 * Source   System V ABI, ELF
 */
#pragma once

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "host/console/message.h"

enum { ELF_SEGMENTS_MAX = 64 };

/* Type of the note, of the owner "ecube", with the version of the interface that a program was
 * linked for (include/ecube/version.h). */
enum { NOTE_VERSION = 3 };

struct elf_file {
    const char *path;
    int fd;
    Elf *elf;
    struct stat status; /* as it was opened */
    GElf_Ehdr header;
};

/* The segments of a type that have memory, in the order of the file. */
struct elf_segments {
    GElf_Phdr list[ELF_SEGMENTS_MAX];
    unsigned count;
};

/* Opens it; `maker` is the command that makes such programs. On failure nothing is held. */
int elf_file_open(struct elf_file *file, const char *path, const char *maker,
                  struct message *message);
void elf_file_close(struct elf_file *file);

/* Whether it has a note of ours, of this type. A stripped file still has its notes. */
bool elf_file_has_note(const struct elf_file *file, uint32_t type);

/* Whether the program is for this version of the interface; `maker` as above. One that says nothing
 * is not linked with our library, and may be. */
int elf_file_check_version(const struct elf_file *file, const char *maker, struct message *message);

/* Finds them; too many, or headers that are not in the file, are an error. */
int elf_file_find_segments(const struct elf_file *file, uint32_t type,
                           struct elf_segments *segments, struct message *message);

/* Whether all that a segment has in the file is there, and is not more than it has in memory. */
int elf_file_check_segment(const struct elf_file *file, const GElf_Phdr *segment,
                           struct message *message);

/* Reads bytes that are in the file, or says that it is truncated. */
int elf_file_read(const struct elf_file *file, uint64_t at, void *bytes, uint64_t count,
                  struct message *message);

/* Whether it is a program that ecube-cc --native has made for this computer. */
bool elf_file_is_native(const struct elf_file *file);

/* The value of a symbol; false: it has none, for it is stripped, or is not linked with ours. */
bool elf_file_find_symbol(const struct elf_file *file, const char *name, uint64_t *value);
