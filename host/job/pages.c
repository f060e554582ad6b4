/*
 * pages.c - finds equal pages.
 *
 * Pages are sorted by their bytes, so that equal ones stand side by side. Of those that an image
 * has several times the first goes with the first of the others, the second with the second: so a
 * kind of page is in each image once at most. Two pages in a row stay in one run when their kinds
 * are in the same images, and follow each other there, too.
 */
#include "host/job/pages.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

static const uint32_t NOWHERE = UINT32_MAX;

struct page {
    const uint8_t *data;
    uint32_t bytes;
    unsigned image;
    uint32_t number; /* in its image */
    uint32_t kind;
};

struct kinds {
    uint32_t page_count, kind_count;
    struct page *pages;  /* in the order of images, or sorted */
    uint32_t *of_page;   /* kind of page `number` of an image, from first[image] on */
    uint32_t *first;     /* of each image, and one more */
    uint32_t *positions; /* of each kind in each image: its page's number, or NOWHERE */
    unsigned image_count;
};

static int by_bytes(const void *one, const void *other)
{
    const struct page *a = one, *b = other;

    if (a->bytes != b->bytes) {
        return a->bytes < b->bytes ? -1 : 1;
    }
    int order = memcmp(a->data, b->data, a->bytes);
    if (order != 0) {
        return order;
    }
    return a->image != b->image ? (a->image < b->image ? -1 : 1) : (a->number < b->number ? -1 : 1);
}

static bool equal(const struct page *a, const struct page *b)
{
    return a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

static bool begin(struct kinds *kinds, const struct page_image *images, unsigned image_count)
{
    *kinds = (struct kinds){.image_count = image_count,
                            .first = calloc(image_count + 1, sizeof *kinds->first)};
    for (unsigned i = 0; kinds->first && i < image_count; i++) {
        kinds->first[i + 1] = kinds->first[i] + (images[i].bytes + PAGE - 1) / PAGE;
    }
    kinds->page_count = kinds->first ? kinds->first[image_count] : 0;
    kinds->pages = calloc(kinds->page_count, sizeof *kinds->pages);
    kinds->of_page = calloc(kinds->page_count, sizeof *kinds->of_page);
    kinds->positions = calloc((size_t)kinds->page_count * image_count, sizeof *kinds->positions);
    return kinds->first && kinds->pages && kinds->of_page && kinds->positions;
}

static void end(struct kinds *kinds)
{
    free(kinds->pages);
    free(kinds->of_page);
    free(kinds->first);
    free(kinds->positions);
}

static void list_pages(struct kinds *kinds, const struct page_image *images)
{
    for (unsigned i = 0; i < kinds->image_count; i++) {
        for (uint32_t at = 0; at < images[i].bytes; at += PAGE) {
            uint32_t left = images[i].bytes - at;
            kinds->pages[kinds->first[i] + at / PAGE] =
                (struct page){.data = images[i].data + at,
                              .bytes = left < PAGE ? left : PAGE,
                              .image = i,
                              .number = at / PAGE};
        }
    }
    qsort(kinds->pages, kinds->page_count, sizeof *kinds->pages, by_bytes);
}

/* Equal pages `from` to `to`, in the order of images: the nth of each image are of one kind. */
static void number_equal(struct kinds *kinds, uint32_t from, uint32_t to)
{
    uint32_t base = kinds->kind_count, nth = 0;

    for (uint32_t i = from; i < to; i++) {
        const struct page *page = &kinds->pages[i];
        nth = i > from && page->image == kinds->pages[i - 1].image ? nth + 1 : 0;
        if (base + nth == kinds->kind_count) {
            for (unsigned image = 0; image < kinds->image_count; image++) {
                kinds->positions[(size_t)kinds->kind_count * kinds->image_count + image] = NOWHERE;
            }
            kinds->kind_count++;
        }
        kinds->of_page[kinds->first[page->image] + page->number] = base + nth;
        kinds->positions[(size_t)(base + nth) * kinds->image_count + page->image] = page->number;
    }
}

static void number_kinds(struct kinds *kinds)
{
    uint32_t from = 0;

    for (uint32_t i = 1; i <= kinds->page_count; i++) {
        if (i == kinds->page_count || !equal(&kinds->pages[from], &kinds->pages[i])) {
            number_equal(kinds, from, i);
            from = i;
        }
    }
}

static const uint32_t *positions_of(const struct kinds *kinds, unsigned image, uint32_t number)
{
    uint32_t kind = kinds->of_page[kinds->first[image] + number];

    return kinds->positions + (size_t)kind * kinds->image_count;
}

/* Whether a page follows the one before it in every image that has either. */
static bool follows(const struct kinds *kinds, unsigned image, uint32_t number)
{
    const uint32_t *before = positions_of(kinds, image, number - 1);
    const uint32_t *here = positions_of(kinds, image, number);

    for (unsigned i = 0; i < kinds->image_count; i++) {
        if (before[i] == NOWHERE ? here[i] != NOWHERE : here[i] != before[i] + 1) {
            return false;
        }
    }
    return true;
}

/* The set of a run of `bytes`, whose first page is this one: of all images that have it. */
static unsigned add_set(const struct kinds *kinds, unsigned image, uint32_t number, uint32_t bytes,
                        struct page_run *runs)
{
    const uint32_t *positions = positions_of(kinds, image, number);
    unsigned count = 0;

    for (unsigned i = image; i < kinds->image_count; i++) {
        if (positions[i] != NOWHERE) {
            runs[count] = (struct page_run){i, positions[i] * PAGE, bytes, count > 0};
            count++;
        }
    }
    return count;
}

/* A run is listed with the first image that has it. */
static unsigned add_runs(const struct kinds *kinds, unsigned image, uint32_t bytes,
                         struct page_run *runs)
{
    uint32_t pages = kinds->first[image + 1] - kinds->first[image];
    unsigned count = 0;

    for (uint32_t from = 0, to; from < pages; from = to) {
        const uint32_t *positions = positions_of(kinds, image, from);
        unsigned earliest = 0;

        for (to = from + 1; to < pages && follows(kinds, image, to); to++) {
        }
        while (positions[earliest] == NOWHERE) {
            earliest++;
        }
        if (earliest == image) {
            uint32_t run_end = to * PAGE < bytes ? to * PAGE : bytes;
            count += add_set(kinds, image, from, run_end - from * PAGE, runs + count);
        }
    }
    return count;
}

struct page_run *pages_find(const struct page_image *images, unsigned image_count,
                            unsigned *run_count)
{
    struct kinds kinds;
    struct page_run *runs = NULL;

    *run_count = 0;
    if (begin(&kinds, images, image_count)) {
        runs = calloc(kinds.page_count, sizeof *runs);
    }
    if (runs) {
        list_pages(&kinds, images);
        number_kinds(&kinds);
        for (unsigned i = 0; i < image_count; i++) {
            *run_count += add_runs(&kinds, i, images[i].bytes, runs + *run_count);
        }
    }
    end(&kinds);
    return runs;
}
