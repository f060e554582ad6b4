/*
 * station.c - the queue of jobs of one node, and who hears what has become of it.
 *
 * A job is a client's access, or its going away. The debug unit does one at a time, with operations
 * of the emulator in between; the next begins when it is over. Notices tell the tool of a node's
 * state between jobs only, for a job may halt the node for a moment.
 */
#include "jtag/daemon/station.h"

#include <stdio.h>
#include <string.h>

#include "drivers/check.h"

/* Notices ------------------------------------------------------------------------------------- */

static enum notice_state state_of(const struct station *station)
{
    if (station->gdb.lost || debug_unit_lost(&station->unit)) {
        return NOTICE_LOST;
    }
    return station->emulator.stands ? NOTICE_HALTED : NOTICE_RUNNING;
}

static const char *holder_of(const struct station *station)
{
    const char *guest = gdb_port_holder(&station->gdb);

    if (guest) {
        return guest;
    }
    return debug_unit_owner(&station->unit) ? station->owner_words : "-";
}

/* Between jobs: a job may halt a node for a moment. */
static void tell(struct station *station)
{
    if (!station->busy) {
        notifier_tell_node(station->notifier, station->emulator.number, state_of(station),
                           holder_of(station));
    }
}

/* Jobs ---------------------------------------------------------------------------------------- */

static void run(struct station *station);

static void note_op(struct station *station, const struct core_op *op)
{
    bool takes = op->kind == CORE_HALT || op->kind == CORE_RESET;

    if (takes && !op->failed) {
        station->gdb.lost = false;
    }
    if (op->kind == CORE_RESET && !op->failed) {
        notifier_tell_reset(station->notifier, station->emulator.number);
    }
}

static void end_job(struct station *station)
{
    struct station_job *job = station->first;

    station->first = job->next;
    station->busy = false;
    if (debug_unit_owner(&station->unit) == job->client) {
        station->owner_words = job->words;
    }
    tell(station);
    job->done(job);
}

/* True: the job is over. */
static bool advance(struct station *station)
{
    struct core_op *op;

    while ((op = debug_unit_wants(&station->unit)) != NULL) {
        if (!emulator_begin(&station->emulator, op)) {
            return false;
        }
        note_op(station, op);
        debug_unit_did(&station->unit);
    }
    return true;
}

/* A word of the text that names who has the node, for a client that has it not; else zero. */
static uint32_t holder_word(const struct station *station, const void *client, uint32_t offset)
{
    char words[STATION_HOLDER_BYTES] = "";
    uint32_t word = 0;

    if (gdb_port_holder(&station->gdb)) {
        snprintf(words, sizeof words, "%s", gdb_port_holder(&station->gdb));
    } else if (debug_unit_owner(&station->unit) && debug_unit_owner(&station->unit) != client) {
        snprintf(words, sizeof words, "%s", station->owner_words);
    }
    for (unsigned i = 0; i < sizeof word; i++) {
        word |= (uint32_t)(unsigned char)words[offset + i] << 8 * i;
    }
    return word;
}

static bool asks_for_holder(const struct access *access)
{
    return access && access->space == ACCESS_DEBUG && !access->write &&
           access->address - STATION_HOLDER < STATION_HOLDER_BYTES && access->address % 4 == 0;
}

static void begin_job(struct station *station)
{
    struct station_job *job = station->first;

    station->busy = true;
    if (asks_for_holder(job->access)) {
        job->access->value =
            holder_word(station, job->client, job->access->address - STATION_HOLDER);
        job->access->failed = false;
    } else if (job->access) {
        debug_unit_access(&station->unit, job->client, job->access);
    } else {
        debug_unit_leave(&station->unit, job->client);
    }
}

static void run(struct station *station)
{
    while (station->first && !station->busy) {
        begin_job(station);
        if (advance(station)) {
            end_job(station);
        }
    }
}

void station_submit(struct station *station, struct station_job *job)
{
    job->next = NULL;
    if (station->first) {
        station->last->next = job;
    } else {
        station->first = job;
    }
    station->last = job;
    run(station);
}

static void on_done(void *context)
{
    struct station *station = context;

    note_op(station, debug_unit_wants(&station->unit));
    debug_unit_did(&station->unit);
    if (advance(station)) {
        end_job(station);
        run(station);
    }
}

static void on_stopped(void *context, enum core_stop why, uint32_t address)
{
    struct station *station = context;

    debug_unit_stopped(&station->unit, why, address);
    tell(station);
}

/* GDB ----------------------------------------------------------------------------------------- */

static void on_changed(void *context)
{
    tell(context);
}

static void on_reset(void *context)
{
    struct station *station = context;

    debug_unit_was_reset(&station->unit);
    notifier_tell_reset(station->notifier, station->emulator.number);
}

static void on_free_node(void *context, char words[PEER_WORDS_MAX])
{
    struct station *station = context;
    const void *owner = debug_unit_owner(&station->unit);

    if (owner) {
        snprintf(words, PEER_WORDS_MAX, "%s", station->owner_words);
    } else if (station->busy || station->emulator.holder == EMULATOR_LEAVING) {
        snprintf(words, PEER_WORDS_MAX, "a debugger that leaves it");
    } else if (station->emulator.holder == EMULATOR_CHAIN) {
        debug_unit_give_up(&station->unit);
        emulator_release(&station->emulator, false);
    }
}

int station_open(struct station *station, uv_loop_t *loop, const struct emulator_machine *machine,
                 unsigned number, struct notifier *notifier)
{
    struct debug_board board = {.ram_base = machine->ram.base, .ram_bytes = machine->ram.bytes};
    struct emulator_owner emulator_owner = {
        .context = station, .done = on_done, .stopped = on_stopped};
    struct gdb_port_owner gdb_owner = {.context = station,
                                       .changed = on_changed,
                                       .was_reset = on_reset,
                                       .free_node = on_free_node};

    memset(station, 0, sizeof *station);
    station->notifier = notifier;
    debug_unit_init(&station->unit, &board);
    emulator_init(&station->emulator, loop, machine, number, &emulator_owner);
    return gdb_port_listen(&station->gdb, &station->emulator, &gdb_owner);
}

void station_close(struct station *station)
{
    gdb_port_close(&station->gdb);
    emulator_close(&station->emulator);
}
