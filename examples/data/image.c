/*
 * image.c - the host's side of the filter over a picture: strips of rows with what lies above and
 * below, and the filter by itself, straight from its definition.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/data/data.h"
#include "examples/data/picture.h"

struct request {
    const char *filter;
    unsigned radius;
};

static struct request request_of(const struct data_job *job)
{
    struct request request = {"blur", 2};

    if (job->word_count > 0) {
        request.filter = job->words[0];
        request.radius = 1;
    }
    if (job->word_count > 1) {
        request.radius = (unsigned)atoi(job->words[1]);
    }
    if (job->word_count > 2 || request.radius < 1 || request.radius > 64) {
        fail("a filter (blur, sharpen, edges) and a radius of 1 to 64");
    }
    return request;
}

/* A picture with edges, gradients and noise. */
static void make(const char *path)
{
    struct picture p = picture_make(1600, 1200, 3);
    uint32_t seed = 1;

    for (unsigned y = 0; y < p.height; y++) {
        for (unsigned x = 0; x < p.width; x++) {
            uint8_t *point = p.points + (y * p.width + x) * 3;
            long dx = (long)x - 800, dy = (long)y - 600;
            int inside = dx * dx + dy * dy < 400L * 400;
            unsigned board = (x / 100 + y / 100) % 2;

            seed = seed * 1664525u + 1013904223u;
            point[0] = (uint8_t)(inside ? 220 : board * 120 + x / 16);
            point[1] = (uint8_t)(inside ? y / 6 : board * 120 + y / 12);
            point[2] = (uint8_t)((seed >> 24) / 4 + (inside ? 40 : 100));
        }
    }
    picture_write(&p, path);
    picture_free(&p);
}

static unsigned rows_of(const struct picture *p, unsigned nodes)
{
    return (p->height + nodes - 1) / nodes;
}

/* Rows beyond the top and the bottom are those there. */
static const uint8_t *row(const struct picture *p, long y)
{
    y = y < 0 ? 0 : y >= (long)p->height ? (long)p->height - 1 : y;
    return p->points + (size_t)y * p->width * p->channels;
}

static void prepare(const struct data_job *job)
{
    struct request request = request_of(job);
    struct picture p = picture_read(job->from);
    unsigned rows = rows_of(&p, job->nodes), all = rows * job->nodes + 2 * request.radius;
    size_t row_bytes = (size_t)p.width * p.channels;
    uint8_t *input = get_memory(all * row_bytes);
    char path[PATH_BYTES];

    for (unsigned y = 0; y < all; y++) {
        memcpy(input + y * row_bytes, row(&p, (long)y - (long)request.radius), row_bytes);
    }
    write_file(work_path(job, "input", path), input, all * row_bytes);
    printf("--input\n%s\n--window\n%zu\n--stride\n%zu\n--program\n%u\n%u\n%u\n%s\n", path,
           (rows + 2 * request.radius) * row_bytes, rows * row_bytes, p.width, p.channels,
           request.radius, request.filter);
    free(input);
    picture_free(&p);
}

static int point(const struct picture *p, long x, long y, unsigned channel)
{
    x = x < 0 ? 0 : x >= (long)p->width ? (long)p->width - 1 : x;
    return row(p, y)[(size_t)x * p->channels + channel];
}

static int average(const struct picture *p, long x, long y, unsigned channel, long radius)
{
    long sum = 0;

    for (long j = y - radius; j <= y + radius; j++) {
        for (long i = x - radius; i <= x + radius; i++) {
            sum += point(p, i, j, channel);
        }
    }
    return (int)(sum / ((2 * radius + 1) * (2 * radius + 1)));
}

static int sobel(const struct picture *p, long x, long y, unsigned c)
{
    int right = point(p, x + 1, y - 1, c) + 2 * point(p, x + 1, y, c) + point(p, x + 1, y + 1, c);
    int left = point(p, x - 1, y - 1, c) + 2 * point(p, x - 1, y, c) + point(p, x - 1, y + 1, c);
    int below = point(p, x - 1, y + 1, c) + 2 * point(p, x, y + 1, c) + point(p, x + 1, y + 1, c);
    int above = point(p, x - 1, y - 1, c) + 2 * point(p, x, y - 1, c) + point(p, x + 1, y - 1, c);

    return abs(right - left) + abs(below - above);
}

static uint8_t filtered(const struct picture *p, const struct request *request, long x, long y,
                        unsigned channel)
{
    int value;

    if (strcmp(request->filter, "edges") == 0) {
        value = sobel(p, x, y, channel);
    } else {
        value = average(p, x, y, channel, request->radius);
        if (strcmp(request->filter, "sharpen") == 0) {
            value = 2 * point(p, x, y, channel) - value;
        }
    }
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* The last strip may have rows below the picture, which nobody looks at. */
static void finish(const struct data_job *job)
{
    struct request request = request_of(job);
    struct picture p = picture_read(job->from);
    struct picture made = picture_make(p.width, p.height, p.channels);
    size_t row_bytes = (size_t)p.width * p.channels, i = 0;
    uint8_t *came = read_output(job, rows_of(&p, job->nodes) * job->nodes * row_bytes);

    for (long y = 0; y < (long)p.height; y++) {
        for (long x = 0; x < (long)p.width; x++) {
            for (unsigned channel = 0; channel < p.channels; channel++) {
                made.points[i++] = filtered(&p, &request, x, y, channel);
            }
        }
    }
    compare("picture", made.points, came, p.height * row_bytes);
    memcpy(made.points, came, p.height * row_bytes);
    picture_write(&made, job->to);
    free(came);
    picture_free(&made);
    picture_free(&p);
}

const struct data_example data_image = {"image", " [FILTER [RADIUS]]", make, prepare, finish};
