/*
 * desk.c - the plans of one machine, and the parts that nodes have asked for.
 *
 * A wish is answered once, for all the sizes of its plan; refusals are kept as well, since all
 * nodes ask the same. What nobody can wish (a root that there is not) is answered and forgotten,
 * and of the others the oldest when there are many, so that no asker can fill the memory. What
 * competed for the last answer stays laid down, for programs go from size to size. Threads may
 * share a desk.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/choose/choose.h"
#include "planner/written/written.h"
#include "drivers/check.h"
#include "drivers/status.h"
#include "reduction/reduction.h"

enum { DRAWERS = 1024, ANSWERS_MAX = 2048 };

/* The answer to one wish. */
struct answer {
    struct answer *next, *newer;
    uint32_t operation, root;
    uint32_t type;                 /* 0: any */
    uint32_t bytes_min, bytes_max; /* of which sizes it is the answer */
    uint32_t choice;               /* as in the wish */
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
    bool given;   /* parts of it have left the desk */
};

struct plan_desk {
    struct network network;
    struct profile profile;
    pthread_mutex_t lock;
    struct answer *drawers[DRAWERS];
    struct answer *written;         /* answers that were given before anybody asked */
    struct answer *oldest, *newest; /* of all drawers */
    uint32_t answers;
    struct contest *contest;  /* the last one; NULL: there was none */
    char *forced[OPERATIONS]; /* the algorithm for wishes that name none; NULL: the cheapest */
    struct answer wrong;      /* the last answer to what nobody can wish */
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
    if (!answer->written)
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
    while (desk->written) {
        struct answer *answer = desk->written;
        desk->written = answer->next;
        answer_free(answer);
    }
    for (unsigned i = 0; i < OPERATIONS; i++)
        free(desk->forced[i]);
    contest_free(desk->contest);
    pthread_mutex_destroy(&desk->lock);
    free(desk);
}

void plan_desk_force(struct plan_desk *desk, uint32_t operation, const char *algorithm)
{
    CHECK(operation < OPERATIONS);
    pthread_mutex_lock(&desk->lock);
    free(desk->forced[operation]);
    desk->forced[operation] = algorithm ? strdup(algorithm) : NULL;
    pthread_mutex_unlock(&desk->lock);
}

static bool same_name(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool answers(const struct answer *answer, const struct plan_wish *wish)
{
    return answer->operation == wish->operation && answer->root == wish->root &&
           (answer->type == 0 || answer->type == wish->type) && wish->bytes >= answer->bytes_min &&
           wish->bytes <= answer->bytes_max && answer->choice == wish->choice &&
           same_name(answer->algorithm, wish->algorithm);
}

/* Whether it is the wish that is wrong, and not the network that is too large for it. */
static bool is_wrong(const struct plan_desk *desk, const struct plan_wish *wish)
{
    const struct operation *operation = operation_of(wish->operation);

    return !operation || !operation->planned ||
           wish->root >= operation_roots(operation, &desk->network) ||
           (operation->reduces && reduction_element_bytes(wish->type) == 0);
}

static void make_shelf(struct answer *answer)
{
    uint32_t parts = answer->plan->invariant ? 1 : answer->plan->network.nodes;

    answer->parts = planner_memory(parts, sizeof *answer->parts);
    answer->part_bytes = planner_memory(parts, sizeof *answer->part_bytes);
}

/* The cheapest plan; NULL: there is none. */
static struct plan *choose(struct plan_desk *desk, const struct plan_wish *wish,
                           struct plan_fault *fault)
{
    if (!plan_possible(&desk->network, wish, fault))
        return NULL;
    if (!desk->contest || !contest_is_for(desk->contest, wish)) {
        contest_free(desk->contest);
        desk->contest = contest_make(&desk->network, wish);
    }
    return contest_win(desk->contest, wish, fault);
}

/* A refusal holds for all sizes. */
static struct answer *answer_make(struct plan_desk *desk, const struct plan_wish *wish)
{
    struct answer *answer = planner_memory(1, sizeof *answer);

    answer->operation = wish->operation;
    answer->root = wish->root;
    answer->type = wish->type;
    answer->choice = wish->choice;
    answer->algorithm = wish->algorithm ? strdup(wish->algorithm) : NULL;
    answer->bytes_max = UINT32_MAX;
    answer->plan = choose(desk, wish, &answer->fault);
    answer->status = answer->plan ? E_OK : E_NETWORK;
    if (!answer->plan)
        return answer;
    answer->type = answer->plan->type;
    for (const struct answer *written = desk->written; written; written = written->next)
        written_cut(answer->plan, written->plan, wish->bytes);
    answer->bytes_min = answer->plan->bytes_min;
    answer->bytes_max = answer->plan->bytes_max;
    make_shelf(answer);
    return answer;
}

void plan_desk_put(struct plan_desk *desk, struct plan *plan)
{
    struct answer *answer = planner_memory(1, sizeof *answer);

    answer->plan = plan;
    answer->status = E_OK;
    answer->written = true;
    answer->next = desk->written;
    make_shelf(answer);
    desk->written = answer;
}

bool plan_desk_used(const struct plan_desk *desk, const struct plan *plan)
{
    const struct answer *answer = desk->written;

    while (answer && answer->plan != plan)
        answer = answer->next;
    return answer && answer->used;
}

static void add_brief(const struct answer *answer, struct plan_brief *briefs, uint32_t room,
                      uint32_t *count)
{
    if (!answer->given)
        return;
    if (*count < room)
        briefs[*count] = plan_brief(answer->plan);
    ++*count;
}

uint32_t plan_desk_given(struct plan_desk *desk, struct plan_brief *briefs, uint32_t room)
{
    uint32_t count = 0;

    pthread_mutex_lock(&desk->lock);
    for (const struct answer *answer = desk->written; answer; answer = answer->next)
        add_brief(answer, briefs, room, &count);
    for (const struct answer *answer = desk->oldest; answer; answer = answer->newer)
        add_brief(answer, briefs, room, &count);
    pthread_mutex_unlock(&desk->lock);
    return count;
}

/* The written plan for a wish; NULL: there is none. */
static struct answer *written_to(struct plan_desk *desk, const struct plan_wish *wish)
{
    struct answer *answer = desk->written;

    while (answer && !written_suits(answer->plan, wish))
        answer = answer->next;
    if (answer)
        answer->used = true;
    return answer;
}

static struct answer **drawer_of(struct plan_desk *desk, uint32_t operation, uint32_t root)
{
    return &desk->drawers[(operation * 131 + root) % DRAWERS];
}

static void forget_oldest(struct plan_desk *desk)
{
    struct answer *oldest = desk->oldest;
    struct answer **at = drawer_of(desk, oldest->operation, oldest->root);

    while (*at != oldest)
        at = &(*at)->next;
    *at = oldest->next;
    desk->oldest = oldest->newer;
    desk->answers--;
    answer_free(oldest);
}

static void keep(struct plan_desk *desk, struct answer *answer)
{
    struct answer **drawer = drawer_of(desk, answer->operation, answer->root);

    answer->next = *drawer;
    *drawer = answer;
    if (desk->answers)
        desk->newest->newer = answer;
    else
        desk->oldest = answer;
    desk->newest = answer;
    if (desk->answers++ == ANSWERS_MAX)
        forget_oldest(desk);
}

static struct answer *wrong_answer(struct plan_desk *desk, const struct plan_wish *wish)
{
    plan_free(plan_make(&desk->network, wish, &desk->wrong.fault));
    desk->wrong.status = E_ARGUMENT;
    return &desk->wrong;
}

static struct answer *answer_to(struct plan_desk *desk, const struct plan_wish *asked)
{
    char words[ALGORITHM_WORDS_MAX];
    struct plan_wish wish = *asked;

    if (is_wrong(desk, asked))
        return wrong_answer(desk, asked);
    if (wish.choice && !wish.algorithm) {
        wish.algorithm = plan_algorithm_of(&desk->network, wish.operation, wish.choice, words);
        if (!wish.algorithm) {
            wish.algorithm = "that a program asks for";
            return wrong_answer(desk, &wish);
        }
    } else if (!wish.algorithm) {
        wish.algorithm = desk->forced[wish.operation];
    }
    if (!operation_of(wish.operation)->reduces)
        wish.type = 0;
    wish.profile = &desk->profile;
    struct answer *written = written_to(desk, &wish);
    if (written)
        return written;
    struct answer *answer = *drawer_of(desk, wish.operation, wish.root);
    while (answer && !answers(answer, &wish))
        answer = answer->next;
    if (!answer) {
        answer = answer_make(desk, &wish);
        keep(desk, answer);
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
    if (answer->plan) {
        part = part_of(answer, rank, bytes);
        answer->given = true;
    }
    pthread_mutex_unlock(&desk->lock);
    return part;
}

bool plan_desk_predict(struct plan_desk *desk, const struct plan_wish *wish, struct plan_time *time,
                       uint32_t *steps, int *status)
{
    pthread_mutex_lock(&desk->lock);
    struct answer *answer = answer_to(desk, wish);
    if (answer->plan &&
        (!answer->timed || answer->time_bytes != wish->bytes || answer->time_type != wish->type)) {
        answer->time = plan_time(answer->plan, wish->bytes, reduction_element_bytes(wish->type),
                                 &desk->profile);
        answer->time_bytes = wish->bytes;
        answer->time_type = wish->type;
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
