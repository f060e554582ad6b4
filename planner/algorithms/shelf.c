#include "planner/algorithms/shelf.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "planner/build.h"

struct kept {
    struct kept *next;
    char *name;
    uint16_t *words;
    uint32_t count;
};

/* Whatever was asked before, the answer is the same: so these are one for the process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *first;
static struct plan_shelf shelf;

void plan_use_shelf(const struct plan_shelf *given)
{
    pthread_mutex_lock(&lock);
    shelf = given ? *given : (struct plan_shelf){0};
    while (first) {
        struct kept *kept = first;
        first = kept->next;
        free(kept->name);
        free(kept->words);
        free(kept);
    }
    pthread_mutex_unlock(&lock);
}

/* From the shelf, if what is there is right. */
static uint16_t *read_shelf(const struct shelf_item *item, uint32_t *count)
{
    uint16_t *words = shelf.read ? shelf.read(shelf.context, item->name, count) : NULL;

    if (words && !item->is_right(item->what, words, *count)) {
        free(words);
        words = NULL;
        if (shelf.refuse) {
            shelf.refuse(shelf.context, item->name);
        }
    }
    return words;
}

static uint16_t *find(const struct shelf_item *item, uint32_t *count)
{
    uint16_t *words = read_shelf(item, count);

    if (!words) {
        words = item->find(item->what, count);
        CHECK(item->is_right(item->what, words, *count));
        if (shelf.keep) {
            shelf.keep(shelf.context, item->name, words, *count);
        }
    }
    return words;
}

const uint16_t *shelf_get(const struct shelf_item *item, uint32_t *count)
{
    pthread_mutex_lock(&lock);
    struct kept *kept = first;
    while (kept && strcmp(kept->name, item->name) != 0) {
        kept = kept->next;
    }
    if (!kept) {
        kept = planner_memory(1, sizeof *kept);
        kept->name = strdup(item->name);
        CHECK(kept->name);
        kept->words = find(item, &kept->count);
        kept->next = first;
        first = kept;
    }
    pthread_mutex_unlock(&lock);
    *count = kept->count;
    return kept->words;
}

void shelf_tell(const char *words)
{
    if (shelf.tell) {
        shelf.tell(shelf.context, words);
    }
}
