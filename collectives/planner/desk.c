/*
 * desk.c - the plans of one machine, and the parts that nodes have asked for.
 *
 * A wish is answered once; refusals are kept as well, since all nodes ask the same. What nobody can
 * wish (a root that there is not) is answered and forgotten, so that no asker can fill the memory.
 * Threads may share a desk.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/planner/build.h"
#include "collectives/planner/planner.h"
#include "drivers/check.h"
#include "drivers/status.h"
#include "reduction/reduction.h"

enum { DRAWERS = 1024 };

/* The answer to one wish. */
struct answer {
    struct answer *next;
    uint32_t operation, root, type;
    uint32_t bytes_min, bytes_max; /* of which sizes it is the answer */
    char *algorithm;               /* NULL: the planner's choice */
    struct plan *plan;             /* NULL: refused, for this reason */
    struct plan_fault fault;
    int status;
    uint8_t **parts; /* of each node; invariant: one */
    uint32_t *part_bytes;
    struct plan_time time; /* for time_bytes */
    uint32_t time_bytes;
    bool timed;
};

struct plan_desk {
    struct network network;
    struct profile profile;
    pthread_mutex_t lock;
    struct answer *drawers[DRAWERS];
    struct answer wrong; /* the last answer to what nobody can wish */
};

struct plan_desk *plan_desk_make(const struct network *network, const struct profile *profile)
{
    struct plan_desk *desk = planner_memory(1, sizeof *desk);

    desk->network = *network;
    desk->profile = *profile;
    CHECK(pthread_mutex_init(&desk->lock, NULL) == 0);
    return desk;
}

static void answer_free(struct answer *answer)
{
    uint32_t parts = !answer->plan ? 0 : answer->plan->invariant ? 1 : answer->plan->network.nodes;

    for (uint32_t i = 0; i < parts; i++)
        free(answer->parts[i]);
    free(answer->parts);
    free(answer->part_bytes);
    free(answer->algorithm);
    plan_free(answer->plan);
    free(answer);
}

void plan_desk_free(struct plan_desk *desk)
{
    if (!desk)
        return;
    for (unsigned i = 0; i < DRAWERS; i++)
        while (desk->drawers[i]) {
            struct answer *answer = desk->drawers[i];
            desk->drawers[i] = answer->next;
            answer_free(answer);
        }
    pthread_mutex_destroy(&desk->lock);
    free(desk);
}

static bool same_name(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool answers(const struct answer *answer, const struct plan_wish *wish)
{
    return answer->operation == wish->operation && answer->root == wish->root &&
           answer->type == wish->type && wish->bytes >= answer->bytes_min &&
           wish->bytes <= answer->bytes_max && same_name(answer->algorithm, wish->algorithm);
}

/* Whether it is the wish that is wrong, and not the network that is too large for it. */
static bool is_wrong(const struct plan_desk *desk, const struct plan_wish *wish)
{
    const struct operation *operation = operation_of(wish->operation);

    return !operation || !operation->planned || wish->root >= desk->network.nodes ||
           (!operation->rooted && wish->root) ||
           (operation->reduces && reduction_element_bytes(wish->type) == 0);
}

/* A refusal holds for all sizes. */
static struct answer *answer_make(struct plan_desk *desk, const struct plan_wish *wish)
{
    struct answer *answer = planner_memory(1, sizeof *answer);

    answer->operation = wish->operation;
    answer->root = wish->root;
    answer->type = wish->type;
    answer->algorithm = wish->algorithm ? strdup(wish->algorithm) : NULL;
    answer->bytes_max = UINT32_MAX;
    answer->plan = plan_make(&desk->network, wish, &answer->fault);
    answer->status = answer->plan ? E_OK : E_NETWORK;
    if (!answer->plan)
        return answer;
    answer->bytes_min = answer->plan->bytes_min;
    answer->bytes_max = answer->plan->bytes_max;
    uint32_t parts = answer->plan->invariant ? 1 : desk->network.nodes;
    answer->parts = planner_memory(parts, sizeof *answer->parts);
    answer->part_bytes = planner_memory(parts, sizeof *answer->part_bytes);
    return answer;
}

static struct answer *answer_to(struct plan_desk *desk, const struct plan_wish *asked)
{
    struct plan_wish wish = *asked;

    if (is_wrong(desk, asked)) {
        plan_free(plan_make(&desk->network, asked, &desk->wrong.fault));
        desk->wrong.status = E_ARGUMENT;
        return &desk->wrong;
    }
    if (!operation_of(wish.operation)->reduces)
        wish.type = 0;
    struct answer **drawer = &desk->drawers[(wish.operation * 131 + wish.root) % DRAWERS];
    struct answer *answer = *drawer;
    while (answer && !answers(answer, &wish))
        answer = answer->next;
    if (!answer) {
        answer = answer_make(desk, &wish);
        answer->next = *drawer;
        *drawer = answer;
    }
    return answer;
}

/* Writes the part of a node at its first use. */
static const uint8_t *part_of(struct answer *answer, uint32_t rank, uint32_t *bytes)
{
    uint32_t place = answer->plan->invariant ? 0 : rank;

    if (!answer->parts[place]) {
        answer->part_bytes[place] = plan_part(answer->plan, rank, NULL);
        answer->parts[place] = planner_memory(answer->part_bytes[place], 1);
        plan_part(answer->plan, rank, answer->parts[place]);
    }
    *bytes = answer->part_bytes[place];
    return answer->parts[place];
}

const uint8_t *plan_desk_part(struct plan_desk *desk, const struct plan_wish *wish, uint32_t rank,
                              uint32_t *bytes, int *status, const char **words)
{
    const uint8_t *part = NULL;

    CHECK(rank < desk->network.nodes);
    pthread_mutex_lock(&desk->lock);
    struct answer *answer = answer_to(desk, wish);
    *status = answer->status;
    *words = answer->plan ? "" : answer->fault.words;
    *bytes = 0;
    if (answer->plan)
        part = part_of(answer, rank, bytes);
    pthread_mutex_unlock(&desk->lock);
    return part;
}

bool plan_desk_predict(struct plan_desk *desk, const struct plan_wish *wish, struct plan_time *time,
                       uint32_t *steps, int *status)
{
    pthread_mutex_lock(&desk->lock);
    struct answer *answer = answer_to(desk, wish);
    if (answer->plan && (!answer->timed || answer->time_bytes != wish->bytes)) {
        answer->time = plan_time(answer->plan, wish->bytes, reduction_element_bytes(wish->type),
                                 &desk->profile);
        answer->time_bytes = wish->bytes;
        answer->timed = true;
    }
    *status = answer->status;
    if (answer->plan) {
        *time = answer->time;
        *steps = answer->plan->steps;
    }
    pthread_mutex_unlock(&desk->lock);
    return answer->plan;
}
