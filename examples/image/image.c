/*
 * image.c - a filter over a picture that is spread over the nodes by strips of rows.
 *
 * A point of the result depends on the points around it, so each node also has the last rows of the
 * strip above its own and the first of the one below: windows that overlap, each row sent once over
 * every link.
 *
 *   a window   radius rows of the strip above | the node's own rows | radius rows of the one below
 *
 * Arguments: WIDTH, bytes of a point, RADIUS, and one of
 *
 *   blur     the average of the (2 RADIUS + 1)^2 points around
 *   sharpen  what is not blurred, twice
 *   edges    how much a point differs from those beside it (RADIUS 1; Sobel's operator)
 *
 * Points beyond the left and right ends are those at the ends. `examples/data.sh image` cuts up a
 * picture, runs this, compares and writes the result.
 *
 * Source   windows: Sharma & Wagh, Decremental scattering for data transport between host and
 *          hypercube nodes, section II
 */
#include <ecube.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum { SIDE_MAX = 1 << 16, CHANNELS_MAX = 4 };

struct strip {
    const uint8_t *points; /* of the window */
    int width, channels, radius, rows;
};

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* A channel of a point; row 0 is the first of the node's own. */
static int at(const struct strip *s, int x, int y, int channel)
{
    x = clamp(x, 0, s->width - 1);
    return s->points[((y + s->radius) * s->width + x) * s->channels + channel];
}

static int average(const struct strip *s, int x, int y, int channel)
{
    int sum = 0, side = 2 * s->radius + 1;

    for (int j = -s->radius; j <= s->radius; j++) {
        for (int i = -s->radius; i <= s->radius; i++) {
            sum += at(s, x + i, y + j, channel);
        }
    }
    return sum / (side * side);
}

static int blur(const struct strip *s, int x, int y, int channel)
{
    return average(s, x, y, channel);
}

static int sharpen(const struct strip *s, int x, int y, int channel)
{
    return clamp(2 * at(s, x, y, channel) - average(s, x, y, channel), 0, 255);
}

static int edges(const struct strip *s, int x, int y, int channel)
{
    int across = 0, down = 0;

    for (int i = -1; i <= 1; i++) {
        int weight = i == 0 ? 2 : 1;
        across += weight * (at(s, x + 1, y + i, channel) - at(s, x - 1, y + i, channel));
        down += weight * (at(s, x + i, y + 1, channel) - at(s, x + i, y - 1, channel));
    }
    return clamp(abs(across) + abs(down), 0, 255);
}

typedef int filter(const struct strip *s, int x, int y, int channel);

static filter *filter_named(const char *name)
{
    return strcmp(name, "blur") == 0      ? blur
           : strcmp(name, "sharpen") == 0 ? sharpen
           : strcmp(name, "edges") == 0   ? edges
                                          : NULL;
}

/* The node's own rows, filtered; NULL: there is no memory. */
static uint8_t *make(const struct strip *s, filter *of)
{
    uint8_t *made = malloc((size_t)s->rows * s->width * s->channels), *point = made;

    for (int y = 0; made && y < s->rows; y++) {
        for (int x = 0; x < s->width; x++) {
            for (int channel = 0; channel < s->channels; channel++) {
                *point++ = (uint8_t)of(s, x, y, channel);
            }
        }
    }
    return made;
}

int main(int argc, char **argv)
{
    size_t bytes;
    struct strip s = {.points = ecube_input(&bytes)};

    if (!s.points || argc != 5) {
        if (ecube_rank() == 0) {
            fprintf(stderr, "image: it wants a picture, its WIDTH, bytes of a point, RADIUS and "
                            "filter: examples/data.sh image\n");
            return 1;
        }
        return 0;
    }
    s.width = (int)words_number("image", argc, argv, 1, 0, 1, SIDE_MAX);
    s.channels = (int)words_number("image", argc, argv, 2, 0, 1, CHANNELS_MAX);
    s.radius = (int)words_number("image", argc, argv, 3, 0, 1, SIDE_MAX);
    filter *of = filter_named(argv[4]);
    if (!of || (of == edges && s.radius != 1)) {
        words_refuse("image", "no such filter: %s of radius %s", argv[4], argv[3]);
    }
    s.rows = (int)(bytes / (size_t)(s.width * s.channels)) - 2 * s.radius;
    uint8_t *made = s.rows > 0 ? make(&s, of) : NULL;
    if (!made) {
        fprintf(stderr, "image: %d rows of %d points: too few, or there is no memory\n", s.rows,
                s.width);
        return 1;
    }
    ecube_output(made, (size_t)s.rows * s.width * s.channels);
    return 0;
}
