/*
 * scan_digits.c - the inclusive prefix digit by digit, with a part of the vector in each digit.
 *
 * A rank is a row of digits: bits of a cube, else places in dimensions or in prime factors of them.
 * In a step of a digit the nodes that differ in it alone, a line, pass on sums both ways, so that
 * each has those of all below it, and of all above.
 *
 * Of ranks that agree in all digits that are still to come, a node keeps three sums:
 *
 *     R    itself and those that are less by a digit below all that are still to come
 *     T    all that agree with it above these as well
 *     A    those that are less by a digit above all that are still to come
 *
 * Upwards from the lowest digit a node sends T and adds what is below it to R: recursive doubling.
 * A part that begins with digit r goes up to the highest, adding to A, and then from digit 0 on to
 * r - 1: there it sends A, which all add whose higher digits are the same, and T by itself; in its
 * last digit their sum is enough. So no two parts use a digit at once. Parts 0 and 1 never send
 * both; if they are twice as long as the others, d > 2 bits take d a + 2 d / (d + 2) k, where
 * recursive doubling takes d (a + k).
 *
 *     cube:2    part 0    0 <-> 1, 2 <-> 3: T    | 0 -> 2, 1 -> 3: T
 *               part 1    0 -> 2, 1 -> 3: itself | 0 -> 1: itself; 2 -> 3: A and itself; 3 -> 2: A
 *
 * Long vectors go up through all digits in segments, one behind the other. Every link then carries
 * k, and but on rings some link must (proof/bound.h).
 *
 * Source   Hillis & Steele, Data parallel algorithms, CACM 29(12), 1986, 1170-1183 (upwards); parts
 *          rotated as by Johnsson & Ho, IEEE TC 38(9), 1989
 * Variants in how many orders of digits; segments by powers of two
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "planner/build.h"
#include "reduction/reduction.h"
#include "wire/circuit.h"

enum {
    NODES_MAX = 1024,
    CIRCUITS_MAX = 1 << 17,
    DIGITS_MAX = 16,
    FORMS_MAX = 24,
    SEGMENTS_LEAST = 4,
    SEGMENTS_MOST = 256,
    LANES_MAX = 2
};

static const double LEAST_MAX_NS = 1e17;

/* Of a node and part. What comes up a line, and down; what goes up, and down, where it is a sum:
 * the last four for each of two lanes. */
enum layer { TOTAL, LESS, BELOW, ABOVE = BELOW + LANES_MAX, UP = ABOVE + LANES_MAX };
enum { DOWN = UP + LANES_MAX, LAYERS = DOWN + LANES_MAX };

/* How a variant does it. */
struct form {
    bool factors;              /* digits are prime factors of dimensions */
    uint32_t orders, segments; /* one of them is 1 */
};

/* What travels along a line: the sum of these layers up, of this one down. */
struct lane {
    enum layer up[LANES_MAX], down;
    unsigned ups;
    bool goes_down;
};

struct digit {
    uint32_t size, stride;
};

/* What a part does in a digit. */
struct phase {
    enum { UPWARDS, AROUND, LAST } kind;
    unsigned number, digit;
    bool totals; /* T is wanted afterwards */
    struct lane lanes[LANES_MAX];
    unsigned lane_count;
};

struct part {
    uint32_t first, count; /* segments */
    uint32_t start;        /* its first round */
    unsigned order;        /* its first digit */
    bool *has;             /* [node * LAYERS + layer] */
};

struct scan {
    struct plan *plan;
    struct form form;
    struct digit digits[DIGITS_MAX];
    unsigned count;
    struct part *parts;
    uint32_t part_count, step;
    unsigned ports;
    uint32_t layer_at[LAYERS], layers; /* layer_at: 1 + its place in scratch */
};

/* Digits ----------------------------------------------------------------------------------------
 */

/* From the lowest on; 0: they are too many. */
static unsigned digits_of(const struct network *network, bool factors,
                          struct digit digits[DIGITS_MAX])
{
    unsigned count = 0;

    for (uint32_t stride = 1; stride < network->nodes;) {
        const struct network_dimension *dim = network->dim;
        while (dim->stride != stride || dim->size == 1) {
            dim++;
        }
        for (uint32_t left = dim->size, size; left > 1; left /= size) {
            size = 2;
            while (factors && left % size) {
                size++;
            }
            size = factors ? size : left;
            if (count == DIGITS_MAX) {
                return 0;
            }
            digits[count++] = (struct digit){size, stride};
            stride *= size;
        }
    }
    return count;
}

static uint32_t place_in(const struct digit *digit, uint32_t node)
{
    return node / digit->stride % digit->size;
}

/* Lines' steps of a phase: parts in several orders wait for the one whose lines are longest. */
static uint32_t steps_of(const struct scan *scan, unsigned number)
{
    uint32_t steps = 0;

    for (unsigned order = 0; order < scan->form.orders; order++) {
        uint32_t own = scan->digits[(number + order) % scan->count].size - 1;
        steps = own > steps ? own : steps;
    }
    return steps;
}

/* What a part does in its phase `number`. */
static struct phase phase_of(const struct scan *scan, const struct part *part, unsigned number)
{
    unsigned up = scan->count - part->order;
    struct phase phase = {
        .kind = UPWARDS, .number = number, .digit = part->order + number, .lane_count = 1};

    if (number < up) {
        phase.totals = number + 1 < up;
        phase.lanes[0] = (struct lane){{TOTAL}, TOTAL, 1, phase.totals};
        return phase;
    }
    phase.digit = number - up;
    phase.kind = phase.digit + 1 < part->order ? AROUND : LAST;
    if (phase.kind == LAST) {
        phase.lanes[0] = (struct lane){{LESS, TOTAL}, LESS, 2, true};
        return phase;
    }
    phase.totals = true;
    phase.lane_count = 2;
    phase.lanes[0] = (struct lane){{LESS}, LESS, 1, true};
    phase.lanes[1] = (struct lane){{TOTAL}, TOTAL, 1, true};
    return phase;
}

/* The part's phase in a round, and the lines' step in it; false: none. */
static bool is_at_work(const struct scan *scan, const struct part *part, uint32_t round,
                       struct phase *phase, uint32_t *step)
{
    uint32_t left = round - part->start;

    for (unsigned number = 0; number < scan->count && round >= part->start; number++) {
        *phase = phase_of(scan, part, number);
        if (left < steps_of(scan, number)) {
            *step = left;
            return true;
        }
        left -= steps_of(scan, number);
    }
    return false;
}

/* Slots ---------------------------------------------------------------------------------------- */

static bool *has(const struct part *part, uint32_t node, unsigned layer)
{
    return &part->has[(uint64_t)node * LAYERS + layer];
}

/* Whether a node has something there: as its total, before anything has come, it has its own. */
static bool is_there(const struct part *part, uint32_t node, unsigned layer)
{
    return layer == TOTAL || *has(part, node, layer);
}

static void add_layer(struct scan *scan, const struct part *part, uint32_t node, unsigned layer,
                      struct slots *slots)
{
    struct plan *plan = scan->plan;

    if (layer == TOTAL && !*has(part, node, TOTAL)) {
        slots_add(plan, slots, SPACE_SEND, part->first, part->count);
        return;
    }
    if (!scan->layer_at[layer]) {
        scan->layer_at[layer] = ++scan->layers;
    }
    uint32_t slot = (scan->layer_at[layer] - 1) * plan->segments + part->first;
    uint32_t *scratch = &plan->scratch[node];
    *scratch = *scratch > slot + part->count ? *scratch : slot + part->count;
    slots_add(plan, slots, SPACE_SCRATCH, slot, part->count);
}

static struct slots layer_of(struct scan *scan, const struct part *part, uint32_t node,
                             unsigned layer)
{
    struct slots slots = slots_begin(scan->plan);

    add_layer(scan, part, node, layer, &slots);
    return slots;
}

/* Adds a layer, if there is one, to another, which may be empty yet. */
static void add(struct scan *scan, const struct part *part, uint32_t node, unsigned from,
                unsigned to)
{
    if (!is_there(part, node, from)) {
        return;
    }
    struct slots source = layer_of(scan, part, node, from);
    if (to == TOTAL && !*has(part, node, TOTAL)) {
        struct slots own = layer_of(scan, part, node, TOTAL);
        *has(part, node, TOTAL) = true;
        build_copy(scan->plan, scan->step, node, own, layer_of(scan, part, node, TOTAL), 0);
    }
    bool combines = *has(part, node, to);
    *has(part, node, to) = true;
    build_copy(scan->plan, scan->step, node, source, layer_of(scan, part, node, to),
               combines ? ROW_COMBINES : 0);
}

static void add_to_result(struct scan *scan, const struct part *part, uint32_t node, unsigned from)
{
    if (is_there(part, node, from)) {
        struct slots source = layer_of(scan, part, node, from);
        struct slots result = slots_of(scan->plan, SPACE_RECEIVE, part->first, part->count);
        build_copy(scan->plan, scan->step, node, source, result, ROW_COMBINES);
    }
}

/* Lines --------------------------------------------------------------------------------------- */

/* What a node sends up or down a lane: layers that are there, at most three. */
static unsigned sent_of(const struct part *part, uint32_t node, const struct lane *lane,
                        unsigned number, bool down, unsigned layers[LANES_MAX + 1])
{
    unsigned came = number + (down ? ABOVE : BELOW), count = 0;

    for (unsigned i = 0; i < (down ? 1 : lane->ups); i++) {
        unsigned layer = down ? lane->down : lane->up[i];
        if (is_there(part, node, layer)) {
            layers[count++] = layer;
        }
    }
    if (is_there(part, node, came)) {
        layers[count++] = came;
    }
    return count;
}

/* Where several are added up before they are sent. */
static void add_up(struct scan *scan, const struct part *part, uint32_t node,
                   const struct phase *phase, bool down)
{
    for (unsigned i = 0; i < phase->lane_count; i++) {
        unsigned layers[LANES_MAX + 1], sum = i + (down ? DOWN : UP);
        unsigned count = sent_of(part, node, &phase->lanes[i], i, down, layers);
        *has(part, node, sum) = false;
        for (unsigned k = 0; k < count && count > 1; k++) {
            add(scan, part, node, layers[k], sum);
        }
    }
}

/* A circuit to the next node of the line, of all lanes that have something. */
static void pass_on(struct scan *scan, const struct part *part, const struct phase *phase,
                    uint32_t from, uint32_t to, bool down)
{
    unsigned sent[LANES_MAX], received[LANES_MAX], count = 0;

    for (unsigned i = 0; i < phase->lane_count; i++) {
        unsigned layers[LANES_MAX + 1];
        unsigned all = sent_of(part, from, &phase->lanes[i], i, down, layers);
        if (all > 0 && (!down || phase->lanes[i].goes_down)) {
            sent[count] = all == 1 ? layers[0] : i + (down ? DOWN : UP);
            received[count++] = i + (down ? ABOVE : BELOW);
        }
    }
    if (count == 0) {
        return;
    }
    struct slots source = slots_begin(scan->plan);
    for (unsigned i = 0; i < count; i++) {
        add_layer(scan, part, from, sent[i], &source);
    }
    struct slots place = slots_begin(scan->plan);
    for (unsigned i = 0; i < count; i++) {
        *has(part, to, received[i]) = true;
        add_layer(scan, part, to, received[i], &place);
    }
    build_circuit(scan->plan, scan->step, from, to, source, place, 0);
}

/* The place of a line that sends in a step. */
static uint32_t sender_of(const struct digit *digit, uint32_t step, bool down)
{
    return down ? digit->size - 1 - step : step;
}

/* One way along all lines of a digit. */
static void step_on(struct scan *scan, const struct part *part, const struct phase *phase,
                    uint32_t step, bool down)
{
    const struct digit *digit = &scan->digits[phase->digit];

    for (uint32_t node = 0; node < scan->plan->network.nodes; node++) {
        if (place_in(digit, node) == sender_of(digit, step, down)) {
            uint32_t to = down ? node - digit->stride : node + digit->stride;
            pass_on(scan, part, phase, node, to, down);
        }
    }
}

/* Who has got something along a line and passes it on adds what it has. */
static void take_along(struct scan *scan, const struct part *part, const struct phase *phase,
                       uint32_t step, uint32_t node)
{
    const struct digit *digit = &scan->digits[phase->digit];

    for (unsigned down = 0; down < 2 && step + 2 < digit->size; down++) {
        if (place_in(digit, node) == sender_of(digit, step + 1, down) &&
            (!down || phase->lanes[0].goes_down)) {
            add_up(scan, part, node, phase, down);
        }
    }
}

/* What a node makes of what has come along its line. */
static void end_phase(struct scan *scan, const struct part *part, const struct phase *phase,
                      uint32_t node)
{
    switch (phase->kind) {
    case UPWARDS:
        if (part->order == 0) {
            add_to_result(scan, part, node, BELOW);
        } else {
            add(scan, part, node, BELOW, LESS);
        }
        break;
    case AROUND:
        add(scan, part, node, BELOW, LESS);
        add(scan, part, node, ABOVE, LESS);
        add_to_result(scan, part, node, BELOW + 1);
        break;
    case LAST:
        add_to_result(scan, part, node, LESS);
        add_to_result(scan, part, node, BELOW);
        add_to_result(scan, part, node, ABOVE);
        break;
    }
    if (phase->totals) {
        add(scan, part, node, BELOW + phase->lane_count - 1, TOTAL);
        add(scan, part, node, ABOVE + phase->lane_count - 1, TOTAL);
    } else {
        *has(part, node, TOTAL) = false;
    }
    for (unsigned layer = BELOW; layer < LAYERS; layer++) {
        *has(part, node, layer) = false;
    }
}

/* The last digit's sums of two are made before the first node of a line sends them. */
static void begin_phase(struct scan *scan, const struct part *part, uint32_t round, uint32_t node)
{
    struct phase phase;
    uint32_t step;

    if (is_at_work(scan, part, round, &phase, &step) &&
        place_in(&scan->digits[phase.digit], node) == 0) {
        add_up(scan, part, node, &phase, false);
    }
}

static void settle(struct scan *scan, const struct part *part, const struct phase *phase,
                   uint32_t round, uint32_t step)
{
    for (uint32_t node = 0; node < scan->plan->network.nodes; node++) {
        take_along(scan, part, phase, step, node);
        if (step + 1 == steps_of(scan, phase->number)) {
            end_phase(scan, part, phase, node);
            begin_phase(scan, part, round + 1, node);
        }
    }
}

/* Rounds --------------------------------------------------------------------------------------- */

/* One way of a digit in a round, of all parts that are there; whether any is. */
static bool go(struct scan *scan, uint32_t round, unsigned digit, bool down, bool lays)
{
    struct phase phase;
    uint32_t step;
    bool any = false;

    for (uint32_t i = 0; i < scan->part_count; i++) {
        if (is_at_work(scan, &scan->parts[i], round, &phase, &step) && phase.digit == digit &&
            step + 1 < scan->digits[digit].size && (!down || phase.lanes[0].goes_down)) {
            any = true;
            if (lays) {
                step_on(scan, &scan->parts[i], &phase, step, down);
            }
        }
    }
    return any;
}

/* Both ways between two nodes go by one port. A round of more than there are becomes several
 * steps. */
static void lay_round(struct scan *scan, uint32_t round)
{
    uint32_t used = 0;
    unsigned ports = scan->ports;

    for (unsigned digit = 0; digit < scan->count; digit++) {
        bool pairs = scan->digits[digit].size == 2;
        for (unsigned down = 0; down < 2; down++) {
            if (!go(scan, round, digit, down, false)) {
                continue;
            }
            used -= pairs && down ? 1 : 0;
            scan->step += used > 0 && used % ports == 0 ? 1 : 0;
            scan->plan->port = (uint8_t)(used++ % ports);
            (void)go(scan, round, digit, down, true);
        }
    }
    for (uint32_t i = 0; i < scan->part_count; i++) {
        struct phase phase;
        uint32_t step;
        if (is_at_work(scan, &scan->parts[i], round, &phase, &step)) {
            settle(scan, &scan->parts[i], &phase, round, step);
        }
    }
    scan->step++;
}

/* Where no part sends two sums at once the orders 0 and 1 are as long as the others. */
static void make_parts(struct scan *scan)
{
    const struct form *form = &scan->form;
    bool longer = form->orders > 2;

    scan->part_count = form->orders > 1 ? form->orders : form->segments;
    scan->parts = planner_memory(scan->part_count, sizeof *scan->parts);
    for (uint32_t i = 0; i < scan->part_count; i++) {
        struct part *part = &scan->parts[i];
        part->first = scan->plan->segments;
        part->count = longer && i < 2 ? 2 : 1;
        part->order = form->orders > 1 ? i : 0;
        part->start = form->orders > 1 ? 0 : i;
        part->has = planner_memory((uint64_t)scan->plan->network.nodes * LAYERS, 1);
        scan->plan->segments += part->count;
    }
}

/* Forms ---------------------------------------------------------------------------------------- */

static bool has_factors(const struct network *network)
{
    struct digit digits[DIGITS_MAX], factors[DIGITS_MAX];
    unsigned count = digits_of(network, true, factors);

    return count > 0 && count != digits_of(network, false, digits);
}

static unsigned forms_of(const struct network *network, struct form forms[FORMS_MAX])
{
    struct digit digits[DIGITS_MAX];
    unsigned count = 0;

    for (unsigned factors = 0; factors < 1u + has_factors(network); factors++) {
        unsigned all = digits_of(network, factors, digits);
        for (uint32_t orders = all < 2 ? all : 2; orders && orders <= all;
             orders += orders < all ? all - orders : 1) {
            forms[count++] = (struct form){factors, orders, 1};
        }
    }
    for (uint32_t segments = SEGMENTS_LEAST; segments <= SEGMENTS_MOST; segments *= 2) {
        forms[count++] = (struct form){false, 1, segments};
    }
    return count;
}

bool possible_by_digits(const struct network *network)
{
    struct digit digits[DIGITS_MAX];

    if (network->nodes < 3 || network->nodes > NODES_MAX || !digits_of(network, false, digits)) {
        return false;
    }
    for (unsigned k = 0; k < network->dims; k++) {
        if (network->dim[k].size > OPEN_HOPS_MAX) {
            return false;
        }
    }
    return true;
}

/* Segments of an element at least. */
unsigned digits_variants(const struct network *network, const struct plan_request *request)
{
    uint32_t unit = reduction_element_bytes(request->type);
    uint64_t elements = request->bytes / (unit ? unit : 1);
    struct form forms[FORMS_MAX];
    unsigned all = forms_of(network, forms), count = 0, digits;
    struct digit unused[DIGITS_MAX];

    digits = digits_of(network, false, unused);
    while (count < all &&
           (forms[count].segments == 1 ||
            (forms[count].segments <= elements &&
             (uint64_t)network->nodes * digits * forms[count].segments <= CIRCUITS_MAX))) {
        count++;
    }
    return count;
}

void digits_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    struct form forms[FORMS_MAX];

    (void)forms_of(network, forms);
    const struct form *form = &forms[variant];
    if (form->segments > 1) {
        snprintf(words, VARIANT_WORDS_MAX, "%u segments", form->segments);
    } else {
        snprintf(words, VARIANT_WORDS_MAX, "%u order%s%s", form->orders,
                 form->orders > 1 ? "s" : "", form->factors ? " of factors" : "");
    }
}

/* What node 0 has goes to the last one through all digits, one after the other; all of m go
 * over its first link. */
struct candidate_least digits_least(const struct network *network,
                                    const struct plan_request *request)
{
    const struct profile *profile = request->profile;
    struct digit digits[DIGITS_MAX];
    struct form forms[FORMS_MAX];

    (void)forms_of(network, forms);
    const struct form *form = &forms[request->variant];
    unsigned count = digits_of(network, form->factors, digits);
    uint64_t longer = form->orders > 2 ? 2 : 1, steps = 0, first = form->orders > 1 ? 0 : 1;
    uint64_t m = form->orders > 1 ? form->orders + 2 * (longer - 1) : form->segments;
    uint64_t unit = reduction_element_bytes(request->type), rest = (m - 1) * (unit ? unit : 1);
    uint64_t k = request->bytes, part = k > rest ? longer * (k - rest) : 0; /* times m */
    uint64_t set_up = ((uint64_t)profile->xi_ns + profile->tau_ns) * clock_element_bytes(profile);

    for (unsigned i = 0; i < count; i++) {
        steps += digits[i].size - 1;
    }
    if ((double)(m * steps) * ((double)set_up + (double)k * profile->element_ns) >= LEAST_MAX_NS) {
        return (struct candidate_least){0, (uint32_t)m};
    }
    return (struct candidate_least){m * steps * set_up + (first * m * k + (steps - first) * part) *
                                                             profile->element_ns,
                                    (uint32_t)m};
}

struct plan *plan_scan_by_digits(const struct network *network, const struct plan_request *request)
{
    struct form forms[FORMS_MAX];
    struct scan scan = {.plan = build_begin(network, request, false)};
    struct plan *plan = scan.plan;
    unsigned ports = request->ports ? request->ports : 1;

    (void)forms_of(network, forms);
    scan.form = forms[request->variant];
    scan.count = digits_of(network, scan.form.factors, scan.digits);
    scan.ports = ports < network->ports ? ports : network->ports;
    plan->segments = 0;
    plan->sums_apart = true; /* of ranks that do not follow each other */
    make_parts(&scan);
    for (uint32_t node = 0; node < network->nodes; node++) {
        build_copy(plan, 0, node, slots_of(plan, SPACE_SEND, 0, plan->segments),
                   slots_of(plan, SPACE_RECEIVE, 0, plan->segments), 0);
    }
    uint32_t rounds = scan.form.orders > 1 ? 0 : scan.form.segments;
    for (unsigned i = 0; i < scan.count; i++) {
        rounds += steps_of(&scan, i);
    }
    for (uint32_t round = 0; round < rounds; round++) {
        lay_round(&scan, round);
    }
    for (uint32_t i = 0; i < scan.part_count; i++) {
        free(scan.parts[i].has);
    }
    free(scan.parts);
    build_ahead(plan);
    return plan;
}
