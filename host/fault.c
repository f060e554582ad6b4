/*
 * fault.c - a node's fault report in words: kind, address, place in the source, registers.
 */
#include <stdio.h>
#include <string.h>

#include "host/mesh_internal.h"
#include "host/symbols.h"

enum { NULL_PAGE_BYTES = 4096, KERNEL_FILE_MAX = 64 };

int fault_status(uint32_t kind)
{
    switch (kind) {
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
    case FAULT_UNDEFINED: snprintf(text, room, "undefined instruction"); break;
    case FAULT_DIVIDE: snprintf(text, room, "integer division by zero"); break;
    case FAULT_STACK: snprintf(text, room, "stack overflow at address 0x%08x", address); break;
    default: snprintf(text, room, "fault of kind %u", kind); break;
    }
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
                              get32(body + 12 + 4 * i));
        }
        mesh_emit_trouble(mesh, "  node %u:%s", (unsigned)node, line);
    }
    mesh_emit_trouble(mesh, "  node %u: cpsr 0x%08x, fault status 0x%08x", (unsigned)node,
                      get32(body + 76), get32(body + 8));
}

void mesh_tell_fault(struct mesh *mesh, const struct mesh_packet *packet)
{
    const uint8_t *body = packet->body;
    uint32_t kind = get32(body), address = get32(body + 4), pc = get32(body + 12 + 4 * 15);
    unsigned node = packet->node;
    bool kernel = kind >= FAULT_KERNEL;
    char what[100], place[SYMBOL_TEXT_MAX] = "";

    if (kind == FAULT_CHECK) {
        uint32_t bytes = packet->bytes - FAULT_BYTES;
        char file[KERNEL_FILE_MAX] = "";

        memcpy(file, body + FAULT_BYTES, bytes < sizeof file - 1 ? bytes : sizeof file - 1);
        mesh_emit_trouble(mesh, "node %u (rank %u): the kernel broke its own promise at %s:%u",
                          node, node, file, get32(body + 80));
        return;
    }
    if (kind == FAULT_DIVIDE) { /* the trap lies in the library's division, called from lr */
        pc = (get32(body + 12 + 4 * 14) & ~1U) - 2;
    }
    describe_kind(kind, address, what, sizeof what);
    bool known = symbols_describe(kernel ? mesh->target.kernel : mesh->job.path, pc & ~1U, place);
    mesh_emit_trouble(mesh, "node %u (rank %u): %s%s, pc 0x%08x%s%s", node, node,
                      kernel ? "kernel fault: " : "", what, pc & ~1U, known ? " in " : "", place);
    if (mesh->options.verbose) {
        tell_registers(mesh, packet->node, body);
    }
}
