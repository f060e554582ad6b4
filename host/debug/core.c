/*
 * core.c - ecube core: what a node is at this moment, as an ELF core that GDB opens.
 *
 * Everything that the node maps and that is memory is there, by the addresses that its kernel and
 * program use; pages of zeros take no room on the disk.
 *
 * Source   ELF gABI, chapter 5 (program header, notes)
 */
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/armv7a/host/core_notes.h"
#include "arch/armv7a/host/page_table.h"
#include "drivers/check.h"
#include "host/machine/client.h"
#include "host/command/options.h"
#include "host/debug/rsp_client.h"
#include "host/machine/rundir.h"
#include "host/console/sink.h"
#include "host/computer/target.h"
#include "host/console/terminal.h"
#include "host/command/verbs.h"
#include "wire/bytes.h"

enum {
    NOTE_ALIGN = 4,
    NOTES_MAX = CORE_DESCRIPTION_MAX + 512,
    PAGE_BYTES = 4096,
    PIECE_BYTES = 1 << 16,
    PROGRESS_US = 1000 * 1000,
    NAME_ROOM = 24
};

struct core {
    struct name_arguments name_arguments;
    const char *word, *path;
    char default_path[NAME_ROOM];

    json_t *machine;
    int failure; /* the exit status if anything fails */
    uint32_t node;
    struct rsp_client client;
    struct page_map map;
    uint8_t notes[NOTES_MAX];
    uint32_t notes_bytes;
    char *temporary;
    int fd;
    uint64_t total_bytes, done_bytes, told_us;
    bool line_open; /* of progress, on the terminal */
};

static const struct option_row option_rows[] = {
    {"output", "FILE", "the file to write (default core.NODE)", option_text,
     OPTION_AT(struct core, path), .letter = 'o'},
    {.more = options_name, OPTION_AT(struct core, name_arguments), .group = 1},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .words = "NODE",
    .text = "Writes an ELF core of a node of a machine that is up: registers, and all memory that "
            "its kernel and program use. The node is halted meanwhile, then it goes on; one that "
            "was halted stays so."
            "\vGDB opens it: gdb-multiarch KERNEL core.5, or with the program's ELF file first and "
            "'add-symbol-file KERNEL' for the kernel; KERNEL is build/BOARD/kernel.elf.\n\n"
            "Example: ecube core 5 -o core.5",
    .take_word = word_only,
    .words_at = offsetof(struct core, word),
    .missing = "name the node, as in 'ecube core 3'",
};

static int read_word(struct core *core, const char *name, uint32_t *word, struct message *message)
{
    uint8_t bytes[8] = {0};

    if (rsp_client_register(&core->client, name, bytes, sizeof bytes, message) < 0) {
        return -1;
    }
    *word = get32(bytes);
    return 0;
}

static uint8_t *add_note(struct core *core, const char *name, uint32_t type, uint32_t bytes)
{
    uint8_t *note = core->notes + core->notes_bytes;
    uint32_t name_bytes = (uint32_t)strlen(name) + 1;
    uint32_t name_room = (name_bytes + NOTE_ALIGN - 1) / NOTE_ALIGN * NOTE_ALIGN;

    put32(note, name_bytes);
    put32(note + 4, bytes);
    put32(note + 8, type);
    memcpy(note + 12, name, name_bytes);
    core->notes_bytes += 12 + name_room + (bytes + NOTE_ALIGN - 1) / NOTE_ALIGN * NOTE_ALIGN;
    CHECK(core->notes_bytes <= NOTES_MAX);
    return note + 12 + name_room;
}

static int read_note(struct core *core, enum core_note_kind kind, struct message *message)
{
    const struct core_note *note = &core_notes[kind];
    uint8_t *bytes = add_note(core, note->name, note->type, note->bytes);
    struct core_register from;

    for (unsigned i = 0; core_note_register(kind, i, &from); i++) {
        if (rsp_client_register(&core->client, from.name, bytes + from.at, from.bytes, message) <
            0) {
            return -1;
        }
    }
    if (kind == CORE_STATUS) {
        put32(bytes + CORE_STATUS_THREAD, core->node + 1);
    }
    return 0;
}

static int make_notes(struct core *core, struct message *message)
{
    char text[CORE_DESCRIPTION_MAX];
    uint32_t bytes = core_description(text);

    for (unsigned kind = 0; kind < CORE_NOTES; kind++) {
        if (read_note(core, kind, message) != 0) {
            return -1;
        }
    }
    memcpy(add_note(core, "GDB", CORE_NOTE_DESCRIPTION, bytes), text, bytes);
    return 0;
}

static bool read_physical(void *context, uint32_t address, void *bytes, uint32_t count)
{
    struct core *core = context;
    struct message message;

    return rsp_client_memory(&core->client, address, bytes, count, &message) == 0;
}

static int find_memory(struct core *core, struct message *message)
{
    struct page_source source = {.context = core,
                                 .read = read_physical,
                                 .ram_base = target_board()->ram_base,
                                 .ram_bytes = target_board()->ram_bytes};
    uint32_t control[PAGE_CONTROLS];

    for (unsigned i = 0; i < PAGE_CONTROLS; i++) {
        if (read_word(core, page_control_names[i], &control[i], message) != 0) {
            return -1;
        }
    }
    if (page_table_walk(&core->map, control, &source) != 0) {
        return message_set(message, "the page tables of node %u cannot be read",
                           (unsigned)core->node);
    }
    for (unsigned i = 0; i < core->map.count; i++) {
        core->total_bytes += core->map.ranges[i].bytes;
    }
    return 0;
}

static int cannot_write(const struct core *core, int error, struct message *message)
{
    return message_set(message, "cannot write %.300s: %s", core->path, strerror(error));
}

static int open_file(struct core *core, struct message *message)
{
    struct stat status;

    if (stat(core->path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return message_set(message, "cannot write %.300s: it is not a file", core->path);
    }
    if (asprintf(&core->temporary, "%s.XXXXXX", core->path) < 0) {
        core->temporary = NULL;
        return cannot_write(core, ENOMEM, message);
    }
    core->fd = mkostemp(core->temporary, O_CLOEXEC);
    if (core->fd < 0) {
        int error = errno;

        free(core->temporary);
        core->temporary = NULL;
        return cannot_write(core, error, message);
    }
    return 0;
}

static void fill_header(Elf32_Ehdr *header)
{
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_type = ET_CORE;
    header->e_machine = CORE_MACHINE;
    header->e_version = EV_CURRENT;
    header->e_flags = CORE_FLAGS;
    header->e_phoff = sizeof *header;
}

/* One segment of notes, then one for each range, whose bytes begin on a page of the file. */
static void fill_segments(const struct core *core, Elf32_Phdr *segments)
{
    uint32_t at = (uint32_t)(sizeof(Elf32_Ehdr) + (core->map.count + 1) * sizeof *segments);

    segments[0] = (Elf32_Phdr){
        .p_type = PT_NOTE, .p_offset = at, .p_filesz = core->notes_bytes, .p_align = NOTE_ALIGN};
    at = (at + core->notes_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    for (unsigned i = 0; i < core->map.count; i++) {
        const struct page_range *range = &core->map.ranges[i];

        segments[i + 1] = (Elf32_Phdr){.p_type = PT_LOAD,
                                       .p_offset = at,
                                       .p_vaddr = range->address,
                                       .p_paddr = range->physical,
                                       .p_filesz = range->bytes,
                                       .p_memsz = range->bytes,
                                       .p_flags = PF_R | (range->write ? PF_W : 0u) |
                                                  (range->execute ? PF_X : 0u),
                                       .p_align = PAGE_BYTES};
        at += range->bytes;
    }
}

/* Writes the headers; *segments are a copy that the caller frees. */
static int write_headers(const struct core *core, Elf32_Phdr **segments, struct message *message)
{
    size_t count = core->map.count + 1;
    Elf *elf;
    Elf32_Ehdr *header;
    Elf32_Phdr *own;
    int status = -1;

    elf_version(EV_CURRENT);
    *segments = calloc(count, sizeof **segments);
    elf = elf_begin(core->fd, ELF_C_WRITE, NULL);
    header = elf ? elf32_newehdr(elf) : NULL;
    own = header ? elf32_newphdr(elf, count) : NULL;
    if (own && *segments) {
        fill_header(header);
        fill_segments(core, *segments);
        memcpy(own, *segments, count * sizeof *own);
        elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
        elf_flagphdr(elf, ELF_C_SET, ELF_F_DIRTY);
        status = elf_update(elf, ELF_C_WRITE) < 0 ? -1 : 0;
    }
    if (status != 0) {
        message_set(message, "cannot write %.300s: %s", core->path, elf_errmsg(-1));
    }
    elf_end(elf);
    return status;
}

static bool is_zero(const uint8_t *bytes, uint32_t count)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

static void show_progress(struct core *core)
{
    uint64_t now_us = sink_now_us();

    if (core->told_us == 0) {
        core->told_us = now_us;
    } else if (now_us - core->told_us >= PROGRESS_US) {
        core->told_us = now_us;
        if (terminal_redraws(STDERR_FILENO)) {
            char line[TERMINAL_LINE_MAX];

            terminal_progress(line, STDERR_FILENO, "core", core->done_bytes >> 10,
                              core->total_bytes >> 10, "KiB");
            terminal_put(STDERR_FILENO, line, strlen(line));
            core->line_open = true;
        } else {
            fprintf(stderr, "ecube: core: %llu of %llu KiB\n",
                    (unsigned long long)(core->done_bytes >> 10),
                    (unsigned long long)(core->total_bytes >> 10));
        }
    }
}

static void clear_progress(struct core *core)
{
    if (core->line_open) {
        terminal_put(STDERR_FILENO, terminal_clear, strlen(terminal_clear));
        core->line_open = false;
    }
}

static int write_range(struct core *core, const Elf32_Phdr *segment, struct message *message)
{
    static uint8_t bytes[PIECE_BYTES];

    for (uint32_t at = 0; at < segment->p_filesz; at += PIECE_BYTES) {
        uint32_t left = segment->p_filesz - at, count = left < PIECE_BYTES ? left : PIECE_BYTES;

        if (rsp_client_memory(&core->client, segment->p_paddr + at, bytes, count, message) != 0) {
            return -1;
        }
        for (uint32_t page = 0; page < count; page += PAGE_BYTES) {
            off_t to = (off_t)segment->p_offset + at + page;

            if (!is_zero(bytes + page, PAGE_BYTES) &&
                pwrite(core->fd, bytes + page, PAGE_BYTES, to) != PAGE_BYTES) {
                return cannot_write(core, errno ? errno : ENOSPC, message);
            }
        }
        core->done_bytes += count;
        show_progress(core);
    }
    return 0;
}

static int write_core(struct core *core, struct message *message)
{
    Elf32_Phdr *segments;
    unsigned count = core->map.count;
    int status = write_headers(core, &segments, message);

    errno = 0;
    if (status == 0 && pwrite(core->fd, core->notes, core->notes_bytes, segments[0].p_offset) !=
                           (ssize_t)core->notes_bytes) {
        status = cannot_write(core, errno ? errno : ENOSPC, message);
    }
    for (unsigned i = 1; i <= count && status == 0; i++) {
        status = write_range(core, &segments[i], message);
    }
    if (status == 0 && count > 0 &&
        ftruncate(core->fd, (off_t)segments[count].p_offset + segments[count].p_filesz) != 0) {
        status = cannot_write(core, errno, message);
    }
    free(segments);
    return status;
}

/* Gives the file its name, or takes it away. */
static int end_file(struct core *core, int status, struct message *message)
{
    mode_t mask = umask(0);

    umask(mask);
    if (status == 0 &&
        (fchmod(core->fd, 0666 & ~mask) != 0 || rename(core->temporary, core->path) != 0)) {
        status = cannot_write(core, errno, message);
    }
    if (status != 0) {
        unlink(core->temporary);
    }
    close(core->fd);
    free(core->temporary);
    return status;
}

static bool was_halted(const struct core *core)
{
    const json_t *node = json_array_get(json_object_get(core->machine, "debuggers"), core->node);
    const char *state = json_string_value(json_object_get(node, "state"));

    return state && strcmp(state, "running") != 0;
}

static int take_core(struct core *core, struct message *message)
{
    char path[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX];
    int status;

    if (open_file(core, message) != 0) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/n%u.gdb",
             json_string_value(json_object_get(core->machine, "directory")), (unsigned)core->node);
    status = rsp_client_open(&core->client, path, message);
    if (status == 0) {
        if (make_notes(core, message) != 0 || find_memory(core, message) != 0 ||
            write_core(core, message) != 0) {
            status = -1;
        }
        clear_progress(core);
        rsp_client_leave(&core->client, !was_halted(core));
    }
    return end_file(core, status, message);
}

static int find_node(struct core *core, struct message *message)
{
    struct network network;

    core->machine = client_info(core->name_arguments.name, &core->failure, message);
    if (!core->machine ||
        !network_parse(&network, json_string_value(json_object_get(core->machine, "network")),
                       &machine_limits, message->text) ||
        !network_parse_node(&network, core->word, &core->node, message->text)) {
        return -1;
    }
    snprintf(core->default_path, sizeof core->default_path, "core.%u", (unsigned)core->node);
    core->path = core->path ? core->path : core->default_path;
    return client_check_free(core->machine, (int)core->node, message);
}

int verb_core(int argc, char **argv)
{
    static struct core core;
    struct message message;
    int status = 0;

    command_line_parse(&command_line, argc, argv, &core);
    if (find_node(&core, &message) != 0 || take_core(&core, &message) != 0) {
        message_print(&message);
        status = core.failure;
    } else {
        printf("%s: node %u, %llu KiB of memory\n", core.path, (unsigned)core.node,
               (unsigned long long)(core.total_bytes >> 10));
    }
    json_decref(core.machine);
    return status;
}
