/*
 * image_fuzz.c - reading a program file: whatever it holds, either a message or an image that lies
 * where programs may lie, whose entry is in its code and whose constants end before its bss does.
 * Each file is read as one for nodes, and as one for this computer, whose segments and relocations
 * lie in its image besides.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drivers/check.h"
#include "fuzz/fuzz.h"
#include "host/program/image.h"
#include "host/computer/target.h"
#include "host/sim/native_file.h"
#include "wire/run.h"

static void check_image(const struct image *image)
{
    const struct board *board = target_board();

    CHECK(image->bytes > 0 && image->base >= board->image_base);
    CHECK(image->bss_end >= image->base + image->bytes && image->bss_end <= board->image_end);
    CHECK((image->entry & ~1u) >= image->base && image->entry < image->base + image->bytes);
    if (image->constants_end != image->base || image->code_end != image->base) {
        CHECK(image->code_end % PROTECTED_PAGE_BYTES == 0);
        CHECK(image->constants_end % PROTECTED_PAGE_BYTES == 0);
        CHECK(image->entry < image->code_end && image->code_end <= image->constants_end);
        CHECK(image->constants_end <= image->bss_end);
    }
}

static void read_for_nodes(const char *path)
{
    struct image image;
    struct message message = {""};

    if (image_read(&image, path, &message) != 0) {
        CHECK(message.text[0] && !image.data);
        return;
    }
    check_image(&image);
    image_free(&image);
}

static void check_native(const struct native_file *file, size_t size)
{
    const struct native_program *program = &file->program;
    const struct native_segment *data = &program->segments[1];

    check_image(&file->image);
    for (unsigned i = 0; i < NATIVE_SEGMENTS; i++) {
        const struct native_segment *segment = &program->segments[i];

        CHECK(segment->address % PROTECTED_PAGE_BYTES == 0);
        CHECK(segment->bytes % PROTECTED_PAGE_BYTES == 0);
        CHECK(segment->file_at % PROTECTED_PAGE_BYTES == 0);
        CHECK(segment->bytes == 0 || segment->file_at < size);
        CHECK(segment->address >= program->image_base);
        CHECK(segment->bytes <= program->end - segment->address);
    }
    CHECK(data->address >= file->image.constants_end);
    CHECK(program->file_end >= data->address && program->file_end - data->address <= data->bytes);
    for (uint32_t i = 0; i < program->relocation_count; i++) {
        CHECK(program->relocations[i].address >= data->address);
        CHECK(program->file_end - program->relocations[i].address >= sizeof(uint64_t));
    }
}

static void read_for_this_computer(const char *path, size_t size)
{
    struct native_file file;
    struct message message = {""};

    if (native_file_read(&file, path, &message) != 0) {
        CHECK(message.text[0] && !file.image.data && !file.relocations);
        return;
    }
    check_native(&file, size);
    native_file_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("program", 0);
    }
    CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
    CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
    char path[40];
    CHECK(snprintf(path, sizeof path, "/proc/self/fd/%d", fd) > 0);
    read_for_nodes(path);
    read_for_this_computer(path, size);
    return 0;
}
