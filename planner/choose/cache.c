/*
 * cache.c - the plans of one machine, and the parts that nodes have asked for.
 *
 * A request is answered once, for all the sizes of its plan; refusals are kept as well, since all
 * nodes ask the same. What nobody can request (a root that there is not) is answered and forgotten,
 * and of the others the oldest when there are many, so that no asker can fill the memory. What
 * competed for the last answer stays laid down, for programs go from size to size. Threads may
 * share a cache.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/choose/choose.h"
#include "planner/choose/ranks.h"
#include "planner/written/written.h"
#include "drivers/check.h"
#include "drivers/status.h"
#include "reduction/reduction.h"

enum { BUCKETS = 1024, ENTRIES_MAX = 2048 };

/* The answer to one request. */
struct entry {
    struct entry *next, *newer;
    uint32_t operation, root;
    uint32_t type;                 /* 0: any */
    uint32_t bytes_min, bytes_max; /* of which sizes it is the answer */
    uint32_t choice;               /* as in the request */
    char *algorithm;               /* NULL: the planner's choice */
    struct plan *plan;             /* NULL: refused, for this reason */
    struct plan_fault fault;
    int status;
    uint8_t **parts; /* of each node; invariant: one */
    uint32_t *part_bytes;
    struct plan_time time; /* for time_bytes */
    uint32_t time_bytes, time_type;
    bool timed;
    bool written; /* the plan is somebody else's */
    bool used;    /* of a written one: it has been asked for */
    bool given;   /* parts of it have left the cache */
};

struct plan_cache {
    struct network network;
    struct profile profile;
    pthread_mutex_t lock;
    struct entry *buckets[BUCKETS];
    struct entry *written;         /* answers that were given before anybody asked */
    struct entry *oldest, *newest; /* of all buckets */
    uint32_t entries;
    struct contest *contest;  /* the last one; NULL: there was none */
    char *forced[OPERATIONS]; /* the algorithm for requests that name none; NULL: the cheapest */
    struct entry wrong;       /* the last answer to what nobody can request */
};

struct plan_cache *plan_cache_make(const struct network *network, const struct profile *profile)
{
    struct plan_cache *cache = planner_memory(1, sizeof *cache);

    cache->network = *network;
    cache->profile = *profile;
    CHECK(pthread_mutex_init(&cache->lock, NULL) == 0);
    return cache;
}

static void entry_free(struct entry *entry)
{
    uint32_t parts = !entry->plan                         ? 0
                     : plan_given(entry->plan)->invariant ? 1
                                                          : entry->plan->network.nodes;

    for (uint32_t i = 0; i < parts; i++) {
        free(entry->parts[i]);
    }
    free(entry->parts);
    free(entry->part_bytes);
    free(entry->algorithm);
    if (!entry->written) {
        plan_free(entry->plan);
    }
    free(entry);
}

void plan_cache_free(struct plan_cache *cache)
{
    if (!cache) {
        return;
    }
    for (unsigned i = 0; i < BUCKETS; i++) {
        while (cache->buckets[i]) {
            struct entry *entry = cache->buckets[i];
            cache->buckets[i] = entry->next;
            entry_free(entry);
        }
    }
    while (cache->written) {
        struct entry *entry = cache->written;
        cache->written = entry->next;
        entry_free(entry);
    }
    for (unsigned i = 0; i < OPERATIONS; i++) {
        free(cache->forced[i]);
    }
    contest_free(cache->contest);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

void plan_cache_force(struct plan_cache *cache, uint32_t operation, const char *algorithm)
{
    CHECK(operation < OPERATIONS);
    pthread_mutex_lock(&cache->lock);
    free(cache->forced[operation]);
    cache->forced[operation] = algorithm ? strdup(algorithm) : NULL;
    pthread_mutex_unlock(&cache->lock);
}

static bool same_name(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool suits(const struct entry *entry, const struct plan_request *request)
{
    return entry->operation == request->operation && entry->root == request->root &&
           (entry->type == 0 || entry->type == request->type) &&
           request->bytes >= entry->bytes_min && request->bytes <= entry->bytes_max &&
           entry->choice == request->choice && same_name(entry->algorithm, request->algorithm);
}

/* Whether it is the request that is wrong, and not the network that is too large for it. */
static bool is_wrong(const struct plan_cache *cache, const struct plan_request *request)
{
    const struct operation *operation = operation_of(request->operation);

    return !operation || !operation->planned ||
           request->root >= operation_roots(operation, &cache->network) ||
           (operation->reduces && reduction_element_bytes(request->type) == 0);
}

static void make_parts(struct entry *entry)
{
    uint32_t parts = plan_given(entry->plan)->invariant ? 1 : entry->plan->network.nodes;

    entry->parts = planner_memory(parts, sizeof *entry->parts);
    entry->part_bytes = planner_memory(parts, sizeof *entry->part_bytes);
}

/* The cheapest plan; NULL: there is none. */
static struct plan *choose(struct plan_cache *cache, const struct plan_request *request,
                           struct plan_fault *fault)
{
    if (!plan_possible(&cache->network, request, fault)) {
        return NULL;
    }
    if (!cache->contest || !contest_is_for(cache->contest, request)) {
        cache->contest = cache->contest ? contest_again(cache->contest, request)
                                        : contest_make(&cache->network, request);
    }
    return contest_win(cache->contest, request, fault);
}

/* A refusal holds for all sizes. */
static struct entry *entry_make(struct plan_cache *cache, const struct plan_request *request)
{
    struct entry *entry = planner_memory(1, sizeof *entry);

    entry->operation = request->operation;
    entry->root = request->root;
    entry->type = request->type;
    entry->choice = request->choice;
    entry->algorithm = request->algorithm ? strdup(request->algorithm) : NULL;
    entry->bytes_max = UINT32_MAX;
    entry->plan = choose(cache, request, &entry->fault);
    entry->status = entry->plan ? E_OK : E_NETWORK;
    if (!entry->plan) {
        return entry;
    }
    entry->type = entry->plan->type;
    for (const struct entry *written = cache->written; written; written = written->next) {
        written_cut(entry->plan, written->plan, request->bytes);
    }
    entry->bytes_min = entry->plan->bytes_min;
    entry->bytes_max = entry->plan->bytes_max;
    ranks_follow(entry->plan);
    make_parts(entry);
    return entry;
}

void plan_cache_put(struct plan_cache *cache, struct plan *plan)
{
    struct entry *entry = planner_memory(1, sizeof *entry);

    entry->plan = plan;
    entry->status = E_OK;
    entry->written = true;
    entry->next = cache->written;
    make_parts(entry);
    cache->written = entry;
}

bool plan_cache_used(const struct plan_cache *cache, const struct plan *plan)
{
    const struct entry *entry = cache->written;

    while (entry && entry->plan != plan) {
        entry = entry->next;
    }
    return entry && entry->used;
}

static void add_summary(const struct entry *entry, struct plan_summary *summaries, uint32_t room,
                        uint32_t *count)
{
    if (!entry->given) {
        return;
    }
    if (*count < room) {
        summaries[*count] = plan_summary(entry->plan);
    }
    ++*count;
}

uint32_t plan_cache_given(struct plan_cache *cache, struct plan_summary *summaries, uint32_t room)
{
    uint32_t count = 0;

    pthread_mutex_lock(&cache->lock);
    for (const struct entry *entry = cache->written; entry; entry = entry->next) {
        add_summary(entry, summaries, room, &count);
    }
    for (const struct entry *entry = cache->oldest; entry; entry = entry->newer) {
        add_summary(entry, summaries, room, &count);
    }
    pthread_mutex_unlock(&cache->lock);
    return count;
}

/* The written plan for a request; NULL: there is none. */
static struct entry *written_to(struct plan_cache *cache, const struct plan_request *request)
{
    struct entry *entry = cache->written;

    while (entry && !written_suits(entry->plan, request)) {
        entry = entry->next;
    }
    if (entry) {
        entry->used = true;
    }
    return entry;
}

static struct entry **bucket_of(struct plan_cache *cache, uint32_t operation, uint32_t root)
{
    return &cache->buckets[(operation * 131 + root) % BUCKETS];
}

static void forget_oldest(struct plan_cache *cache)
{
    struct entry *oldest = cache->oldest;
    struct entry **at = bucket_of(cache, oldest->operation, oldest->root);

    while (*at != oldest) {
        at = &(*at)->next;
    }
    *at = oldest->next;
    cache->oldest = oldest->newer;
    cache->entries--;
    entry_free(oldest);
}

static void keep(struct plan_cache *cache, struct entry *entry)
{
    struct entry **bucket = bucket_of(cache, entry->operation, entry->root);

    entry->next = *bucket;
    *bucket = entry;
    if (cache->entries) {
        cache->newest->newer = entry;
    } else {
        cache->oldest = entry;
    }
    cache->newest = entry;
    if (cache->entries++ == ENTRIES_MAX) {
        forget_oldest(cache);
    }
}

static struct entry *wrong_entry(struct plan_cache *cache, const struct plan_request *request)
{
    plan_free(plan_make(&cache->network, request, &cache->wrong.fault));
    cache->wrong.status = E_ARGUMENT;
    return &cache->wrong;
}

static struct entry *entry_for(struct plan_cache *cache, const struct plan_request *asked)
{
    char words[ALGORITHM_WORDS_MAX];
    struct plan_request request = *asked;

    if (is_wrong(cache, asked)) {
        return wrong_entry(cache, asked);
    }
    if (request.choice && !request.algorithm) {
        request.algorithm =
            plan_algorithm_of(&cache->network, request.operation, request.choice, words);
        if (!request.algorithm) {
            request.algorithm = "that a program asks for";
            return wrong_entry(cache, &request);
        }
    } else if (!request.algorithm) {
        request.algorithm = cache->forced[request.operation];
    }
    if (!operation_of(request.operation)->reduces) {
        request.type = 0;
    }
    request.profile = &cache->profile;
    struct entry *written = written_to(cache, &request);
    if (written) {
        return written;
    }
    struct entry *entry = *bucket_of(cache, request.operation, request.root);
    while (entry && !suits(entry, &request)) {
        entry = entry->next;
    }
    if (!entry) {
        entry = entry_make(cache, &request);
        keep(cache, entry);
    }
    return entry;
}

/* Writes the part of a node at its first use. */
static const uint8_t *part_of(struct entry *entry, uint32_t rank, uint32_t *bytes)
{
    const struct plan *given = plan_given(entry->plan);
    uint32_t place = given->invariant ? 0 : rank;

    if (!entry->parts[place]) {
        entry->part_bytes[place] = plan_part(given, rank, NULL);
        entry->parts[place] = planner_memory(entry->part_bytes[place], 1);
        plan_part(given, rank, entry->parts[place]);
    }
    *bytes = entry->part_bytes[place];
    return entry->parts[place];
}

const uint8_t *plan_cache_part(struct plan_cache *cache, const struct plan_request *request,
                               uint32_t rank, uint32_t *bytes, int *status, const char **words)
{
    const uint8_t *part = NULL;

    CHECK(rank < cache->network.nodes);
    pthread_mutex_lock(&cache->lock);
    struct entry *entry = entry_for(cache, request);
    *status = entry->status;
    *words = entry->plan ? "" : entry->fault.words;
    *bytes = 0;
    if (entry->plan) {
        part = part_of(entry, rank, bytes);
        entry->given = true;
    }
    pthread_mutex_unlock(&cache->lock);
    return part;
}

bool plan_cache_predict(struct plan_cache *cache, const struct plan_request *request,
                        struct plan_time *time, uint32_t *steps, int *status)
{
    const struct operation *operation = operation_of(request->operation);
    struct plan_request called = *request;

    if (operation && operation->sized) {
        called.bytes = ECUBE_EXCHANGEV_BYTES;
    }
    pthread_mutex_lock(&cache->lock);
    struct entry *entry = entry_for(cache, &called);
    if (entry->plan && (!entry->timed || entry->time_bytes != request->bytes ||
                        entry->time_type != request->type)) {
        entry->time = plan_time(entry->plan, request->bytes, reduction_element_bytes(request->type),
                                &cache->profile);
        entry->time_bytes = request->bytes;
        entry->time_type = request->type;
        entry->timed = true;
    }
    *status = entry->status;
    if (entry->plan) {
        *time = entry->time;
        *steps = entry->plan->steps;
    }
    pthread_mutex_unlock(&cache->lock);
    return entry->plan;
}
