/*
 * words.c - what the controller has found, in words.
 *
 * Sentences say which node, which link, in which phase, and what to do when the machine itself can
 * know that. "node 3 (rank 3)": people look for a node, programs know ranks; both are the same
 * number. What only the owner knows, why a node's process has ended or who has halted it, the owner
 * says.
 *
 * Context  pure; each function writes one text, cut to its room. The only file of the room, with
 *          download.c, that may use stdio.h, and only snprintf
 */
#include "controller/words.h"

#include <stdio.h>
#include <string.h>

#include "collectives/operation.h"
#include "planner/planner.h"
#include "controller/cables.h"
#include "controller/internal.h"
#include "controller/waits.h"
#include "drivers/status.h"
#include "include/ecube/abi.h"
#include "reduction/reduction.h"
#include "wire/frame.h"
#include "wire/load.h"
#include "wire/message.h"

enum { PART_MAX = 160 }; /* so that two of them and what joins them fit in WORDS_MAX */

/* READY and LOADED are one to a user: nothing goes on. */
const char *words_of_phase(unsigned phase)
{
    switch (phase) {
    case PHASE_BOOT: return "boot";
    case PHASE_DOWNLOAD: return "download";
    case PHASE_RUN: return "run";
    case PHASE_GATHER: return "gather";
    default: return "idle";
    }
}

/* What the link's own node has seen. The number comes from that node, so there may be one that we
 * do not know. */
const char *words_of_dead(unsigned reason)
{
    switch (reason) {
    case DEAD_CARRIER: return "carrier lost, cut or its device gone";
    case DEAD_TIMEOUT: return "no acknowledgement through all retries";
    case DEAD_PROTOCOL: return "too many damaged or impossible frames";
    case DEAD_VERSION: return "the two ends speak different protocol versions";
    case DEAD_RESTARTED: return "its other end has started anew";
    default: return "unknown reason";
    }
}

/* What a node finds at a port; completes "node 3 ...". */
static const char *end_text(const struct cable_end *end, char text[PART_MAX])
{
    switch (end->finding) {
    case FINDS_NOTHING: return "hears nothing";
    case FINDS_RIGHT: return "sees it up";
    case FINDS_HOST: return "finds the host there";
    case FINDS_NAMELESS: return "finds a node that does not know its number";
    case FINDS_ONE_WAY: return "hears the other end but is not heard";
    case FINDS_LOST: return "had it and lost it";
    case FINDS_UNREPORTED: return "tells nothing";
    case FINDS_OTHER: break;
    }
    snprintf(text, PART_MAX, "finds node %u, port %u", (unsigned)end->peer, end->port);
    return text;
}

/* " from node 1 to node 7, port 1"; nothing when where the cable leads is not known at this end. */
static void lead_text(uint32_t node, const struct cable_end *end, char text[PART_MAX])
{
    text[0] = '\0';
    if (end->known) {
        snprintf(text, PART_MAX, " from node %u to node %u, port %u", (unsigned)node,
                 (unsigned)end->really, end->really_port);
    }
}

/* Names the cable by where it should lead, then says where it does, from each end that knows. */
static void lead_words(const struct cable_fault *fault, char text[WORDS_MAX])
{
    char here[PART_MAX], there[PART_MAX];

    lead_text(fault->node, &fault->end[0], here);
    lead_text(fault->peer, &fault->end[1], there);
    snprintf(text, WORDS_MAX, "crossed: link %u-%u (dimension %u) leads%s%s%s",
             (unsigned)fault->node, (unsigned)fault->peer, fault->dimension, here,
             here[0] && there[0] ? ", and" : "", there);
}

/* "missing: link 1-3 (dimension 1): node 1 hears nothing, node 3 sees it up". What both ends find
 * is said, because the fault is mostly at one of them. */
static void link_words(const struct cable_fault *fault, const char *what, char text[WORDS_MAX])
{
    char here[PART_MAX], there[PART_MAX];

    snprintf(text, WORDS_MAX, "%s: link %u-%u (dimension %u): node %u %s, node %u %s", what,
             (unsigned)fault->node, (unsigned)fault->peer, fault->dimension, (unsigned)fault->node,
             end_text(&fault->end[0], here), (unsigned)fault->peer,
             end_text(&fault->end[1], there));
}

/* Begins with the kind of the fault, which stands alone in lists that people scan. */
void words_of_cable(const struct cable_fault *fault, char text[WORDS_MAX])
{
    unsigned node = fault->node;
    char part[PART_MAX];

    /* Crossed, and nobody knows where it leads: an end has met a node that cannot be its
     * neighbour, and that node's number is not known. */
    switch (fault->kind) {
    case CABLE_CROSSED:
        if (fault->unsure) {
            link_words(fault, "unclear", text);
        } else if (fault->end[0].known || fault->end[1].known) {
            lead_words(fault, text);
        } else {
            link_words(fault, "crossed", text);
        }
        break;
    case CABLE_MISSING: link_words(fault, "missing", text); break;
    case CABLE_ONE_WAY: link_words(fault, "one-way", text); break;
    case CABLE_NODE_SILENT:
        snprintf(text, WORDS_MAX,
                 "missing: node %u (rank %u) tells nothing: it does not run, or has no way to the "
                 "host",
                 node, node);
        break;
    default:
        snprintf(text, WORDS_MAX, "missing: host link of node %u: the node %s", node,
                 end_text(&fault->end[0], part));
        break;
    }
}

/* As the user has given it, not as passed time has counted it. */
static unsigned rank_of(const struct controller *controller, uint32_t node)
{
    const struct network *network = controller->config.network;

    return node < network->nodes ? network_rank(network, node) : node;
}

static double patience_s(const struct controller *controller)
{
    return (double)controller->config.patience_us / 1e6;
}

/* That nothing new has shown is said only when it is what ended the boot. */
static void boot_words(const struct controller *controller, const struct controller_event *event,
                       char text[WORDS_MAX])
{
    unsigned nodes = controller->config.network->nodes;

    if (event->reason == BOOT_CROSSED) {
        snprintf(text, WORDS_MAX, "boot failed: %d links are crossed, %u of %u nodes answered",
                 (int)event->status, (unsigned)event->peer, nodes);
    } else if (event->reason == BOOT_UNSURE) {
        snprintf(text, WORDS_MAX,
                 "boot failed: cables are crossed at %d links or beside them: nodes have others' "
                 "numbers, so which ones is not known; %u of %u nodes answered",
                 (int)event->status, (unsigned)event->peer, nodes);
    } else {
        snprintf(text, WORDS_MAX,
                 "boot failed: %u of %u nodes answered, %u have all their links, nothing new for "
                 "%.10g s (--patience)",
                 (unsigned)event->peer, nodes, (unsigned)event->done, patience_s(controller));
    }
}

/* Of a silent node: its links, which would have died after the patience alone, do live. */
static void load_words(const struct controller *controller, const struct controller_event *event,
                       char text[WORDS_MAX])
{
    unsigned rank = event->rank;

    switch (event->reason) {
    case LOAD_SILENT:
        snprintf(text, WORDS_MAX,
                 "download failed: node %u (rank %u) has not answered for %.10g s (--patience), "
                 "%u of %u receipts",
                 rank, rank_of(controller, rank), patience_s(controller), (unsigned)event->done,
                 (unsigned)controller->config.network->nodes);
        break;
    case LOAD_REFUSED:
        snprintf(text, WORDS_MAX, "node %u (rank %u) refused the download: %s", rank,
                 rank_of(controller, rank),
                 event->status == E_OK ? "it runs a program" : status_text(event->status));
        break;
    case LOAD_WRONG:
        snprintf(text, WORDS_MAX,
                 "download to node %u (rank %u) failed: the node holds other bytes than were sent, "
                 "also when they are sent again",
                 rank, rank_of(controller, rank));
        break;
    default:
        snprintf(text, WORDS_MAX, "download to node %u (rank %u) failed: %s", rank,
                 rank_of(controller, rank), status_text(event->status));
        break;
    }
}

/* Of outputs that did not come; a node may fail for others of its range. */
static void gather_words(const struct controller *controller, const struct controller_event *event,
                         char text[WORDS_MAX])
{
    unsigned rank = event->rank, nodes = controller->config.network->nodes;

    switch (event->reason) {
    case GATHER_SILENT:
        snprintf(text, WORDS_MAX,
                 "the outputs did not come: node %u (rank %u) has not answered for %.10g s "
                 "(--patience), %u of %u outputs",
                 rank, rank_of(controller, rank), patience_s(controller), (unsigned)event->done,
                 nodes);
        break;
    case GATHER_STOPPED:
        snprintf(text, WORDS_MAX, "the outputs were given up: %u of %u had come",
                 (unsigned)event->done, nodes);
        break;
    case GATHER_REFUSED:
        snprintf(text, WORDS_MAX, "node %u (rank %u) refused to collect outputs", rank,
                 rank_of(controller, rank));
        break;
    case GATHER_WRONG:
        snprintf(text, WORDS_MAX,
                 "the output of node %u (rank %u) is another than it has said that it has", rank,
                 rank_of(controller, rank));
        break;
    default:
        snprintf(text, WORDS_MAX, "the outputs did not come: node %u (rank %u): %s", rank,
                 rank_of(controller, rank), status_text(event->status));
        break;
    }
}

/* "in, out" */
static void names_text(const char *names, uint32_t bytes, char text[PART_MAX])
{
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t at = 0; at < bytes && used < PART_MAX; at += (uint32_t)strlen(names + at) + 1) {
        used += (size_t)snprintf(text + used, PART_MAX - used, "%s%s", at ? ", " : "", names + at);
    }
}

static void region_words(const struct controller_event *event, char text[WORDS_MAX])
{
    unsigned rank = event->rank;
    char names[PART_MAX];

    switch (event->reason) {
    case REGION_UNKNOWN:
        names_text((const char *)event->body, event->bytes, names);
        snprintf(text, WORDS_MAX, "node %u (rank %u) has no region of this name: it has %s", rank,
                 rank, names);
        break;
    case REGION_GONE:
    case REGION_ENDED:
        if (event->rank == CONTROLLER_NO_NODE) {
            snprintf(text, WORDS_MAX, "the programs were ended");
        } else {
            snprintf(text, WORDS_MAX, "the program of node %u (rank %u) has ended", rank, rank);
        }
        break;
    case REGION_WRONG:
        snprintf(text, WORDS_MAX,
                 "node %u (rank %u) sends another part than it has said that it has", rank, rank);
        break;
    default:
        snprintf(text, WORDS_MAX, "node %u (rank %u): %s", rank, rank, status_text(event->status));
        break;
    }
}

/* " (double, sum)": what a reduction combines, and how. */
static void reduction_text(const struct entry *entry, char *text, size_t room)
{
    const struct operation *operation = operation_of(entry->operation);
    const char *type = reduction_type_name(entry->type);
    const char *name = reduction_operator_name(entry->operator_);

    text[0] = '\0';
    if (operation && operation->reduces) {
        snprintf(text, room, " (%s, %s)", type ? type : "unknown type",
                 name ? name : "unknown operator");
    }
}

/* A collective as a node has entered it. */
static void entry_text(const struct controller *controller, const struct entry *entry,
                       char text[PART_MAX])
{
    char what[PART_MAX / 2], how[PART_MAX / 4];

    words_of_collective(controller->config.network, entry->operation, entry->bytes, entry->root,
                        what, sizeof what);
    reduction_text(entry, how, sizeof how);
    snprintf(text, PART_MAX, "%s%s", what, how);
}

/* Whether they differ in nothing that the program says. */
static bool only_plans_differ(const struct entry *a, const struct entry *b)
{
    return a->operation == b->operation && a->type == b->type && a->operator_ == b->operator_ &&
           a->bytes == b->bytes && a->root == b->root;
}

/* By which algorithm a node wants a collective to go. */
static const char *algorithm_of(const struct controller *controller, const struct entry *entry,
                                char words[ALGORITHM_WORDS_MAX])
{
    const char *name = entry->choice ? plan_algorithm_of(controller->config.network,
                                                         entry->operation, entry->choice, words)
                                     : "the host's choice";

    return name ? name : "an unknown algorithm";
}

/* Both collectives, so that it can be seen in what they differ. */
static void mismatch_words(const struct controller *controller,
                           const struct controller_event *event, char text[WORDS_MAX])
{
    const struct entry *first = &event->disagree.first, *other = &event->disagree.other;
    unsigned rank = event->rank, peer = event->peer;
    char here[PART_MAX], there[PART_MAX + 48], by[2][ALGORITHM_WORDS_MAX];

    entry_text(controller, first, here);
    entry_text(controller, other, there);
    if (only_plans_differ(first, other) && first->choice != other->choice) {
        snprintf(there, sizeof there, "by %s and by %s", algorithm_of(controller, first, by[0]),
                 algorithm_of(controller, other, by[1]));
    } else if (only_plans_differ(first, other)) {
        snprintf(there, sizeof there, "by plan %08x and by plan %08x", (unsigned)first->digest,
                 (unsigned)other->digest);
    }
    snprintf(text, WORDS_MAX,
             "node %u (rank %u) and node %u (rank %u) disagree on a collective: %s, %s%s", rank,
             rank_of(controller, rank), peer, rank_of(controller, peer), here,
             only_plans_differ(first, other) ? "" : "and ", there);
}

/* The receiver says what it expected, and what it was sent. */
static void sizes_words(const struct controller *controller, const struct controller_event *event,
                        char text[WORDS_MAX])
{
    const struct entry *said = &event->disagree.first;
    const char *name = operation_name(said->operation);
    unsigned sender = event->peer, receiver = event->rank;

    if (sender == receiver) {
        snprintf(text, WORDS_MAX,
                 "node %u (rank %u) disagrees with itself on the size of its own block of %s: it "
                 "sends %u bytes and expects %u",
                 sender, rank_of(controller, sender), name, (unsigned)said->digest,
                 (unsigned)said->bytes);
        return;
    }
    snprintf(text, WORDS_MAX,
             "node %u (rank %u) and node %u (rank %u) disagree on the size of a block of %s: rank "
             "%u sends %u bytes, rank %u expects %u",
             sender, rank_of(controller, sender), receiver, rank_of(controller, receiver), name,
             rank_of(controller, sender), (unsigned)said->digest, rank_of(controller, receiver),
             (unsigned)said->bytes);
}

static void disagree_words(const struct controller *controller,
                           const struct controller_event *event, char text[WORDS_MAX])
{
    unsigned rank = event->rank;
    char what[PART_MAX];

    if (event->status == E_MISMATCH && run_is_on_sizes(&event->disagree.first)) {
        sizes_words(controller, event, text);
        return;
    }
    if (event->status == E_MISMATCH) {
        mismatch_words(controller, event, text);
        return;
    }
    entry_text(controller, &event->disagree.first, what);
    snprintf(text, WORDS_MAX, "node %u (rank %u) could not enter %s, which fails at all nodes: %s",
             rank, rank_of(controller, rank), what, status_text(event->status));
}

static void plan_words(const struct controller *controller, const struct controller_event *event,
                       char text[WORDS_MAX])
{
    char what[PART_MAX];

    words_of_collective(controller->config.network, event->plan.operation, event->plan.bytes,
                        event->plan.root, what, sizeof what);
    snprintf(text, WORDS_MAX, "there is no plan for %s: %s", what, (const char *)event->body);
}

/* Names a link between nodes by its lower end first, as users write it, and the node that has
 * reported its death, so that a user can look there. */
void words_of_dead_link(const struct controller *controller, const struct controller_event *event,
                        const char *why, char text[WORDS_MAX])
{
    const struct network *network = controller->config.network;
    const char *phase = words_of_phase(event->phase);
    unsigned rank = event->rank, peer = event->peer;

    if (event->peer == ID_HOST) {
        snprintf(text, WORDS_MAX, "the host link of node %u (rank %u) died during %s: %s", rank,
                 rank_of(controller, rank), phase, why);
    } else if (event->peer >= network->nodes) {
        snprintf(text, WORDS_MAX,
                 "a link of node %u (rank %u) died during %s before its other end was known: %s",
                 rank, rank_of(controller, rank), phase, why);
    } else {
        unsigned port = network_port_to(network, event->rank, event->peer);

        snprintf(text, WORDS_MAX,
                 "link %u-%u (dimension %u) died during %s: %s, told by node %u (rank %u)",
                 rank < peer ? rank : peer, rank < peer ? peer : rank,
                 network_port_dimension(network, port), phase, why, rank,
                 rank_of(controller, rank));
    }
}

static void end_words(const struct controller *controller, const struct controller_event *event,
                      char text[WORDS_MAX])
{
    unsigned rank = event->rank, nodes = controller->config.network->nodes;

    if (event->reason == ENDED_ABORTED) {
        snprintf(text, WORDS_MAX,
                 "node %u (rank %u) aborted the run with status %d: %u of %u programs had ended",
                 rank, rank_of(controller, rank), (int)event->status, (unsigned)event->done - 1,
                 nodes);
    } else {
        snprintf(text, WORDS_MAX, "the programs that still run wait for ever: %u of %u have ended",
                 (unsigned)event->done, nodes);
    }
}

/* What is wrong with the map of a load; the numbers are the node's. */
static void wrong_map_text(const uint32_t numbers[4], char text[PART_MAX])
{
    unsigned a = numbers[1], b = numbers[2], c = numbers[3];

    switch (numbers[0]) {
    case LOAD_MAP_CUT:
        snprintf(text, PART_MAX, "it has %u bytes, and that of %u nodes has %u", a, b, c);
        break;
    case LOAD_MAP_NODES:
        snprintf(text, PART_MAX, "it is for %u nodes, and this machine has %u", a, b);
        break;
    case LOAD_MAP_OUTSIDE:
        snprintf(text, PART_MAX, "rank %u is at node %u, and there are nodes 0 to %u", a, b, c - 1);
        break;
    case LOAD_MAP_TWICE:
        snprintf(text, PART_MAX, "ranks %u and %u are both at node %u", a, b, c);
        break;
    case LOAD_MAP_ASTRAY:
        snprintf(text, PART_MAX, "rank %u is at node %u, and node %u has rank %u", a, b, b, c);
        break;
    default: snprintf(text, PART_MAX, "its ranks form no network of %u nodes", b); break;
    }
}

/* The others are the owner's to say, for it alone knows why, or steps of a run that goes well. */
bool words_of_event(const struct controller *controller, const struct controller_event *event,
                    char text[WORDS_MAX])
{
    unsigned rank = event->rank;
    char part[PART_MAX];

    switch (event->kind) {
    case EVENT_BOOT_FAILED: boot_words(controller, event, text); return event->reason != BOOT_HELD;
    case EVENT_LOAD_WAITS:
        snprintf(text, WORDS_MAX, "the download waits: node %u (rank %u) does not answer", rank,
                 rank_of(controller, rank));
        return true;
    case EVENT_LOAD_FAILED: load_words(controller, event, text); return true;
    case EVENT_GATHER_FAILED: gather_words(controller, event, text); return true;
    case EVENT_REGION_FAILED: region_words(event, text); return true;
    case EVENT_REGION_WAITS:
        snprintf(text, WORDS_MAX,
                 "%u programs wait at region %s, for 'ecube scatter %s' or 'ecube gather %s'",
                 (unsigned)event->done, (const char *)event->body, (const char *)event->body,
                 (const char *)event->body);
        return true;
    case EVENT_FAULT:
        if (event->fault.kind == FAULT_MAP) {
            wrong_map_text(event->fault.registers, part);
            snprintf(text, WORDS_MAX,
                     "node %u does not begin its program: the load's map is wrong: %s", rank, part);
        }
        return event->fault.kind == FAULT_MAP;
    case EVENT_DISAGREE: disagree_words(controller, event, text); return true;
    case EVENT_NO_PLAN: plan_words(controller, event, text); return true;
    case EVENT_LINK_DIED:
        words_of_dead_link(controller, event, words_of_dead(event->reason), text);
        return true;
    case EVENT_ENDED:
        end_words(controller, event, text);
        return event->reason == ENDED_STANDS || event->reason == ENDED_ABORTED;
    default: return false;
    }
}

/* A barrier has no bytes, an exchange no root; what there is not has both. */
void words_of_collective(const struct network *network, uint32_t operation, uint32_t bytes,
                         uint32_t root, char *text, size_t room)
{
    const struct operation *row = operation_of(operation);
    bool moves =
        !row || row->span[SPACE_SEND] != SPAN_NONE || row->span[SPACE_RECEIVE] != SPAN_NONE;
    const char *root_name = row ? operation_root_name(row) : "root";
    char size[40] = "", from[40] = "";

    if (moves && !(row && row->sized)) { /* blocks with sizes of their own have no one size */
        snprintf(size, sizeof size, " of %u bytes", (unsigned)bytes);
    }
    if (row && row->rooted && root < network->nodes) {
        root = network_rank(network, root);
    }
    if (root_name) {
        bool negative =
            root > INT32_MAX && !(row && row->parameter); /* as the program has said it */
        snprintf(from, sizeof from, " with %s %s%u", root_name, negative ? "-" : "",
                 (unsigned)(negative ? 0 - root : root));
    }
    snprintf(text, room, "%s%s%s", operation_name(operation), size, from);
}

/* "rank 3, tag 5": as the program has asked, which may have been for any rank or any tag. */
static void peer_text(const struct controller *controller, const struct node_answer *answer,
                      char text[PART_MAX])
{
    char tag[24] = "";

    if (answer->tag != ECUBE_ANY) {
        snprintf(tag, sizeof tag, ", tag %d", (int)answer->tag);
    }
    if (answer->peer == ECUBE_ANY) {
        snprintf(text, PART_MAX, "any rank%s", tag);
    } else {
        snprintf(text, PART_MAX, "rank %d%s", (int)rank_of(controller, (uint32_t)answer->peer),
                 tag);
    }
}

/* A transfer that moves waits for nobody, so the words say what it does.
 *
 *     sends 5000 bytes to rank 3, tag 7
 *     waits to send 5000 bytes to rank 3, tag 7, which has not asked for it
 *     waits to send 4 bytes to rank 3, tag 7, whose 64 places for messages are full
 *     waits to receive from any rank
 */
static void message_words(const struct controller *controller, const struct node_answer *answer,
                          char text[WORDS_MAX])
{
    bool moves = answer->transfer == TRANSFER_MOVES;
    char peer[PART_MAX], why[PART_MAX] = "";

    peer_text(controller, answer, peer);
    if (answer->transfer == TRANSFER_KNOWN) {
        snprintf(why, sizeof why, ", which has not asked for it");
    } else if (waits_for_room(controller, answer)) {
        snprintf(why, sizeof why, ", whose %d places for messages are full", MESSAGES_STORED_MAX);
    }
    if (answer->wait == WAIT_SEND) {
        snprintf(text, WORDS_MAX, "%s %u bytes to %s%s", moves ? "sends" : "waits to send",
                 (unsigned)answer->bytes, peer, why);
    } else if (moves) {
        snprintf(text, WORDS_MAX, "receives %u bytes from %s", (unsigned)answer->bytes, peer);
    } else {
        snprintf(text, WORDS_MAX, "waits to receive from %s", peer);
    }
}

/* In the entry the one who is missing is named, not the neighbour whose entry is taken: that may
 * only wait itself.
 *
 *     waits in broadcast of 4 bytes with root 1 for rank 6 to enter
 *     waits in complete exchange of 100 bytes, step 3 of 7, with rank 5
 */
static void collective_words(const struct controller *controller, uint32_t rank,
                             const struct node_answer *answer, char text[WORDS_MAX])
{
    uint32_t missing = waits_missing(controller, rank);
    char what[PART_MAX];

    words_of_collective(controller->config.network, answer->operation, answer->collective_bytes,
                        answer->root, what, sizeof what);
    if (answer->stage == COLLECTIVE_STEPS) {
        snprintf(text, WORDS_MAX, "waits in %s, step %u of %u, with rank %u", what, answer->step,
                 answer->steps, rank_of(controller, answer->partner));
    } else if (answer->stage == COLLECTIVE_ENTRY && answer->partner == ID_HOST) {
        snprintf(text, WORDS_MAX, "waits for the host's plan of %s", what);
    } else if (answer->stage == COLLECTIVE_ENTRY && missing != rank) {
        snprintf(text, WORDS_MAX, "waits in %s for rank %u to enter", what,
                 rank_of(controller, missing));
    } else {
        snprintf(text, WORDS_MAX, "waits in a collective");
    }
}

/* Completes "node 3 ...". What is neither a message nor a collective ends without another program:
 * no circle of programs goes through it. */
static void wait_words(const struct controller *controller, uint32_t rank,
                       const struct node_answer *answer, char text[WORDS_MAX])
{
    char peer[PART_MAX];

    switch (answer->wait) {
    case WAIT_SEND:
    case WAIT_RECEIVE: message_words(controller, answer, text); break;
    case WAIT_COLLECTIVE: collective_words(controller, rank, answer, text); break;
    case WAIT_SEVERAL:
        snprintf(text, WORDS_MAX, "waits for any of %u requests", (unsigned)answer->bytes);
        break;
    case WAIT_PROBE:
        peer_text(controller, answer, peer);
        snprintf(text, WORDS_MAX, "waits for a message from %s (probe)", peer);
        break;
    case WAIT_REGION:
        snprintf(text, WORDS_MAX, "waits at region %s (%u bytes) for 'ecube scatter' or 'gather'",
                 answer->region, (unsigned)answer->bytes);
        break;
    case WAIT_CONSOLE: snprintf(text, WORDS_MAX, "waits for its console text to leave"); break;
    case WAIT_PLAN:
        snprintf(text, WORDS_MAX, "waits for what the host knows of a collective");
        break;
    case WAIT_READER: snprintf(text, WORDS_MAX, "waits for the reader of its output"); break;
    case WAIT_SLEEP:
        snprintf(text, WORDS_MAX, "sleeps for %.1f s more", (double)answer->left_ms / 1e3);
        break;
    default: snprintf(text, WORDS_MAX, "computes"); break;
    }
}

/* A program that calls ecube_test again and again waits, too, but may compute between the calls:
 * so the words add how it waits. */
static void doing_words(const struct controller *controller, uint32_t rank,
                        const struct node_answer *answer, char text[WORDS_MAX])
{
    char wait[WORDS_MAX];

    wait_words(controller, rank, answer, wait);
    snprintf(text, WORDS_MAX, "%.*s%s", PART_MAX, wait,
             answer->flags & STATE_POLLS ? ", by testing" : "");
}

/* A table of nodes is made from kept answers. A single answer takes the same way, so that both say
 * the same. */
void words_of_doing(const struct controller *controller, uint32_t rank,
                    const struct state_body *state, char text[WORDS_MAX])
{
    struct node_answer answer = query_answer_of(state);

    doing_words(controller, rank, &answer, text);
}

/* Of one that waits for a program that has ended. */
static void add_gone(const struct controller *controller, uint32_t rank, char text[WORDS_MAX])
{
    size_t used = strlen(text);

    if (controller_has(controller, rank, NODE_RUNNING) &&
        !controller_has(controller, waits_for(controller, rank), NODE_RUNNING)) {
        snprintf(text + used, WORDS_MAX - used, ", whose program has ended");
    }
}

/* In the order of what explains the rest: who is dead is not halted, who is halted does not answer,
 * and what one that does not answer said before is old. */
void words_of_state(const struct controller *controller, uint32_t rank, char text[WORDS_MAX])
{
    if (controller_has(controller, rank, NODE_DEAD)) {
        snprintf(text, WORDS_MAX, "is dead");
    } else if (controller_has(controller, rank, NODE_HALTED)) {
        snprintf(text, WORDS_MAX, "is halted");
    } else if (!controller_answered(controller, rank)) {
        snprintf(text, WORDS_MAX, "does not answer");
    } else {
        doing_words(controller, rank, &controller->nodes[rank].answer, text);
        add_gone(controller, rank, text);
    }
}

void words_of_wait(const struct network *network, uint32_t rank, const char *doing, char *text,
                   size_t room)
{
    snprintf(text, room, "node %u (rank %u) %s", (unsigned)rank,
             (unsigned)network_rank(network, rank), doing);
}

void words_of_circle(const struct network *network, const uint32_t *ranks, uint32_t length,
                     char text[WORDS_MAX])
{
    const char *what = "programs wait for each other in a circle:";
    size_t used = (size_t)snprintf(text, WORDS_MAX, "%s rank %u", what,
                                   (unsigned)network_rank(network, ranks[0]));

    if (length == 1) {
        snprintf(text, WORDS_MAX, "the program of rank %u waits for itself",
                 (unsigned)network_rank(network, ranks[0]));
        return;
    }
    for (uint32_t i = 0; i < length && used < WORDS_MAX; i++) {
        used += (size_t)snprintf(text + used, WORDS_MAX - used, " for %u",
                                 (unsigned)network_rank(network, ranks[(i + 1) % length]));
    }
    if (used >= WORDS_MAX) {
        snprintf(text, WORDS_MAX, "%s %u of them", what, (unsigned)length);
    }
}

/* What it waits for may be one of them, and is said to be: "one of 3 open requests". Messages that
 * it has not asked for may be those that it misses, under another tag. */
void words_of_requests(const struct controller *controller, uint32_t rank, char text[WORDS_MAX])
{
    const struct node_answer *answer = &controller->nodes[rank].answer;
    bool one = answer->wait == WAIT_SEND || answer->wait == WAIT_RECEIVE ||
               answer->wait == WAIT_COLLECTIVE;

    char asked[PART_MAX] = "", stored[PART_MAX] = "";

    if (answer->requests > (one ? 1 : 0)) {
        snprintf(asked, sizeof asked, "%s%u open request%s", one ? "one of " : "",
                 (unsigned)answer->requests, answer->requests > 1 ? "s" : "");
    }
    if (answer->stored > 0) {
        snprintf(stored, sizeof stored, "%u message%s not received", (unsigned)answer->stored,
                 answer->stored > 1 ? "s" : "");
    }
    text[0] = '\0';
    if (controller_answered(controller, rank) && (asked[0] || stored[0])) {
        snprintf(text, WORDS_MAX, " (%s%s%s)", asked, asked[0] && stored[0] ? ", " : "", stored);
    }
}
