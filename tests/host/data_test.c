/*
 * Data files of a job: which bytes are whose, and files that change under the tool's hands.
 */
#include "tests/testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/job/data.h"

enum { FILE_BYTES = 100 };

static char folder[] = "/tmp/ecube-data.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

TEST_GROUP(make_folder, remove_folder);

/* Byte i of a file is i + 1. */
static void make_file(const char *path, unsigned bytes)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (unsigned i = 0; i < bytes; i++) {
        fputc((int)(i + 1), file);
    }
    assert_int_equal(fclose(file), 0);
}

static struct data_file read_input(uint64_t window, uint64_t stride, bool pad, uint32_t nodes)
{
    const struct job_data data = {.kind = BLOCK_INPUT,
                                  .path = "in",
                                  .name = "in",
                                  .window = window,
                                  .stride = stride,
                                  .pad = pad};
    struct data_file file;
    struct message message;

    make_file("in", FILE_BYTES);
    assert_int_equal(data_open(&file, &data, nodes, &message), 0);
    assert_int_equal(data_read(&file, nodes, NULL, &message), 0);
    return file;
}

/* Each node has what of the file is in its window, and zeros behind it. */
static void expect_windows(const struct data_file *file, uint64_t window, uint64_t stride,
                           uint32_t nodes)
{
    for (uint32_t rank = 0; rank < nodes; rank++) {
        assert_int_equal(data_bytes(file, rank), window);
        for (uint64_t i = 0; i < window; i++) {
            uint64_t at = rank * stride + i;
            assert_true(data_from(file, rank) + i < file->bytes);
            assert_int_equal(file->string[data_from(file, rank) + i], at < FILE_BYTES ? at + 1 : 0);
        }
    }
}

TEST(every_node_has_its_window)
{
    for (uint32_t nodes = 1; nodes <= 9; nodes++) {
        for (uint64_t window = 1; window <= 40; window++) {
            for (uint64_t stride = 1; stride <= 45; stride += 4) {
                struct data_file file = read_input(window, stride, true, nodes);

                expect_windows(&file, window, stride, nodes);
                data_close(&file);
            }
        }
    }
}

TEST(bytes_in_no_window_are_counted)
{
    struct data_file file = read_input(10, 20, false, 5); /* 0-9, 20-29, ... 80-89 */

    assert_int_equal(file.unused_bytes, 50);
    assert_int_equal(file.bytes, 50); /* the gaps are not kept */
    data_close(&file);
    file = read_input(20, 20, false, 5);
    assert_int_equal(file.unused_bytes, 0);
    data_close(&file);
    file = read_input(30, 10, false, 5); /* 0 to 69 */
    assert_int_equal(file.unused_bytes, 30);
    data_close(&file);
    file = read_input(60, 30, true, 3);
    assert_int_equal(file.unused_bytes, 0);
    data_close(&file);
}

TEST(a_window_that_ends_behind_the_file_is_refused)
{
    struct data_file file;
    struct message message;

    make_file("in", FILE_BYTES);
    for (uint64_t window = 1; window < 120; window++) {
        for (uint64_t stride = 1; stride < 60; stride++) {
            const struct job_data data = {.kind = BLOCK_INPUT,
                                          .path = "in",
                                          .name = "in",
                                          .window = window,
                                          .stride = stride};
            bool fits = 3 * stride + window <= FILE_BYTES;

            assert_int_equal(data_open(&file, &data, 4, &message), fits ? 0 : -1);
            data_close(&file);
        }
    }
}

TEST(a_file_that_changes_while_it_is_read_is_refused)
{
    static const off_t sizes[] = {FILE_BYTES - 1, FILE_BYTES + 1};
    static const struct job_data datas[] = {
        {.kind = BLOCK_COMMON, .path = "f", .name = "f"},
        {.kind = BLOCK_INPUT, .path = "f", .name = "f", .window = 10},
        {.kind = BLOCK_PRIVATE, .path = "p%r", .name = "p%r"}};

    for (unsigned i = 0; i < 3; i++) {
        for (unsigned s = 0; s < 2; s++) {
            struct data_file file;
            struct message message;

            make_file("f", FILE_BYTES);
            make_file("p0", FILE_BYTES);
            make_file("p1", FILE_BYTES);
            assert_int_equal(data_open(&file, &datas[i], 2, &message), 0);
            assert_int_equal(truncate(i == 2 ? "p1" : "f", sizes[s]), 0);
            assert_int_equal(data_read(&file, 2, NULL, &message), -1);
            assert_non_null(strstr(message.text, "has changed while it was read"));
            data_close(&file);
        }
    }
}

TEST(private_files_may_have_different_sizes)
{
    const struct job_data data = {.kind = BLOCK_PRIVATE, .path = "part%r%%", .name = "n"};
    struct data_file file;
    struct message message;

    make_file("part0%", 3);
    make_file("part1%", 3);
    make_file("part2%", 9);
    assert_int_equal(data_open(&file, &data, 3, &message), 0);
    assert_int_equal(data_read(&file, 3, NULL, &message), 0);
    assert_int_equal(file.bytes, 15);
    assert_int_equal(data_bytes(&file, 1), 3);
    assert_int_equal(data_from(&file, 2), 6);
    assert_int_equal(data_bytes(&file, 2), 9);
    assert_int_equal(file.string[14], 9);
    data_close(&file);
}
