/*
 * image_fuzz.c - reading a program file: whatever it holds, either a message or an image that lies
 * where programs may lie, whose entry is in its code and whose constants end before its bss does.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drivers/check.h"
#include "fuzz/fuzz.h"
#include "host/program/image.h"
#include "host/computer/target.h"
#include "wire/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct image image;
    struct message message = {""};

    if (fd < 0) {
        fd = memfd_create("program", 0);
    }
    CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
    CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
    char path[40];
    CHECK(snprintf(path, sizeof path, "/proc/self/fd/%d", fd) > 0);
    if (image_read(&image, path, &message) != 0) {
        CHECK(message.text[0] && !image.data);
        return 0;
    }
    const struct board *board = target_board();
    CHECK(image.bytes > 0 && image.base >= board->image_base);
    CHECK(image.bss_end >= image.base + image.bytes && image.bss_end <= board->image_end);
    CHECK((image.entry & ~1u) >= image.base && image.entry < image.base + image.bytes);
    if (image.constants_end != image.base || image.code_end != image.base) {
        CHECK(image.code_end % PROTECTED_PAGE_BYTES == 0);
        CHECK(image.constants_end % PROTECTED_PAGE_BYTES == 0);
        CHECK(image.entry < image.code_end && image.code_end <= image.constants_end);
        CHECK(image.constants_end <= image.bss_end);
    }
    image_free(&image);
    return 0;
}
