/*
 * pages.h - what the images of several programs have in common: equal pages, which travel once.
 *
 * A run is some pages of an image, one behind the other. Those of a set are equal; each is of
 * another image.
 *
 *     image 0   A B C D       runs 0: A B | C | D
 *     image 1   X A B D       runs 1: X | A B | D        sets {0: A B, 1: A B}, {0: D, 1: D}
 *
 * Units    bytes from an image's beginning
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct page_image {
    const uint8_t *data;
    uint32_t bytes;
};

struct page_run {
    unsigned image;
    uint32_t from, bytes;
    bool same; /* as the run before it */
};

/* The runs of all images, each set together; to be freed. NULL: there is no memory. */
struct page_run *pages_find(const struct page_image *images, unsigned image_count,
                            unsigned *run_count);
