#include "planner/proof/contents.h"

#include <stdlib.h>
#include <string.h>

#include "planner/build.h"

uint32_t contents_find(const struct contents *contents, uint32_t slot)
{
    uint32_t low = 0, high = contents->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (contents->list[middle].slot + contents->list[middle].count > slot) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

struct content content_part(const struct content *content, uint32_t first, uint32_t count)
{
    uint32_t low = content->slot > first ? content->slot : first;
    uint32_t end = content->slot + content->count < first + count ? content->slot + content->count
                                                                  : first + count;
    struct content part = *content;

    part.slot = low;
    part.count = end > low ? end - low : 0;
    part.block = content->block + (low - content->slot) * content->delta;
    return part;
}

/* Whether two ranges say the same but for slots and blocks. */
static bool alike(const struct content *a, const struct content *b)
{
    return a->whose[0] == b->whose[0] && a->whose[1] == b->whose[1] && a->written == b->written &&
           a->sent == b->sent && a->received == b->received;
}

/* Makes `next` part of `content` when it goes on with it. */
static bool joined(struct content *content, const struct content *next)
{
    uint64_t delta = content->count > 1 ? content->delta : next->block - content->block;

    if (content->slot + content->count != next->slot || !alike(content, next) ||
        next->block - content->block != content->count * delta ||
        (next->count > 1 && next->delta != delta)) {
        return false;
    }
    content->delta = delta;
    content->count += next->count;
    return true;
}

void contents_append(struct contents *contents, const struct content *content)
{
    if (content->count == 0 ||
        (contents->count > 0 && joined(&contents->list[contents->count - 1], content))) {
        return;
    }
    contents->list = planner_grow(contents->list, contents->count, sizeof *contents->list);
    contents->list[contents->count++] = *content;
}

/* Opens `more` places before place `at`, or takes away -more from there. */
static void shift(struct contents *contents, uint32_t at, int64_t more)
{
    uint32_t tail = contents->count - at;

    if (more == 0) {
        return;
    }
    for (int64_t i = 0; i < more; i++) {
        contents->list =
            planner_grow(contents->list, contents->count + (uint64_t)i, sizeof *contents->list);
    }
    memmove(contents->list + at + more, contents->list + at, tail * sizeof *contents->list);
    contents->count = (uint32_t)(contents->count + more);
}

/* Joins the range at a place with the one behind it, if they go on alike. */
static bool close_gap(struct contents *contents, uint32_t place)
{
    if (place + 1 >= contents->count ||
        !joined(&contents->list[place], &contents->list[place + 1])) {
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
    const struct content *last = &cargo->list[cargo->count - 1];
    uint32_t first = cargo->list[0].slot, end = last->slot + last->count;
    uint32_t low = contents_find(contents, first), high = low;
    struct content before = {0}, behind = {0};

    while (high < contents->count && contents->list[high].slot < end) {
        const struct content *content = &contents->list[high++];
        if (content->slot < first) {
            before = content_part(content, 0, first);
        }
        if (content->slot + content->count > end) {
            behind = content_part(content, end, UINT32_MAX - end);
        }
    }
    int64_t kept = (before.count > 0) + (behind.count > 0);
    shift(contents, high, (int64_t)cargo->count + kept - (high - low));
    if (before.count > 0) {
        contents->list[low++] = before;
    }
    memcpy(contents->list + low, cargo->list, cargo->count * sizeof *cargo->list);
    high = low + cargo->count;
    if (behind.count > 0) {
        contents->list[high] = behind;
    }
    (void)close_gap(contents, high - 1);
    if (low > 0) {
        (void)close_gap(contents, low - 1);
    }
}

void contents_free(struct contents *contents)
{
    free(contents->list);
}
