/*
 * plan_read.c - reads the file of a written plan, member by member.
 *
 * Members may come in any order, and what a name or a path means depends on network and operation:
 * so circuits are kept as they stand until all has been read. What is not known is left out.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "host/computer/available.h"
#include "host/computer/input_file.h"
#include "host/plan/json_pull.h"
#include "host/plan/plan_file.h"
#include "reduction/reduction.h"
#include "wire/circuit.h"

enum {
    RANK_MAX = NETWORK_NODES_MAX - 1,
    NAMES_MAX = 1 << 26, /* of all circuits */
    FILE_PARTS = 8       /* a byte of the file takes so many of memory, at most */
};

static const uint32_t UNPAIRED = UINT32_MAX;

enum { MOVEMENT = 1 << 30 }; /* in the second half of a name: this and a movement */

/* "0.3": {0, 3}; "0.+1": {0, MOVEMENT + 2}; "3": {3, UNPAIRED}. */
struct raw_name {
    uint32_t first, second;
};

/* Ranks from first to last, of one set. */
struct raw_range {
    uint32_t first, last;
};

struct raw_circuit {
    struct named_circuit circuit; /* name_at, port_at and set_at are places in what is raw */
    uint64_t bytes, line;
    uint32_t set_count;
    uint32_t given; /* bits of the members that have been read */
};

/* The file as it stands. */
struct reading {
    struct json_pull pull;
    struct plan_file *file;
    char operation[JSON_TEXT_MAX];
    uint64_t nodes, root, ports, segments, xi_ns, tau_ns, element_ns;
    uint64_t circuits_line;
    struct raw_circuit *circuits;
    struct raw_name *names;
    uint32_t *path;
    struct raw_range *ranges;
    uint32_t *range_ends; /* of each set: behind its last range */
    uint32_t circuit_count, name_count, path_count, range_count, set_count;
    uint32_t given; /* bits of the head's members */
};

/* A member, and what reads its value. */
struct member {
    const char *name;
    int (*read)(struct reading *reading);
};

static int read_object(struct reading *r, const struct member *members, uint32_t count,
                       uint32_t *given)
{
    bool more;

    if (json_pull_begin(&r->pull, '{') != 0) {
        return -1;
    }
    for (;;) {
        if (json_pull_more(&r->pull, '}', &more) != 0) {
            return -1;
        }
        if (!more) {
            return 0;
        }
        if (json_pull_key(&r->pull) != 0) {
            return -1;
        }
        uint32_t i = 0;
        while (i < count && strcmp(members[i].name, r->pull.text) != 0) {
            i++;
        }
        if (i < count && *given >> i & 1) {
            return json_pull_fail(&r->pull, "\"%s\" comes twice", members[i].name);
        }
        if ((i < count ? members[i].read(r) : json_pull_skip(&r->pull)) != 0) {
            return -1;
        }
        *given |= i < count ? UINT32_C(1) << i : 0;
    }
}

/* Texts of names ------------------------------------------------------------------------------ */

/* A number at the beginning of a text; false: there is none, or it is too large. */
static bool read_rank(const char **text, uint32_t *rank)
{
    const char *at = *text;

    *rank = 0;
    while (*at >= '0' && *at <= '9' && *rank <= RANK_MAX) {
        *rank = *rank * 10 + (uint32_t)(*at++ - '0');
    }
    bool any = at > *text;
    *text = at;
    return any && *rank <= RANK_MAX;
}

static int add_name(struct reading *r, uint32_t first, uint32_t second)
{
    if (r->name_count == NAMES_MAX) {
        return json_pull_fail(&r->pull, "more than %d blocks: the file is too large", NAMES_MAX);
    }
    r->names = planner_grow(r->names, r->name_count, sizeof *r->names);
    r->names[r->name_count++] = (struct raw_name){first, second};
    return 0;
}

/* "3", "3-5", "0.3", "0.3-5" or "0.+1". */
static int take_name(struct reading *r)
{
    const char *at = r->pull.text;
    uint32_t first, last, source = UNPAIRED;

    bool fits = read_rank(&at, &first);
    if (fits && *at == '.') {
        source = first;
        at++;
        if (*at == '+' || *at == '-') {
            uint32_t movement = movement_read(at, &at);
            return movement < MOVEMENTS_MAX && *at == '\0'
                       ? add_name(r, source, MOVEMENT + movement)
                       : json_pull_fail(&r->pull, "\"%.40s\" is no block: use \"3.+1\"",
                                        r->pull.text);
        }
        fits = read_rank(&at, &first);
    }
    last = first;
    if (fits && *at == '-') {
        at++;
        fits = read_rank(&at, &last) && last >= first;
    }
    if (!fits || *at != '\0') {
        return json_pull_fail(&r->pull, "\"%.40s\" is no block: use \"3\", \"0.3\" or \"3-5\"",
                              r->pull.text);
    }
    for (uint32_t i = first; i <= last; i++) {
        if (add_name(r, source == UNPAIRED ? i : source, source == UNPAIRED ? UNPAIRED : i) != 0) {
            return -1;
        }
    }
    return 0;
}

/* "0-3 5": the ranks of one set. */
static int take_set(struct reading *r)
{
    const char *at = r->pull.text;

    do {
        struct raw_range range;
        bool fits = read_rank(&at, &range.first);
        range.last = range.first;
        if (fits && *at == '-') {
            at++;
            fits = read_rank(&at, &range.last) && range.last >= range.first;
        }
        if (!fits || (*at != '\0' && *at != ' ') || r->range_count == NAMES_MAX) {
            return json_pull_fail(&r->pull, "\"%.40s\" is no set of nodes: use \"0-3 5\"",
                                  r->pull.text);
        }
        r->ranges = planner_grow(r->ranges, r->range_count, sizeof *r->ranges);
        r->ranges[r->range_count++] = range;
    } while (*at++ == ' ');
    r->range_ends = planner_grow(r->range_ends, r->set_count, sizeof *r->range_ends);
    r->range_ends[r->set_count++] = r->range_count;
    return 0;
}

/* Circuits ------------------------------------------------------------------------------------ */

static struct raw_circuit *last_circuit(struct reading *r)
{
    return &r->circuits[r->circuit_count - 1];
}

static int read_u32(struct reading *r, uint64_t most, uint32_t *number)
{
    uint64_t value = 0;
    int status = json_pull_number(&r->pull, most, &value);

    *number = (uint32_t)value;
    return status;
}

static int read_step(struct reading *r)
{
    return read_u32(r, PLAN_STEPS_MAX, &last_circuit(r)->circuit.step);
}

static int read_order(struct reading *r)
{
    return read_u32(r, INT32_MAX, &last_circuit(r)->circuit.order);
}

static int read_from(struct reading *r)
{
    return read_u32(r, RANK_MAX, &last_circuit(r)->circuit.from);
}

static int read_to(struct reading *r)
{
    return read_u32(r, RANK_MAX, &last_circuit(r)->circuit.to);
}

static int read_combine(struct reading *r)
{
    return json_pull_truth(&r->pull, &last_circuit(r)->circuit.combines);
}

static int read_port(struct reading *r)
{
    uint32_t port = 0;
    int status = read_u32(r, CLOCK_PORTS_MAX - 1, &port);

    last_circuit(r)->circuit.port = (uint8_t)port;
    return status;
}

static int read_ahead(struct reading *r)
{
    return json_pull_truth(&r->pull, &last_circuit(r)->circuit.ahead);
}

/* A number, or null: as many as its blocks have. */
static int read_circuit_bytes(struct reading *r)
{
    if (json_pull_peek(&r->pull) == 'n') {
        return json_pull_null(&r->pull);
    }
    return json_pull_number(&r->pull, INT64_MAX, &last_circuit(r)->bytes);
}

/* Calls take for every element of an array. */
static int read_array(struct reading *r, int (*take)(struct reading *))
{
    bool more;

    if (json_pull_begin(&r->pull, '[') != 0) {
        return -1;
    }
    for (;;) {
        if (json_pull_more(&r->pull, ']', &more) != 0) {
            return -1;
        }
        if (!more) {
            return 0;
        }
        if (take(r) != 0) {
            return -1;
        }
    }
}

static int read_hop(struct reading *r)
{
    uint32_t node;

    if (read_u32(r, RANK_MAX, &node) != 0) {
        return -1;
    }
    r->path = planner_grow(r->path, r->path_count, sizeof *r->path);
    r->path[r->path_count++] = node;
    if (++last_circuit(r)->circuit.port_count > OPEN_HOPS_MAX + 1) {
        return json_pull_fail(&r->pull, "a path has at most %d links", OPEN_HOPS_MAX);
    }
    return 0;
}

static int read_path(struct reading *r)
{
    last_circuit(r)->circuit.port_at = r->path_count;
    return read_array(r, read_hop);
}

/* A text, or a number. */
static int read_block(struct reading *r)
{
    uint32_t number;

    if (json_pull_peek(&r->pull) == '"') {
        return json_pull_string(&r->pull) != 0 ? -1 : take_name(r);
    }
    return read_u32(r, RANK_MAX, &number) != 0 ? -1 : add_name(r, number, UNPAIRED);
}

static int read_blocks(struct reading *r)
{
    int status = read_array(r, read_block);

    last_circuit(r)->circuit.name_count = r->name_count - last_circuit(r)->circuit.name_at;
    return status;
}

static int read_set(struct reading *r)
{
    return json_pull_string(&r->pull) != 0 ? -1 : take_set(r);
}

static int read_of(struct reading *r)
{
    uint32_t first = r->set_count;
    int status = json_pull_peek(&r->pull) == '[' ? read_array(r, read_set) : read_set(r);

    last_circuit(r)->circuit.set_at = first;
    last_circuit(r)->set_count = r->set_count - first;
    return status;
}

enum { STEP, FROM, TO, PATH, BLOCKS, ORDER, COMBINE, BYTES, AHEAD, OF, PORT };

static const struct member circuit_members[] = {[STEP] = {"step", read_step},
                                                [FROM] = {"from", read_from},
                                                [TO] = {"to", read_to},
                                                [PATH] = {"path", read_path},
                                                [BLOCKS] = {"blocks", read_blocks},
                                                [ORDER] = {"order", read_order},
                                                [COMBINE] = {"combine", read_combine},
                                                [BYTES] = {"bytes", read_circuit_bytes},
                                                [AHEAD] = {"ahead", read_ahead},
                                                [OF] = {"of", read_of},
                                                [PORT] = {"port", read_port}};

static int read_circuit(struct reading *r)
{
    if (json_pull_peek(&r->pull) != '{') {
        return json_pull_begin(&r->pull, '{');
    }
    if (r->circuit_count == PLAN_CIRCUITS_MAX) {
        return json_pull_fail(&r->pull, "more than %d circuits", PLAN_CIRCUITS_MAX);
    }
    r->circuits = planner_grow(r->circuits, r->circuit_count, sizeof *r->circuits);
    r->circuits[r->circuit_count++] =
        (struct raw_circuit){.circuit = {.order = NAMED_NONE,
                                         .name_at = r->name_count,
                                         .set_at = NAMED_NONE,
                                         .port_at = PLAN_DIMENSION_ORDER},
                             .bytes = PLAN_FILE_UNSAID,
                             .line = r->pull.line};
    if (read_object(r, circuit_members, sizeof circuit_members / sizeof circuit_members[0],
                    &last_circuit(r)->given) != 0) {
        return -1;
    }
    for (unsigned i = STEP; i <= TO; i++) {
        if (!(last_circuit(r)->given >> i & 1)) {
            return json_pull_fail(&r->pull, "the circuit that ends here has no \"%s\"",
                                  circuit_members[i].name);
        }
    }
    return 0;
}

/* The head ------------------------------------------------------------------------------------ */

static int read_network(struct reading *r)
{
    static const struct network_limits limits = {.nodes = NETWORK_NODES_MAX, .place = "in a plan"};
    char error[NETWORK_ERROR_MAX];

    if (json_pull_string(&r->pull) != 0) {
        return -1;
    }
    if (!network_parse(&r->file->named.network, r->pull.text, &limits, error)) {
        return json_pull_fail(&r->pull, "%s", error);
    }
    network_name(&r->file->named.network, r->file->network_name);
    return 0;
}

static int read_operation(struct reading *r)
{
    if (json_pull_string(&r->pull) != 0) {
        return -1;
    }
    uint32_t operation = operation_named(r->pull.text);
    if (operation == OPERATIONS || !operation_of(operation)->planned) {
        return json_pull_fail(&r->pull, "unknown operation \"%.40s\"", r->pull.text);
    }
    r->file->named.operation = operation;
    return 0;
}

/* For lines on a terminal, and for JSON. */
static int read_algorithm(struct reading *r)
{
    if (json_pull_string(&r->pull) != 0) {
        return -1;
    }
    snprintf(r->file->algorithm, sizeof r->file->algorithm, "%.*s", ALGORITHM_TEXT_MAX - 1,
             r->pull.text);
    return 0;
}

static int read_nodes(struct reading *r)
{
    return json_pull_number(&r->pull, NETWORK_NODES_MAX, &r->nodes);
}

static int read_root(struct reading *r)
{
    return json_pull_number(&r->pull, RANK_MAX, &r->root);
}

static int read_ports(struct reading *r)
{
    if (json_pull_peek(&r->pull) == '"') {
        r->ports = PORTS_ALL;
        return json_pull_string(&r->pull) == 0 && strcmp(r->pull.text, "all") != 0
                   ? json_pull_fail(&r->pull, "ports are a number, or \"all\"")
                   : 0;
    }
    return json_pull_number(&r->pull, CLOCK_PORTS_MAX, &r->ports);
}

static int read_segments(struct reading *r)
{
    return json_pull_number(&r->pull, UINT16_MAX, &r->segments);
}

static int read_bytes(struct reading *r)
{
    r->file->has_bytes = true;
    return read_u32(r, INT32_MAX, &r->file->bytes);
}

static int read_type(struct reading *r)
{
    if (json_pull_string(&r->pull) != 0) {
        return -1;
    }
    r->file->type = reduction_type_named(r->pull.text);
    return r->file->type ? 0 : json_pull_fail(&r->pull, "unknown type \"%.40s\"", r->pull.text);
}

static int read_predicted(struct reading *r)
{
    return json_pull_thousandths(&r->pull, &r->file->predicted_ns);
}

static int read_xi(struct reading *r)
{
    return read_u32(r, UINT32_MAX, &r->file->profile.xi_ns);
}

static int read_tau(struct reading *r)
{
    return read_u32(r, UINT32_MAX, &r->file->profile.tau_ns);
}

static int read_element(struct reading *r)
{
    return read_u32(r, UINT32_MAX, &r->file->profile.element_ns);
}

static int read_element_bytes(struct reading *r)
{
    uint32_t bytes = 0;

    if (read_u32(r, UINT16_MAX, &bytes) != 0) {
        return -1;
    }
    r->file->profile.element_bytes = (uint16_t)bytes;
    return bytes > 0 ? 0 : json_pull_fail(&r->pull, "an element has at least one byte");
}

/* Where element_bytes is not said, an element is a byte. */
static int read_profile(struct reading *r)
{
    static const struct member members[] = {{"xi_ns", read_xi},
                                            {"tau_ns", read_tau},
                                            {"element_ns", read_element},
                                            {"element_bytes", read_element_bytes}};
    uint32_t given = 0;

    if (read_object(r, members, 4, &given) != 0) {
        return -1;
    }
    r->file->has_profile = true;
    return (given & 7) == 7
               ? 0
               : json_pull_fail(&r->pull, "a profile has xi_ns, tau_ns and element_ns");
}

static int read_circuits(struct reading *r)
{
    return read_array(r, read_circuit);
}

enum { NETWORK, OPERATION, CIRCUITS };

static const struct member head_members[] = {
    [NETWORK] = {"network", read_network},
    [OPERATION] = {"operation", read_operation},
    [CIRCUITS] = {"circuits", read_circuits},
    {"algorithm", read_algorithm},
    {"nodes", read_nodes},
    {"root", read_root},
    {"ports", read_ports},
    {"segments", read_segments},
    {"bytes", read_bytes},
    {"type", read_type},
    {"predicted_us", read_predicted},
    {"profile", read_profile},
};

/* What one member says must fit the others. */
static int check_head(struct reading *r)
{
    const struct named_plan *named = &r->file->named;
    const struct operation *operation = operation_of(named->operation);
    struct message *message = r->pull.message;
    const char *path = r->file->path;

    for (unsigned i = NETWORK; i <= CIRCUITS; i++) {
        if (!(r->given >> i & 1)) {
            return message_set(message,
                               "%.60s has no \"%s\": a plan has network, operation and "
                               "circuits",
                               path, head_members[i].name);
        }
    }
    if (r->nodes != PLAN_FILE_UNSAID && r->nodes != named->network.nodes) {
        return message_set(message, "%.60s: %s has %u nodes, not %" PRIu64, path,
                           r->file->network_name, (unsigned)named->network.nodes, r->nodes);
    }
    if (r->ports == 0) {
        return message_set(message, "%.60s: nodes with 0 ports send nothing", path);
    }
    r->file->named.node_ports = r->ports == PLAN_FILE_UNSAID ? 0 : (uint8_t)r->ports;
    if (r->root >= operation_roots(operation, &named->network)) {
        const char *what = operation_root_name(operation);
        return message_set(message, "%.60s: %" PRIu64 " cannot be the %s of %s on %s", path,
                           r->root, what ? what : "root", operation->name, r->file->network_name);
    }
    if (r->segments == 0 || (r->segments != 1 && !operation_has_segments(operation))) {
        return message_set(message, "%.60s: %s has no %" PRIu64 " segments", path, operation->name,
                           r->segments);
    }
    return r->file->type && !operation->reduces
               ? message_set(message, "%.60s: %s combines nothing, and has no type", path,
                             operation->name)
               : 0;
}

/* What the circuits mean ---------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static int circuit_wrong(const struct reading *r,
                                                               uint32_t index, const char *format,
                                                               ...)
{
    const struct named_circuit *circuit = &r->circuits[index].circuit;
    char words[NAMED_WORDS_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return message_set(r->pull.message,
                       "%.60s, line %" PRIu64 ", circuit %u: step %u, %u to %u: %s", r->file->path,
                       r->circuits[index].line, (unsigned)index, (unsigned)circuit->step,
                       (unsigned)circuit->from, (unsigned)circuit->to, words);
}

/* What is wrong with a name that is one of a source and a movement, or should be. */
static int check_movement(const struct reading *r, uint32_t index, const struct raw_name *raw)
{
    const struct named_plan *named = &r->file->named;
    char words[MOVEMENT_TEXT_MAX];

    if (raw->second == UNPAIRED || raw->second < MOVEMENT) {
        return circuit_wrong(r, index,
                             "block %u: blocks are named by source and movement here: \"0.+1\"",
                             (unsigned)raw->first);
    }
    movement_text(raw->second - MOVEMENT, words);
    if (raw->first >= named->network.nodes) {
        return circuit_wrong(r, index, "block %u.%s is of no node: there is no node %u",
                             (unsigned)raw->first, words, (unsigned)raw->first);
    }
    if (movement_slot(named->network.nodes, (uint32_t)r->root, raw->second - MOVEMENT) ==
        UINT32_MAX) {
        return circuit_wrong(r, index, "block %u.%s is of a movement that there is not here",
                             (unsigned)raw->first, words);
    }
    return 0;
}

/* What is wrong with a name of one or two nodes. */
static int check_name(const struct reading *r, uint32_t index, const struct raw_name *raw,
                      bool pairs)
{
    uint32_t nodes = r->file->named.network.nodes;

    if (raw->second != UNPAIRED && raw->second >= MOVEMENT) {
        return circuit_wrong(r, index,
                             "a block of %u is named by a movement, which only "
                             "all_to_some has",
                             (unsigned)raw->first);
    }
    if (pairs && raw->second == UNPAIRED) {
        return circuit_wrong(r, index,
                             "block %u: blocks are named by source and destination here: "
                             "\"0.3\"",
                             (unsigned)raw->first);
    }
    if (!pairs && raw->second != UNPAIRED) {
        return circuit_wrong(r, index, "block %u.%u: blocks are named by one number here: \"3\"",
                             (unsigned)raw->first, (unsigned)raw->second);
    }
    if (pairs && (raw->first >= nodes || raw->second >= nodes)) {
        return circuit_wrong(r, index, "block %u.%u is of no node: there is no node %u",
                             (unsigned)raw->first, (unsigned)raw->second,
                             (unsigned)(raw->first >= nodes ? raw->first : raw->second));
    }
    return 0;
}

static int finish_names(struct reading *r, uint32_t index)
{
    struct named_plan *named = &r->file->named;
    const struct named_circuit *circuit = &r->circuits[index].circuit;
    const struct operation *operation = operation_of(named->operation);
    bool moves = operation_has_movements(operation);
    bool pairs =
        operation->span[SPACE_SEND] == SPAN_NODES && operation->span[SPACE_RECEIVE] == SPAN_NODES;

    for (uint32_t i = 0; i < circuit->name_count; i++) {
        const struct raw_name *raw = &r->names[circuit->name_at + i];
        if ((moves ? check_movement(r, index, raw) : check_name(r, index, raw, pairs)) != 0) {
            return -1;
        }
        named->names[circuit->name_at + i] =
            moves   ? raw->first * MOVEMENTS_MAX + (raw->second - MOVEMENT)
            : pairs ? raw->first * named->network.nodes + raw->second
                    : raw->first;
    }
    return 0;
}

/* Nodes become ports; a path that is the network's own is said to be so. */
static int finish_path(struct reading *r, uint32_t index)
{
    struct named_plan *named = &r->file->named;
    struct named_circuit *circuit = &named->circuits[index];
    uint32_t count = circuit->port_count, nodes = named->network.nodes;
    bool own = true;

    if (circuit->port_at == PLAN_DIMENSION_ORDER) {
        return 0;
    }
    const uint32_t *path = r->path + (count ? circuit->port_at : 0);
    if (count < 2 || path[0] != circuit->from || path[count - 1] != circuit->to) {
        return circuit_wrong(r, index, "its path does not lead from its sender to its receiver");
    }
    circuit->port_at = named->port_count;
    circuit->port_count = count - 1;
    for (uint32_t i = 0; i + 1 < count; i++) {
        unsigned port = path[i] < nodes && path[i + 1] < nodes
                            ? network_port_to(&named->network, path[i], path[i + 1])
                            : NETWORK_NO_PORT;
        if (port == NETWORK_NO_PORT) {
            return circuit_wrong(r, index, "its path goes from %u to %u, where there is no link",
                                 (unsigned)path[i], (unsigned)path[i + 1]);
        }
        own = own && path[i] != circuit->to &&
              port == network_next_hop(&named->network, path[i], circuit->to);
        named->ports[named->port_count + i] = (uint8_t)port;
    }
    if (own) {
        circuit->port_at = PLAN_DIMENSION_ORDER;
        circuit->port_count = 0;
    } else {
        named->port_count += count - 1;
    }
    return 0;
}

/* Sets as bits. One that is said once is that of all blocks. */
static int finish_sets(struct reading *r, uint32_t index)
{
    struct named_plan *named = &r->file->named;
    struct named_circuit *circuit = &named->circuits[index];
    uint32_t words = named_set_words(named->network.nodes), count = r->circuits[index].set_count;
    uint32_t raw = circuit->set_at;

    if (raw == NAMED_NONE) {
        return 0;
    }
    if (!operation_of(named->operation)->reduces) {
        return circuit_wrong(r, index, "\"of\" is for what is combined");
    }
    if (named->network.nodes > NAMED_SETS_NODES_MAX) {
        return circuit_wrong(r, index, "\"of\" is for at most 1024 nodes");
    }
    if (count != 1 && count != circuit->name_count) {
        return circuit_wrong(r, index, "\"of\" is said once, or for each of its blocks");
    }
    circuit->set_at = named->set_count;
    for (uint32_t i = 0; i < circuit->name_count; i++) {
        uint32_t set = raw + (count > 1 ? i : 0);
        uint64_t *bits = named->sets + (uint64_t)named->set_count++ * words;
        for (uint32_t j = set ? r->range_ends[set - 1] : 0; j < r->range_ends[set]; j++) {
            if (r->ranges[j].last >= named->network.nodes) {
                return circuit_wrong(r, index, "\"of\" names node %u, which there is not",
                                     (unsigned)r->ranges[j].last);
            }
            for (uint32_t rank = r->ranges[j].first; rank <= r->ranges[j].last; rank++) {
                bits[rank / 64] |= UINT64_C(1) << rank % 64;
            }
        }
    }
    return 0;
}

static int finish_circuits(struct reading *r)
{
    struct plan_file *file = r->file;
    struct named_plan *named = &file->named;
    uint64_t sets = 0;

    for (uint32_t i = 0; i < r->circuit_count; i++) {
        sets += r->circuits[i].circuit.set_at == NAMED_NONE ? 0 : r->circuits[i].circuit.name_count;
    }
    if (named->network.nodes > NAMED_SETS_NODES_MAX || sets > NAMES_MAX / 16) {
        sets = 0; /* refused at the first circuit that has one */
    }
    named->name_count = r->name_count;
    named->circuit_count = r->circuit_count;
    named->names = planner_memory(r->name_count, sizeof *named->names);
    named->ports = planner_memory(r->path_count, sizeof *named->ports);
    named->sets = planner_memory(sets, named_set_words(named->network.nodes) * sizeof *named->sets);
    named->circuits = planner_memory(r->circuit_count, sizeof *named->circuits);
    file->circuit_bytes = planner_memory(r->circuit_count, sizeof *file->circuit_bytes);
    file->lines = planner_memory(r->circuit_count, sizeof *file->lines);
    for (uint32_t i = 0; i < r->circuit_count; i++) {
        named->circuits[i] = r->circuits[i].circuit;
        file->circuit_bytes[i] = r->circuits[i].bytes;
        file->lines[i] = r->circuits[i].line;
        if (finish_names(r, i) != 0 || finish_path(r, i) != 0) {
            return -1;
        }
        if (sets == 0 && named->circuits[i].set_at != NAMED_NONE &&
            named->network.nodes <= NAMED_SETS_NODES_MAX && named->circuits[i].name_count > 0) {
            return circuit_wrong(r, i, "\"of\" is said of too many blocks");
        }
        if (finish_sets(r, i) != 0) {
            return -1;
        }
    }
    return 0;
}

static int read_all(struct reading *r)
{
    if (read_object(r, head_members, sizeof head_members / sizeof head_members[0], &r->given) !=
            0 ||
        json_pull_end(&r->pull) != 0 || check_head(r) != 0) {
        return -1;
    }
    r->file->named.root = (uint32_t)r->root;
    r->file->named.segments = (uint32_t)r->segments;
    return finish_circuits(r);
}

int plan_file_read(struct plan_file *file, const char *path, struct message *message)
{
    uint64_t bytes_max = available_bytes() / FILE_PARTS;
    FILE *stream = input_file_open(path, "plan", message);

    *file = (struct plan_file){.path = path, .predicted_ns = PLAN_FILE_UNSAID};
    if (!stream) {
        return -1;
    }
    struct reading *r = planner_memory(1, sizeof *r);
    r->file = file;
    r->nodes = r->ports = PLAN_FILE_UNSAID;
    r->segments = 1;
    json_pull_open(&r->pull, stream, path, bytes_max, message);
    int status = read_all(r);
    input_file_close(stream);
    free(r->circuits);
    free(r->names);
    free(r->path);
    free(r->ranges);
    free(r->range_ends);
    free(r);
    if (status != 0) {
        plan_file_free(file);
    }
    return status;
}
