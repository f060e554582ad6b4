/*
 * Equal pages of images: the drawn example, and that runs are a cover of all images whatever they
 * are.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "host/job/pages.h"

enum { PAGE = 4096, PAGES_MAX = 12, IMAGES_MAX = 4, TRIALS = 3000 };

static uint8_t bytes[IMAGES_MAX][PAGES_MAX * PAGE];

/* A page for each letter; the last one ends after `last` bytes. */
static struct page_image image(unsigned number, const char *letters, uint32_t last)
{
    size_t pages = strlen(letters);

    for (size_t i = 0; i < pages; i++) {
        memset(bytes[number] + i * PAGE, letters[i], PAGE);
    }
    return (struct page_image){bytes[number], (uint32_t)((pages - 1) * PAGE) + last};
}

static void expect_run(const struct page_run *run, unsigned image_number, uint32_t page,
                       uint32_t run_bytes, bool same)
{
    assert_int_equal(run->image, image_number);
    assert_int_equal(run->from, page * PAGE);
    assert_int_equal(run->bytes, run_bytes);
    assert_int_equal(run->same, same);
}

TEST(equal_pages_are_one_run_as_long_as_they_follow_each_other)
{
    const struct page_image images[] = {image(0, "ABCD", PAGE), image(1, "XABD", PAGE)};
    unsigned count;
    struct page_run *runs = pages_find(images, 2, &count);

    assert_int_equal(count, 6);
    expect_run(&runs[0], 0, 0, 2 * PAGE, false); /* A B */
    expect_run(&runs[1], 1, 1, 2 * PAGE, true);
    expect_run(&runs[2], 0, 2, PAGE, false); /* C */
    expect_run(&runs[3], 0, 3, PAGE, false); /* D */
    expect_run(&runs[4], 1, 3, PAGE, true);
    expect_run(&runs[5], 1, 0, PAGE, false); /* X */
    free(runs);
}

TEST(a_page_that_an_image_has_twice_goes_with_two_of_the_other)
{
    const struct page_image images[] = {image(0, "AA", PAGE), image(1, "AAA", PAGE)};
    unsigned count;
    struct page_run *runs = pages_find(images, 2, &count);

    assert_int_equal(count, 3);
    expect_run(&runs[0], 0, 0, 2 * PAGE, false);
    expect_run(&runs[1], 1, 0, 2 * PAGE, true);
    expect_run(&runs[2], 1, 2, PAGE, false);
    free(runs);
}

TEST(a_shorter_last_page_is_equal_to_one_as_long_only)
{
    const struct page_image images[] = {image(0, "AB", 100), image(1, "AB", 101),
                                        image(2, "AB", 100)};
    unsigned count;
    struct page_run *runs = pages_find(images, 3, &count);

    assert_int_equal(count, 6);
    expect_run(&runs[0], 0, 0, PAGE, false);
    expect_run(&runs[2], 2, 0, PAGE, true);
    expect_run(&runs[3], 0, 1, 100, false);
    expect_run(&runs[4], 2, 1, 100, true);
    expect_run(&runs[5], 1, 1, 101, false);
    free(runs);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Each byte of each image is in one run, runs of a set are equal, and each is of another image. */
static void check_cover(const struct page_image *images, unsigned image_count,
                        const struct page_run *runs, unsigned count)
{
    uint64_t covered[IMAGES_MAX] = {0}, base = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct page_run *run = &runs[i];
        assert_true(run->image < image_count && run->from + run->bytes <= images[run->image].bytes);
        covered[run->image] += run->bytes;
        base = run->same ? base : i;
        assert_int_equal(run->bytes, runs[base].bytes);
        assert_true(base == i || run->image > runs[i - 1].image);
        assert_memory_equal(images[run->image].data + run->from,
                            images[runs[base].image].data + runs[base].from, run->bytes);
        for (unsigned k = 0; k < i; k++) {
            assert_true(runs[k].image != run->image || runs[k].from + runs[k].bytes <= run->from ||
                        run->from + run->bytes <= runs[k].from);
        }
    }
    for (unsigned i = 0; i < image_count; i++) {
        assert_int_equal(covered[i], images[i].bytes);
    }
}

TEST(runs_cover_all_images_once)
{
    uint32_t seed = 1;

    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct page_image images[IMAGES_MAX];
        unsigned image_count = 1 + next_random(&seed) % IMAGES_MAX, count;

        for (unsigned i = 0; i < image_count; i++) {
            char letters[PAGES_MAX + 1] = "";
            unsigned pages = 1 + next_random(&seed) % PAGES_MAX;
            for (unsigned p = 0; p < pages; p++) {
                letters[p] = (char)('A' + next_random(&seed) % 5);
            }
            images[i] = image(i, letters, 1 + next_random(&seed) % PAGE);
        }
        struct page_run *runs = pages_find(images, image_count, &count);
        check_cover(images, image_count, runs, count);
        free(runs);
    }
}
