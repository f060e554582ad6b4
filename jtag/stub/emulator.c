/*
 * emulator.c - one operation at a time for the emulator of a node, over two sockets.
 *
 * Operations of the processor go to the gdbstub (stub.c), those of physical memory to qtest
 * (qtest.c). Each socket has a timer for what it owes; when that is over the socket is given up and
 * what waits for it fails. While a GDB has the stub its packets are passed on (`guest`), and
 * operations of the processor fail. Writes to memory are not waited for one by one, but what the
 * stub does comes behind all of them, for QEMU looks at its sockets in no certain order.
 */
#include "jtag/stub/emulator.h"

#include <stdio.h>
#include <string.h>

#include "drivers/check.h"

enum { PATH_MAX_BYTES = 128, RETRY_MS = 2 };

/* GICD_SPENDSGIR15 and GICD_CPENDSGIR15, one bit for each processor that could have sent it. */
enum { SGI_SET_PENDING = 0xf2f, SGI_CLEAR_PENDING = 0xf1f, SGI_SENDER = 1 };

static void on_bound(uv_timer_t *timer);
static void on_memory_bound(uv_timer_t *timer);
static void on_wake(uv_timer_t *timer);
static bool step_is_over(struct emulator *emulator);
static bool start_op(struct emulator *emulator);
static bool begin_stub(struct emulator *emulator);
static void connect_memory(struct emulator *emulator);

void emulator_init(struct emulator *emulator, uv_loop_t *loop,
                   const struct emulator_machine *machine, unsigned number,
                   const struct emulator_owner *owner)
{
    memset(emulator, 0, sizeof *emulator);
    emulator->loop = loop;
    emulator->machine = machine;
    emulator->number = number;
    emulator->stands = machine->blank;
    emulator->owner = *owner;
    uv_timer_init(loop, &emulator->bound);
    uv_timer_init(loop, &emulator->memory_bound);
    uv_timer_init(loop, &emulator->wake_timer);
    emulator->bound.data = emulator->memory_bound.data = emulator->wake_timer.data = emulator;
}

static void make_path(const struct emulator *emulator, const char *kind, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/n%u.%s", emulator->machine->directory, emulator->number,
             kind);
}

static bool is_bus_op(const struct core_op *op)
{
    return op->kind == CORE_READ_BUS || op->kind == CORE_WRITE_BUS;
}

static void end_op(struct emulator *emulator, bool failed)
{
    emulator->op->failed = emulator->op->failed || failed;
    uv_timer_stop(is_bus_op(emulator->op) ? &emulator->memory_bound : &emulator->bound);
    emulator->op = NULL;
    emulator->owner.done(emulator->owner.context);
}

void emulator_expect(struct emulator *emulator, bool owed)
{
    if (owed) {
        uv_timer_start(&emulator->bound, on_bound, EMULATOR_BOUND_MS, 0);
    } else {
        uv_timer_stop(&emulator->bound);
    }
}

/* The stub ------------------------------------------------------------------------------------ */

static void flush_stub(struct emulator *emulator)
{
    struct stub *stub = &emulator->stub;

    if (emulator->stub_wire && stub->out_bytes > 0) {
        wire_send(emulator->stub_wire, stub->out, stub->out_bytes);
        stub->out_bytes = 0;
    }
}

static void close_stub(struct emulator *emulator)
{
    if (emulator->stub_wire) {
        wire_close(emulator->stub_wire, true);
        emulator->stub_wire = NULL;
    }
    stub_close(&emulator->stub);
    emulator->holder = EMULATOR_FREE;
    emulator->late_bytes = 0;
    uv_timer_stop(&emulator->bound);
    step_is_over(emulator);
}

/* The emulator is gone or does not answer: whoever had the stub is told. */
static void drop_stub(struct emulator *emulator)
{
    enum emulator_holder holder = emulator->holder;

    close_stub(emulator);
    if (holder == EMULATOR_GDB) {
        emulator->guest.dropped(emulator->guest.context);
    } else if (emulator->op && !is_bus_op(emulator->op)) {
        end_op(emulator, true);
    }
}

static void on_bound(uv_timer_t *timer)
{
    drop_stub(timer->data);
}

static void on_stub_opened(void *context)
{
    struct emulator *emulator = context;

    stub_open(&emulator->stub);
    flush_stub(emulator);
}

static void on_stub_ended(void *context)
{
    drop_stub(context);
}

static void end_stub_op(struct emulator *emulator)
{
    struct core_op *op = emulator->op;

    emulator->stands = emulator->stub.state == STUB_HALTED;
    if (op->kind == CORE_RESUME && !op->keep && !op->failed) {
        close_stub(emulator);
        emulator->stands = false;
    }
    end_op(emulator, false);
}

static void on_ready(struct emulator *emulator)
{
    bool stood = emulator->stands;

    emulator->stands = true;
    if (emulator->holder == EMULATOR_LEAVING) {
        emulator->stands = stood;
        emulator->leaving = (struct core_op){.kind = CORE_RESUME};
        if (stood) {
            close_stub(emulator);
        } else {
            stub_begin(&emulator->stub, &emulator->leaving);
        }
    } else if (emulator->holder == EMULATOR_GDB) {
        emulator->stub.passes = true;
        uv_timer_stop(&emulator->bound);
        emulator->guest.attached(emulator->guest.context);
    } else if (emulator->op && start_op(emulator)) {
        end_stub_op(emulator);
    }
}

static void answer_guest(struct emulator *emulator, const char *packet, size_t bytes)
{
    emulator->guest.answered(emulator->guest.context, packet, bytes);
}

/* A step's end is told when the interrupt that woke the processor is taken back. */
static void on_packet(struct emulator *emulator, const char *packet, size_t bytes)
{
    if (emulator->wake != EMULATOR_AWAKE && stub_is_stop(packet) && bytes < EMULATOR_LATE_MAX &&
        !step_is_over(emulator)) {
        memcpy(emulator->late, packet, bytes + 1);
        emulator->late_bytes = (unsigned)bytes;
    } else {
        answer_guest(emulator, packet, bytes);
    }
}

/* The node was halted, then it was let go. */
static void leave_on(struct emulator *emulator)
{
    if (emulator->leaving.kind == CORE_HALT && !emulator->leaving.failed) {
        emulator->leaving = (struct core_op){.kind = CORE_RESUME};
        stub_begin(&emulator->stub, &emulator->leaving);
    } else {
        close_stub(emulator);
    }
}

static void on_stub_event(struct emulator *emulator, enum stub_event event)
{
    switch (event) {
    case STUB_READY: on_ready(emulator); break;
    case STUB_DONE:
        if (emulator->holder == EMULATOR_LEAVING) {
            leave_on(emulator);
        } else if (emulator->op->kind != CORE_STEP || step_is_over(emulator)) {
            end_stub_op(emulator);
        }
        break;
    case STUB_STOPPED:
        emulator->stands = true;
        emulator->owner.stopped(emulator->owner.context, emulator->stub.stop,
                                emulator->stub.stop_address);
        break;
    case STUB_PACKET:
        on_packet(emulator, emulator->stub.reader.packet, emulator->stub.reader.bytes);
        break;
    case STUB_BROKEN: drop_stub(emulator); break;
    case STUB_NOTHING: break;
    }
}

static void on_stub_received(void *context, const char *bytes, size_t count)
{
    struct emulator *emulator = context;
    const struct wire *wire = emulator->stub_wire;

    while (count > 0 && emulator->stub_wire == wire) {
        enum stub_event event;
        size_t used = stub_feed(&emulator->stub, bytes, count, &event);

        bytes += used;
        count -= used;
        on_stub_event(emulator, event);
    }
    flush_stub(emulator);
}

static void connect_stub(struct emulator *emulator, enum emulator_holder holder)
{
    struct wire_owner owner = {.context = emulator,
                               .opened = on_stub_opened,
                               .received = on_stub_received,
                               .ended = on_stub_ended};
    char path[PATH_MAX_BYTES];

    make_path(emulator, "stub", path);
    emulator->holder = holder;
    emulator->stub_wire = wire_connect(emulator->loop, path, &owner);
    emulator_expect(emulator, true);
}

/* Steps of a sleeping processor --------------------------------------------------------------- */

/* Whether that was possible now. */
static bool write_wake(struct emulator *emulator, uint32_t offset)
{
    if (!emulator->memory_wire) {
        connect_memory(emulator);
    }
    if (!emulator->memory_open || emulator->memory.reads || !qtest_has_room(&emulator->memory)) {
        return false;
    }
    qtest_write(&emulator->memory, emulator->machine->distributor + offset, 1, SGI_SENDER);
    wire_send(emulator->memory_wire, emulator->memory.out, emulator->memory.out_bytes);
    emulator->memory.out_bytes = 0;
    return true;
}

static void watch_step(struct emulator *emulator)
{
    emulator->wake = EMULATOR_STEPS;
    uv_timer_start(&emulator->wake_timer, on_wake, EMULATOR_WAKE_MS, RETRY_MS);
}

static void on_wake(uv_timer_t *timer)
{
    struct emulator *emulator = timer->data;
    bool wakes = emulator->wake == EMULATOR_STEPS;

    if (write_wake(emulator, wakes ? SGI_SET_PENDING : SGI_CLEAR_PENDING)) {
        uv_timer_stop(timer);
        emulator->wake = wakes ? EMULATOR_WOKEN : EMULATOR_WAKES_NO_MORE;
    }
}

/* False: the interrupt is to be taken back before. */
static bool step_is_over(struct emulator *emulator)
{
    if (emulator->wake == EMULATOR_STEPS) {
        uv_timer_stop(&emulator->wake_timer);
        emulator->wake = EMULATOR_AWAKE;
    }
    if (emulator->wake == EMULATOR_WOKEN) {
        uv_timer_start(&emulator->wake_timer, on_wake, 0, RETRY_MS);
    }
    return emulator->wake == EMULATOR_AWAKE;
}

/* The interrupt is pending no more, or the emulator is gone: the step's end is told. */
static void end_wake(struct emulator *emulator)
{
    uv_timer_stop(&emulator->wake_timer);
    emulator->wake = EMULATOR_AWAKE;
    if (emulator->late_bytes > 0) {
        unsigned bytes = emulator->late_bytes;

        emulator->late_bytes = 0;
        answer_guest(emulator, emulator->late, bytes);
    } else if (emulator->op && emulator->op->kind == CORE_STEP && !emulator->stub.op) {
        end_stub_op(emulator);
    }
}

/* Physical memory ----------------------------------------------------------------------------- */

static bool answers(const struct emulator_machine *machine, uint32_t address, unsigned bytes)
{
    for (unsigned i = 0; i < machine->bus_count; i++) {
        uint32_t offset = address - machine->buses[i].base;

        if (offset < machine->buses[i].bytes && bytes <= machine->buses[i].bytes - offset) {
            return true;
        }
    }
    return false;
}

static void flush_memory(struct emulator *emulator)
{
    wire_send(emulator->memory_wire, emulator->memory.out, emulator->memory.out_bytes);
    emulator->memory.out_bytes = 0;
}

/* With the memory's socket open; false: an answer must come before. */
static bool do_bus_op(struct emulator *emulator)
{
    struct core_op *op = emulator->op;

    if (op->kind == CORE_READ_BUS) {
        qtest_read(&emulator->memory, op->address, op->bytes);
        flush_memory(emulator);
        return false;
    }
    if (!qtest_has_room(&emulator->memory)) {
        return false;
    }
    qtest_write(&emulator->memory, op->address, op->bytes, (uint32_t)op->value);
    flush_memory(emulator);
    return true;
}

/* QEMU looks at its sockets in no certain order, so what the stub does comes behind the writes that
 * are not answered yet. True: there are none. */
static bool is_memory_settled(const struct emulator *emulator)
{
    return emulator->memory.due == 0;
}

/* A stub's operation that waited for writes goes on. */
static void go_on_after_writes(struct emulator *emulator)
{
    if (!emulator->waits || !is_memory_settled(emulator)) {
        return;
    }
    emulator->waits = false;
    if (begin_stub(emulator)) {
        end_op(emulator, emulator->op->failed);
    }
}

static void on_memory_opened(void *context)
{
    struct emulator *emulator = context;

    emulator->memory_open = true;
    if (emulator->op && is_bus_op(emulator->op) && do_bus_op(emulator)) {
        end_op(emulator, false);
    }
}

static void on_memory_ended(void *context)
{
    struct emulator *emulator = context;

    wire_close(emulator->memory_wire, false);
    emulator->memory_wire = NULL;
    emulator->memory_open = false;
    emulator->memory.due = 0;
    go_on_after_writes(emulator);
    if (emulator->op && is_bus_op(emulator->op)) {
        end_op(emulator, true);
    }
    if (emulator->wake != EMULATOR_AWAKE) {
        end_wake(emulator);
    }
}

static void on_memory_bound(uv_timer_t *timer)
{
    on_memory_ended(timer->data);
}

static void on_memory_event(struct emulator *emulator, enum qtest_event event)
{
    struct core_op *op = emulator->op;

    switch (event) {
    case QTEST_READ:
        op->value = emulator->memory.value;
        end_op(emulator, false);
        break;
    case QTEST_WRITTEN:
        if (emulator->wake == EMULATOR_WAKES_NO_MORE && emulator->memory.due == 0) {
            end_wake(emulator);
        }
        if (emulator->op && emulator->op->kind == CORE_WRITE_BUS && do_bus_op(emulator)) {
            end_op(emulator, false);
        }
        go_on_after_writes(emulator);
        break;
    case QTEST_BROKEN: on_memory_ended(emulator); break;
    case QTEST_NOTHING: break;
    }
}

static void on_memory_received(void *context, const char *bytes, size_t count)
{
    struct emulator *emulator = context;
    const struct wire *wire = emulator->memory_wire;

    while (count > 0 && emulator->memory_wire == wire) {
        enum qtest_event event;
        size_t used = qtest_feed(&emulator->memory, bytes, count, &event);

        bytes += used;
        count -= used;
        on_memory_event(emulator, event);
    }
}

static void connect_memory(struct emulator *emulator)
{
    struct wire_owner owner = {.context = emulator,
                               .opened = on_memory_opened,
                               .received = on_memory_received,
                               .ended = on_memory_ended};
    char path[PATH_MAX_BYTES];

    make_path(emulator, "qtest", path);
    memset(&emulator->memory, 0, sizeof emulator->memory);
    emulator->memory_open = false;
    emulator->memory_wire = wire_connect(emulator->loop, path, &owner);
}

static bool begin_bus(struct emulator *emulator)
{
    struct core_op *op = emulator->op;

    if (!answers(emulator->machine, op->address, op->bytes)) {
        op->failed = true;
        return true;
    }
    if (!emulator->memory_wire) {
        connect_memory(emulator);
    }
    return emulator->memory_open && do_bus_op(emulator);
}

/* Operations ---------------------------------------------------------------------------------- */

/* With the stub's greeting over. True: the operation is over already. */
static bool start_op(struct emulator *emulator)
{
    bool over = stub_begin(&emulator->stub, emulator->op);

    if (!over && emulator->op->kind == CORE_STEP) {
        watch_step(emulator);
    }
    flush_stub(emulator);
    return over;
}

/* A node that runs is only for those who halt or reset it. */
static bool begin_stub(struct emulator *emulator)
{
    enum core_op_kind kind = emulator->op->kind;

    if (emulator->holder == EMULATOR_GDB || emulator->holder == EMULATOR_LEAVING ||
        (emulator->holder == EMULATOR_FREE && !emulator->stands && kind != CORE_HALT &&
         kind != CORE_RESET)) {
        emulator->op->failed = true;
        return true;
    }
    if (emulator->holder == EMULATOR_FREE) {
        connect_stub(emulator, EMULATOR_CHAIN);
        return false;
    }
    if (!start_op(emulator)) {
        return false;
    }
    emulator->stands = emulator->stub.state == STUB_HALTED;
    return true;
}

bool emulator_begin(struct emulator *emulator, struct core_op *op)
{
    bool over;

    CHECK(!emulator->op);
    emulator->op = op;
    op->failed = false;
    emulator->waits = !is_bus_op(op) && !is_memory_settled(emulator);
    over = is_bus_op(op) ? begin_bus(emulator) : !emulator->waits && begin_stub(emulator);
    if (over) {
        emulator->op = NULL;
    } else if (is_bus_op(op)) {
        uv_timer_start(&emulator->memory_bound, on_memory_bound, EMULATOR_BOUND_MS, 0);
    } else {
        emulator_expect(emulator, true);
    }
    return over;
}

/* GDB ----------------------------------------------------------------------------------------- */

void emulator_take(struct emulator *emulator, const struct emulator_guest *guest)
{
    CHECK(emulator->holder == EMULATOR_FREE);
    emulator->guest = *guest;
    connect_stub(emulator, EMULATOR_GDB);
}

void emulator_pass(struct emulator *emulator, const char *packet, size_t bytes, bool steps)
{
    stub_pass(&emulator->stub, packet, bytes);
    if (steps) {
        watch_step(emulator);
    }
    flush_stub(emulator);
}

void emulator_interrupt(struct emulator *emulator)
{
    stub_interrupt(&emulator->stub);
    flush_stub(emulator);
}

void emulator_release(struct emulator *emulator, bool runs)
{
    close_stub(emulator);
    emulator->stands = !runs;
}

void emulator_abandon(struct emulator *emulator)
{
    struct stub *stub = &emulator->stub;

    CHECK(emulator->holder == EMULATOR_GDB);
    emulator->holder = EMULATOR_LEAVING;
    if (!stub->passes) { /* the greeting goes on */
        return;
    }
    emulator->stands = false;
    stub->passes = false;
    stub->state = STUB_RUNNING;
    emulator->leaving = (struct core_op){.kind = CORE_HALT};
    stub_begin(stub, &emulator->leaving);
    flush_stub(emulator);
    emulator_expect(emulator, true);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct emulator *emulator = handle->data;

    emulator->closing--;
}

void emulator_close(struct emulator *emulator)
{
    close_stub(emulator);
    if (emulator->memory_wire) {
        wire_close(emulator->memory_wire, false);
        emulator->memory_wire = NULL;
    }
    emulator->closing = 3;
    uv_close((uv_handle_t *)&emulator->bound, on_timer_closed);
    uv_close((uv_handle_t *)&emulator->memory_bound, on_timer_closed);
    uv_close((uv_handle_t *)&emulator->wake_timer, on_timer_closed);
}
