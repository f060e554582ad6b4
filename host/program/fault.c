/*
 * fault.c - where a fault lies, and who called that.
 *
 * Where the fault lies in a function of the C library, the places that called it say more: they
 * are found as unwind.h tells, and those between the fault and the user's own code left out.
 */
#include "host/program/fault.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "arch/armv7a/host/processor.h"
#include "host/computer/target.h"
#include "host/console/tell.h"
#include "host/program/unwind.h"

enum {
    NULL_PAGE_BYTES = 4096,
    KERNEL_FILE_MAX = 64,
    CALLS_TOLD_MAX = 5, /* of a backtrace */
    PLACES_MAX = 32,
    KIND_BREAKPOINT = 15, /* FAULT_PREFETCH at a BKPT: the fault status tells */
    STATUS_SIGNAL = 128   /* a signal's number is added, as shells do */
};

void fault_symbols_close(struct fault_symbols *symbols)
{
    if (symbols) {
        symbols_close(symbols->symbols);
        *symbols = (struct fault_symbols){.opened = false};
    }
}

/* NULL: there is no program, or it cannot be read. */
static struct symbols *open_symbols(const struct fault_code *code)
{
    struct fault_symbols *kept = code->symbols;

    if (!kept || !code->program) {
        return code->program ? symbols_open(code->program) : NULL;
    }
    if (!kept->opened) {
        kept->opened = true;
        kept->symbols = symbols_open(code->program);
    }
    return kept->symbols;
}

static void put_symbols_away(const struct fault_code *code, struct symbols *symbols)
{
    if (!code->symbols) {
        symbols_close(symbols);
    }
}

/* The kernel's is that of the nodes. */
static const struct processor *processor_of(const struct fault_code *code)
{
    return code->image && code->image->processor ? code->image->processor : &processor_armv7a;
}

static enum abort_cause cause_of(const struct fault_code *code, const struct fault_body *fault)
{
    return processor_of(code)->abort_cause(fault->status_register);
}

static uint32_t pc_of(const struct fault_code *code, const struct fault_body *fault)
{
    return fault->registers[PROCESSOR_PC] & processor_of(code)->code_mask;
}

/* A large frame may reach over the guard below the stack: then sp, not the address, tells. */
static uint32_t kind_of(const struct fault_code *code, const struct fault_body *fault)
{
    uint32_t kind = fault->kind, sp = fault->registers[PROCESSOR_SP];

    if (kind == FAULT_PREFETCH && cause_of(code, fault) == ABORT_BREAKPOINT) {
        return KIND_BREAKPOINT;
    }
    return kind == FAULT_DATA && sp < target_board()->stack_base &&
                   fault->address < target_board()->stack_base
               ? FAULT_STACK
               : kind;
}

int fault_status(const struct fault_code *code, const struct fault_body *fault)
{
    switch (kind_of(code, fault)) {
    case KIND_BREAKPOINT: return STATUS_BREAKPOINT;
    case FAULT_DIVIDE: return STATUS_DIVIDE;
    case FAULT_ERROR: return STATUS_CALL;
    case FAULT_FINDING: return STATUS_FINDING;
    case FAULT_MAP: return STATUS_BAD_INPUT;
    case FAULT_UNDEFINED: return STATUS_UNDEFINED;
    case FAULT_SIGNAL: return STATUS_SIGNAL + (int)(fault->registers[0] % STATUS_SIGNAL);
    default: return STATUS_MEMORY;
    }
}

/* What an address is that no program may use. */
static const char *foreign(uint32_t address)
{
    return address < NULL_PAGE_BYTES ? " (null pointer)"
           : address >= target_board()->kernel_base && address < target_board()->kernel_end
               ? " (kernel memory)"
               : "";
}

/* One outside the window of a native program. */
static void describe_elsewhere(const char *what, const struct fault_body *fault, char *text,
                               size_t room)
{
    snprintf(text, room, "%s address 0x%08x%08x, outside its memory", what, fault->registers[1],
             fault->registers[0]);
}

static void describe_data(const struct fault_code *code, const struct fault_body *fault, char *text,
                          size_t room)
{
    const struct image *image = code->image;
    enum abort_cause cause = cause_of(code, fault);
    uint32_t address = fault->address;

    if (cause == ABORT_ELSEWHERE) {
        describe_elsewhere("data abort at", fault, text, room);
    } else if (cause == ABORT_FORBIDDEN) {
        snprintf(text, room, "used an address that is none, or an instruction of kernels,");
    } else if (cause == ABORT_PERMISSION && address >= image->base &&
               address < image->constants_end) {
        snprintf(text, room, "wrote to %s at 0x%08x",
                 address < image->code_end ? "code" : "constants", address);
    } else if (cause == ABORT_PERMISSION && address >= code->data_start &&
               address < code->data_end) {
        snprintf(text, room, "wrote to data that may only be read, at 0x%08x", address);
    } else {
        snprintf(text, room, "data abort at address 0x%08x%s", address, foreign(address));
    }
}

/* Of a program's memory all but its code is data. On the stack gcc puts a few instructions for a
 * nested function whose address is taken. */
static void describe_jump(const struct fault_code *code, const struct fault_body *fault, char *text,
                          size_t room)
{
    const struct board *board = target_board();
    uint32_t address = fault->address;

    if (cause_of(code, fault) == ABORT_ELSEWHERE) {
        describe_elsewhere("jump to", fault, text, room);
    } else if (address < board->stack_base || address >= board->image_end) {
        snprintf(text, room, "jump to address 0x%08x%s", address, foreign(address));
    } else if (address < board->image_base) {
        snprintf(text, room, "executes data at 0x%08x: a nested function's trampoline?", address);
    } else {
        snprintf(text, room, "jumped into data at 0x%08x", address);
    }
}

static void describe_kind(const struct fault_code *code, uint32_t kind,
                          const struct fault_body *fault, char *text, size_t room)
{
    switch (kind & ~(uint32_t)FAULT_KERNEL) {
    case FAULT_DATA: describe_data(code, fault, text, room); break;
    case FAULT_PREFETCH: describe_jump(code, fault, text, room); break;
    case KIND_BREAKPOINT: snprintf(text, room, "breakpoint instruction"); break;
    case FAULT_UNDEFINED: snprintf(text, room, "undefined instruction"); break;
    case FAULT_DIVIDE: snprintf(text, room, "integer division by zero"); break;
    case FAULT_SIGNAL:
        if (fault->registers[0] == SIGABRT) {
            snprintf(text, room, "the program aborted");
        } else {
            snprintf(text, room, "the program ended by signal %u", fault->registers[0]);
        }
        break;
    case FAULT_FINDING: snprintf(text, room, "the trap of the checks, with no finding"); break;
    case FAULT_STACK:
        snprintf(text, room, "stack overflow at address 0x%08x", fault->address);
        break;
    default: snprintf(text, room, "fault of kind %u", kind); break;
    }
}

/* The last line has the processor's status, the others four registers each. */
bool fault_registers_text(const struct fault_code *code, uint32_t rank,
                          const struct fault_body *fault, unsigned line, char text[FAULT_TEXT_MAX])
{
    const char *const *names = processor_of(code)->names;
    int bytes = snprintf(text, FAULT_TEXT_MAX, "  node %u:", (unsigned)rank), head = bytes;
    size_t room = FAULT_TEXT_MAX;

    if (line == FAULT_REGISTER_LINES - 1) {
        if (names[PROCESSOR_STATUS]) {
            bytes += snprintf(text + bytes, room - (size_t)bytes, " %s 0x%08x,",
                              names[PROCESSOR_STATUS], fault->processor_status);
        }
        snprintf(text + bytes, room - (size_t)bytes, " fault status 0x%08x",
                 fault->status_register);
        return true;
    }
    for (unsigned i = line * 4; i < line * 4 + 4; i++) {
        if (names[i]) {
            bytes += snprintf(text + bytes, room - (size_t)bytes, " %3s 0x%08x", names[i],
                              fault->registers[i]);
        }
    }
    return bytes > head;
}

/* Whether what is around a place is told: the user's own calls, and of those into the library the
 * first, where the program is, and the last, which the user wrote. */
static bool is_told(const struct symbol_place *places, unsigned count, unsigned i, bool leave_out)
{
    const struct symbol_place *place = &places[i];
    unsigned next = i + 1;

    if (!place->library) {
        return i == 0 || places[i - 1].library ||
               strcmp(place->function, places[i - 1].function) !=
                   0; /* one that calls itself: once */
    }
    while (next < count && places[next].library) {
        next++;
    }
    if (next == count) {
        return i == 0; /* what has called main */
    }
    return !leave_out && (i == 0 || next == i + 1);
}

/* The places in words, " in f (a.c:3), called from g (b.c:4)"; of a program that is where no code
 * is, `away`, only who called it there. */
static void tell_places(const struct symbol_place *places, unsigned count, bool away,
                        bool leave_out, unsigned told_max, char text[PLACE_TEXT_MAX])
{
    char words[SYMBOL_TEXT_MAX];
    unsigned told = 0;
    int bytes = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < count && told < told_max; i++) {
        if (is_told(places, count, i, leave_out)) {
            symbols_text(&places[i], words);
            bytes += snprintf(text + bytes, PLACE_TEXT_MAX - (size_t)bytes, "%s%s",
                              told++ || away ? ", called from " : " in ", words);
        }
    }
}

/* Where a program is and who called it there; `leave_out`: of the library only what has been called
 * by nobody else. False when it is not known where it is. */
static bool describe_calls(struct symbols *symbols, const uint32_t *addresses, unsigned calls,
                           bool leave_out, unsigned told_max, char text[PLACE_TEXT_MAX])
{
    struct symbol_place places[PLACES_MAX];
    unsigned count = 0;
    bool away = symbols_places(symbols, addresses[0], places, PLACES_MAX) == 0;

    for (unsigned i = 0; i < calls; i++) {
        count += symbols_places(symbols, addresses[i], places + count, PLACES_MAX - count);
    }
    tell_places(places, count, away && !leave_out, leave_out, told_max, text);
    return !away;
}

/* The same of what can be found in registers and a piece of the stack. */
static bool describe_unwound(const struct fault_code *code, struct unwind *from, bool leave_out,
                             unsigned told_max, char text[PLACE_TEXT_MAX])
{
    struct symbols *symbols = open_symbols(code);
    uint32_t addresses[PLACES_MAX];

    text[0] = '\0';
    if (!symbols) {
        return false;
    }
    from->image = code->image;
    from->symbols = symbols;
    unsigned calls = unwind(from, addresses, PLACES_MAX);
    bool known = describe_calls(symbols, addresses, calls, leave_out, told_max, text);
    put_symbols_away(code, symbols);
    return known;
}

/* The same of calls that whoever runs the program knows. */
static bool describe_known(const struct fault_code *code, const uint32_t *addresses, unsigned calls,
                           bool leave_out, unsigned told_max, char text[PLACE_TEXT_MAX])
{
    struct symbols *symbols = open_symbols(code);

    text[0] = '\0';
    if (!symbols || calls == 0) {
        put_symbols_away(code, symbols);
        return false;
    }
    bool known = describe_calls(symbols, addresses, calls, leave_out, told_max, text);
    put_symbols_away(code, symbols);
    return known;
}

void fault_place_text(const struct fault_code *code, uint32_t rank, uint32_t pc, uint32_t lr,
                      char text[PLACE_TEXT_MAX])
{
    uint32_t registers[PROCESSOR_REGISTERS] = {[PROCESSOR_LR] = lr, [PROCESSOR_PC] = pc};
    struct unwind from = {.registers = registers};
    uint32_t addresses[PLACES_MAX];

    if (code->calls) {
        unsigned calls = code->calls(code->context, rank, addresses, PLACES_MAX);
        describe_known(code, addresses, calls, false, CALLS_TOLD_MAX, text);
    } else {
        describe_unwound(code, &from, false, 2, text);
    }
}

/* The same of a fault, from its registers and its piece of the stack. */
static bool describe_report(const struct fault_code *code, const struct fault_body *fault,
                            uint32_t kind, bool leave_out, char text[PLACE_TEXT_MAX])
{
    uint32_t registers[PROCESSOR_REGISTERS];
    struct unwind from = {.registers = registers,
                          .stack_start = fault->line,
                          .stack_bytes = fault->tail_bytes,
                          .stack = fault->tail};

    memcpy(registers, fault->registers, sizeof registers);
    if (kind == FAULT_DIVIDE) { /* the trap was jumped to: lr is where the program divided */
        registers[PROCESSOR_PC] = 0;
    }
    return describe_unwound(code, &from, leave_out, CALLS_TOLD_MAX, text);
}

static bool describe_fault(const struct fault_code *code, uint32_t rank,
                           const struct fault_body *fault, uint32_t kind, char text[PLACE_TEXT_MAX])
{
    bool trap = kind == FAULT_DIVIDE || kind == FAULT_SIGNAL || kind == FAULT_ERROR ||
                kind == FAULT_FINDING;
    uint32_t addresses[PLACES_MAX];

    if (!code->calls) {
        return describe_report(code, fault, kind, trap, text) || trap;
    }
    unsigned calls = code->calls(code->context, rank, addresses, PLACES_MAX);
    return describe_known(code, addresses, calls, trap, CALLS_TOLD_MAX, text) || trap;
}

static void describe_kernel(const struct fault_code *code, uint32_t pc, char text[PLACE_TEXT_MAX])
{
    struct symbols *symbols = symbols_open(code->kernel);
    struct symbol_place place;
    char words[SYMBOL_TEXT_MAX];

    if (symbols && symbols_places(symbols, processor_code_address(pc), &place, 1)) {
        symbols_text(&place, words);
        snprintf(text, PLACE_TEXT_MAX, " in %s", words);
    }
    symbols_close(symbols);
}

static unsigned rank_at(const struct fault_code *code, uint32_t node)
{
    return code->network ? network_rank(code->network, node) : node;
}

/* A CHECK in the kernel that failed. */
static json_t *describe_check(const struct fault_code *code, uint32_t rank,
                              const struct fault_body *fault, char text[FAULT_TEXT_MAX])
{
    uint32_t bytes = fault->tail_bytes;
    char file[KERNEL_FILE_MAX] = "";

    memcpy(file, fault->tail, bytes < sizeof file - 1 ? bytes : sizeof file - 1);
    snprintf(text, FAULT_TEXT_MAX, "node %u (rank %u): the kernel broke its own promise at %s:%u",
             (unsigned)rank, rank_at(code, rank), file, fault->line);
    return tell_node_members("kernel-check", rank);
}

void fault_of_call(const struct fault_code *code, uint32_t rank, const struct fault_body *fault,
                   struct fault_call *told)
{
    told->error = call_error_of(fault);
    call_error_name(&told->error, told->name);
    if (!call_error_reason(&told->error, code->network, code->image, rank_at(code, rank),
                           told->reason)) {
        told->reason[0] = '\0';
    }
    describe_fault(code, rank, fault, FAULT_ERROR, told->place);
    if (strcmp(told->place, " in ecube_error_trap") == 0) { /* no caller was found */
        told->place[0] = '\0';
    }
}

void fault_finding_text(const struct fault_code *code, uint32_t rank,
                        const struct fault_body *fault, const struct finding *finding,
                        char text[FAULT_TEXT_MAX])
{
    struct symbols *symbols = open_symbols(code);
    char words[FINDING_TEXT_MAX], place[PLACE_TEXT_MAX];

    finding_text(finding, processor_of(code), symbols, words);
    put_symbols_away(code, symbols);
    if (finding->kind == FINDING_STILL_OPEN || finding->kind == FINDING_NOT_RECEIVED) {
        place[0] = '\0';
    } else if (fault->registers[3] == 1) {
        snprintf(place, sizeof place, " at the program's end");
    } else {
        describe_fault(code, rank, fault, FAULT_FINDING, place);
    }
    snprintf(text, FAULT_TEXT_MAX, "%s%s%s", words, place[0] ? ", found" : "", place);
}

json_t *fault_describe(const struct fault_code *code, uint32_t rank, const struct fault_body *fault,
                       char text[FAULT_TEXT_MAX])
{
    uint32_t kind = kind_of(code, fault), pc = pc_of(code, fault);
    bool kernel = kind >= FAULT_KERNEL;
    char what[100], at[20] = "", place[PLACE_TEXT_MAX] = "";

    if (kind == FAULT_CHECK) {
        return describe_check(code, rank, fault, text);
    }
    describe_kind(code, kind, fault, what, sizeof what);
    if (kernel) {
        describe_kernel(code, pc, place);
    }
    bool known = !kernel && describe_fault(code, rank, fault, kind, place);
    json_t *members = tell_node_members(kernel ? "kernel-fault" : "fault", rank);
    json_object_set_new(members, "address", json_integer(fault->address));
    json_object_set_new(members, "pc", json_integer(pc));
    json_object_set_new(members, "status", json_integer(fault_status(code, fault)));
    if (!known && kind != FAULT_PREFETCH) { /* else the place says it, or the address */
        snprintf(at, sizeof at, ", pc 0x%08x", pc);
    }
    snprintf(text, FAULT_TEXT_MAX, "node %u (rank %u): %s%s%s%s", (unsigned)rank,
             rank_at(code, rank), kernel ? "kernel fault: " : "", what, at, place);
    return members;
}
