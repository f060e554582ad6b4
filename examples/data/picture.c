/*
 * picture.c - see picture.h.
 *
 * Source   libpng manual, simplified API; Netpbm, pgm(5) and ppm(5)
 */
#include "examples/data/picture.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/data/data.h"

enum { SIDE_MAX = 32768 };

struct picture picture_make(unsigned width, unsigned height, unsigned channels)
{
    struct picture picture = {width, height, channels, NULL};

    picture.points = get_memory((size_t)width * height * channels);
    return picture;
}

void picture_free(struct picture *picture)
{
    free(picture->points);
    picture->points = NULL;
}

static struct picture read_png(const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION};

    if (!png_image_begin_read_from_file(&image, path)) {
        fail("%s: %s", path, image.message);
    }
    image.format = image.format & PNG_FORMAT_FLAG_COLOR ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    if (image.width > SIDE_MAX || image.height > SIDE_MAX) {
        fail("%s: more than %d points a side", path, SIDE_MAX);
    }
    struct picture picture =
        picture_make(image.width, image.height, PNG_IMAGE_SAMPLE_CHANNELS(image.format));
    if (!png_image_finish_read(&image, NULL, picture.points, 0, NULL)) {
        fail("%s: %s", path, image.message);
    }
    return picture;
}

/* "P5 640 480 255" and one white space, with comments between the words. */
static struct picture read_netpbm(const char *path, const uint8_t *data, size_t bytes)
{
    unsigned values[3] = {0}, found = 0;
    size_t at = 2;

    while (found < 3 && at < bytes) {
        if (data[at] == '#') {
            while (at < bytes && data[at] != '\n') {
                at++;
            }
        } else if (data[at] >= '0' && data[at] <= '9') {
            while (at < bytes && data[at] >= '0' && data[at] <= '9' && values[found] <= SIDE_MAX) {
                values[found] = values[found] * 10 + (data[at++] - '0');
            }
            found++;
        } else {
            at++;
        }
    }
    unsigned channels = data[1] == '6' ? 3 : 1;
    size_t points = (size_t)values[0] * values[1] * channels;
    if (found < 3 || values[0] > SIDE_MAX || values[1] > SIDE_MAX || values[2] != 255 ||
        points == 0 || bytes - at < points + 1) {
        fail("%s: not a binary PGM or PPM of 255 grey levels, or cut off", path);
    }
    struct picture picture = picture_make(values[0], values[1], channels);
    memcpy(picture.points, data + at + 1, points);
    return picture;
}

struct picture picture_read(const char *path)
{
    size_t bytes;
    uint8_t *data = read_file(path, &bytes);
    struct picture picture;

    if (bytes > 2 && data[0] == 'P' && (data[1] == '5' || data[1] == '6')) {
        picture = read_netpbm(path, data, bytes);
    } else {
        picture = read_png(path);
    }
    free(data);
    return picture;
}

void picture_write(const struct picture *picture, const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = picture->width,
                       .height = picture->height,
                       .format = picture->channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY};

    if (!png_image_write_to_file(&image, path, 0, picture->points, 0, NULL)) {
        fail("%s: %s", path, image.message);
    }
}
