/*
 * debug_node.c - the queue of jobs of one node, and who hears what has become of it.
 *
 * A job is a client's access, or its going away. The debug unit does one at a time, with operations
 * of the emulator in between; the next begins when it is over. Notices tell the tool of a node's
 * state between jobs only, for a job may halt the node for a moment.
 */
#include "jtag/daemon/debug_node.h"

#include <stdio.h>
#include <string.h>

#include "drivers/check.h"

/* Notices ------------------------------------------------------------------------------------- */

static enum notice_state state_of(const struct debug_node *node)
{
    if (node->gdb.lost || debug_unit_lost(&node->unit)) {
        return NOTICE_LOST;
    }
    return node->emulator.stands ? NOTICE_HALTED : NOTICE_RUNNING;
}

static const char *holder_of(const struct debug_node *node)
{
    const char *guest = gdb_port_holder(&node->gdb);

    if (guest) {
        return guest;
    }
    return debug_unit_owner(&node->unit) ? node->owner_words : "-";
}

/* Between jobs: a job may halt a node for a moment. */
static void tell(struct debug_node *node)
{
    if (!node->busy) {
        notifier_tell_node(node->notifier, node->emulator.number, state_of(node), holder_of(node));
    }
}

/* Jobs ---------------------------------------------------------------------------------------- */

static void run(struct debug_node *node);

static void note_op(struct debug_node *node, const struct core_op *op)
{
    bool takes = op->kind == CORE_HALT || op->kind == CORE_RESET;

    if (takes && !op->failed) {
        node->gdb.lost = false;
    }
    if (op->kind == CORE_RESET && !op->failed) {
        notifier_tell_reset(node->notifier, node->emulator.number);
    }
}

static void end_job(struct debug_node *node)
{
    struct debug_job *job = node->first;

    node->first = job->next;
    node->busy = false;
    if (debug_unit_owner(&node->unit) == job->client) {
        node->owner_words = job->words;
    }
    tell(node);
    job->done(job);
}

/* True: the job is over. */
static bool advance(struct debug_node *node)
{
    struct core_op *op;

    while ((op = debug_unit_wants(&node->unit)) != NULL) {
        if (!emulator_begin(&node->emulator, op)) {
            return false;
        }
        note_op(node, op);
        debug_unit_did(&node->unit);
    }
    return true;
}

/* A word of the text that names who has the node, for a client that has it not; else zero. */
static uint32_t holder_word(const struct debug_node *node, const void *client, uint32_t offset)
{
    char words[DEBUG_NODE_HOLDER_BYTES] = "";
    uint32_t word = 0;

    if (gdb_port_holder(&node->gdb)) {
        snprintf(words, sizeof words, "%s", gdb_port_holder(&node->gdb));
    } else if (debug_unit_owner(&node->unit) && debug_unit_owner(&node->unit) != client) {
        snprintf(words, sizeof words, "%s", node->owner_words);
    }
    for (unsigned i = 0; i < sizeof word; i++) {
        word |= (uint32_t)(unsigned char)words[offset + i] << 8 * i;
    }
    return word;
}

static bool asks_for_holder(const struct access *access)
{
    return access && access->space == ACCESS_DEBUG && !access->write &&
           access->address - DEBUG_NODE_HOLDER < DEBUG_NODE_HOLDER_BYTES &&
           access->address % 4 == 0;
}

static void begin_job(struct debug_node *node)
{
    struct debug_job *job = node->first;

    node->busy = true;
    if (asks_for_holder(job->access)) {
        job->access->value =
            holder_word(node, job->client, job->access->address - DEBUG_NODE_HOLDER);
        job->access->failed = false;
    } else if (job->access) {
        debug_unit_access(&node->unit, job->client, job->access);
    } else {
        debug_unit_leave(&node->unit, job->client);
    }
}

static void run(struct debug_node *node)
{
    while (node->first && !node->busy) {
        begin_job(node);
        if (advance(node)) {
            end_job(node);
        }
    }
}

void debug_node_submit(struct debug_node *node, struct debug_job *job)
{
    job->next = NULL;
    if (node->first) {
        node->last->next = job;
    } else {
        node->first = job;
    }
    node->last = job;
    run(node);
}

static void on_done(void *context)
{
    struct debug_node *node = context;

    note_op(node, debug_unit_wants(&node->unit));
    debug_unit_did(&node->unit);
    if (advance(node)) {
        end_job(node);
        run(node);
    }
}

static void on_stopped(void *context, enum core_stop why, uint32_t address)
{
    struct debug_node *node = context;

    debug_unit_stopped(&node->unit, why, address);
    tell(node);
}

/* GDB ----------------------------------------------------------------------------------------- */

static void on_changed(void *context)
{
    tell(context);
}

static void on_reset(void *context)
{
    struct debug_node *node = context;

    debug_unit_was_reset(&node->unit);
    notifier_tell_reset(node->notifier, node->emulator.number);
}

static void on_free_node(void *context, char words[PEER_WORDS_MAX])
{
    struct debug_node *node = context;
    const void *owner = debug_unit_owner(&node->unit);

    if (owner) {
        snprintf(words, PEER_WORDS_MAX, "%s", node->owner_words);
    } else if (node->busy || node->emulator.holder == EMULATOR_LEAVING) {
        snprintf(words, PEER_WORDS_MAX, "a debugger that leaves it");
    } else if (node->emulator.holder == EMULATOR_CHAIN) {
        debug_unit_give_up(&node->unit);
        emulator_release(&node->emulator, false);
    }
}

int debug_node_open(struct debug_node *node, uv_loop_t *loop,
                    const struct emulator_machine *machine, unsigned number,
                    struct notifier *notifier)
{
    struct debug_board board = {.ram_base = machine->ram.base, .ram_bytes = machine->ram.bytes};
    struct emulator_owner emulator_owner = {
        .context = node, .done = on_done, .stopped = on_stopped};
    struct gdb_port_owner gdb_owner = {
        .context = node, .changed = on_changed, .was_reset = on_reset, .free_node = on_free_node};

    memset(node, 0, sizeof *node);
    node->notifier = notifier;
    debug_unit_init(&node->unit, &board);
    emulator_init(&node->emulator, loop, machine, number, &emulator_owner);
    return gdb_port_listen(&node->gdb, &node->emulator, &gdb_owner);
}

void debug_node_close(struct debug_node *node)
{
    gdb_port_close(&node->gdb);
    emulator_close(&node->emulator);
}
