/*
 * native_file.c - reads the shared object that ecube-cc --native links.
 *
 * It is not given to the system's loader, so nothing of it is taken as right: each number is held
 * against the file and the board's memory before it is used.
 */
#include "host/sim/native_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/computer/target.h"
#include "host/program/elf_file.h"
#include "include/ecube/gate.h"
#include "wire/finding.h"
#include "wire/run.h"

enum { PAGE = PROTECTED_PAGE_BYTES, WORD_BYTES = 8, CODE = 0, DATA = 1 };

/* What the dynamic section says of a table of relocations. */
struct table {
    uint64_t address, bytes;
};

/* A file that is being read. */
struct reading {
    struct elf_file elf;
    struct native_file *to;
    GElf_Phdr segments[NATIVE_SEGMENTS];
};

static uint64_t page_end(uint64_t address)
{
    return (address + PAGE - 1) / PAGE * PAGE;
}

static int reject(const struct elf_file *elf, const char *why, struct message *message)
{
    return message_set(message, "%.300s %s: link it with ecube-cc --native", elf->path, why);
}

static int check_header(const struct elf_file *elf, struct message *message)
{
    const GElf_Ehdr *header = &elf->header;

    if (header->e_machine == EM_ARM) {
        return message_set(message,
                           "%.300s is for the nodes of 'ecube run': compile it with ecube-cc "
                           "--native for 'ecube sim'",
                           elf->path);
    }
    if (header->e_machine != EM_X86_64 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB) {
        return message_set(message,
                           "%.300s is a program for another machine (ELF machine %u, x86-64 is "
                           "%u): compile it with ecube-cc --native",
                           elf->path, header->e_machine, EM_X86_64);
    }
    if (header->e_type != ET_DYN) {
        return reject(elf, "is not a linked program for 'ecube sim'", message);
    }
    if (header->e_shoff > (uint64_t)elf->status.st_size) { /* its notes stand there */
        return message_set(message, "%.300s is truncated: its section headers are missing",
                           elf->path);
    }
    return elf_file_has_note(elf, ECUBE_NOTE_NATIVE)
               ? elf_file_check_version(elf, "ecube-cc --native", message)
               : message_set(message, "%.300s was not compiled and linked by ecube-cc --native",
                             elf->path);
}

/* Segments ----------------------------------------------------------------------------------- */

static int check_segment(const struct elf_file *elf, const GElf_Phdr *segment, unsigned which,
                         struct message *message)
{
    const struct board *board = target_board();
    uint32_t rights = which == CODE ? PF_R | PF_X : PF_R | PF_W;

    if (elf_file_check_segment(elf, segment, message) != 0) {
        return -1;
    }
    if ((segment->p_flags & (PF_R | PF_W | PF_X)) != rights || segment->p_vaddr % PAGE != 0 ||
        segment->p_offset % PAGE != 0 || segment->p_offset > UINT32_MAX ||
        (which == CODE && segment->p_filesz != segment->p_memsz)) {
        return reject(elf, "has other segments than code and data, each on pages", message);
    }
    if (segment->p_vaddr < board->image_base || segment->p_vaddr >= board->image_end ||
        segment->p_memsz > board->image_end - segment->p_vaddr) {
        return message_set(message,
                           "%.300s is too large: a segment of %" PRIu64 " bytes at 0x%08" PRIx64
                           ", the memory of programs ends at 0x%08x",
                           elf->path, segment->p_memsz, segment->p_vaddr, board->image_end);
    }
    return 0;
}

static int take_segments(struct reading *reading, struct message *message)
{
    const struct elf_file *elf = &reading->elf;
    uint32_t base = target_board()->image_base;
    struct elf_segments found;

    if (elf_file_find_segments(elf, PT_LOAD, &found, message) != 0) {
        return -1;
    }
    if (found.count == 0 || found.count > NATIVE_SEGMENTS) {
        return reject(elf, "has other segments than code and data, each on pages", message);
    }
    if (found.list[CODE].p_vaddr != base) {
        return message_set(message,
                           "%.300s is linked to 0x%08" PRIx64 ", programs of this board to 0x%08x: "
                           "link it again with ecube-cc --native",
                           elf->path, found.list[CODE].p_vaddr, base);
    }
    if (found.count == 1) { /* no data at all: an empty segment behind the code */
        found.list[DATA] =
            (GElf_Phdr){.p_flags = PF_R | PF_W,
                        .p_vaddr = page_end(found.list[CODE].p_vaddr + found.list[CODE].p_memsz)};
    }
    for (unsigned i = 0; i < found.count; i++) {
        if (check_segment(elf, &found.list[i], i, message) != 0) {
            return -1;
        }
    }
    if (found.list[DATA].p_vaddr < page_end(base + found.list[CODE].p_memsz)) {
        return reject(elf, "has data in the pages of its code", message);
    }
    memcpy(reading->segments, found.list, sizeof reading->segments);
    return 0;
}

/* Where code ends the linker script says, if the file has its symbols. */
static uint32_t code_end(const struct elf_file *elf, uint32_t base, uint32_t constants_end)
{
    uint64_t end;

    return elf_file_find_symbol(elf, "program_code_end", &end) && end > base && end < constants_end
               ? (uint32_t)page_end(end)
               : constants_end;
}

static int fill_image(struct reading *reading, struct message *message)
{
    const GElf_Phdr *code = &reading->segments[CODE], *data = &reading->segments[DATA];
    const struct elf_file *elf = &reading->elf;
    struct image *image = &reading->to->image;
    uint64_t end = data->p_filesz ? data->p_vaddr + data->p_filesz : code->p_vaddr + code->p_memsz;

    image->processor = &processor_x86_64;
    image->base = (uint32_t)code->p_vaddr;
    image->bytes = (uint32_t)(end - code->p_vaddr);
    image->bss_end = (uint32_t)(data->p_vaddr + data->p_memsz);
    image->constants_end = (uint32_t)page_end(code->p_vaddr + code->p_memsz);
    image->code_end = code_end(elf, image->base, image->constants_end);
    image->checked = elf_file_has_note(elf, NOTE_CHECKED);
    image->data = calloc(1, image->bytes);
    if (!image->data) {
        return message_set(message, "out of memory");
    }
    if (elf_file_read(elf, code->p_offset, image->data, code->p_filesz, message) != 0 ||
        (data->p_filesz &&
         elf_file_read(elf, data->p_offset, image->data + (data->p_vaddr - code->p_vaddr),
                       data->p_filesz, message) != 0)) {
        return -1;
    }
    if (elf->header.e_entry < image->base || elf->header.e_entry >= image->code_end ||
        elf->header.e_entry >= code->p_vaddr + code->p_memsz) {
        return message_set(message, "%.300s starts at 0x%08" PRIx64 ", which is not in its code",
                           elf->path, (uint64_t)elf->header.e_entry);
    }
    image->entry = (uint32_t)elf->header.e_entry;
    return 0;
}

static void fill_segments(struct reading *reading)
{
    struct native_program *program = &reading->to->program;
    const struct board *board = target_board();

    for (unsigned i = 0; i < NATIVE_SEGMENTS; i++) {
        const GElf_Phdr *segment = &reading->segments[i];

        program->segments[i] =
            (struct native_segment){.address = (uint32_t)segment->p_vaddr,
                                    .bytes = (uint32_t)page_end(segment->p_filesz),
                                    .file_at = (uint32_t)segment->p_offset,
                                    .writes = i == DATA};
    }
    program->file_end =
        (uint32_t)(reading->segments[DATA].p_vaddr + reading->segments[DATA].p_filesz);
    program->stack_base = board->stack_base;
    program->stack_top = board->stack_top;
    program->image_base = board->image_base;
    program->end = board->image_end;
}

/* Relocations -------------------------------------------------------------------------------- */

static const char *type_name(uint32_t type, char text[24])
{
    static const char *const names[] = {[R_X86_64_64] = "R_X86_64_64",
                                        [R_X86_64_PC32] = "R_X86_64_PC32",
                                        [R_X86_64_COPY] = "R_X86_64_COPY",
                                        [R_X86_64_GLOB_DAT] = "R_X86_64_GLOB_DAT",
                                        [R_X86_64_JUMP_SLOT] = "R_X86_64_JUMP_SLOT",
                                        [R_X86_64_DTPMOD64] = "R_X86_64_DTPMOD64",
                                        [R_X86_64_DTPOFF64] = "R_X86_64_DTPOFF64",
                                        [R_X86_64_TPOFF64] = "R_X86_64_TPOFF64",
                                        [R_X86_64_TLSDESC] = "R_X86_64_TLSDESC",
                                        [R_X86_64_IRELATIVE] = "R_X86_64_IRELATIVE"};

    if (type < sizeof names / sizeof names[0] && names[type]) {
        return names[type];
    }
    snprintf(text, 24, "number %" PRIu32, type);
    return text;
}

/* The symbol of a relocation; "": it has none. */
static const char *symbol_name(const struct elf_file *elf, uint32_t index)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Sym symbol;

    while (index && (section = elf_nextscn(elf->elf, section)) != NULL) {
        Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM
                             ? elf_getdata(section, NULL)
                             : NULL;
        if (data && index < INT32_MAX && gelf_getsym(data, (int)index, &symbol)) {
            const char *name = elf_strptr(elf->elf, header.sh_link, symbol.st_name);
            return name ? name : "";
        }
    }
    return "";
}

static int reject_relocation(const struct elf_file *elf, const Elf64_Rela *relocation,
                             struct message *message)
{
    const char *symbol = symbol_name(elf, (uint32_t)ELF64_R_SYM(relocation->r_info));
    char number[24];

    return message_set(message,
                       "%.300s has a relocation %s%s%.60s at 0x%08" PRIx64
                       " that is not bound: link it with ecube-cc --native",
                       elf->path, type_name((uint32_t)ELF64_R_TYPE(relocation->r_info), number),
                       symbol[0] ? " of " : "", symbol, (uint64_t)relocation->r_offset);
}

static int take_relocation(struct reading *reading, const Elf64_Rela *relocation,
                           struct message *message)
{
    struct native_program *program = &reading->to->program;
    uint64_t start = program->segments[DATA].address, at = relocation->r_offset;
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    bool pointer = type == R_X86_64_RELATIVE;

    if (type == R_X86_64_NONE) {
        return 0;
    }
    if (!pointer && (type != R_X86_64_DTPMOD64 || ELF64_R_SYM(relocation->r_info) != 0)) {
        return reject_relocation(&reading->elf, relocation, message);
    }
    if (at < start || at > program->file_end || program->file_end - at < WORD_BYTES) {
        return message_set(message,
                           "%.300s has a relocation at 0x%08" PRIx64 ", outside its data: link it "
                           "with ecube-cc --native",
                           reading->elf.path, at);
    }
    if (pointer && (uint64_t)relocation->r_addend > UINT32_MAX) {
        return message_set(message,
                           "%.300s has a pointer at 0x%08" PRIx64 " to 0x%" PRIx64
                           ", outside a node's memory: link it again with ecube-cc --native",
                           reading->elf.path, at, (uint64_t)relocation->r_addend);
    }
    reading->to->relocations[program->relocation_count++] =
        (struct native_relocation){.address = (uint32_t)at,
                                   .pointer = pointer,
                                   .value = pointer ? (uint64_t)relocation->r_addend : 1};
    return 0;
}

/* All tables together have been counted: there is room. */
static int take_table(struct reading *reading, const struct table *table, struct message *message)
{
    const struct image *image = &reading->to->image;
    Elf64_Rela relocation;

    for (uint64_t at = 0; at < table->bytes; at += sizeof relocation) {
        memcpy(&relocation, image->data + (table->address - image->base) + at, sizeof relocation);
        if (take_relocation(reading, &relocation, message) != 0) {
            return -1;
        }
    }
    return 0;
}

/* What the dynamic section says, as far as it concerns a program that has no loader. */
struct dynamic {
    struct table bound, late; /* DT_RELA, DT_JMPREL */
    bool foreign;             /* it needs a library, or has relocations of other forms */
};

static void take_entry(struct dynamic *dynamic, const Elf64_Dyn *entry)
{
    uint64_t value = entry->d_un.d_val;

    switch (entry->d_tag) {
    case DT_RELA: dynamic->bound.address = value; break;
    case DT_RELASZ: dynamic->bound.bytes = value; break;
    case DT_JMPREL: dynamic->late.address = value; break;
    case DT_PLTRELSZ: dynamic->late.bytes = value; break;
    case DT_RELAENT: dynamic->foreign |= value != sizeof(Elf64_Rela); break;
    case DT_PLTREL: dynamic->foreign |= value != DT_RELA; break;
    case DT_NEEDED:
    case DT_REL:
    case DT_RELR:
    case DT_TEXTREL: dynamic->foreign = true; break;
    default: break;
    }
}

static int read_dynamic(const struct elf_file *elf, struct dynamic *dynamic,
                        struct message *message)
{
    struct elf_segments found;
    Elf64_Dyn entry;

    *dynamic = (struct dynamic){.foreign = false};
    if (elf_file_find_segments(elf, PT_DYNAMIC, &found, message) != 0) {
        return -1;
    }
    for (unsigned i = 0; i < found.count; i++) {
        const GElf_Phdr *segment = &found.list[i];

        if (elf_file_check_segment(elf, segment, message) != 0) {
            return -1;
        }
        for (uint64_t at = 0; at + sizeof entry <= segment->p_filesz; at += sizeof entry) {
            if (elf_file_read(elf, segment->p_offset + at, &entry, sizeof entry, message) != 0) {
                return -1;
            }
            if (entry.d_tag == DT_NULL) {
                break;
            }
            take_entry(dynamic, &entry);
        }
    }
    return 0;
}

static bool is_inside(const struct image *image, const struct table *table)
{
    return table->bytes == 0 ||
           (table->address >= image->base && table->address - image->base <= image->bytes &&
            table->bytes <= image->bytes - (table->address - image->base) &&
            table->bytes % sizeof(Elf64_Rela) == 0);
}

static int read_relocations(struct reading *reading, struct message *message)
{
    const struct elf_file *elf = &reading->elf;
    const struct image *image = &reading->to->image;
    struct dynamic dynamic;

    if (read_dynamic(elf, &dynamic, message) != 0) {
        return -1;
    }
    if (dynamic.foreign) {
        return reject(elf, "needs a library, or a loader that it does not get", message);
    }
    if (!is_inside(image, &dynamic.bound) || !is_inside(image, &dynamic.late)) {
        return message_set(message, "%.300s is damaged: its relocations are not in its image",
                           elf->path);
    }
    uint64_t count = (dynamic.bound.bytes + dynamic.late.bytes) / sizeof(Elf64_Rela);
    reading->to->relocations = calloc(count + 1, sizeof *reading->to->relocations);
    if (!reading->to->relocations) {
        return message_set(message, "out of memory");
    }
    reading->to->program.relocations = reading->to->relocations;
    return take_table(reading, &dynamic.bound, message) != 0 ||
                   take_table(reading, &dynamic.late, message) != 0
               ? -1
               : 0;
}

/* All of it ---------------------------------------------------------------------------------- */

static int read_all(struct reading *reading, struct message *message)
{
    if (check_header(&reading->elf, message) != 0 || take_segments(reading, message) != 0 ||
        fill_image(reading, message) != 0) {
        return -1;
    }
    fill_segments(reading);
    return read_relocations(reading, message);
}

int native_file_read(struct native_file *file, const char *path, struct message *message)
{
    struct reading reading = {.to = file};

    *file = (struct native_file){.path = path, .program = {.file = -1}};
    if (elf_file_open(&reading.elf, path, "ecube-cc --native", message) != 0) {
        return -1;
    }
    bool read = read_all(&reading, message) == 0;
    file->status = reading.elf.status;
    if (read) {
        file->program.file = reading.elf.fd;
        reading.elf.fd = -1;
        read = native_file_check(file, message) == 0;
    }
    elf_file_close(&reading.elf);
    if (!read) {
        native_file_free(file);
    }
    return read ? 0 : -1;
}

int native_file_check(const struct native_file *file, struct message *message)
{
    const struct stat *before = &file->status;
    struct stat now;

    return fstat(file->program.file, &now) == 0 && now.st_size == before->st_size &&
                   now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
                   now.st_mtim.tv_nsec == before->st_mtim.tv_nsec
               ? 0
               : message_set(message, "%.300s has changed while it was read: try again",
                             file->path);
}

void native_file_free(struct native_file *file)
{
    image_free(&file->image);
    free(file->relocations);
    file->relocations = NULL;
    if (file->program.file >= 0) {
        close(file->program.file);
        file->program.file = -1;
    }
}
