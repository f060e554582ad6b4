/*
 * image.h - a program's ELF file as the memory image that every node gets.
 *
 * Source   System V ABI, ELF; ELF for the ARM Architecture (Arm IHI 0044)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/processor.h"
#include "host/console/message.h"

struct image {
    uint32_t base;    /* address of data[0], the lowest byte that is loaded */
    uint32_t bytes;   /* up to the last byte that the file has */
    uint32_t bss_end; /* end of the memory that must be zero behind it */
    uint32_t entry;
    /* Up to where it is code, and behind that constants (wire/run.h); both are `base` unless its
     * segments say so: code, constants and data, in this order, each on pages of its own. */
    uint32_t code_end, constants_end;
    const struct processor *processor; /* that executes it */
    bool checked; /* linked by ecube-cc --check: it has a note that says so (wire/finding.h) */
    uint8_t *data;
};

/* Reads an executable; the message says what is wrong with the file. */
int image_read(struct image *image, const char *path, struct message *message);
void image_free(struct image *image);
