/*
 * picture.h - pictures in files: PNG by libpng, and binary PGM and PPM.
 *
 * Units    a byte for each channel of a point; rows from the top
 * Errors   end the process with a line
 */
#pragma once

#include <stdint.h>

struct picture {
    unsigned width, height, channels; /* 1: grey, 3: red, green, blue */
    uint8_t *points;
};

struct picture picture_read(const char *path);
void picture_write(const struct picture *picture, const char *path);
struct picture picture_make(unsigned width, unsigned height, unsigned channels);
void picture_free(struct picture *picture);
