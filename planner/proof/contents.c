#include "planner/proof/contents.h"

#include <stdlib.h>
#include <string.h>

#include "planner/build.h"

uint32_t contents_find(const struct contents *contents, uint32_t slot)
{
    uint32_t low = 0, high = contents->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (contents->runs[middle].slot + contents->runs[middle].count > slot) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

struct content content_part(const struct content *run, uint32_t first, uint32_t count)
{
    uint32_t low = run->slot > first ? run->slot : first;
    uint32_t end = run->slot + run->count < first + count ? run->slot + run->count : first + count;
    struct content part = *run;

    part.slot = low;
    part.count = end > low ? end - low : 0;
    part.block = run->block + (low - run->slot) * run->delta;
    return part;
}

/* Whether two runs say the same but for slots and blocks. */
static bool alike(const struct content *a, const struct content *b)
{
    return a->whose[0] == b->whose[0] && a->whose[1] == b->whose[1] && a->written == b->written &&
           a->sent == b->sent && a->received == b->received;
}

/* Makes `next` part of `run` when it goes on with it. */
static bool joined(struct content *run, const struct content *next)
{
    uint64_t delta = run->count > 1 ? run->delta : next->block - run->block;

    if (run->slot + run->count != next->slot || !alike(run, next) ||
        next->block - run->block != run->count * delta ||
        (next->count > 1 && next->delta != delta)) {
        return false;
    }
    run->delta = delta;
    run->count += next->count;
    return true;
}

void contents_append(struct contents *contents, const struct content *run)
{
    if (run->count == 0 ||
        (contents->count > 0 && joined(&contents->runs[contents->count - 1], run))) {
        return;
    }
    contents->runs = planner_grow(contents->runs, contents->count, sizeof *contents->runs);
    contents->runs[contents->count++] = *run;
}

/* Opens `more` places before place `at`, or takes away -more from there. */
static void shift(struct contents *contents, uint32_t at, int64_t more)
{
    uint32_t tail = contents->count - at;

    for (int64_t i = 0; i < more; i++) {
        contents->runs =
            planner_grow(contents->runs, contents->count + (uint64_t)i, sizeof *contents->runs);
    }
    memmove(contents->runs + at + more, contents->runs + at, tail * sizeof *contents->runs);
    contents->count = (uint32_t)(contents->count + more);
}

/* Joins the run at a place with the one behind it, if they go on alike. */
static bool close_gap(struct contents *contents, uint32_t place)
{
    if (place + 1 >= contents->count ||
        !joined(&contents->runs[place], &contents->runs[place + 1])) {
        return false;
    }
    shift(contents, place + 2, -1);
    return true;
}

void contents_put(struct contents *contents, const struct contents *cargo)
{
    if (cargo->count == 0) {
        return;
    }
    const struct content *last = &cargo->runs[cargo->count - 1];
    uint32_t first = cargo->runs[0].slot, end = last->slot + last->count;
    uint32_t low = contents_find(contents, first), high = low;
    struct content before = {0}, behind = {0};

    while (high < contents->count && contents->runs[high].slot < end) {
        const struct content *run = &contents->runs[high++];
        if (run->slot < first) {
            before = content_part(run, 0, first);
        }
        if (run->slot + run->count > end) {
            behind = content_part(run, end, UINT32_MAX - end);
        }
    }
    int64_t kept = (before.count > 0) + (behind.count > 0);
    shift(contents, high, (int64_t)cargo->count + kept - (high - low));
    if (before.count > 0) {
        contents->runs[low++] = before;
    }
    memcpy(contents->runs + low, cargo->runs, cargo->count * sizeof *cargo->runs);
    high = low + cargo->count;
    if (behind.count > 0) {
        contents->runs[high] = behind;
    }
    (void)close_gap(contents, high - 1);
    if (low > 0) {
        (void)close_gap(contents, low - 1);
    }
}

void contents_free(struct contents *contents)
{
    free(contents->runs);
}
