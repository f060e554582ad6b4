#include "tests/drivers/stepped_ring.h"

#include <stdlib.h>
#include <string.h>

static void copy_stepped(void *to, const void *from, uint32_t bytes);

/* The code under test once more, on our words, with bytes that are copied one by one. */
#define memcpy copy_stepped
#include "drivers/link/shared_ring.c"
#undef memcpy

#include "drivers/check.h"
#include "drivers/link/shared_word.h"

enum {
    WORDS = 5, /* of a side: put, taken, sleep, put_from, taken_from */
    PUT = 0,
    TAKEN = 1,
    SLEEP = 2,
    PUT_FROM = 3,
    TAKEN_FROM = 4,
    RING = 2 * WORDS,
    PLACES = RING + 2 * SHARED_RING_BYTES,
    ACCESSES_MAX = 16, /* of one call */
    BUFFER_MAX = 20,
    DEPTH_MAX = 4000,
    TABLE_MIN = 1 << 14
};

enum call {
    CALL_INIT,
    CALL_PUT,
    CALL_TAKE,
    CALL_PUBLISH,
    CALL_SLEEP,
    CALL_BARRIER,
    CALL_LOOK,
    CALL_WAIT,
    CALL_WAKE,
    CALL_DONE
};

struct store {
    uint32_t place;
    uint32_t value;
};

struct side {
    struct shared_end end; /* at the beginning of the call */
    enum call call;
    bool progress, bell, restarted;
    uint32_t answered; /* the sleep that this side was last rung for */
    uint32_t done;     /* accesses of the call */
    uint32_t loaded[ACCESSES_MAX];
    uint32_t stored; /* stores in the buffer, the oldest first */
    struct store buffer[BUFFER_MAX];
};

struct state {
    uint32_t memory[PLACES];
    struct side sides[2];
};

enum access_kind { ACCESS_NONE, ACCESS_LOAD, ACCESS_STORE, ACCESS_BARRIER };

struct access {
    enum access_kind kind;
    struct store store; /* place and, of a store, value */
};

/* Only its addresses mean anything, and the hint `published`. */
static struct shared_memory memory;

/* The run of a call up to its next access; without one, memory is what it is. */
static const struct stepped_case *scenario;
static const struct side *running;
static uint32_t accesses, barriers;
static struct access next;

/* ---- what the code under test calls ---- */

static uint32_t place_of(const volatile void *address)
{
    for (uint32_t side = 0; side < 2; side++) {
        const struct shared_side *words = &memory.side[side].words;
        const volatile void *places[WORDS] = {&words->put, &words->taken, &words->sleep,
                                              &words->put_from, &words->taken_from};

        for (uint32_t word = 0; word < WORDS; word++) {
            if (address == places[word]) {
                return side * WORDS + word;
            }
        }
    }
    CHECK(!"a word of the memory");
    return 0;
}

/* Whether it has been done before in this call; otherwise it is the next, and what the code does
 * with its result, 0, is forgotten. */
static bool was_done(enum access_kind kind, uint32_t place, uint32_t value)
{
    if (next.kind != ACCESS_NONE || accesses++ < running->done) {
        return next.kind == ACCESS_NONE;
    }
    next = (struct access){kind, {place, value}};
    return false;
}

static uint32_t load(uint32_t place)
{
    uint32_t number = accesses;

    return was_done(ACCESS_LOAD, place, 0) ? running->loaded[number] : 0;
}

uint32_t shared_load(const volatile uint32_t *word)
{
    return running ? load(place_of(word)) : *word;
}

void shared_store(volatile uint32_t *word, uint32_t value)
{
    if (running) {
        (void)was_done(ACCESS_STORE, place_of(word), value);
    } else {
        *word = value;
    }
}

void shared_barrier(void)
{
    if (!running) {
        return;
    }
    uint32_t number = barriers++;
    bool left_out =
        (scenario->mutant == MUTANT_NO_BARRIER_BEFORE_COUNTS && running->call == CALL_PUBLISH &&
         number == 0) ||
        (scenario->mutant == MUTANT_NO_BARRIER_BEFORE_LOOK && running->call == CALL_PUBLISH &&
         number == 1) ||
        (scenario->mutant == MUTANT_NO_BARRIER_AFTER_SLEEP && running->call == CALL_BARRIER);

    if (!left_out) {
        (void)was_done(ACCESS_BARRIER, 0, 0);
    }
}

static bool in_rings(const void *at)
{
    uintptr_t offset = (uintptr_t)at - (uintptr_t)memory.ring;

    return offset < sizeof memory.ring;
}

static void copy_stepped(void *to, const void *from, uint32_t bytes)
{
    uint8_t *target = to;
    const uint8_t *source = from;

    for (uint32_t i = 0; i < bytes; i++) {
        if (!running) {
            target[i] = source[i];
        } else if (in_rings(target + i)) {
            uint32_t offset = (uint32_t)(target + i - &memory.ring[0][0]);

            (void)was_done(ACCESS_STORE, RING + offset, source[i]);
        } else {
            target[i] = (uint8_t)load(RING + (uint32_t)(source + i - &memory.ring[0][0]));
        }
    }
}

/* ---- an end and its owner ---- */

static uint8_t byte_at(uint32_t position)
{
    return (uint8_t)(0x30 + (position - scenario->first));
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t to_send(unsigned number, const struct shared_end *end)
{
    return scenario->ends[number].bytes - (end->put - scenario->first);
}

static uint32_t to_come(unsigned number, const struct shared_end *end)
{
    return scenario->ends[1 - number].bytes - (end->taken - scenario->first);
}

static uint32_t bytes_wanted(unsigned number, const struct shared_end *end)
{
    return least(scenario->ends[number].bytes_wanted, to_come(number, end));
}

static uint32_t room_wanted(unsigned number, const struct shared_end *end)
{
    return least(scenario->ends[number].room_wanted, to_send(number, end));
}

static enum stepped_fault put_some(unsigned number, struct shared_end *end, bool *progress)
{
    uint32_t bytes = least(scenario->ends[number].piece, to_send(number, end));
    uint8_t data[16];

    CHECK(bytes <= sizeof data);
    for (uint32_t i = 0; i < bytes; i++) {
        data[i] = byte_at(end->put + i);
    }
    *progress |= bytes > 0 && shared_end_put(end, data, bytes) > 0;
    return STEPPED_RIGHT;
}

static enum stepped_fault take_some(unsigned number, struct shared_end *end, bool *progress)
{
    uint8_t data[16];
    uint32_t first = end->taken;
    uint32_t bytes = shared_end_take(end, data, scenario->ends[number].bite);

    *progress |= bytes > 0;
    for (uint32_t i = 0; next.kind == ACCESS_NONE && i < bytes; i++) {
        if (data[i] != byte_at(first + i)) {
            return STEPPED_WRONG_BYTE;
        }
    }
    return STEPPED_RIGHT;
}

static void start(unsigned number, struct shared_end *end)
{
    shared_end_init(end, &memory, number);
    end->published = 0;
    if (scenario->mutant == MUTANT_SILENT_AT_START) {
        end->told = true;
    }
    if (scenario->mutant == MUTANT_RUNG_BEFORE) {
        end->rung = (end->rung + SHARED_SLEEP_ONE) & ~(uint32_t)WANTS;
    }
}

/* Runs a call from its beginning, up to its next access or to its end, and says what comes then. */
static enum stepped_fault run_call(const struct state *state, unsigned number, struct side *after,
                                   bool *rings)
{
    struct shared_end *end = &after->end;
    enum stepped_fault fault = STEPPED_RIGHT;

    *after = state->sides[number];
    running = &state->sides[number];
    accesses = barriers = 0;
    next.kind = ACCESS_NONE;
    *rings = false;
    switch (after->call) {
    case CALL_INIT:
        start(number, end);
        after->call = CALL_PUT;
        after->progress = false;
        break;
    case CALL_PUT:
        fault = put_some(number, end, &after->progress);
        after->call = CALL_TAKE;
        break;
    case CALL_TAKE:
        fault = take_some(number, end, &after->progress);
        after->call = CALL_PUBLISH;
        break;
    case CALL_PUBLISH:
        *rings = shared_end_publish(end);
        end->published = 0;
        after->call = to_send(number, end) == 0 && to_come(number, end) == 0 ? CALL_DONE
                      : after->progress && !scenario->ends[number].lazy      ? CALL_PUT
                                                                             : CALL_SLEEP;
        after->progress = false;
        break;
    case CALL_SLEEP:
        after->bell = false; /* one for an older sleep: who is awake may clear it until now */
        if (scenario->mutant == MUTANT_SAME_NUMBER) {
            end->sleep -= SHARED_SLEEP_ONE;
        }
        shared_end_sleep(end, bytes_wanted(number, end), room_wanted(number, end));
        after->call = CALL_BARRIER;
        break;
    case CALL_BARRIER:
        shared_barrier();
        after->call = scenario->mutant == MUTANT_NO_SECOND_LOOK ? CALL_WAIT : CALL_LOOK;
        break;
    case CALL_LOOK:
        after->call = shared_end_missed(end, bytes_wanted(number, end), room_wanted(number, end))
                          ? CALL_WAKE
                          : CALL_WAIT;
        break;
    case CALL_WAKE:
        shared_end_wake(end);
        after->call = CALL_PUT;
        break;
    case CALL_WAIT:
    case CALL_DONE: break;
    }
    return end->broken && fault == STEPPED_RIGHT ? STEPPED_BROKEN : fault;
}

/* ---- steps ---- */

static void begin_call(struct side *side)
{
    side->done = 0;
    memset(side->loaded, 0, sizeof side->loaded);
}

/* A side rings the other; false: it has done so for this sleep before, and knows. */
static bool ring(struct state *state, unsigned number)
{
    struct side *side = &state->sides[number], *other = &state->sides[1 - number];
    bool again = other->answered == side->end.rung;

    other->bell = true;
    other->answered = side->end.rung;
    if (scenario->mutant == MUTANT_RINGS_AGAIN) {
        side->end.rung -= SHARED_SLEEP_ONE;
    }
    return !again || side->restarted;
}

/* Ends all calls that need no further access. */
static enum stepped_fault go_on(struct state *state, unsigned number, uint32_t *bells)
{
    struct side *side = &state->sides[number];

    while (side->call != CALL_WAIT && side->call != CALL_DONE) {
        struct side after;
        bool rings;
        enum stepped_fault fault = run_call(state, number, &after, &rings);

        if (next.kind != ACCESS_NONE) {
            break;
        }
        if (fault != STEPPED_RIGHT) {
            return fault;
        }
        *side = after;
        begin_call(side);
        if (rings && !ring(state, number)) {
            return STEPPED_TWO_BELLS;
        }
        *bells += rings;
    }
    return STEPPED_RIGHT;
}

static uint32_t value_seen(const struct state *state, const struct side *side, uint32_t place)
{
    for (uint32_t i = side->stored; i > 0; i--) {
        if (side->buffer[i - 1].place == place) {
            return side->buffer[i - 1].value;
        }
    }
    return state->memory[place];
}

/* The next access of a side, and what follows without one; false when it must wait. */
static bool step(struct state *state, unsigned number, enum stepped_fault *fault, uint32_t *bells)
{
    struct side *side = &state->sides[number], after;
    bool rings;

    if (side->call == CALL_DONE || (side->call == CALL_WAIT && !side->bell)) {
        return false;
    }
    if (side->call == CALL_WAIT) {
        side->bell = false;
        side->call = CALL_WAKE;
        *fault = go_on(state, number, bells);
        return true;
    }
    (void)run_call(state, number, &after, &rings);
    if (next.kind == ACCESS_BARRIER && side->stored > 0) {
        return false;
    }
    CHECK(next.kind != ACCESS_NONE && side->done < ACCESSES_MAX && side->stored < BUFFER_MAX);
    if (next.kind == ACCESS_LOAD) {
        side->loaded[side->done] = value_seen(state, side, next.store.place);
    } else if (next.kind == ACCESS_STORE) {
        side->buffer[side->stored++] = next.store;
    }
    side->done++;
    *fault = go_on(state, number, bells);
    return true;
}

/* A store leaves the buffer; false when it may not yet. */
static bool leave(struct state *state, unsigned number, uint32_t which)
{
    struct side *side = &state->sides[number];

    if (which >= side->stored || (which > 0 && !scenario->reordered)) {
        return false;
    }
    for (uint32_t i = 0; i < which; i++) {
        if (side->buffer[i].place == side->buffer[which].place) {
            return false;
        }
    }
    state->memory[side->buffer[which].place] = side->buffer[which].value;
    side->stored--;
    memmove(&side->buffer[which], &side->buffer[which + 1],
            (side->stored - which) * sizeof side->buffer[0]);
    side->buffer[side->stored] = (struct store){0};
    return true;
}

/* A side starts again: what was private is lost, and a bell that rings. */
static bool restart(struct state *state, unsigned number, enum stepped_fault *fault,
                    uint32_t *bells)
{
    struct side *side = &state->sides[number];

    if ((scenario->restarts >> number & 1) == 0 || side->restarted) {
        return false;
    }
    memset(&side->end, 0, sizeof side->end);
    side->call = CALL_INIT;
    side->bell = side->progress = false;
    side->restarted = true;
    begin_call(side);
    *fault = go_on(state, number, bells);
    return true;
}

/* ---- the search ---- */

enum { MOVES = 2 * (2 + BUFFER_MAX) };

/* One of the steps that may follow; false when this one may not. */
static bool move(struct state *state, unsigned which, enum stepped_fault *fault, uint32_t *bells)
{
    unsigned number = which % 2, kind = which / 2;

    return kind == 0   ? step(state, number, fault, bells)
           : kind == 1 ? restart(state, number, fault, bells)
                       : leave(state, number, kind - 2);
}

/* Whether it is worth a copy of the state to try. */
static bool may_move(const struct state *state, unsigned which)
{
    return which / 2 == 0   ? true
           : which / 2 == 1 ? (scenario->restarts >> which % 2 & 1) != 0
                            : which / 2 - 2 < state->sides[which % 2].stored;
}

static uint64_t hash_words(uint64_t hash, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t hash_side(uint64_t hash, const struct side *side)
{
    const struct shared_end *end = &side->end;
    const uint32_t words[] = {
        end->put,
        end->put_published,
        end->taken,
        end->taken_published,
        end->sleep,
        end->rung,
        side->done,
        end->their_taken,
        side->stored,
        end->their_put,
        side->answered,
        side->call,
        (uint32_t)(side->progress | side->bell << 1 | side->restarted << 2 | end->told << 3)};

    hash = hash_words(hash, words, sizeof words / sizeof words[0]);
    hash = hash_words(hash, side->loaded, side->done);
    return hash_words(hash, &side->buffer[0].place, 2 * (size_t)side->stored);
}

/* Hashes of the states that were visited; 0: a free place. */
struct visited {
    uint64_t *table;
    uint32_t places, used;
};

static struct visited visited_make(uint32_t places)
{
    struct visited visited = {.table = calloc(places, sizeof *visited.table), .places = places};

    CHECK(visited.table);
    return visited;
}

/* Whether it was not there before. */
static bool add(struct visited *visited, uint64_t hash)
{
    for (uint64_t at = hash >> 20;; at++) {
        uint64_t *place = &visited->table[at & (visited->places - 1)];

        if (*place == hash) {
            return false;
        }
        if (*place == 0) {
            *place = hash;
            visited->used++;
            return true;
        }
    }
}

/* Whether a state is new; it is then visited. */
static bool visit(struct visited *visited, const struct state *state)
{
    uint64_t hash = hash_words(1, state->memory, PLACES);

    if (visited->used > visited->places / 2) {
        struct visited larger = visited_make(2 * visited->places);

        for (uint32_t i = 0; i < visited->places; i++) {
            if (visited->table[i] != 0) {
                (void)add(&larger, visited->table[i]);
            }
        }
        free(visited->table);
        *visited = larger;
    }
    return add(visited, hash_side(hash_side(hash, &state->sides[0]), &state->sides[1]) | 1);
}

static void set_up(struct state *state)
{
    memset(state, 0, sizeof *state);
    for (unsigned number = 0; number < 2; number++) {
        state->memory[number * WORDS + PUT] = state->memory[number * WORDS + TAKEN] =
            scenario->first;
        state->memory[number * WORDS + SLEEP] = scenario->first & ~(uint32_t)WANTS;
        state->sides[number].answered = 1; /* no sleep has this number */
    }
}

/* A state in which nothing can follow: everybody must have come to his end. */
static enum stepped_fault judge_end(const struct state *state)
{
    return state->sides[0].call == CALL_DONE && state->sides[1].call == CALL_DONE ? STEPPED_RIGHT
                                                                                  : STEPPED_STUCK;
}

struct frame {
    struct state state;
    unsigned moves; /* tried */
    bool has_followers;
};

struct stepped_outcome stepped_search(const struct stepped_case *wanted)
{
    struct stepped_outcome outcome = {0};
    struct frame *frames = malloc(DEPTH_MAX * sizeof *frames);
    struct visited visited = visited_make(TABLE_MIN);
    uint32_t depth = 0;

    CHECK(frames);
    scenario = wanted;
    set_up(&frames[0].state);
    frames[0].moves = 0;
    frames[0].has_followers = false;
    for (unsigned number = 0; number < 2; number++) {
        outcome.fault = go_on(&frames[0].state, number, &outcome.bells);
        CHECK(outcome.fault == STEPPED_RIGHT);
    }
    (void)visit(&visited, &frames[0].state);
    while (outcome.fault == STEPPED_RIGHT) {
        struct frame *frame = &frames[depth];

        if (frame->moves == MOVES) {
            outcome.fault = frame->has_followers ? STEPPED_RIGHT : judge_end(&frame->state);
            if (depth-- == 0) {
                break;
            }
            continue;
        }
        if (!may_move(&frame->state, frame->moves)) {
            frame->moves++;
            continue;
        }
        CHECK(depth + 1 < DEPTH_MAX);
        frames[depth + 1].state = frame->state;
        if (!move(&frames[depth + 1].state, frame->moves++, &outcome.fault, &outcome.bells)) {
            continue;
        }
        /* a side that may start again is not stuck for that */
        frame->has_followers |= (frame->moves - 1) / 2 != 1;
        if (visit(&visited, &frames[depth + 1].state)) {
            depth++;
            frames[depth].moves = 0;
            frames[depth].has_followers = false;
            outcome.depth = depth > outcome.depth ? depth : outcome.depth;
        }
    }
    running = NULL;
    outcome.states = visited.used;
    free(visited.table);
    free(frames);
    return outcome;
}

const char *stepped_fault_name(enum stepped_fault fault)
{
    static const char *const names[] = {"right", "stuck", "wrong byte", "two bells for one sleep",
                                        "broken"};

    return names[fault];
}
