/*
 * circuits.c - circuits as pieces, one at its source and one for each link, sorted into pairs and
 * steps.
 */
#include "host/report/circuits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"

enum { NO_LINK = UINT32_MAX };

enum user { PROGRAMS, DOWNLOADS, USERS };

struct link_load {
    uint64_t circuits, bytes;
    double busy_us, waited_us;
};

/* A circuit, or, with a link, that it went over it. */
struct piece {
    uint32_t collective, link, from, to;
    int32_t step;
    bool download;
    uint64_t bytes;
    double begin_us, end_us;
};

struct circuit_sums {
    const struct network *network;
    struct link_load *loads[USERS]; /* of node and port */
    struct piece *pieces;           /* of links only those of steps */
    size_t count, room;
    json_t *names;
};

struct circuit_sums *circuit_sums_make(const struct network *network)
{
    struct circuit_sums *sums = calloc(1, sizeof *sums);

    CHECK(sums);
    sums->network = network;
    sums->names = json_object();
    for (unsigned user = 0; user < USERS; user++) {
        sums->loads[user] =
            calloc((size_t)network->nodes * network->ports + 1, sizeof *sums->loads[user]);
        CHECK(sums->loads[user]);
    }
    return sums;
}

void circuit_sums_free(struct circuit_sums *sums)
{
    free(sums->loads[PROGRAMS]);
    free(sums->loads[DOWNLOADS]);
    free(sums->pieces);
    json_decref(sums->names);
    free(sums);
}

/* Adding -------------------------------------------------------------------------------------- */

void circuit_sums_name(struct circuit_sums *sums, uint32_t collective, const char *name)
{
    char number[16];

    snprintf(number, sizeof number, "%" PRIu32, collective);
    json_object_set_new(sums->names, number, json_string(name));
}

static void keep(struct circuit_sums *sums, const struct shown_circuit *circuit, uint32_t link)
{
    if (sums->count == sums->room) {
        sums->room = 2 * sums->room + 1024;
        sums->pieces = realloc(sums->pieces, sums->room * sizeof *sums->pieces);
        CHECK(sums->pieces);
    }
    sums->pieces[sums->count++] = (struct piece){.collective = circuit->collective,
                                                 .link = link,
                                                 .from = circuit->from,
                                                 .to = circuit->to,
                                                 .step = circuit->step,
                                                 .download = circuit->download,
                                                 .bytes = circuit->bytes,
                                                 .begin_us = circuit->begin_us,
                                                 .end_us = circuit->end_us};
}

void circuit_sums_add(struct circuit_sums *sums, const struct shown_circuit *circuit)
{
    keep(sums, circuit, NO_LINK);
}

void circuit_sums_add_link(struct circuit_sums *sums, const struct shown_circuit *circuit,
                           uint32_t node, unsigned port, double waited_us)
{
    uint32_t link = node * sums->network->ports + port;
    struct link_load *load = &sums->loads[circuit->download ? DOWNLOADS : PROGRAMS][link];

    load->circuits++;
    load->bytes += circuit->bytes;
    load->busy_us += circuit->end_us - circuit->begin_us;
    load->waited_us += waited_us;
    if (circuit->step != CIRCUITS_NO_STEP) {
        keep(sums, circuit, link);
    }
}

/* What links carried ------------------------------------------------------------------------- */

static void append_load(json_t *row, const struct link_load *load)
{
    json_array_append_new(row, json_integer((json_int_t)load->circuits));
    json_array_append_new(row, json_integer((json_int_t)load->bytes));
    json_array_append_new(row, json_real(load->busy_us));
    json_array_append_new(row, json_real(load->waited_us));
}

/* `loads` NULL: none. */
static json_t *links_of(const struct network *network, struct link_load *const loads[USERS])
{
    static const struct link_load none;
    json_t *list = json_array();

    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned port = 0; port < network->ports; port++) {
            uint32_t to = network_neighbour(network, node, port);
            if (to == NETWORK_NO_NODE) {
                continue;
            }
            json_t *row = json_pack("[I, I]", (json_int_t)node, (json_int_t)to);
            for (unsigned user = 0; user < USERS; user++) {
                append_load(row, loads ? &loads[user][node * network->ports + port] : &none);
            }
            json_array_append_new(list, row);
        }
    }
    return list;
}

json_t *circuit_no_links(const struct network *network)
{
    return links_of(network, NULL);
}

uint32_t *circuit_link_places(const struct network *network)
{
    uint32_t *places = calloc((size_t)network->nodes * network->ports + 1, sizeof *places), at = 0;

    CHECK(places);
    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned port = 0; port < network->ports; port++) {
            places[node * network->ports + port] = at;
            at += network_neighbour(network, node, port) != NETWORK_NO_NODE;
        }
    }
    return places;
}

/* Who sent to whom, and steps ----------------------------------------------------------------- */

#define COMPARE(a, b, member)                                                                      \
    if ((a)->member != (b)->member) {                                                              \
        return (a)->member < (b)->member ? -1 : 1;                                                 \
    }

static int by_pair(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    COMPARE(b, a, link) /* NO_LINK first: the circuits at their sources */
    COMPARE(a, b, from)
    COMPARE(a, b, to)
    return 0;
}

static int by_step(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    COMPARE(a, b, collective)
    COMPARE(a, b, step)
    COMPARE(b, a, link)
    COMPARE(a, b, from)
    COMPARE(a, b, to)
    return 0;
}

static json_t *pairs_of(struct circuit_sums *sums)
{
    json_t *list = json_array();
    size_t next;

    qsort(sums->pieces, sums->count, sizeof *sums->pieces, by_pair);
    for (size_t i = 0; i < sums->count && sums->pieces[i].link == NO_LINK; i = next) {
        const struct piece *first = &sums->pieces[i];
        json_int_t circuits[USERS] = {0}, bytes[USERS] = {0};
        for (next = i; next < sums->count && by_pair(first, &sums->pieces[next]) == 0; next++) {
            enum user user = sums->pieces[next].download ? DOWNLOADS : PROGRAMS;
            circuits[user]++;
            bytes[user] += (json_int_t)sums->pieces[next].bytes;
        }
        if (first->from < sums->network->nodes && first->to < sums->network->nodes) {
            json_array_append_new(list, json_pack("[I, I, I, I, I, I]", (json_int_t)first->from,
                                                  (json_int_t)first->to, circuits[PROGRAMS],
                                                  bytes[PROGRAMS], circuits[DOWNLOADS],
                                                  bytes[DOWNLOADS]));
        }
    }
    return list;
}

static json_t *step_of(struct circuit_sums *sums, const struct piece *pieces, size_t count,
                       const uint32_t *places)
{
    json_t *circuits = json_array(), *links = json_array();
    double begin_us = pieces[0].begin_us, end_us = 0;
    char number[16];

    for (size_t i = 0; i < count; i++) {
        const struct piece *piece = &pieces[i];
        begin_us = piece->begin_us < begin_us ? piece->begin_us : begin_us;
        end_us = piece->end_us > end_us ? piece->end_us : end_us;
        if (piece->link == NO_LINK) {
            json_array_append_new(circuits,
                                  json_pack("[I, I, I]", (json_int_t)piece->from,
                                            (json_int_t)piece->to, (json_int_t)piece->bytes));
        } else {
            json_array_append_new(links, json_integer(places[piece->link]));
        }
    }
    snprintf(number, sizeof number, "%" PRIu32, pieces[0].collective);
    json_t *name = json_object_get(sums->names, number);
    return json_pack("{s:o, s:I, s:I, s:f, s:f, s:o, s:o}", "collective",
                     name ? json_incref(name) : json_string("collective"), "run",
                     (json_int_t)pieces[0].collective, "step", (json_int_t)pieces[0].step,
                     "begin_us", begin_us, "end_us", end_us, "circuits", circuits, "links", links);
}

/* As many as the page bears; `left_out` becomes the number of the others. */
static json_t *steps_of(struct circuit_sums *sums, json_int_t *left_out)
{
    json_t *list = json_array();
    uint32_t *places = circuit_link_places(sums->network);
    size_t next, kept = 0;

    *left_out = 0;
    qsort(sums->pieces, sums->count, sizeof *sums->pieces, by_step);
    for (size_t i = 0; i < sums->count; i = next) {
        const struct piece *first = &sums->pieces[i];
        for (next = i; next < sums->count && sums->pieces[next].collective == first->collective &&
                       sums->pieces[next].step == first->step;
             next++) {
        }
        if (first->step == CIRCUITS_NO_STEP) {
            continue;
        }
        if (kept + (next - i) > CIRCUITS_KEPT_MAX) {
            ++*left_out;
            continue;
        }
        kept += next - i;
        json_array_append_new(list, step_of(sums, first, next - i, places));
    }
    free(places);
    return list;
}

void circuit_sums_put(struct circuit_sums *sums, json_t *object)
{
    json_int_t left_out;

    json_object_set_new(object, "links", links_of(sums->network, sums->loads));
    json_object_set_new(object, "pairs", pairs_of(sums));
    json_object_set_new(object, "steps", steps_of(sums, &left_out));
    json_object_set_new(object, "steps_left_out", json_integer(left_out));
}
