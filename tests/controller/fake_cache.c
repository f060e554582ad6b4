#include "tests/controller/fake_cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "drivers/check.h"
#include "drivers/status.h"

struct plan_cache *fake_cache_make(void)
{
    struct plan_cache *cache = calloc(1, sizeof *cache);

    CHECK(cache);
    cache->words = "a test has none";
    return cache;
}

uint8_t fake_cache_byte(uint32_t rank, uint32_t at)
{
    return (uint8_t)(rank * 37 + at * 11 + at / 256);
}

const uint8_t *plan_cache_part(struct plan_cache *cache, const struct plan_request *request,
                               uint32_t rank, uint32_t *bytes, int *status, const char **words)
{
    cache->asked++;
    cache->request = *request;
    cache->rank = rank;
    if (cache->status != E_OK) {
        *status = cache->status;
        *words = cache->words ? cache->words : operation_name(request->operation);
        return NULL;
    }
    CHECK(cache->part_bytes <= sizeof cache->part);
    for (uint32_t i = 0; i < cache->part_bytes; i++) {
        cache->part[i] = fake_cache_byte(rank, i);
    }
    *bytes = cache->part_bytes;
    return cache->part;
}

const char *plan_algorithm_of(const struct network *network, uint32_t operation, uint32_t choice,
                              char words[ALGORITHM_WORDS_MAX])
{
    (void)network;
    (void)operation;
    snprintf(words, ALGORITHM_WORDS_MAX, "number %u", (unsigned)choice);
    return words;
}

bool plan_cache_predict(struct plan_cache *cache, const struct plan_request *request,
                        struct plan_time *time, uint32_t *steps, int *status)
{
    cache->asked++;
    cache->request = *request;
    if (cache->status != E_OK) {
        *status = cache->status;
        return false;
    }
    *time = (struct plan_time){.model_ns = request->bytes * UINT64_C(5000000000), .bound_ns = 7};
    *steps = request->operation;
    return true;
}
