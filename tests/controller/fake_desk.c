#include "tests/controller/fake_desk.h"

#include <stdio.h>
#include <stdlib.h>

#include "drivers/check.h"
#include "drivers/status.h"

struct plan_desk *fake_desk_make(void)
{
    struct plan_desk *desk = calloc(1, sizeof *desk);

    CHECK(desk);
    desk->words = "a test has none";
    return desk;
}

uint8_t fake_desk_byte(uint32_t rank, uint32_t at)
{
    return (uint8_t)(rank * 37 + at * 11 + at / 256);
}

const uint8_t *plan_desk_part(struct plan_desk *desk, const struct plan_wish *wish, uint32_t rank,
                              uint32_t *bytes, int *status, const char **words)
{
    desk->asked++;
    desk->wish = *wish;
    desk->rank = rank;
    if (desk->status != E_OK) {
        *status = desk->status;
        *words = desk->words ? desk->words : operation_name(wish->operation);
        return NULL;
    }
    CHECK(desk->part_bytes <= sizeof desk->part);
    for (uint32_t i = 0; i < desk->part_bytes; i++) {
        desk->part[i] = fake_desk_byte(rank, i);
    }
    *bytes = desk->part_bytes;
    return desk->part;
}

const char *plan_algorithm_of(const struct network *network, uint32_t operation, uint32_t choice,
                              char words[ALGORITHM_WORDS_MAX])
{
    (void)network;
    (void)operation;
    snprintf(words, ALGORITHM_WORDS_MAX, "number %u", (unsigned)choice);
    return words;
}

bool plan_desk_predict(struct plan_desk *desk, const struct plan_wish *wish, struct plan_time *time,
                       uint32_t *steps, int *status)
{
    desk->asked++;
    desk->wish = *wish;
    if (desk->status != E_OK) {
        *status = desk->status;
        return false;
    }
    *time = (struct plan_time){.model_ns = wish->bytes * UINT64_C(5000000000), .bound_ns = 7};
    *steps = wish->operation;
    return true;
}
