/*
 * image.h - a program's ELF file as the memory image that every node gets.
 *
 * Source   System V ABI, ELF; ELF for the ARM Architecture (Arm IHI 0044)
 */
#pragma once

#include <stdint.h>

#include "host/message.h"

struct image {
    uint32_t base;    /* address of data[0], the lowest byte that is loaded */
    uint32_t bytes;   /* up to the last byte that the file has */
    uint32_t bss_end; /* end of the memory that must be zero behind it */
    uint32_t entry;
    uint8_t *data;
};

/* Reads an executable; the message says what is wrong with the file. */
int image_read(struct image *image, const char *path, struct message *message);
void image_free(struct image *image);
