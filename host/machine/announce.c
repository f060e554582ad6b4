#include "host/machine/announce.h"

#include <stdio.h>

#include "controller/words.h"
#include "host/job/troubles.h"
#include "host/machine/machine.h"
#include "router/channel.h"

enum { DEATHS_TOLD_MAX = 4 };

static unsigned nodes_of(const struct machine *machine)
{
    return machine->options.network.nodes;
}

static double patience_s(const struct machine *machine)
{
    uint32_t patience_ms = machine->options.patience_ms;

    return (patience_ms ? patience_ms : (uint32_t)DEAD_AFTER_MS) / 1e3;
}

void announce_boot(struct machine *machine)
{
    tell_event(&machine->teller,
               json_pack("{s:s, s:s, s:i, s:f}", "event", "boot", "network",
                         machine->options.network_name, "nodes", (int)nodes_of(machine), "boot_ms",
                         (double)machine->boot_us / 1e3));
}

/* Before debuggers could connect; else the controller has words. */
static void tell_boot_failed(struct machine *machine, const struct controller_event *event)
{
    char held[WORDS_MAX];

    snprintf(held, sizeof held,
             "boot failed: the server of debuggers (ecube-jtag) is not ready after %.10g s "
             "(--patience)",
             patience_s(machine));
    troubles_tell_boot(&machine->programs, event, held);
}

static void tell_load_waits(struct machine *machine, const struct controller_event *event)
{
    char text[WORDS_MAX];

    if (machine->wait_told || !words_of_event(&machine->controller, event, text)) {
        return;
    }
    machine->wait_told = true;
    tell_trouble(&machine->teller, tell_node_members("download-waits", event->rank), "%s%s", text,
                 machine->target.jtag[0] ? "" : " (is it stopped in a debugger?)");
}

void announce_halted(struct machine *machine)
{
    uint32_t nodes = nodes_of(machine), rank = 0;
    char text[DEBUG_TEXT_MAX];

    while (rank < nodes && (!debuggers_halt(&machine->debuggers, rank) ||
                            machine->programs.nodes[rank].receipted)) {
        rank++;
    }
    if (rank < nodes && !machine->wait_told) {
        json_t *members = tell_node_members("download-waits", rank);

        machine->wait_told = true;
        json_object_set_new(members, "holder", json_string(machine->debuggers.nodes[rank].holder));
        tell_trouble(&machine->teller, members, "the download waits: node %u (rank %u) is %s",
                     (unsigned)rank, (unsigned)network_rank(machine->programs.network, rank),
                     debuggers_text(&machine->debuggers, rank, text));
    }
}

/* One trouble for all its nodes. */
static void tell_lost_computer(struct machine *machine, const struct launcher_lost *lost,
                               const char *phase)
{
    json_t *nodes = json_array();

    for (uint32_t i = 0; i < lost->count; i++) {
        json_array_append_new(nodes, json_integer(lost->first + i));
    }
    tell_trouble(
        &machine->teller,
        json_pack("{s:s, s:o, s:s}", "kind", "computer-lost", "nodes", nodes, "phase", phase),
        "%s, during %s", lost->text, phase);
}

static void tell_death(struct machine *machine, const struct controller_event *event)
{
    const char *phase = words_of_phase(event->phase);
    char note[LAUNCHER_NOTE_MAX];
    struct launcher_lost lost;

    if (launcher_lost(&machine->launcher, event->rank, &lost)) {
        if (event->rank == lost.node) {
            tell_lost_computer(machine, &lost, phase);
        }
        return;
    }
    if (machine->deaths_told == DEATHS_TOLD_MAX) {
        machine->deaths_untold++;
        return;
    }
    machine->deaths_told++;
    launcher_describe(&machine->launcher, event->rank, note);
    json_t *members = tell_node_members("node-died", event->rank);
    json_object_set_new(members, "phase", json_string(phase));
    tell_trouble(&machine->teller, members, "node %u (rank %u) died during %s: its QEMU %s",
                 (unsigned)event->rank,
                 (unsigned)network_rank(machine->programs.network, event->rank), phase, note);
}

static void tell_reset(struct machine *machine, const struct controller_event *event,
                       const char *outlook)
{
    const char *phase = words_of_phase(event->phase);
    char text[RESET_TEXT_MAX];

    if (debuggers_reset_text(&machine->debuggers, text)) {
        tell_trouble(&machine->teller,
                     json_pack("{s:s, s:o, s:s}", "kind", "node-reset", "nodes",
                               debuggers_reset_nodes(&machine->debuggers), "phase", phase),
                     "%s during %s: %s", text, phase, outlook);
    }
}

void announce_debugging_gone(struct machine *machine, const char *words)
{
    json_t *members = json_pack("{s:s, s:[]}", "kind", "debugging-gone", "nodes");

    if (machine->debug_ready) {
        tell_trouble(&machine->teller, members,
                     "no node can be debugged any more, and a halted one stays halted: the server "
                     "of debuggers (ecube-jtag) %s; the machine lives on",
                     words);
    } else {
        tell_trouble(&machine->teller, members,
                     "boot failed: the server of debuggers (ecube-jtag) %s", words);
    }
}

void announce_event(struct machine *machine, const struct controller_event *event)
{
    struct teller *teller = &machine->teller;

    switch (event->kind) {
    case EVENT_BOOT_PROGRESS: tell_progress(teller, "boot", event->done, nodes_of(machine)); break;
    case EVENT_BOOT_FAILED: tell_boot_failed(machine, event); break;
    case EVENT_LOAD_WAITS: tell_load_waits(machine, event); break;
    case EVENT_NODE_DIED: tell_death(machine, event); break;
    case EVENT_RESET:
        tell_reset(machine, event,
                   controller_reset_mends(&machine->controller)
                       ? "reset all ('reset run' in OpenOCD), and the machine boots anew"
                       : "the machine is broken");
        break;
    case EVENT_BROKEN:
        tell_more(teller, "more-nodes-died", machine->deaths_untold, "nodes died");
        machine->deaths_untold = 0;
        break;
    case EVENT_RESTART: tell_reset(machine, event, "the machine boots anew"); break;
    default: break;
    }
}
