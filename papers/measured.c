/*
 * measured.c - what formulae ask of plans and of their runs.
 *
 *     plan_us('mesh:4x4', 'exchange', 'direct', 1000)      predicted for an iPSC/860
 *     sim_us(...)                                          what nodes' clocks showed in ecube sim
 *     bound_us(...), steps(...), mask('cube:3', 'AAP', s)  of the plan
 *     crowd('mesh:4x4', 'exchange', 'PEX', 1000, 0, s)     the most circuits on a link in step s
 *
 * An algorithm '' is the cheapest; a fifth argument 1 gives nodes all ports.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papers/functions.h"
#include "planner/build.h"
#include "planner/planner.h"

enum { COMMAND_MAX = 2048, KEY_MAX = 256 };

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

static const char *word(const struct formula_value *argument)
{
    if (!argument->text) {
        papers_refuse("a word should stand here, no number", "");
    }
    return argument->text;
}

static struct profile profile_of(const struct formula_value *a, unsigned count)
{
    struct profile profile = ipsc860;

    if (count == 5 && a[4].number != 0) {
        profile.ports = PORTS_ALL;
    }
    return profile;
}

/* The most circuits of each step on one directed link, of the plan that is kept. */
static uint32_t *crowds;

/* The plan of the arguments; the last one is kept. */
static const struct plan *plan_of(const struct formula_value *a, unsigned count)
{
    static struct plan *plan;
    static char key[KEY_MAX];
    char wanted[KEY_MAX];
    struct profile profile = profile_of(a, count);
    struct plan_fault fault = {.words = ""};

    snprintf(wanted, sizeof wanted, "%s %s %s %.0f %d", word(a), word(a + 1), word(a + 2),
             a[3].number, profile.ports);
    if (strcmp(key, wanted) != 0) {
        uint32_t number = operation_named(word(a + 1));
        const struct operation *operation = operation_of(number);
        const struct plan_request request = {.operation = number,
                                             .type =
                                                 operation && operation->reduces ? ECUBE_INT32 : 0,
                                             .bytes = (uint32_t)a[3].number,
                                             .algorithm = a[2].text[0] ? a[2].text : NULL,
                                             .ports = profile.ports,
                                             .profile = &profile};
        plan_free(plan);
        free(crowds);
        crowds = NULL;
        plan = plan_make(papers_network(a), &request, &fault);
        if (!plan) {
            papers_refuse(fault.words, wanted);
        }
        snprintf(key, sizeof key, "%s", wanted);
    }
    return plan;
}

static double call_plan_us(const struct formula_value *a, unsigned count)
{
    struct profile profile = profile_of(a, count);

    return (double)plan_time(plan_of(a, count), (uint32_t)a[3].number, 1, &profile).model_ns / 1000;
}

static double call_bound_us(const struct formula_value *a, unsigned count)
{
    struct profile profile = profile_of(a, count);

    return (double)plan_bound(plan_of(a, count), (uint32_t)a[3].number, &profile).ns / 1000;
}

static double call_steps(const struct formula_value *a, unsigned count)
{
    return plan_of(a, count)->steps;
}

static uint32_t *count_crowds(const struct plan *made)
{
    struct plan *whole = made->invariant ? plan_expand(made) : NULL;
    const struct plan *plan = whole ? whole : made;
    const struct network *network = &plan->network;
    size_t links = (size_t)network->nodes * network->ports;
    uint32_t *most = calloc(plan->steps + 1, sizeof *most);
    uint32_t *load = calloc(links + 1, sizeof *load), *step_of = calloc(links + 1, sizeof *step_of);

    for (uint32_t i = 0; most && load && step_of && i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        uint32_t at = circuit->from;
        for (unsigned hop = 0; hop < circuit->hops; hop++) {
            unsigned port = circuit_port(plan, circuit, at, hop);
            size_t link = (size_t)at * network->ports + port;
            load[link] = step_of[link] == circuit->step + 1 ? load[link] + 1 : 1;
            step_of[link] = circuit->step + 1;
            if (load[link] > most[circuit->step]) {
                most[circuit->step] = load[link];
            }
            at = network_neighbour(network, at, port);
        }
    }
    free(load);
    free(step_of);
    plan_free(whole);
    return most;
}

static double call_crowd(const struct formula_value *a, unsigned count)
{
    const struct plan *plan = plan_of(a, 5);

    (void)count;
    if (!(a[5].number >= 0 && a[5].number < plan->steps)) {
        return 0;
    }
    if (!crowds) {
        crowds = count_crowds(plan);
    }
    return crowds ? crowds[(uint32_t)a[5].number] : 0;
}

/* Of an exchange on a cube whose steps all nodes make alike: step s's node for node 0. */
static double call_mask(const struct formula_value *a, unsigned count)
{
    struct formula_value plan[4] = {a[0], {.text = "exchange"}, a[1], {.number = 1000}};
    const struct plan *made = plan_of(plan, 4);
    uint32_t place = (uint32_t)a[2].number + 1; /* a copy comes first */

    (void)count;
    if (!made->invariant || place >= made->circuit_count) {
        papers_refuse("the plan has no such step", word(a + 1));
    }
    return made->circuits[place].to;
}

/* Runs the tool, and reads the first report that it writes. */
static double call_sim_us(const struct formula_value *a, unsigned count)
{
    char command[COMMAND_MAX], path[KEY_MAX];
    double us = -1;

    snprintf(path, sizeof path, "%s/papers/run.json", papers_build);
    snprintf(command, sizeof command,
             "%s/ecube sim -q --network %s %s --bytes %.0f%s %s%s%s --json %s >%s.txt 2>&1",
             papers_build, word(a), word(a + 1), a[3].number,
             profile_of(a, count).ports == PORTS_ALL ? " --ports all" : "",
             a[2].text[0] ? "--algorithm '" : "", word(a + 2), a[2].text[0] ? "'" : "", path, path);
    if (system(command) != 0) {
        papers_refuse("this has failed", command);
    }
    json_t *root = json_load_file(path, 0, NULL);
    if (json_unpack(root, "{s:[{s:F}]}", "reports", "model_us", &us) != 0) {
        papers_refuse("this wrote no time", command);
    }
    json_decref(root);
    return us;
}

const struct formula_function measured_functions[] = {{"plan_us", 4, 5, call_plan_us},
                                                      {"sim_us", 4, 5, call_sim_us},
                                                      {"bound_us", 4, 5, call_bound_us},
                                                      {"steps", 4, 5, call_steps},
                                                      {"mask", 3, 3, call_mask},
                                                      {"crowd", 6, 6, call_crowd},
                                                      {0}};
