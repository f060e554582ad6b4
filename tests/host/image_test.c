/*
 * image_test.c - where a program's code and constants end, as its file's segments say it.
 */
#include "tests/testing.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/program/image.h"
#include "host/computer/target.h"
#include "wire/run.h"

enum { PAGE = PROTECTED_PAGE_BYTES, SEGMENTS_MAX = 4, FILE_BYTES = 64 * 1024 };
enum { RX = PF_R | PF_X, R = PF_R, RW = PF_R | PF_W, RWX = PF_R | PF_W | PF_X };

/* A segment: where it begins and ends behind the image's base, what of it is in the file. */
struct segment {
    uint32_t start, end, file_bytes, flags;
};

static struct image read_as(const struct segment *segments, unsigned count, uint32_t entry,
                            struct message *message)
{
    static uint8_t file[FILE_BYTES];
    uint32_t base = target_board()->image_base;
    Elf32_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_ARM,
        .e_version = EV_CURRENT,
        .e_entry = base + entry,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf32_Phdr),
        .e_phnum = (uint16_t)count};
    int fd = memfd_create("program", 0);
    struct image image;
    char path[40];

    memcpy(file, &header, sizeof header);
    for (unsigned i = 0; i < count; i++) {
        const Elf32_Phdr segment = {.p_type = PT_LOAD,
                                    .p_offset = PAGE,
                                    .p_vaddr = base + segments[i].start,
                                    .p_paddr = base + segments[i].start,
                                    .p_filesz = segments[i].file_bytes,
                                    .p_memsz = segments[i].end - segments[i].start,
                                    .p_flags = segments[i].flags};
        memcpy(file + sizeof header + i * sizeof segment, &segment, sizeof segment);
    }
    assert_int_equal(write(fd, file, sizeof file), sizeof file);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    message->text[0] = '\0';
    image_read(&image, path, message);
    close(fd);
    return image;
}

/* Pages of code and of constants; of both none: nothing is protected. */
static void expect(const struct segment *segments, unsigned count, uint32_t code,
                   uint32_t constants)
{
    struct message message;
    struct image image = read_as(segments, count, 1, &message);
    uint32_t base = target_board()->image_base;

    assert_string_equal(message.text, "");
    assert_int_equal(image.code_end, base + code * PAGE);
    assert_int_equal(image.constants_end, base + (code + constants) * PAGE);
    assert_true(image.constants_end <= image.bss_end);
    image_free(&image);
}

TEST(code_constants_and_data_end_where_the_next_begins)
{
    const struct segment three[] = {{0, 2 * PAGE, 2 * PAGE, RX},
                                    {2 * PAGE, 2 * PAGE + 100, 100, R},
                                    {3 * PAGE, 3 * PAGE + 500, 200, RW}};
    const struct segment in_any_order[] = {three[2], three[0], three[1]};
    const struct segment two[] = {{0, PAGE + 1, PAGE + 1, RX}, {2 * PAGE, 2 * PAGE + 8, 8, RW}};

    expect(three, 3, 2, 1);
    expect(in_any_order, 3, 2, 1);
    expect(two, 2, 2, 0);
}

TEST(without_data_the_heap_begins_behind_the_constants)
{
    const struct segment parts[] = {{0, 100, 100, RX}, {PAGE, PAGE + 100, 100, R}};
    struct message message;

    expect(parts, 2, 1, 1);
    struct image image = read_as(parts, 2, 1, &message);
    assert_int_equal(image.bytes, PAGE + 100);
    assert_int_equal(image.bss_end, image.base + 2 * PAGE);
    image_free(&image);
}

TEST(what_is_not_on_pages_of_its_own_protects_nothing)
{
    static const struct segment alone = {0, 3 * PAGE, 3 * PAGE, RWX};
    static const struct segment files[][3] = {
        {{0, 100, 100, RX}, {100, 200, 100, R}, {PAGE, 2 * PAGE, 8, RW}},
        {{0, 100, 100, RX}, {PAGE, PAGE + 8, 8, R}, {PAGE + 8, 2 * PAGE, 8, RW}},
        {{0, 100, 100, RX}, {2 * PAGE, 2 * PAGE + 8, 8, R}, {PAGE, PAGE + 8, 8, RW}},
        {{0, 100, 100, R}, {PAGE, PAGE + 8, 8, RX}, {2 * PAGE, 2 * PAGE + 8, 8, RW}},
        {{0, 100, 100, RW}, {PAGE, PAGE + 8, 8, RX}, {2 * PAGE, 2 * PAGE + 8, 8, R}},
        {{0, 100, 100, RX}, {PAGE, PAGE + 8, 8, R}, {2 * PAGE, 2 * PAGE + 8, 8, RWX}}};

    expect(&alone, 1, 0, 0);
    for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++) {
        expect(files[i], 3, 0, 0);
    }
}

TEST(a_start_that_is_no_code_is_told)
{
    const struct segment parts[] = {{0, 100, 100, RX}, {PAGE, PAGE + 100, 100, R}};
    struct message message;
    char told[80];

    struct image image = read_as(parts, 2, PAGE + 5, &message);
    snprintf(told, sizeof told, "starts at 0x%08x, which is not in its code",
             target_board()->image_base + PAGE + 5);
    assert_non_null(strstr(message.text, told));
    assert_null(image.data);
}
