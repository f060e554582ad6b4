/*
 * wait_edges.c - for what a circuit or a program waits, as routers and nodes say.
 *
 * A router says for what its circuits wait (router/waits.h); where the edge leads needs all of them
 * at one moment. What a program waits for stands here because circuits lead to programs and back;
 * messages are told in the words of STATE.
 *
 * A held OPEN does not know whose circuit holds its link. The holder's name stands with its source,
 * found by going from hop to hop against the circuit; where it is held, by going with it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collectives/operation.h"
#include "controller/words.h"
#include "drivers/status.h"
#include "network/network.h"
#include "node/state.h"
#include "router/port.h"
#include "router/waits.h"
#include "sim/core/several.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"
#include "sim/observe/waits.h"
#include "wire/circuit.h"

static const uint32_t HOP_NONE = UINT32_MAX;

/* The edges that are being collected, and how the texts of them begin. */
struct collecting {
    const struct sim *sim;
    struct wait_edge *edges;
    unsigned count;
    char subject[112];
};

static const struct router *router_of(const struct sim *sim, uint32_t actor)
{
    return actor == sim->count ? &sim->host.controller.router : &sim_node(sim, actor)->router;
}

/* The in-port that a port's link leads to. */
static struct wait_place peer_of(const struct sim *sim, uint32_t actor, unsigned port)
{
    const struct network *network = sim_network(sim);

    if (actor == sim->count) {
        return (struct wait_place){network_host_node(network, port), network->ports};
    }
    return port < network->ports
               ? (struct wait_place){network_neighbour(network, actor, port),
                                     network_far_port(network, port)}
               : (struct wait_place){sim->count, (uint32_t)network_host_link_of(network, actor)};
}

static void add(struct collecting *c, struct wait_place to, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(struct collecting *c, struct wait_place to, const char *format, ...)
{
    va_list arguments;

    if (c->count == WAIT_EDGES_MAX) {
        return;
    }
    struct wait_edge *edge = &c->edges[c->count++];
    memset(edge, 0, sizeof *edge);
    edge->to = to;
    int length = snprintf(edge->text, sizeof edge->text, "%s ", c->subject);
    va_start(arguments, format);
    vsnprintf(edge->text + length, sizeof edge->text - (size_t)length, format, arguments);
    va_end(arguments);
}

static const struct wait_place nowhere = {0, WAIT_NOWHERE};

static void actor_text(const struct sim *sim, uint32_t actor, char text[16])
{
    if (actor >= sim->count) {
        snprintf(text, 16, "host");
    } else {
        snprintf(text, 16, "%u", (unsigned)actor);
    }
}

static void node_text(const struct sim *sim, uint32_t actor, char text[24])
{
    if (actor >= sim->count) {
        snprintf(text, 24, "the host");
    } else {
        snprintf(text, 24, "node %u", (unsigned)actor);
    }
}

/* A circuit in words, from its OPEN. */
static void circuit_text(const struct sim *sim, const uint8_t *packet, char text[WAIT_CIRCUIT_MAX])
{
    char from[16], to[16], what[24];

    if (!packet) {
        snprintf(text, 80, "a circuit");
        return;
    }
    actor_text(sim, packet_src(packet), from);
    actor_text(sim, packet_dst(packet), to);
    if (open_flags(packet) & OPEN_SCHEDULE) {
        snprintf(what, sizeof what, "step %u", (unsigned)open_match_step(open_match(packet)));
    } else {
        snprintf(what, sizeof what, open_flags(packet) & OPEN_IMAGE ? "image" : "message");
    }
    snprintf(text, 80, "circuit %s>%s (%s)", from, to, what);
}

/* A question, for all processes. */
static struct wait_answer ask(const struct sim *sim, struct wait_question question)
{
    struct wait_answer answer;

    wait_ask(sim, &question, &answer);
    return answer;
}

/* The circuit that is being set up over a link, in words that its source knows. */
static void set_up_over(const struct sim *sim, uint32_t actor, unsigned port,
                        char text[WAIT_CIRCUIT_MAX])
{
    circuit_text(sim, NULL, text);
    for (unsigned hop = 0; hop < sim->host.controller.router.hops_max; hop++) {
        struct wait_answer answer =
            ask(sim, (struct wait_question){.kind = ASKED_HOLDER, .actor = actor, .at = port});
        if (answer.holder.port == PORT_LOCAL) {
            memcpy(text, answer.holder.text, WAIT_CIRCUIT_MAX);
        }
        if (answer.holder.port >= answer.holder.ports) {
            return;
        }
        struct wait_place before = peer_of(sim, actor, answer.holder.port);
        actor = before.actor;
        port = before.at;
    }
}

/* The place of what an in-port holds, if it holds anything. */
static struct wait_place held_at(const struct sim *sim, struct wait_place in)
{
    struct wait_answer answer =
        ask(sim, (struct wait_question){.kind = ASKED_CIRCUIT, .actor = in.actor, .at = in.at});

    return answer.circuit.kind != ROUTER_WAITS_NOT ? in : nowhere;
}

/* Where the circuit that is being set up over a link waits; nowhere: its answer is under way. */
static struct wait_place waits_at(const struct sim *sim, uint32_t actor, unsigned port)
{
    for (unsigned hop = 0; hop < sim->host.controller.router.hops_max; hop++) {
        struct wait_place in = peer_of(sim, actor, port);
        port =
            ask(sim, (struct wait_question){.kind = ASKED_ONWARD, .actor = in.actor, .at = in.at})
                .onward;
        if (port == PORT_NONE) {
            return held_at(sim, in);
        }
        actor = in.actor;
    }
    return nowhere;
}

static void link_text(const struct sim *sim, uint32_t actor, unsigned port, char text[40])
{
    char from[16], to[16];

    actor_text(sim, actor, from);
    actor_text(sim, peer_of(sim, actor, port).actor, to);
    snprintf(text, 40, "%s>%s", from, to);
}

/* The hop of a path that leaves a node over a port; HOP_NONE: none does. */
static uint32_t hop_over(const struct network *network, uint32_t src, uint32_t dst,
                         const uint8_t *hops, uint32_t node, unsigned port)
{
    uint32_t at = src;

    for (uint32_t hop = 0; hop < hop_list_count(hops) && at < network->nodes; hop++) {
        unsigned out = hop_list_at(hops, hop).port;
        if (out == HOP_DIMENSION_ORDER) {
            out = network_next_hop(network, at, dst);
        }
        if (at == node && out == port) {
            return hop;
        }
        at = network_neighbour(network, at, out);
    }
    return HOP_NONE;
}

/* Whether a node has still to open the circuit that a link takes next; its step. */
static bool will_open(const struct network *network, const struct node *node, uint32_t actor,
                      unsigned port, uint16_t epoch, uint16_t turn, uint32_t *number)
{
    const struct engine *engine = &node->engine;
    uint32_t rank = node->router.id;
    const uint8_t *row = engine->row;

    if (engine->stage != ENGINE_STEPS || engine->epoch != epoch) {
        return false;
    }
    if (row && engine->row_open && !(engine->step_waits & STEP_SEND)) {
        row = plan_next(engine->part, row);
    }
    for (; row; row = plan_next(engine->part, row)) {
        struct plan_row head = plan_row_at(row);
        if (!(head.flags & ROW_SENDS)) {
            continue;
        }
        uint32_t to = plan_peer(engine->part, head.to, network, rank);
        uint32_t hop = hop_over(network, rank, to, plan_row_hops(row), actor, port);
        if (hop == HOP_NONE || hop_list_at(plan_row_hops(row), hop).turn != turn) {
            continue;
        }
        *number = head.step;
        return true;
    }
    return false;
}

/* Whether a node has opened the circuit that a link takes next. */
static bool has_opened(const struct network *network, const uint8_t *open, uint32_t src,
                       uint32_t actor, unsigned port, uint16_t epoch, unsigned turn)
{
    if (!open || !(open_flags(open) & OPEN_SCHEDULE) || packet_dst(open) >= network->nodes) {
        return false;
    }
    uint32_t hop = hop_over(network, src, packet_dst(open), open_hops(open), actor, port);

    return hop != HOP_NONE && open_epoch(open) == epoch &&
           hop_list_at(open_hops(open), hop).turn == turn;
}

/* Whether a node's circuit is the one that a link takes next: it has opened it, or will. */
static bool is_next(const struct sim *sim, const struct wait_question *question, uint32_t src,
                    struct wait_answer *answer)
{
    const struct network *network = sim_network(sim);
    const struct node *node = sim_node(sim, src);
    const uint8_t *waiting = router_own(&node->router, SOURCE_WAITING);
    const uint8_t *open = waiting ? waiting : router_own(&node->router, SOURCE_OPENED);

    answer->next.src = src;
    answer->next.opened = has_opened(network, open, src, question->actor, question->at,
                                     question->epoch, question->turn);
    if (answer->next.opened) {
        circuit_text(sim, open, answer->next.text);
        return true;
    }
    return will_open(network, node, question->actor, question->at, question->epoch, question->turn,
                     &answer->next.step);
}

/* A path may lead anywhere, so each node is asked. */
static void find_next(const struct sim *sim, const struct wait_question *question,
                      struct wait_answer *answer)
{
    for (uint32_t src = sim_own(sim, 0)->first; src < sim_own(sim, sim->own_count - 1)->end;
         src++) {
        if (is_next(sim, question, src, answer)) {
            return;
        }
    }
    answer->next.src = ID_HOST;
}

/* The circuit whose turn it is on a link: where it waits, or whose it is to open. */
static void add_turn(struct collecting *c, uint32_t actor, unsigned port,
                     const struct wait_answer *waits)
{
    const struct sim *sim = c->sim;
    struct wait_answer holder =
        ask(sim, (struct wait_question){.kind = ASKED_HOLDER, .actor = actor, .at = port});
    char link[40], other[WAIT_CIRCUIT_MAX];

    link_text(sim, actor, port, link);
    if (holder.holder.port != PORT_NONE && holder.holder.schedule) {
        set_up_over(sim, actor, port, other);
        add(c, waits_at(sim, actor, port), "waits for its turn on link %s, held by %s", link,
            other);
        return;
    }
    struct wait_answer answer =
        ask(sim, (struct wait_question){.kind = ASKED_NEXT,
                                        .actor = actor,
                                        .at = port,
                                        .epoch = waits->circuit.epoch,
                                        .turn = (uint16_t)waits->circuit.turn});
    uint32_t src = answer.next.src;
    if (src == ID_HOST) {
        add(c, nowhere, "waits for its turn on link %s, number %u, and nobody comes as number %u",
            link, waits->circuit.hop_turn, waits->circuit.turn);
    } else if (answer.next.opened) {
        add(c, (struct wait_place){src, WAIT_OWN},
            "waits for its turn on link %s, which is that of %s", link, answer.next.text);
    } else {
        add(c, (struct wait_place){src, WAIT_PROGRAM},
            "waits for its turn on link %s, which is that of node %u in step %u", link,
            (unsigned)src, (unsigned)answer.next.step);
    }
}

static void add_answer(struct collecting *c, uint32_t actor, unsigned port)
{
    struct wait_place at = waits_at(c->sim, actor, port);
    char there[24];

    if (at.at == WAIT_NOWHERE) {
        add(c, at, "waits for its answer, which is under way or lost");
    } else {
        node_text(c->sim, at.actor, there);
        add(c, at, "has come to %s", there);
    }
}

/* What a router says of a circuit: held at an in-port, or its node's own. */
static void add_circuit(struct collecting *c, uint32_t actor, unsigned in)
{
    const struct sim *sim = c->sim;
    struct wait_answer waits =
        ask(sim, (struct wait_question){.kind = ASKED_CIRCUIT, .actor = actor, .at = in});
    unsigned out = waits.circuit.out;
    char node[24], text[WAIT_CIRCUIT_MAX], link[40] = "";

    if (waits.circuit.kind == ROUTER_WAITS_NOT) {
        return;
    }
    node_text(sim, actor, node);
    snprintf(c->subject, sizeof c->subject, "%s: %s", node, waits.circuit.text);
    if (waits.circuit.kind >= ROUTER_WAITS_DEAD) {
        link_text(sim, actor, out, link);
    }
    switch ((enum router_wait_kind)waits.circuit.kind) {
    case ROUTER_WAITS_OWNER:
        add(c, (struct wait_place){actor, WAIT_PROGRAM},
            waits.circuit.schedule ? "waits for %s to come to its step" : "waits for %s to take it",
            node);
        break;
    case ROUTER_WAITS_ANSWER: add_answer(c, actor, out); break;
    case ROUTER_WAITS_MISSING: add(c, nowhere, "has no way to its destination"); break;
    case ROUTER_WAITS_DEAD: add(c, nowhere, "waits for link %s, which is dead", link); break;
    case ROUTER_WAITS_TURN: add_turn(c, actor, out, &waits); break;
    case ROUTER_WAITS_SETUP:
        set_up_over(sim, actor, out, text);
        add(c, waits_at(sim, actor, out), "waits for link %s, held by %s", link, text);
        break;
    case ROUTER_WAITS_PLACE:
        add(c, nowhere, "waits for link %s: the bytes of %u circuits are under way on it", link,
            CIRCUITS_MAX);
        break;
    default:
        add(c, held_at(sim, peer_of(sim, actor, out)),
            "waits for room on link %s, which its other end gives", link);
    }
}

/* The circuit of a row that is open: where it waits. */
static void add_send(struct collecting *c, uint32_t rank, const struct engine *engine)
{
    const char *name = operation_name(engine->call.operation);
    unsigned step = engine->head.step, to = engine->head.to;
    struct wait_place own = {rank, WAIT_OWN};

    if (engine->step_waits & STEP_SEND) {
        add(c, own, "waits in step %u of %s to begin its send to node %u", step, name, to);
    } else if (engine->step_waits & STEP_ANSWER) {
        add(c, own, "waits in step %u of %s for the answer to its circuit to node %u", step, name,
            to);
    }
}

/* The circuit that it takes: under way, or still to be begun, as the other node will say. */
static void add_receive(struct collecting *c, uint32_t rank, const struct engine *engine)
{
    uint32_t from = engine->head.from, step = engine->head.step;
    unsigned count = c->count;

    (void)rank;
    add(c, (struct wait_place){from, WAIT_PROGRAM},
        "waits in step %u of %s for the circuit of node %u", (unsigned)step,
        operation_name(engine->call.operation), (unsigned)from);
    if (c->count > count) {
        c->edges[count].asks = true;
        c->edges[count].match = open_match_of(engine->head.step, engine->head.port);
    }
}

/* Whether a node has opened its circuit to another one, for this match. */
static bool is_open(const struct sim *sim, const struct wait_question *question)
{
    const uint8_t *open = router_waits(&sim_node(sim, question->actor)->router, PORT_LOCAL).open;

    return open && open_flags(open) & OPEN_SCHEDULE && packet_dst(open) == question->other &&
           open_match(open) == question->match;
}

static void add_collective(struct collecting *c, uint32_t rank)
{
    const struct node *node = sim_node(c->sim, rank);
    const struct engine *engine = &node->engine;
    const char *name = operation_name(engine->call.operation);

    if (engine->stage == ENGINE_PLAN) {
        add(c, nowhere, "waits for its plan of %s", name);
        return;
    }
    if (engine->stage != ENGINE_STEPS) {
        uint32_t other = engine_awaits(engine, &node->router);
        if (other < c->sim->count && other != rank) {
            add(c, (struct wait_place){other, WAIT_PROGRAM}, "waits for node %u to enter %s",
                (unsigned)other, name);
        }
        return;
    }
    if (!engine->row_open) {
        add(c, nowhere, "waits for bytes of %s under way (%u in, %u out)", name,
            engine->receives_pending, engine->sends_pending);
        return;
    }
    add_send(c, rank, engine);
    if (engine->step_waits & STEP_RECEIVE) {
        add_receive(c, rank, engine);
    }
}

/* Of a message: for the other program, which has not asked for it yet; for a circuit; or for what
 * is under way. */
static struct wait_place message_waits(const struct sim *sim, uint32_t rank,
                                       const struct request *request)
{
    uint32_t peer = (uint32_t)request->peer;
    bool sends = request->kind == REQUEST_SEND, open = request->state == STATE_QUEUED;

    if (sends && (request->state == STATE_READY || request->state == STATE_OPENING)) {
        return router_of(sim, rank)->opening_count > 0 ? (struct wait_place){rank, WAIT_OWN}
                                                       : nowhere;
    }
    if (sends) {
        open = request->state == STATE_ASKED || request->state == STATE_STORED;
    }
    return open && peer < sim->count ? (struct wait_place){peer, WAIT_PROGRAM} : nowhere;
}

/* STATE tells of one request, the program's; a program that tests waits for any of its own. */
static void add_request(struct collecting *c, uint32_t rank, const struct request *request)
{
    struct state_body state = {.program = PROGRAM_RUNNING,
                               .wait = request->kind == REQUEST_SEND ? WAIT_SEND : WAIT_RECEIVE};
    char words[WORDS_MAX];

    if (request->kind == REQUEST_COLLECTIVE) {
        if (request->state == STATE_MOVING) {
            add_collective(c, rank);
        }
        return;
    }
    report_message(request, &state);
    words_of_doing(&c->sim->host.controller, rank, &state, words);
    add(c, message_waits(c->sim, rank, request), "%s", words);
}

/* A node whose program has not started. */
static void add_load(struct collecting *c, uint32_t rank)
{
    const struct node *node = sim_node(c->sim, rank);
    const struct load *load = &node->load;

    bool sends = load->state == LOAD_SENDING || load->state == LOAD_PIPING;

    if (load->state == LOAD_PIPING && load->pipeline.gone == load->pipeline.came) {
        add(c, nowhere, "waits for the bytes of its image");
    } else if (sends && router_of(c->sim, rank)->opening_count) {
        add(c, (struct wait_place){rank, WAIT_OWN}, "waits to pass the image on");
    } else if (sends && load->left > 1) {
        add(c, (struct wait_place){load_child(node), WAIT_PROGRAM},
            "waits for node %u to take the image", (unsigned)load_child(node));
    } else if (load->state == LOAD_RECEIVING) {
        add(c, nowhere, "waits for the bytes of its image");
    }
}

static void add_program(struct collecting *c, uint32_t rank)
{
    const struct sim *sim = c->sim;
    const struct node *node = sim_node(sim, rank);

    snprintf(c->subject, sizeof c->subject, "node %u", (unsigned)rank);
    if (sim->actors[rank].dead) {
        add(c, nowhere, "is dead");
        return;
    }
    if (sim->tasks[rank].state == TASK_NONE) {
        add_load(c, rank);
        return;
    }
    for (unsigned i = 0; i < node->request_count; i++) {
        const struct request *request = &node->requests[node->request_order[i]];
        if (request->state != STATE_DONE) {
            add_request(c, rank, request);
        }
    }
    if (sim->tasks[rank].state == TASK_ENDED && node->request_count == 0) {
        add(c, nowhere, "has ended its program (%s)", status_text(sim->tasks[rank].status));
    }
}

static void answer_circuit(const struct sim *sim, const struct wait_question *question,
                           struct wait_answer *answer)
{
    const struct router *router = router_of(sim, question->actor);
    struct router_wait wait = router_waits(router, question->at);
    struct open_hop hop = {0};

    answer->circuit.kind = wait.kind;
    answer->circuit.out = wait.out;
    if (wait.kind == ROUTER_WAITS_NOT) {
        return;
    }
    circuit_text(sim, wait.open, answer->circuit.text);
    answer->circuit.schedule = open_flags(wait.open) & OPEN_SCHEDULE;
    if (wait.kind == ROUTER_WAITS_TURN) {
        open_next_hop(wait.open, &hop);
        answer->circuit.hop_turn = hop.turn;
        answer->circuit.epoch = open_epoch(wait.open);
        answer->circuit.turn = router_turn(router, wait.out, answer->circuit.epoch);
    }
}

static void answer_holder(const struct sim *sim, const struct wait_question *question,
                          struct wait_answer *answer)
{
    const struct router *router = router_of(sim, question->actor);

    answer->holder.port = router_holder(router, question->at);
    answer->holder.schedule = router->ports[question->at].setup_flags & OPEN_SCHEDULE;
    answer->holder.ports = router->port_count;
    circuit_text(sim, router_own(router, SOURCE_OPENED), answer->holder.text);
}

static void answer_program(const struct sim *sim, uint32_t rank, struct wait_answer *answer)
{
    struct collecting c = {.sim = sim, .edges = answer->edges};

    add_program(&c, rank);
    answer->edge_count = c.count;
}

static void answer_task(const struct sim *sim, uint32_t rank, struct wait_answer *answer)
{
    const struct task *task = &sim->tasks[rank];

    answer->task.state = task->state;
    answer->task.sent = task->sent;
    answer->task.sends = task->sends;
    answer->task.received = task->received;
}

void wait_answer(const struct sim *sim, const struct wait_question *question,
                 struct wait_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    switch ((enum wait_asked)question->kind) {
    case ASKED_CIRCUIT: answer_circuit(sim, question, answer); break;
    case ASKED_HOLDER: answer_holder(sim, question, answer); break;
    case ASKED_ONWARD:
        answer->onward = router_onward(router_of(sim, question->actor), question->at);
        break;
    case ASKED_OPENED: answer->opened = is_open(sim, question); break;
    case ASKED_PROGRAM: answer_program(sim, question->actor, answer); break;
    case ASKED_TASK: answer_task(sim, question->actor, answer); break;
    case ASKED_NEXT: find_next(sim, question, answer); break;
    }
}

void wait_ask(const struct sim *sim, const struct wait_question *question,
              struct wait_answer *answer)
{
    bool own = question->actor == sim->count || !sim_is_far(sim, question->actor);

    if (sim->options.ranks && (question->kind == ASKED_NEXT || !own)) {
        several_ask(sim, question, answer);
    } else {
        wait_answer(sim, question, answer);
    }
}

/* The edges of a program, and what other nodes know of them. */
static unsigned program_edges(const struct sim *sim, uint32_t rank,
                              struct wait_edge edges[WAIT_EDGES_MAX])
{
    struct wait_answer answer =
        ask(sim, (struct wait_question){.kind = ASKED_PROGRAM, .actor = rank});

    memcpy(edges, answer.edges, answer.edge_count * sizeof *edges);
    for (unsigned i = 0; i < answer.edge_count; i++) {
        struct wait_edge *edge = &edges[i];
        if (!edge->asks) {
            continue;
        }
        if (ask(sim, (struct wait_question){.kind = ASKED_OPENED,
                                            .actor = edge->to.actor,
                                            .other = rank,
                                            .match = edge->match})
                .opened) {
            edge->to.at = WAIT_OWN;
        } else {
            size_t used = strlen(edge->text);
            snprintf(edge->text + used, sizeof edge->text - used, ", which has not begun it");
        }
    }
    return answer.edge_count;
}

unsigned wait_edges(const struct sim *sim, struct wait_place from,
                    struct wait_edge edges[WAIT_EDGES_MAX])
{
    struct collecting c = {.sim = sim, .edges = edges};
    const struct network *network = sim_network(sim);
    bool host = from.actor == sim->count;

    if (from.at == WAIT_PROGRAM && !host) {
        return program_edges(sim, from.actor, edges);
    }
    if (from.at == WAIT_OWN) {
        add_circuit(&c, from.actor, PORT_LOCAL);
    } else if (from.at < (host ? network_host_links(network) : sim_node_ports(sim, from.actor))) {
        add_circuit(&c, from.actor, from.at);
    }
    return c.count;
}
