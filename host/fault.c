/*
 * fault.c - a node's fault report in words: kind, address, place in the source, registers.
 *
 * Where the fault lies in a function of the C library, the place that called it says more. It is
 * told only when it is certain: lr still follows a call of the function in which pc lies, as in
 * strlen or memcpy; or pc is where there is no program, and lr follows the jump to there.
 *
 * Source   ARM Architecture Reference Manual ARMv7-A, A8.8.25 (BL, encoding T1), A8.8.26 (BLX),
 *          table B3-23 (fault status)
 */
#include <stdio.h>
#include <string.h>

#include "host/mesh_internal.h"
#include "router/bytes.h"

enum {
    NULL_PAGE_BYTES = 4096,
    KERNEL_FILE_MAX = 64,
    CALL_BYTES = 4,       /* BL; a BLX of a register has two bytes */
    KIND_BREAKPOINT = 15, /* FAULT_PREFETCH at a BKPT: the fault status tells */
    STATUS_SOURCE = 0x40f,
    STATUS_DEBUG_EVENT = 2,
    REGISTERS_AT = 12,
    SP = 13,
    LR = 14,
    PC = 15
};

static uint32_t register_of(const uint8_t *body, unsigned number)
{
    return get32(body + REGISTERS_AT + 4 * number);
}

/* A large frame may reach over the guard below the stack: then sp, not the address, tells. */
static uint32_t kind_of(const uint8_t *body)
{
    uint32_t kind = get32(body), sp = register_of(body, SP);

    if (kind == FAULT_PREFETCH && (get32(body + 8) & STATUS_SOURCE) == STATUS_DEBUG_EVENT) {
        return KIND_BREAKPOINT;
    }
    return kind == FAULT_DATA && sp < target_memory.stack_base &&
                   get32(body + 4) < target_memory.stack_base
               ? FAULT_STACK
               : kind;
}

int fault_status(const uint8_t *body)
{
    switch (kind_of(body)) {
    case KIND_BREAKPOINT: return STATUS_BREAKPOINT;
    case FAULT_DIVIDE: return STATUS_DIVIDE;
    case FAULT_UNDEFINED: return STATUS_UNDEFINED;
    default: return STATUS_MEMORY;
    }
}

static void describe_kind(uint32_t kind, uint32_t address, char *text, size_t room)
{
    const struct target_memory *memory = &target_memory;
    bool in_kernel = address >= memory->kernel_base && address < memory->kernel_end;

    switch (kind & ~(uint32_t)FAULT_KERNEL) {
    case FAULT_DATA:
        snprintf(text, room, "data abort at address 0x%08x%s", address,
                 address < NULL_PAGE_BYTES ? " (null pointer)"
                 : in_kernel               ? " (kernel memory)"
                                           : "");
        break;
    case FAULT_PREFETCH:
        snprintf(text, room, "jump to address 0x%08x%s", address,
                 address < NULL_PAGE_BYTES ? " (null pointer)"
                 : in_kernel               ? " (kernel memory)"
                                           : "");
        break;
    case KIND_BREAKPOINT: snprintf(text, room, "breakpoint instruction"); break;
    case FAULT_UNDEFINED: snprintf(text, room, "undefined instruction"); break;
    case FAULT_DIVIDE: snprintf(text, room, "integer division by zero"); break;
    case FAULT_STACK: snprintf(text, room, "stack overflow at address 0x%08x", address); break;
    default: snprintf(text, room, "fault of kind %u", kind); break;
    }
}

static json_t *fault_members(const char *kind, uint32_t node)
{
    return json_pack("{s:s, s:[i]}", "kind", kind, "nodes", (int)node);
}

static void tell_registers(struct mesh *mesh, uint32_t node, const uint8_t *body)
{
    for (unsigned row = 0; row < 4; row++) {
        char line[100];
        int bytes = 0;

        for (unsigned i = row * 4; i < row * 4 + 4; i++) {
            static const char *const names[16] = {"r0",  "r1", "r2", "r3", "r4",  "r5",
                                                  "r6",  "r7", "r8", "r9", "r10", "r11",
                                                  "r12", "sp", "lr", "pc"};

            bytes += snprintf(line + bytes, sizeof line - (size_t)bytes, " %3s 0x%08x", names[i],
                              register_of(body, i));
        }
        mesh_emit_trouble(mesh, fault_members("registers", node), "  node %u:%s", (unsigned)node,
                          line);
    }
    mesh_emit_trouble(mesh, fault_members("registers", node),
                      "  node %u: cpsr 0x%08x, fault status 0x%08x", (unsigned)node,
                      get32(body + 76), get32(body + 8));
}

/* The program's four bytes before an address, the last two in the upper half; 0 outside of it. */
static uint32_t code_before(const struct image *image, uint32_t address)
{
    uint32_t offset = address - CALL_BYTES - image->base;

    return offset < image->bytes && image->bytes - offset >= CALL_BYTES
               ? get32(image->data + offset)
               : 0;
}

/* The destination of the BL, or of the BLX to a function in ARM code, before a return address; 0
 * when there is none. */
static uint32_t called_by(const struct image *image, uint32_t after)
{
    uint32_t code = code_before(image, after), first = code & 0xffff, second = code >> 16;
    uint32_t sign = first >> 10 & 1;
    bool to_arm = (second & 0xd001) == 0xc000;

    if ((first & 0xf800) != 0xf000 || !(to_arm || (second & 0xd000) == 0xd000)) {
        return 0;
    }
    uint32_t high = ((second >> 13 & 1) ^ sign ^ 1) << 1 | ((second >> 11 & 1) ^ sign ^ 1);
    uint32_t distance = high << 22 | (first & 0x3ff) << 12 | (second & 0x7ff) << 1;

    return (to_arm ? after & ~3U : after) + distance - (sign << 24);
}

/* Whether a BLX of a register stands before a return address. */
static bool called_by_pointer(const struct image *image, uint32_t after)
{
    return (code_before(image, after) >> 16 & 0xff87) == 0x4780;
}

/* Whether two places "function (file:line)" lie in one function. */
static bool same_function(const char *one, const char *other)
{
    size_t length = strcspn(one, " ");

    return length == strcspn(other, " ") && strncmp(one, other, length) == 0;
}

/* Where the function of pc was called; false when that is not certain. place is that of pc, NULL
 * when no program lies there. */
static bool find_caller(const struct mesh *mesh, uint32_t lr, const char *place,
                        char caller[SYMBOL_TEXT_MAX])
{
    uint32_t after = lr & ~1U;
    char callee[SYMBOL_TEXT_MAX];

    if (!place) {
        return called_by_pointer(&mesh->job.image, after) &&
               symbols_describe(mesh->job.path, after - 2, caller);
    }
    uint32_t called = called_by(&mesh->job.image, after);

    return called && symbols_describe(mesh->job.path, called, callee) &&
           same_function(place, callee) && symbols_describe(mesh->job.path, after - 2, caller) &&
           !same_function(place, caller);
}

void mesh_describe_place(const struct mesh *mesh, uint32_t pc, uint32_t lr,
                         char text[PLACE_TEXT_MAX])
{
    char place[SYMBOL_TEXT_MAX] = "", caller[SYMBOL_TEXT_MAX] = "";
    bool known = symbols_describe(mesh->job.path, pc & ~1U, place);
    bool called = find_caller(mesh, lr, known ? place : NULL, caller);

    snprintf(text, PLACE_TEXT_MAX, "%s%s%s%s", known ? " in " : "", place,
             called ? ", called from " : "", called ? caller : "");
}

void mesh_tell_fault(struct mesh *mesh, const struct mesh_packet *packet)
{
    const uint8_t *body = packet->body;
    uint32_t kind = kind_of(body), address = get32(body + 4), pc = register_of(body, PC);
    unsigned node = packet->node;
    bool kernel = kind >= FAULT_KERNEL;
    char what[100], name[SYMBOL_TEXT_MAX], place[PLACE_TEXT_MAX] = "";

    if (kind == FAULT_CHECK) {
        uint32_t bytes = packet->bytes - FAULT_BYTES;
        char file[KERNEL_FILE_MAX] = "";

        memcpy(file, body + FAULT_BYTES, bytes < sizeof file - 1 ? bytes : sizeof file - 1);
        mesh_emit_trouble(mesh, fault_members("kernel-check", node),
                          "node %u (rank %u): the kernel broke its own promise at %s:%u", node,
                          node, file, get32(body + 80));
        return;
    }
    if (kind == FAULT_DIVIDE) { /* the trap lies in the library's division, called from lr */
        pc = (register_of(body, LR) & ~1U) - 2;
    }
    describe_kind(kind, address, what, sizeof what);
    if (!kernel) {
        mesh_describe_place(mesh, pc, register_of(body, LR), place);
    } else if (symbols_describe(mesh->target.kernel, pc & ~1U, name)) {
        snprintf(place, sizeof place, " in %s", name);
    }
    json_t *members = fault_members(kernel ? "kernel-fault" : "fault", node);
    json_object_set_new(members, "address", json_integer(address));
    json_object_set_new(members, "pc", json_integer(pc & ~1U));
    json_object_set_new(members, "status", json_integer(fault_status(body)));
    mesh_emit_trouble(mesh, members, "node %u (rank %u): %s%s, pc 0x%08x%s", node, node,
                      kernel ? "kernel fault: " : "", what, pc & ~1U, place);
    if (mesh->options.verbose) {
        tell_registers(mesh, packet->node, body);
    }
}
