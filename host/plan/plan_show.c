/*
 * plan_show.c - ecube plan show: a plan for people, in 80 columns.
 *
 * A row of the table is a circuit or a copy. Of a plan that is the same for all nodes the rows are
 * those of node 0. The blocks have the names that they have in an export, where the plan is small
 * enough to be replayed. A cell that would be too wide leaves something out, and says so: "..".
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "host/console/cell.h"
#include "host/console/fold.h"
#include "host/plan/plan.h"
#include "host/plan/plan_blocks.h"

enum { ORDER_NODES_MAX = 32, ORDER_SEGMENTS_MAX = 4096, ORDER_WORDS_MAX = 400 };

enum {
    ROWS_MAX = 32,
    REPLAY_CIRCUITS_MAX = 1 << 20, /* what takes a moment */
    REPLAY_SLOTS_MAX = 1 << 22,
    MOMENTS_MAX = 1 << 22,
    TEXT_MAX = 40, /* of a cell */
    TABLE_COLUMNS = 80
};

enum column { STEP, PATH, TURNS, BLOCKS, DONE, HOW, COLUMNS };

/* The blocks have what the others leave of 80 columns, at least 14. */
static const struct {
    const char *head;
    unsigned width_max;
    bool right;
} columns[COLUMNS] = {[STEP] = {"step", 5, true},     [PATH] = {"path", 15, false},
                      [TURNS] = {"turns", 9, false},  [BLOCKS] = {"blocks", TEXT_MAX, false},
                      [DONE] = {"done us", 14, true}, [HOW] = {"", 13, false}};

struct row {
    char cell[COLUMNS][TEXT_MAX + 1];
};

struct table {
    const struct plan *plan;
    const struct plan_moment *moments; /* NULL: too many */
    bool whole;                        /* every row fits; else copies are left out */
    struct row rows[ROWS_MAX];
    uint32_t count;
    unsigned blocks_width;
    uint32_t next, circuits; /* of the plan's; circuits among the rows */
};

/* Adds words to a cell; false when they do not fit with what may have to stand behind them. */
__attribute__((format(printf, 3, 4))) static bool add(struct row *row, enum column column,
                                                      const char *format, ...)
{
    char *cell = row->cell[column], words[TEXT_MAX + 1];
    const char *more = "..";
    size_t used = strlen(cell), most = columns[column].width_max - strlen(more);
    va_list arguments;

    va_start(arguments, format);
    size_t length = (size_t)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    bool fits = used + length <= most;
    snprintf(cell + used, TEXT_MAX + 1 - used, "%s", fits ? words : more);
    return fits;
}

static uint32_t next_node(const struct plan *plan, const struct plan_circuit *circuit, uint32_t at,
                          unsigned hop)
{
    unsigned port = circuit->ports_at == PLAN_DIMENSION_ORDER
                        ? network_next_hop(&plan->network, at, circuit->to)
                        : plan->ports[circuit->ports_at + hop];

    return network_neighbour(&plan->network, at, port);
}

/* 0-1-3-7; of a long path the first nodes and the last. */
static void add_path(struct row *row, const struct plan *plan, const struct plan_circuit *circuit)
{
    char last[TEXT_MAX];
    uint32_t at = circuit->from;
    size_t most = columns[PATH].width_max;

    add(row, PATH, "%u", (unsigned)at);
    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        unsigned left = circuit->hops - hop - 1u;
        at = next_node(plan, circuit, at, hop);
        int length = snprintf(last, sizeof last, "-..-%u", (unsigned)circuit->to);
        size_t used = strlen(row->cell[PATH]);
        char node[TEXT_MAX];
        size_t more = (size_t)snprintf(node, sizeof node, "-%u", (unsigned)at);
        if (left > 0 && used + more + (size_t)length > most) {
            snprintf(row->cell[PATH] + used, TEXT_MAX + 1 - used, "%s", last);
            return;
        }
        snprintf(row->cell[PATH] + used, TEXT_MAX + 1 - used, "%s", node);
    }
}

static void add_turns(struct row *row, const struct plan *plan, const struct plan_circuit *circuit)
{
    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        if (!add(row, TURNS, hop > 0 ? " %u" : "%u",
                 (unsigned)plan->turns[circuit->turns_at + hop])) {
            return;
        }
    }
}

/* How many names from the first on follow each other, of one source if they are pairs. */
static uint32_t run_of(const uint32_t *names, uint32_t count, uint32_t source_names)
{
    uint32_t run = 1;

    while (run < count && names[run] == names[0] + run && names[run] % source_names != 0) {
        run++;
    }
    return run;
}

/* 4-7, or 0.4-7 where names are pairs. */
static void add_names(struct row *row, const struct plan *plan, const uint32_t *names,
                      uint32_t count)
{
    bool pairs = operation_has_pairs(operation_of(plan->operation));
    bool moves = operation_has_movements(operation_of(plan->operation));
    uint32_t width = operation_pair_width(operation_of(plan->operation), plan->network.nodes),
             modulus = pairs ? width : UINT32_MAX;
    char source[TEXT_MAX] = "", second[SECOND_TEXT_MAX];
    bool fits = true;

    for (uint32_t i = 0, run; i < count && fits; i += run) {
        uint32_t first = names[i] % modulus;
        const char *space = i > 0 ? " " : "";
        run = moves ? 1 : run_of(names + i, count - i, modulus);
        if (pairs) {
            snprintf(source, sizeof source, "%u.", (unsigned)(names[i] / width));
        }
        if (moves) {
            plan_blocks_second(plan, names[i], second);
            fits = add(row, BLOCKS, "%s%s%s", space, source, second);
            continue;
        }
        fits = run > 1 ? add(row, BLOCKS, "%s%s%u-%u", space, source, (unsigned)first,
                             (unsigned)(first + run - 1))
                       : add(row, BLOCKS, "%s%s%u", space, source, (unsigned)first);
    }
}

static void add_how(struct row *row, const struct plan_circuit *circuit)
{
    static const struct {
        uint8_t flag;
        const char *word;
    } words[] = {{ROW_COPIES, "copy"}, {ROW_COMBINES, "combine"}, {ROW_AHEAD, "ahead"}};

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (circuit->flags & words[i].flag) {
            char *cell = row->cell[HOW];
            size_t used = strlen(cell);
            snprintf(cell + used, TEXT_MAX + 1 - used, "%s%s", used ? " " : "", words[i].word);
        }
    }
}

static bool is_copy(const struct plan_circuit *circuit)
{
    return circuit->from == circuit->to;
}

/* The row of the plan's next circuit or copy; names is NULL where nobody knows them. A copy has
 * neither turns nor time. */
static void add_row(struct table *table, const uint32_t *names)
{
    const struct plan *plan = table->plan;
    const struct plan_circuit *circuit = &plan->circuits[table->next];
    const struct plan_moment *moment = table->moments ? &table->moments[table->next] : NULL;
    bool copies = is_copy(circuit);

    table->next++;
    if (copies && !table->whole) {
        return;
    }
    struct row *row = &table->rows[table->count++];
    *row = (struct row){0};
    table->circuits += !copies;
    add(row, STEP, "%u", (unsigned)circuit->step);
    add_path(row, plan, circuit);
    if (!copies) {
        add_turns(row, plan, circuit);
    }
    if (names) {
        add_names(row, plan, names, circuit->blocks);
    } else if (circuit->blocks > 0) {
        add(row, BLOCKS, "%u block%s", (unsigned)circuit->blocks, circuit->blocks == 1 ? "" : "s");
    }
    if (moment && !copies) {
        char done[CELL_MAX];
        snprintf(row->cell[DONE], TEXT_MAX + 1, "%s",
                 cell_real(done, columns[DONE].width_max, (double)moment->done_ns / 1e3));
    }
    add_how(row, circuit);
}

/* With the names of blocks. Of all nodes' circuits those of node 0, in their order, are the plan's
 * own, where it has those alone. */
static void fill_replayed(struct table *table, const struct plan *all)
{
    struct plan_blocks blocks;
    const struct plan_circuit *circuit;
    const uint32_t *names;

    plan_blocks_begin(&blocks, all);
    while (table->count < ROWS_MAX && (circuit = plan_blocks_next(&blocks, &names)) != NULL) {
        if (!table->plan->invariant || circuit->from == 0) {
            add_row(table, names);
        }
    }
    plan_blocks_end(&blocks);
}

static void fill(struct table *table)
{
    const struct plan *plan = table->plan;
    uint64_t nodes = plan->invariant ? plan->network.nodes : 1;

    if (plan->circuit_count * nodes > REPLAY_CIRCUITS_MAX ||
        plan_blocks_slots(plan) > REPLAY_SLOTS_MAX) {
        while (table->next < plan->circuit_count && table->count < ROWS_MAX) {
            add_row(table, NULL);
        }
        return;
    }
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
    fill_replayed(table, all ? all : plan);
    plan_free(all);
}

/* As wide as what is in it; 0: nothing is. */
static unsigned column_width(const struct table *table, enum column column)
{
    size_t width = 0;

    for (uint32_t i = 0; i < table->count; i++) {
        size_t used = strlen(table->rows[i].cell[column]);
        width = used > width ? used : width;
    }
    size_t head = strlen(columns[column].head);
    return (unsigned)(width > 0 && width < head ? head : width);
}

/* What the others leave. */
static unsigned blocks_width(const struct table *table)
{
    unsigned left = TABLE_COLUMNS, width = column_width(table, BLOCKS);

    for (unsigned column = 0; column < COLUMNS; column++) {
        unsigned other = column == BLOCKS ? 0 : column_width(table, column);
        left -= other > 0 ? other + 2 : 0; /* with the space between them */
    }
    return width < left ? width : left;
}

/* Leaves out the last names. */
static void cut_blocks(char *cell, unsigned width)
{
    static const char more[] = "..";
    size_t cut = width - strlen(more);

    if (strlen(cell) <= width) {
        return;
    }
    while (cut > 0 && cell[cut] != ' ') {
        cut--;
    }
    snprintf(cell + cut, sizeof more, "%s", more);
}

static void print_row(const struct table *table, const struct row *row)
{
    char line[COLUMNS * (TEXT_MAX + 3)];
    size_t used = 0;

    for (unsigned column = 0; column < COLUMNS; column++) {
        int width = (int)(column == BLOCKS ? table->blocks_width : column_width(table, column));
        const char *text = row ? row->cell[column] : columns[column].head;
        if (width > 0) {
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%*s", used ? "  " : "",
                                     columns[column].right ? width : -width, text);
        }
    }
    while (used > 0 && line[used - 1] == ' ') {
        used--;
    }
    printf("%.*s\n", (int)used, line);
}

/* Small plans as a table of steps and links ---------------------------------------------------- */

enum { CHART_STEPS_MAX = 8, CHART_LINKS_MAX = 24, CHART_CIRCUITS_MAX = 64, CHART_WIDTH = 8 };

struct chart {
    const struct plan *plan; /* of all nodes */
    const struct plan_moment *moments;
    uint32_t steps;
};

/* Whether a circuit comes over the port of a node. */
static bool comes_over(const struct plan *plan, const struct plan_circuit *circuit, uint32_t node,
                       unsigned port)
{
    uint32_t at = circuit->from;

    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        uint32_t next = next_node(plan, circuit, at, hop);
        if (at == node && next == network_neighbour(&plan->network, node, port)) {
            return true;
        }
        at = next;
    }
    return false;
}

/* When the first circuit of a step begins to flow, and when the last one is done. */
static void print_moments(const struct chart *chart, const char *name, bool done)
{
    printf("%-8s", name);
    for (uint32_t step = 0; step < chart->steps; step++) {
        uint64_t begin = UINT64_MAX, end = 0;
        for (uint32_t i = 0; i < chart->plan->circuit_count; i++) {
            const struct plan_circuit *circuit = &chart->plan->circuits[i];
            const struct plan_moment *moment = &chart->moments[i];
            if (circuit->step == step && !is_copy(circuit)) {
                begin = moment->begin_ns < begin ? moment->begin_ns : begin;
                end = moment->done_ns > end ? moment->done_ns : end;
            }
        }
        uint64_t ns = done ? end : begin == UINT64_MAX ? 0 : begin;
        char text[CELL_MAX];
        printf(" %*s", CHART_WIDTH, cell_real(text, CHART_WIDTH, (double)ns / 1e3));
    }
    puts("");
}

/* Who uses a link in a step: the first circuit, and how many more. */
static void print_user(const struct chart *chart, uint32_t node, unsigned port, uint32_t step)
{
    const struct plan_circuit *first = NULL;
    char text[32] = ".", more[16] = "";
    unsigned count = 0;

    for (uint32_t i = 0; i < chart->plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &chart->plan->circuits[i];
        if (circuit->step == step && !is_copy(circuit) &&
            comes_over(chart->plan, circuit, node, port)) {
            first = first ? first : circuit;
            count++;
        }
    }
    if (count > 1) {
        snprintf(more, sizeof more, " +%u", count - 1);
    }
    if (first) {
        snprintf(text, sizeof text, "%u>%u%s", (unsigned)first->from, (unsigned)first->to, more);
    }
    printf(" %*s", CHART_WIDTH, text);
}

static void print_links(const struct chart *chart)
{
    const struct network *network = &chart->plan->network;

    printf("\n%-8s", "step");
    for (uint32_t step = 0; step < chart->steps; step++) {
        printf(" %*u", CHART_WIDTH, (unsigned)step);
    }
    puts("");
    print_moments(chart, "begin us", false);
    print_moments(chart, "done us", true);
    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned port = 0; port < network->ports; port++) {
            uint32_t far = network_neighbour(network, node, port);
            char name[24];
            if (far == NETWORK_NO_NODE) {
                continue;
            }
            snprintf(name, sizeof name, "%u-%u", (unsigned)node, (unsigned)far);
            printf("%-8s", name);
            for (uint32_t step = 0; step < chart->steps; step++) {
                print_user(chart, node, port, step);
            }
            puts("");
        }
    }
}

/* Which link is whose in which step: of a plan that fits. */
static void print_chart(const struct plan *plan, const struct plan_command *command)
{
    uint64_t circuits = (uint64_t)plan->circuit_count * (plan->invariant ? plan->network.nodes : 1);

    if (plan->steps == 0 || plan->steps > CHART_STEPS_MAX || circuits > CHART_CIRCUITS_MAX ||
        2 * network_link_count(&plan->network) > CHART_LINKS_MAX) {
        return;
    }
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
    struct chart chart = {.plan = all ? all : plan, .steps = plan->steps};
    struct plan_moment *moments = calloc(chart.plan->circuit_count, sizeof *moments);
    CHECK(moments);
    plan_replay(chart.plan, command->request.bytes, command->element_bytes, &command->profile,
                moments);
    chart.moments = moments;
    print_links(&chart);
    free(moments);
    plan_free(all);
}

static uint32_t circuits_in(const struct plan *plan)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        count += !is_copy(&plan->circuits[i]);
    }
    return count;
}

/* What the rows leave out. */
static void print_rest(const struct table *table)
{
    uint32_t circuits = circuits_in(table->plan), more = circuits - table->circuits;
    uint32_t copies = table->whole ? 0 : table->plan->circuit_count - circuits;

    if (more > 0) {
        printf("and %u more ('ecube plan export' writes all)%s", (unsigned)more,
               copies > 0 ? ", " : "\n");
    }
    if (copies > 0) {
        printf("and %u cop%s inside nodes\n", (unsigned)copies, copies == 1 ? "y" : "ies");
    }
}

static void print_table(struct table *table)
{
    if (table->count == 0) {
        return;
    }
    puts("");
    table->blocks_width = blocks_width(table);
    print_row(table, NULL);
    for (uint32_t i = 0; i < table->count; i++) {
        cut_blocks(table->rows[i].cell[BLOCKS], table->blocks_width);
        print_row(table, &table->rows[i]);
    }
    print_rest(table);
}

/* "name        words ..." */
__attribute__((format(printf, 2, 3))) static void say(const char *name, const char *format, ...)
{
    va_list arguments;

    printf("%-12s  %c", name, FOLD_HANG);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static void print_head(const struct plan *plan, const struct plan_command *command)
{
    const struct operation *operation = operation_of(plan->operation);
    unsigned nodes = (unsigned)plan->network.nodes;

    printf("%s on %s, %u node%s", operation->name, command->network_name, nodes,
           nodes == 1 ? "" : "s");
    if (operation_root_name(operation)) {
        bool ranks = operation->rooted;
        printf(", %s %u", operation_root_name(operation),
               (unsigned)(ranks ? network_rank(&plan->network, plan->root) : plan->root));
        if (ranks && plan->network.map) {
            printf(" (node %u)", (unsigned)plan->root);
        }
    }
    if (operation->vector) {
        printf(", a vector of %u bytes", (unsigned)command->request.bytes);
    } else if (operation->span[SPACE_RECEIVE] != SPAN_NONE) {
        printf(", blocks of %u bytes", (unsigned)command->request.bytes);
    }
    printf("\n\n");
    say("algorithm", "%s", plan->written ? plan->written : plan_summary(plan).algorithm);
    say("source", "%s", plan_source(plan));
    if (plan->network.map) {
        char guest[NETWORK_NAME_MAX];
        network_name(network_guest(&plan->network), guest);
        say("map", "%s: ranks form %s; below are nodes", plan->network.map->name, guest);
    }
    if (plan->segments > 1) {
        say("segments", "%u", (unsigned)plan->segments);
    }
    say("rows", "%s%s",
        plan->invariant ? "of node 0; those of node r are these, moved by r" : "of all nodes",
        plan->one_port ? "; they go ahead as is right with one port" : "");
}

/* In which order operands are combined: of a small plan as it is, at the node that gets most. */
static void print_order(const struct plan *plan)
{
    const struct operation *operation = operation_of(plan->operation);
    uint32_t last = network_node(&plan->network, plan->network.nodes - 1);
    uint32_t node = operation->prefix ? last : plan->root;
    char words[ORDER_WORDS_MAX];

    if (!operation->reduces) {
        return;
    }
    if (plan->network.nodes > ORDER_NODES_MAX || plan->segments > ORDER_SEGMENTS_MAX ||
        !plan_order(plan, node, 0, words, sizeof words)) {
        say("order", "by step and row: what comes is combined with what is there");
    } else if (plan->segments > 1) {
        say("order", "%s at node %u, of segment 0", words, (unsigned)node);
    } else {
        say("order", "%s at node %u", words, (unsigned)node);
    }
}

static void print_counts(const struct plan *plan)
{
    uint64_t nodes = plan->invariant ? plan->network.nodes : 1, circuits = circuits_in(plan);

    say("steps", "%u", (unsigned)plan->steps);
    say("circuits", "%" PRIu64, circuits * nodes);
    say("hops", "%" PRIu64, plan->hops * nodes);
    say("blocks", "%" PRIu64 " carried", plan->blocks * nodes);
}

static void print_time(const struct plan_command *command, const struct plan *plan,
                       const struct plan_time *time)
{
    say("model time", "%" PRIu64 ".%03u us on %s", time->model_ns / 1000,
        (unsigned)(time->model_ns % 1000), command->profile_name);
    plan_print_bound(plan, command, time->model_ns);
}

static struct plan_moment *moments_of(const struct plan *plan)
{
    struct plan_moment *moments =
        plan->circuit_count <= MOMENTS_MAX
            ? calloc(plan->circuit_count ? plan->circuit_count : 1, sizeof *moments)
            : NULL;

    CHECK(moments || plan->circuit_count > MOMENTS_MAX);
    return moments;
}

void plan_show(const struct plan *plan, const struct plan_command *command)
{
    struct plan_moment *moments = moments_of(plan);
    struct table *table = calloc(1, sizeof *table);

    CHECK(table);
    *table =
        (struct table){.plan = plan, .moments = moments, .whole = plan->circuit_count <= ROWS_MAX};
    struct plan_time time =
        moments
            ? plan_replay(plan, command->request.bytes, command->element_bytes, &command->profile,
                          moments)
            : plan_time(plan, command->request.bytes, command->element_bytes, &command->profile);
    print_head(plan, command);
    fill(table);
    print_table(table);
    print_chart(plan, command);
    puts("");
    print_counts(plan);
    print_order(plan);
    print_time(command, plan, &time);
    free(table);
    free(moments);
}
