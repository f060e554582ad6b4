#include "host/program/elf_file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "include/ecube/gate.h"
#include "include/ecube/version.h"

static int check_kind(struct elf_file *file, const char *maker, struct message *message)
{
    if (fstat(file->fd, &file->status) != 0 || !S_ISREG(file->status.st_mode)) {
        return message_set(message, "%.300s is not a file", file->path);
    }
    elf_version(EV_CURRENT);
    file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF) {
        return message_set(message, "%.300s is not an ELF program%s: compile it with %s",
                           file->path, file->status.st_size == 0 ? " (it is empty)" : "", maker);
    }
    if (!gelf_getehdr(file->elf, &file->header)) {
        return message_set(message, "%.300s is truncated: its ELF header is incomplete",
                           file->path);
    }
    return 0;
}

int elf_file_open(struct elf_file *file, const char *path, const char *maker,
                  struct message *message)
{
    *file = (struct elf_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file->fd < 0) {
        return message_set(message, "cannot read the program %.300s: %s", path, strerror(errno));
    }
    if (check_kind(file, maker, message) != 0) {
        elf_file_close(file);
        return -1;
    }
    return 0;
}

void elf_file_close(struct elf_file *file)
{
    elf_end(file->elf);
    file->elf = NULL;
    if (file->fd >= 0) {
        close(file->fd);
        file->fd = -1;
    }
}

/* The first note of ours of this type: its text, and how long that is; NULL: none. */
static const void *find_note(const struct elf_file *file, uint32_t type, size_t *bytes)
{
    static const char owner[] = "ecube";
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Nhdr note;

    while ((section = elf_nextscn(file->elf, section)) != NULL) {
        Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE
                             ? elf_getdata(section, NULL)
                             : NULL;
        size_t at = 0, next, name_at, text_at;
        for (; data && (next = gelf_getnote(data, at, &note, &name_at, &text_at)) > 0; at = next) {
            if (note.n_type == type && note.n_namesz == sizeof owner &&
                memcmp((const char *)data->d_buf + name_at, owner, sizeof owner) == 0) {
                *bytes = note.n_descsz;
                return (const char *)data->d_buf + text_at;
            }
        }
    }
    return NULL;
}

bool elf_file_has_note(const struct elf_file *file, uint32_t type)
{
    size_t bytes;

    return find_note(file, type, &bytes) != NULL;
}

int elf_file_check_version(const struct elf_file *file, const char *maker, struct message *message)
{
    size_t bytes;
    uint32_t version = 0;
    const void *text = find_note(file, NOTE_VERSION, &bytes);

    if (!text) {
        return 0;
    }
    if (bytes >= sizeof version) {
        memcpy(&version, text, sizeof version);
        version = le32toh(version);
    }
    return version == ECUBE_ABI_VERSION
               ? 0
               : message_set(message,
                             "%.300s was made by another version of %s (its interface is %u, this "
                             "one's %u): compile and link it again",
                             file->path, maker, version, ECUBE_ABI_VERSION);
}

int elf_file_find_segments(const struct elf_file *file, uint32_t type,
                           struct elf_segments *segments, struct message *message)
{
    size_t total;

    segments->count = 0;
    if (elf_getphdrnum(file->elf, &total) != 0) {
        return message_set(message, "%.300s is truncated or damaged: %s", file->path,
                           elf_errmsg(-1));
    }
    for (size_t i = 0; i < total; i++) {
        GElf_Phdr segment;

        if (!gelf_getphdr(file->elf, (int)i, &segment)) {
            return message_set(message, "%.300s is truncated: its program headers are missing",
                               file->path);
        }
        if (segment.p_type != type || segment.p_memsz == 0) {
            continue;
        }
        if (segments->count == ELF_SEGMENTS_MAX) {
            return message_set(message, "%.300s has more than %d loadable segments", file->path,
                               ELF_SEGMENTS_MAX);
        }
        segments->list[segments->count++] = segment;
    }
    return 0;
}

int elf_file_check_segment(const struct elf_file *file, const GElf_Phdr *segment,
                           struct message *message)
{
    uint64_t bytes = (uint64_t)file->status.st_size;

    return segment->p_offset <= bytes && segment->p_filesz <= bytes - segment->p_offset &&
                   segment->p_filesz <= segment->p_memsz
               ? 0
               : message_set(
                     message,
                     "%.300s is truncated: a segment of %llu bytes reaches past the end of the "
                     "file",
                     file->path, (unsigned long long)segment->p_filesz);
}

int elf_file_read(const struct elf_file *file, uint64_t at, void *bytes, uint64_t count,
                  struct message *message)
{
    return pread(file->fd, bytes, count, (off_t)at) == (ssize_t)count
               ? 0
               : message_set(message, "cannot read %.300s: it is truncated", file->path);
}

bool elf_file_is_native(const struct elf_file *file)
{
    return file->header.e_machine == EM_X86_64 && file->header.e_type == ET_DYN &&
           elf_file_has_note(file, ECUBE_NOTE_NATIVE);
}

/* Of a table of symbols: true when it has the name. */
static bool find_in(const struct elf_file *file, Elf_Scn *section, const GElf_Shdr *header,
                    const char *name, uint64_t *value)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;

    for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
        const char *its = symbol.st_shndx != SHN_UNDEF
                              ? elf_strptr(file->elf, header->sh_link, symbol.st_name)
                              : NULL;
        if (its && strcmp(its, name) == 0) {
            *value = symbol.st_value;
            return true;
        }
    }
    return false;
}

bool elf_file_find_symbol(const struct elf_file *file, const char *name, uint64_t *value)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(file->elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
            find_in(file, section, &header, name, value)) {
            return true;
        }
    }
    return false;
}
