/*
 * native_file_test.c - programs for this computer: what is read of a file as the linker makes it,
 * and the one line that is said of every other.
 */
#include "tests/testing.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/computer/target.h"
#include "host/program/elf_file.h"
#include "host/sim/native_file.h"
#include "include/ecube/gate.h"
#include "include/ecube/version.h"
#include "wire/finding.h"
#include "wire/run.h"

enum {
    PAGE = PROTECTED_PAGE_BYTES,
    CODE_AT = PAGE,
    CODE_BYTES = PAGE + 100,
    DATA_AT = 3 * PAGE,    /* in the file, ... */
    DATA_START = 4 * PAGE, /* ... and behind the image's base */
    DATA_BYTES = 600,
    BSS_BYTES = 5000,
    RELOCATIONS_AT = DATA_AT,
    RELOCATIONS = 3,
    DYNAMIC_AT = DATA_AT + 200,
    WORDS_START = DATA_START + 400, /* that are relocated */
    SECTIONS_AT = 4 * PAGE,
    NOTES_AT = 5 * PAGE,
    FILE_BYTES = 6 * PAGE
};

struct notes {
    struct {
        Elf64_Nhdr header;
        char owner[8];
    } kind, version;
    uint32_t number; /* the text of the second */
};

/* A good file, whose parts a test may change before it is read. */
struct file {
    Elf64_Ehdr header;
    Elf64_Phdr code, data, dynamic;
    Elf64_Dyn entries[8];
    Elf64_Rela relocations[RELOCATIONS];
    uint32_t note, version;
    size_t bytes;
};

static struct file good(void)
{
    uint32_t base = target_board()->image_base;
    struct file file = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                               EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_entry = base + 16,
                   .e_phoff = sizeof(Elf64_Ehdr),
                   .e_shoff = SECTIONS_AT,
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 3,
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 2},
        .code = {.p_type = PT_LOAD,
                 .p_flags = PF_R | PF_X,
                 .p_offset = CODE_AT,
                 .p_vaddr = base,
                 .p_filesz = CODE_BYTES,
                 .p_memsz = CODE_BYTES},
        .data = {.p_type = PT_LOAD,
                 .p_flags = PF_R | PF_W,
                 .p_offset = DATA_AT,
                 .p_vaddr = base + DATA_START,
                 .p_filesz = DATA_BYTES,
                 .p_memsz = DATA_BYTES + BSS_BYTES},
        .dynamic = {.p_type = PT_DYNAMIC,
                    .p_flags = PF_R | PF_W,
                    .p_offset = DYNAMIC_AT,
                    .p_vaddr = base + DATA_START + DYNAMIC_AT - DATA_AT,
                    .p_filesz = 8 * sizeof(Elf64_Dyn),
                    .p_memsz = 8 * sizeof(Elf64_Dyn)},
        .entries = {{.d_tag = DT_RELA, .d_un = {base + DATA_START}},
                    {.d_tag = DT_RELASZ, .d_un = {RELOCATIONS * sizeof(Elf64_Rela)}},
                    {.d_tag = DT_RELAENT, .d_un = {sizeof(Elf64_Rela)}}},
        .relocations = {{base + WORDS_START, ELF64_R_INFO(0, R_X86_64_RELATIVE), base + 20},
                        {base + WORDS_START + 8, ELF64_R_INFO(0, R_X86_64_DTPMOD64), 0}},
        .note = ECUBE_NOTE_NATIVE,
        .version = ECUBE_ABI_VERSION,
        .bytes = FILE_BYTES};

    return file;
}

static int read_from(const struct file *file, struct native_file *native, struct message *message)
{
    static uint8_t bytes[FILE_BYTES];
    static char path[40];
    struct notes notes = {.kind = {{sizeof "ecube", 0, file->note}, "ecube"},
                          .version = {{sizeof "ecube", 4, NOTE_VERSION}, "ecube"},
                          .number = file->version};
    Elf64_Shdr sections[2] = {[1] = {.sh_type = SHT_NOTE,
                                     .sh_offset = NOTES_AT,
                                     .sh_size = sizeof notes,
                                     .sh_addralign = 4}};
    int fd = memfd_create("program", 0);

    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, &file->header, sizeof file->header);
    memcpy(bytes + sizeof file->header, &file->code, 3 * sizeof file->code);
    memset(bytes + CODE_AT, 'c', CODE_BYTES);
    memcpy(bytes + RELOCATIONS_AT, file->relocations, sizeof file->relocations);
    memcpy(bytes + DYNAMIC_AT, file->entries, sizeof file->entries);
    memcpy(bytes + SECTIONS_AT, sections, sizeof sections);
    memcpy(bytes + NOTES_AT, &notes, sizeof notes);
    assert_int_equal(write(fd, bytes, file->bytes), (ssize_t)file->bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    message->text[0] = '\0';
    int result = native_file_read(native, path, message);
    close(fd);
    return result;
}

/* That the file is refused, with these words. */
static void refuses(const struct file *file, const char *words)
{
    struct native_file native;
    struct message message;

    assert_int_equal(read_from(file, &native, &message), -1);
    if (!strstr(message.text, words)) {
        fail_msg("'%s' is not in '%s'", words, message.text);
    }
    assert_null(native.image.data);
    assert_null(native.relocations);
    assert_int_equal(native.program.file, -1);
}

TEST(code_data_and_the_words_to_relocate_are_read)
{
    uint32_t base = target_board()->image_base;
    struct file file = good();
    struct native_file native;
    struct message message;

    assert_int_equal(read_from(&file, &native, &message), 0);
    const struct image *image = &native.image;
    assert_int_equal(image->base, base);
    assert_int_equal(image->bytes, DATA_START + DATA_BYTES);
    assert_int_equal(image->bss_end, base + DATA_START + DATA_BYTES + BSS_BYTES);
    assert_int_equal(image->entry, base + 16);
    assert_int_equal(image->code_end, base + 2 * PAGE);
    assert_int_equal(image->constants_end, base + 2 * PAGE);
    assert_int_equal(image->data[CODE_BYTES - 1], 'c');
    assert_int_equal(image->data[CODE_BYTES], 0);
    assert_false(image->checked);

    const struct native_program *program = &native.program;
    assert_int_equal(program->segments[0].address, base);
    assert_int_equal(program->segments[0].bytes, 2 * PAGE);
    assert_int_equal(program->segments[0].file_at, CODE_AT);
    assert_false(program->segments[0].writes);
    assert_int_equal(program->segments[1].address, base + DATA_START);
    assert_int_equal(program->segments[1].bytes, PAGE);
    assert_int_equal(program->segments[1].file_at, DATA_AT);
    assert_true(program->segments[1].writes);
    assert_int_equal(program->file_end, base + DATA_START + DATA_BYTES);
    assert_int_equal(program->relocation_count, 2);
    assert_true(program->relocations[0].pointer);
    assert_int_equal(program->relocations[0].address, base + WORDS_START);
    assert_int_equal(program->relocations[0].value, base + 20);
    assert_false(program->relocations[1].pointer);
    assert_int_equal(program->relocations[1].value, 1);
    assert_int_equal(program->end, target_board()->image_end);
    native_file_free(&native);
}

TEST(a_file_of_another_kind_says_which_command_makes_the_right_one)
{
    struct file file = good();

    file.header.e_machine = EM_ARM;
    refuses(&file, "for the nodes of 'ecube run': compile it with ecube-cc --native");
    file.header.e_machine = EM_AARCH64;
    refuses(&file, "for another machine");
    file = good();
    file.header.e_type = ET_REL;
    refuses(&file, "not a linked program");
    file = good();
    file.note = NOTE_CHECKED;
    refuses(&file, "was not compiled and linked by ecube-cc --native");
    file = good();
    file.header.e_ident[0] = 0;
    refuses(&file, "not an ELF program");
    file = good();
    file.version--;
    refuses(&file, "was made by another version of ecube-cc --native");
}

TEST(every_file_that_ends_too_early_is_refused)
{
    for (size_t bytes = 0; bytes < DATA_AT + DATA_BYTES; bytes += 8) {
        struct native_file native;
        struct message message;
        struct file file = good();

        file.bytes = bytes;
        assert_int_equal(read_from(&file, &native, &message), -1);
        assert_true(message.text[0] != '\0');
    }
}

TEST(segments_lie_on_pages_within_the_boards_memory_and_are_code_and_data)
{
    uint64_t end = target_board()->image_end;
    struct file file = good();

    file.code.p_vaddr += PAGE;
    refuses(&file, "is linked to");
    file = good();
    file.code.p_flags |= PF_W;
    refuses(&file, "other segments");
    file = good();
    file.code.p_memsz += 1;
    refuses(&file, "other segments");
    file = good();
    file.data.p_vaddr += 8;
    refuses(&file, "other segments");
    file = good();
    file.data.p_offset += 8;
    refuses(&file, "other segments");
    file = good();
    file.data.p_vaddr = file.code.p_vaddr + PAGE;
    refuses(&file, "in the pages of its code");
    file = good();
    file.data.p_memsz = end - file.data.p_vaddr + 1;
    refuses(&file, "too large");
    file.data.p_memsz = UINT64_MAX;
    refuses(&file, "too large");
    file.data.p_vaddr = UINT64_MAX - PAGE + 1;
    refuses(&file, "too large");
    file = good();
    file.data.p_filesz = file.data.p_memsz + 1;
    refuses(&file, "truncated");
    file = good();
    file.data.p_offset = UINT64_MAX - PAGE + 1;
    refuses(&file, "truncated");
    file = good();
    file.dynamic.p_type = PT_LOAD;
    refuses(&file, "other segments");
}

TEST(what_is_not_bound_is_named)
{
    struct file file = good();

    file.relocations[1].r_info = ELF64_R_INFO(0, R_X86_64_JUMP_SLOT);
    refuses(&file, "R_X86_64_JUMP_SLOT");
    file.relocations[1].r_info = ELF64_R_INFO(0, 77);
    refuses(&file, "number 77");
    file.relocations[1].r_info = ELF64_R_INFO(1, R_X86_64_DTPMOD64);
    refuses(&file, "R_X86_64_DTPMOD64");
    file = good();
    file.entries[3] = (Elf64_Dyn){.d_tag = DT_NEEDED, .d_un = {1}};
    refuses(&file, "needs a library");
    file.entries[3] = (Elf64_Dyn){.d_tag = DT_TEXTREL};
    refuses(&file, "needs a library");
}

TEST(relocations_and_what_they_change_lie_in_the_data_of_the_file)
{
    struct file file = good();

    file.relocations[0].r_offset = file.code.p_vaddr;
    refuses(&file, "outside its data");
    file.relocations[0].r_offset = file.data.p_vaddr + DATA_BYTES - 7;
    refuses(&file, "outside its data");
    file.relocations[0].r_offset = UINT64_MAX - 3;
    refuses(&file, "outside its data");
    file = good();
    file.relocations[0].r_addend = INT64_C(1) << 32;
    refuses(&file, "outside a node's memory");
    file.relocations[0].r_addend = -1;
    refuses(&file, "outside a node's memory");
    file = good();
    file.entries[0].d_un.d_val -= DATA_START + sizeof(Elf64_Rela);
    refuses(&file, "damaged");
    file = good();
    file.entries[1].d_un.d_val = UINT64_MAX - 15;
    refuses(&file, "damaged");
    file.entries[1].d_un.d_val = sizeof(Elf64_Rela) + 1;
    refuses(&file, "damaged");
    file = good();
    file.entries[2].d_un.d_val = 16;
    refuses(&file, "needs a library");
}

TEST(a_file_that_changes_after_it_was_read_is_told)
{
    struct file file = good();
    struct native_file native;
    struct message message;
    char path[40];

    assert_int_equal(read_from(&file, &native, &message), 0);
    assert_int_equal(native_file_check(&native, &message), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", native.program.file);
    assert_int_equal(truncate(path, FILE_BYTES - PAGE), 0);
    assert_int_equal(native_file_check(&native, &message), -1);
    assert_non_null(strstr(message.text, "has changed while it was read"));
    native_file_free(&native);
}

TEST(the_entry_is_code)
{
    struct file file = good();

    file.header.e_entry = file.data.p_vaddr;
    refuses(&file, "not in its code");
    file.header.e_entry = 0;
    refuses(&file, "not in its code");
}
