/*
 * stub.c - the packets for each operation, and what their answers mean.
 *
 * The state says which packet is awaited; stub_feed takes bytes until one is complete and tells the
 * owner at most one event at a time. A stop may be told at any moment, and is told apart from
 * answers (stub_is_stop).
 */
#include "jtag/stub/stub.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"

enum {
    CHUNK_BYTES = 0x7f0, /* of a description: the answer fits into QEMU's packets */
    REQUEST_MAX = 128,
    VALUE_BYTES_MAX = 8,
    TRAP_SIGNAL = 5
};

static void send(struct stub *stub, const char *packet, size_t bytes)
{
    CHECK(stub->out_bytes + bytes + RSP_FRAME_BYTES <= STUB_OUT_MAX);
    stub->out_bytes += (unsigned)rsp_frame(stub->out + stub->out_bytes, packet, bytes);
}

__attribute__((format(printf, 2, 3))) static void ask(struct stub *stub, const char *format, ...)
{
    char text[REQUEST_MAX];
    va_list arguments;
    int bytes;

    va_start(arguments, format);
    bytes = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    CHECK(bytes > 0 && bytes < REQUEST_MAX);
    send(stub, text, (size_t)bytes);
}

void stub_open(struct stub *stub)
{
    stub_close(stub);
    stub->state = STUB_SUPPORTED;
    ask(stub, "qSupported");
}

void stub_close(struct stub *stub)
{
    stub->state = STUB_CLOSED;
    stub->op = NULL;
    stub->passes = false;
    stub->out_bytes = 0;
    stub->reader.state = RSP_BETWEEN;
}

void stub_pass(struct stub *stub, const char *packet, size_t bytes)
{
    send(stub, packet, bytes);
}

void stub_interrupt(struct stub *stub)
{
    CHECK(stub->out_bytes < STUB_OUT_MAX);
    stub->out[stub->out_bytes++] = RSP_BREAK_BYTE;
}

bool stub_is_stop(const char *packet)
{
    return packet[0] == 'T' || packet[0] == 'S' || packet[0] == 'W' || packet[0] == 'X';
}

/* The greeting -------------------------------------------------------------------------------- */

/* Also when all registers are known: the emulator gives registers to those who have read it. */
static void ask_description(struct stub *stub)
{
    const char *name = stub->file == 0 ? "target.xml" : stub->description.files[stub->file - 1];

    ask(stub, "qXfer:features:read:%s:%x,%x", name, stub->file_offset,
        stub->described ? 1u : (unsigned)CHUNK_BYTES);
}

/* Whether the description is known now; else more of it is asked for. */
static bool take_description(struct stub *stub)
{
    char text[RSP_PACKET_MAX];
    const struct rsp_reader *reader = &stub->reader;
    int bytes = rsp_expand(reader->packet, reader->bytes, text, sizeof text);

    if (stub->described) {
        return true;
    }
    if (bytes > 1) {
        description_feed(&stub->description, text + 1, (size_t)bytes - 1);
        stub->file_offset += (unsigned)bytes - 1;
    }
    if (bytes <= 1 || text[0] != 'm') {
        stub->file++;
        stub->file_offset = 0;
        stub->described = stub->file > stub->description.file_count;
    }
    if (!stub->described) {
        ask_description(stub);
    }
    return stub->described;
}

static enum stub_event greet(struct stub *stub)
{
    switch (stub->state) {
    case STUB_SUPPORTED:
        stub->state = STUB_DESCRIBED;
        if (!stub->described) {
            memset(&stub->description, 0, sizeof stub->description);
        }
        stub->file = stub->file_offset = 0;
        ask_description(stub);
        break;
    case STUB_DESCRIBED:
        if (take_description(stub)) {
            stub->state = STUB_PHYSICAL;
            ask(stub, "Qqemu.PhyMemMode:0");
        }
        break;
    case STUB_PHYSICAL:
        stub->state = STUB_STEPPING;
        ask(stub, "Qqemu.sstep=7"); /* no interrupts and no timers in a step */
        break;
    case STUB_STEPPING:
        stub->state = STUB_CLEARED;
        ask(stub, "?"); /* takes points away */
        break;
    default: stub->state = STUB_HALTED; return STUB_READY;
    }
    return STUB_NOTHING;
}

/* Operations ---------------------------------------------------------------------------------- */

static bool fail(struct stub *stub)
{
    stub->op->failed = true;
    stub->op = NULL;
    return true;
}

static bool done(struct stub *stub)
{
    stub->op = NULL;
    return true;
}

static bool begin_register(struct stub *stub, const struct core_op *op)
{
    const struct description_register *reg = description_find(&stub->description, op->name);
    char text[2 * VALUE_BYTES_MAX + 1];

    if (!reg || reg->bits > 8 * VALUE_BYTES_MAX) {
        return fail(stub);
    }
    if (op->kind == CORE_READ_REGISTER) {
        ask(stub, "p%x", reg->number);
        return false;
    }
    if (reg->system) {
        return fail(stub);
    }
    rsp_to_hex(text, &op->value, reg->bits / 8);
    ask(stub, "P%x=%s", reg->number, text);
    return false;
}

static bool begin_memory(struct stub *stub, const struct core_op *op)
{
    char text[2 * VALUE_BYTES_MAX + 1];

    CHECK(op->bytes <= VALUE_BYTES_MAX);
    if (op->kind == CORE_READ_MEMORY) {
        ask(stub, "m%x,%x", (unsigned)op->address, op->bytes);
    } else {
        rsp_to_hex(text, &op->value, op->bytes);
        ask(stub, "M%x,%x:%s", (unsigned)op->address, op->bytes, text);
    }
    return false;
}

static bool begin_reset(struct stub *stub)
{
    static const char command[] = "system_reset";
    char text[2 * sizeof command];

    rsp_to_hex(text, command, sizeof command - 1);
    ask(stub, "qRcmd,%s", text);
    return false;
}

static bool begin_resume(struct stub *stub, const struct core_op *op)
{
    stub->state = STUB_RUNNING;
    /* The process by number: once a GDB has asked for that, QEMU wants it of all that follow. */
    ask(stub, op->keep ? "c" : "D;1");
    return op->keep ? done(stub) : false;
}

/* What stops a node that runs: everything else is refused then, for any packet stops it. */
static bool begin_running(struct stub *stub, const struct core_op *op)
{
    switch (op->kind) {
    case CORE_RESUME:
        if (op->keep) {
            return done(stub);
        }
        break;
    case CORE_HALT: stub_interrupt(stub); return false;
    default: break;
    }
    return fail(stub);
}

bool stub_begin(struct stub *stub, struct core_op *op)
{
    CHECK(!stub->op && !stub->passes);
    stub->op = op;
    op->failed = false;
    if (stub->state == STUB_RUNNING) {
        return begin_running(stub, op);
    }
    CHECK(stub->state == STUB_HALTED);
    switch (op->kind) {
    case CORE_HALT: return done(stub);
    case CORE_RESUME: return begin_resume(stub, op);
    case CORE_STEP: ask(stub, "s"); return false;
    case CORE_RESET: return begin_reset(stub);
    case CORE_READ_FRAME: ask(stub, "g"); return false;
    case CORE_READ_REGISTER:
    case CORE_WRITE_REGISTER: return begin_register(stub, op);
    case CORE_READ_MEMORY:
    case CORE_WRITE_MEMORY: return begin_memory(stub, op);
    case CORE_ADD_POINT:
    case CORE_REMOVE_POINT:
        ask(stub, "%c%u,%x,%x", op->kind == CORE_ADD_POINT ? 'Z' : 'z', op->point,
            (unsigned)op->address, op->bytes);
        return false;
    default: return fail(stub);
    }
}

static bool take_value(struct core_op *op, const char *packet, unsigned bytes)
{
    uint8_t value[VALUE_BYTES_MAX] = {0};
    unsigned count = bytes / 2;

    if (count == 0 || bytes % 2 != 0 || count > VALUE_BYTES_MAX ||
        (op->kind == CORE_READ_MEMORY && count != op->bytes) ||
        !rsp_from_hex(value, count, packet)) {
        return false;
    }
    memcpy(&op->value, value, sizeof op->value); /* both are little-endian */
    return true;
}

/* The general registers come first, then cpsr: those between have no bytes. */
static bool take_frame(struct core_op *op, const char *packet, unsigned bytes)
{
    return bytes >= 2 * sizeof op->frame && rsp_from_hex(op->frame, sizeof op->frame, packet);
}

static void take_answer(struct core_op *op, const char *packet, unsigned bytes)
{
    switch (op->kind) {
    case CORE_READ_FRAME: op->failed = !take_frame(op, packet, bytes); break;
    case CORE_READ_REGISTER:
    case CORE_READ_MEMORY: op->failed = !take_value(op, packet, bytes); break;
    default: op->failed = strcmp(packet, "OK") != 0; break;
    }
}

/* "T05watch:40000010;", "T05thread:01;", "T02...": address and kind of the stop. */
static void take_stop(struct stub *stub, const char *packet)
{
    const char *watch = strstr(packet, "watch:");

    stub->stop = strncmp(packet, "T05", 3) != 0 ? CORE_STOP_OTHER
                 : watch                        ? CORE_STOP_DATA
                                                : CORE_STOP_CODE;
    stub->stop_address = watch ? (uint32_t)strtoull(watch + strlen("watch:"), NULL, 16) : 0;
}

static enum stub_event stopped(struct stub *stub, const char *packet)
{
    const struct core_op *op = stub->op;
    bool wanted = op && (op->kind == CORE_HALT || op->kind == CORE_STEP);
    bool ran = stub->state == STUB_RUNNING;

    if (packet[0] == 'W' || packet[0] == 'X') { /* the emulator ends */
        return STUB_BROKEN;
    }
    take_stop(stub, packet);
    if (wanted) {
        stub->state = STUB_HALTED;
        stub->op = NULL;
        return STUB_DONE;
    }
    if (op || !ran) { /* late news of a stop that is known */
        return STUB_NOTHING;
    }
    stub->state = STUB_HALTED;
    return STUB_STOPPED;
}

static enum stub_event take_packet(struct stub *stub)
{
    const struct rsp_reader *reader = &stub->reader;
    bool stop = stub_is_stop(reader->packet);

    if (stub->state < STUB_HALTED) {
        return stop && stub->state != STUB_CLEARED ? STUB_NOTHING : greet(stub);
    }
    if (stub->passes) {
        return STUB_PACKET;
    }
    if (stop) {
        return stopped(stub, reader->packet);
    }
    if (!stub->op || (reader->packet[0] == 'O' && reader->packet[1] != 'K')) {
        return STUB_NOTHING; /* a monitor's words, or an answer that nobody wants */
    }
    take_answer(stub->op, reader->packet, reader->bytes);
    stub->op = NULL;
    return STUB_DONE;
}

size_t stub_feed(struct stub *stub, const char *bytes, size_t count, enum stub_event *event)
{
    *event = STUB_NOTHING;
    for (size_t i = 0; i < count; i++) {
        enum rsp_event got = rsp_feed(&stub->reader, (uint8_t)bytes[i]);

        if (got == RSP_PACKET) {
            *event = take_packet(stub);
        } else if (got == RSP_DAMAGED || got == RSP_NAK) {
            *event = STUB_BROKEN; /* on a local socket nothing is lost */
        }
        if (*event != STUB_NOTHING) {
            return i + 1;
        }
    }
    return count;
}
