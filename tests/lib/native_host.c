#include "tests/lib/native_host.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "drivers/status.h"
#include "include/ecube/abi.h"
#include "wire/finding.h"
#include "wire/output.h"
#include "wire/run.h"

/* Where things lie, seen from the image: before it the block, before that the stack; behind it what
 * came with the program, then the heap. */
enum { HEAP_BYTES = 32 << 20, BLOCK_BYTES = 1 << 20, STACK_BYTES = 1 << 20, PAGE_BYTES = 4096 };
enum { STEPPED_STACK_BYTES = 1 << 16, FLAG_TRAP = 1 << 8, NO_MEMORY = 4096 };

static const uint64_t WINDOW_BYTES = UINT64_C(1) << 32;

struct machine {
    struct ecube_gate gate; /* the first: what the program hands back */
    struct native_run *run;
    const uint8_t *file;
    uint64_t file_bytes;
    const Elf64_Ehdr *header;
    const Elf64_Phdr *code, *data, *dynamic;
    bool has_note;
    uint8_t *window;
    uint32_t block_bytes;
    const struct native_options *options;
    uint32_t heap_start, heap_end;
    uint32_t table, pieces; /* of what the program leaves; 0: nothing yet */
    ucontext_t host, program;
};

/* Only the first fault counts. */
static void fault(struct machine *machine, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    if (machine->run->fault[0] == '\0') {
        vsnprintf(machine->run->fault, sizeof machine->run->fault, format, values);
    }
    va_end(values);
}

static bool read_file(struct machine *machine, const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fstat(file, &status) < 0) {
        fault(machine, "%s cannot be read", path);
        return false;
    }
    machine->file_bytes = (uint64_t)status.st_size;
    machine->file = mmap(NULL, machine->file_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    return machine->file != MAP_FAILED;
}

/* Each note has eight bytes behind its head: the name, and nothing more. */
static void read_notes(struct machine *machine, const Elf64_Phdr *segment)
{
    const uint8_t *at = machine->file + segment->p_offset;

    for (uint64_t i = 0; i + sizeof(Elf64_Nhdr) + 8 <= segment->p_filesz;
         i += sizeof(Elf64_Nhdr) + 8) {
        const Elf64_Nhdr *note = (const void *)(at + i);
        machine->has_note |= note->n_namesz == sizeof "ecube" &&
                             note->n_type == ECUBE_NOTE_NATIVE &&
                             memcmp(note + 1, "ecube", sizeof "ecube") == 0;
    }
}

static void read_segments(struct machine *machine)
{
    const Elf64_Ehdr *header = machine->header = (const void *)machine->file;
    const Elf64_Phdr *segments = (const void *)(machine->file + header->e_phoff);

    if (header->e_type != ET_DYN || header->e_machine != EM_X86_64) {
        fault(machine, "no shared object for x86-64");
        return;
    }
    for (unsigned i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *segment = &segments[i];
        switch (segment->p_type) {
        case PT_LOAD:
            if (!machine->code) {
                machine->code = segment;
            } else if (!machine->data) {
                machine->data = segment;
            } else {
                fault(machine, "more than two segments");
            }
            break;
        case PT_DYNAMIC: machine->dynamic = segment; break;
        case PT_NOTE: read_notes(machine, segment); break;
        default: break;
        }
    }
    if (!machine->code || machine->code->p_flags != (PF_R | PF_X) || !machine->data ||
        machine->data->p_flags != (PF_R | PF_W) || machine->code->p_vaddr % PAGE_BYTES != 0 ||
        machine->data->p_vaddr % PAGE_BYTES != 0 || !machine->dynamic || !machine->has_note) {
        fault(machine, "not two segments, a dynamic one and a note, as gate.h says");
    }
}

static void make_window(struct machine *machine)
{
    uint8_t *room =
        mmap(NULL, 2 * WINDOW_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (room == MAP_FAILED) {
        fault(machine, "no window");
        return;
    }
    uint64_t skip = (WINDOW_BYTES - (uintptr_t)room % WINDOW_BYTES) % WINDOW_BYTES;
    munmap(room, skip);
    machine->window = room + skip;
    munmap(machine->window + WINDOW_BYTES, WINDOW_BYTES - skip);

    uint64_t base = machine->code->p_vaddr;
    uint64_t end = machine->heap_end;
    uint64_t low = base - BLOCK_BYTES - STACK_BYTES;
    mprotect(machine->window + low, (end - low + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES,
             PROT_READ | PROT_WRITE);
    memcpy(machine->window + base, machine->file + machine->code->p_offset,
           machine->code->p_filesz);
    memcpy(machine->window + machine->data->p_vaddr, machine->file + machine->data->p_offset,
           machine->data->p_filesz);
}

static uint64_t dynamic_value(const struct machine *machine, int64_t tag)
{
    const Elf64_Dyn *entry = (const void *)(machine->file + machine->dynamic->p_offset);

    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == tag) {
            return entry->d_un.d_val;
        }
    }
    return 0;
}

static void relocate(struct machine *machine)
{
    const Elf64_Phdr *data = machine->data;
    uint64_t bytes = dynamic_value(machine, DT_RELASZ);
    const Elf64_Rela *all = (const void *)(machine->window + dynamic_value(machine, DT_RELA));

    if (dynamic_value(machine, DT_PLTRELSZ) || dynamic_value(machine, DT_NEEDED)) {
        fault(machine, "asks for something outside");
    }
    for (uint64_t i = 0; i < bytes / sizeof *all; i++) {
        uint64_t at = all[i].r_offset, value = 1;
        if (at < data->p_vaddr || at + sizeof value > data->p_vaddr + data->p_memsz) {
            fault(machine, "a relocation outside data, at %#lx", (unsigned long)at);
            return;
        }
        switch (ELF64_R_TYPE(all[i].r_info)) {
        case R_X86_64_RELATIVE:
            value = (uintptr_t)machine->window + (uint64_t)all[i].r_addend;
            break;
        case R_X86_64_DTPMOD64: break;
        default:
            fault(machine, "relocation of type %lu, at %#lx",
                  (unsigned long)ELF64_R_TYPE(all[i].r_info), (unsigned long)at);
            return;
        }
        memcpy(machine->window + at, &value, sizeof value);
    }
    mprotect(machine->window + machine->code->p_vaddr, machine->code->p_memsz,
             PROT_READ | PROT_EXEC);
}

static uint32_t pages_up(uint64_t address)
{
    return (uint32_t)((address + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
}

/* What came with the program has a page of its own behind the image, or more; then the heap. */
static void place_heap(struct machine *machine)
{
    const struct native_given *given = machine->options->given;

    machine->heap_start = pages_up(machine->data->p_vaddr + machine->data->p_memsz);
    for (; given && given->kind != 0; given++) {
        machine->heap_start = pages_up((uint64_t)machine->heap_start + given->bytes);
    }
    machine->heap_end =
        machine->heap_start +
        (machine->options->heap_bytes ? machine->options->heap_bytes : (uint32_t)HEAP_BYTES);
}

/* Only private data may be written. */
static void place_given(struct machine *machine, uint8_t *block)
{
    const struct native_given *given = machine->options->given;
    uint32_t at = pages_up(machine->data->p_vaddr + machine->data->p_memsz);

    for (uint32_t i = 0; given && given[i].kind != 0; i++) {
        uint32_t end = pages_up((uint64_t)at + given[i].bytes);
        uint32_t address = given[i].data ? at : NO_MEMORY;
        block_entry_pack(block, i, &(struct block_entry){given[i].kind, address, given[i].bytes});
        if (given[i].data) {
            memcpy(machine->window + at, given[i].data, given[i].bytes);
        }
        if (given[i].kind != BLOCK_PRIVATE) {
            mprotect(machine->window + at, end - at, PROT_READ);
        }
        at = end;
    }
}

static uint32_t add_string(uint8_t *block, uint32_t at, const char *text)
{
    memcpy(block + at, text, strlen(text) + 1);
    return at + (uint32_t)strlen(text) + 1;
}

static void write_block(struct machine *machine, const char *const *arguments)
{
    const struct native_given *given = machine->options->given;
    uint8_t *block = machine->window + machine->code->p_vaddr - BLOCK_BYTES;
    struct block_header header = {.size = 1};

    while (arguments[header.argument_count]) {
        header.argument_count++;
    }
    while (given && given[header.entry_count].kind != 0) {
        header.entry_count++;
    }
    block_pack(block, &header);
    uint32_t at = block_strings(&header);
    for (uint32_t i = 0; i < header.argument_count; i++) {
        at = add_string(block, at, arguments[i]);
    }
    for (uint32_t i = 0; i < header.entry_count; i++) {
        at = add_string(block, at, given[i].name);
    }
    machine->block_bytes = at;
    place_given(machine, block);
}

/* Back to the host, for good. */
static void leave(struct machine *machine)
{
    swapcontext(&machine->program, &machine->host);
}

static void *memory(const struct machine *machine, uint32_t address)
{
    return machine->window + address;
}

static int32_t write_text(struct machine *machine, uint32_t address, uint32_t bytes,
                          uint32_t stream)
{
    char *text = stream == ECUBE_STREAM_ERROR ? machine->run->errors : machine->run->output;
    size_t length = strlen(text);

    if (address < machine->code->p_vaddr - BLOCK_BYTES - STACK_BYTES) {
        return E_FAULT;
    }
    bytes = bytes < 1000 ? bytes : 1000; /* a part of what is long, as the kernel does */
    if (length + bytes >= NATIVE_TEXT_MAX) {
        return E_FAULT;
    }
    memcpy(text + length, memory(machine, address), bytes);
    return (int32_t)bytes;
}

static bool inside(const struct machine *machine, uint32_t address, uint32_t bytes)
{
    uint64_t low = machine->code->p_vaddr - BLOCK_BYTES - STACK_BYTES;

    return bytes == 0 || (address >= low && (uint64_t)address + bytes <= machine->heap_end);
}

static struct ecube_abi_piece piece_at(const struct machine *machine, uint32_t piece)
{
    return output_piece_at(memory(machine, machine->table), piece);
}

/* Whether the host could fetch what the program leaves, now. */
static void look_at_table(struct machine *machine)
{
    struct ecube_abi_piece first = {0, 0};
    struct output output;
    uint64_t all = 0;

    for (uint32_t i = 0; i < machine->pieces; i++) {
        struct ecube_abi_piece piece = piece_at(machine, i);
        first = i == 0 ? piece : first;
        all += piece.bytes;
        if (!inside(machine, piece.address, piece.bytes)) {
            fault(machine, "piece %u of %u is no memory", i, machine->pieces);
        }
    }
    if (machine->pieces > 0 && (first.address != machine->table - OUTPUT_HEADER_BYTES ||
                                !output_open(&output, memory(machine, first.address), all) ||
                                output.pieces != machine->pieces)) {
        fault(machine, "the table of %u pieces is none", machine->pieces);
    }
}

static void look_at_files(struct machine *machine)
{
    const char *name = (const char *)memory(machine, machine->table) + 8 * machine->pieces;

    for (uint32_t i = OUTPUT_FIRST_FILE; i < machine->pieces; i++) {
        struct ecube_abi_piece piece = piece_at(machine, i);
        if (!machine->options->whole(name, memory(machine, piece.address), piece.bytes)) {
            fault(machine, "%s of %u bytes is not what it should be", name, piece.bytes);
        }
        name += strlen(name) + 1;
    }
}

/* As the host has them when it has fetched all. */
static void fetch(struct machine *machine)
{
    struct native_run *run = machine->run;

    look_at_table(machine);
    for (uint32_t i = 0; i < machine->pieces && run->fault[0] == '\0'; i++) {
        struct ecube_abi_piece piece = piece_at(machine, i);
        if (run->left_bytes + piece.bytes > NATIVE_LEFT_MAX) {
            fault(machine, "it leaves more than the test has room for");
            return;
        }
        memcpy(run->left + run->left_bytes, memory(machine, piece.address), piece.bytes);
        run->left_bytes += piece.bytes;
    }
}

static int32_t name_output(struct machine *machine, uint32_t table, uint32_t pieces)
{
    if (machine->options->no_output) {
        machine->run->refused = ECUBE_CALL_OUTPUT;
        return E_SYSCALL;
    }
    if (table % 4 != 0 || !inside(machine, table, pieces * 8)) {
        return E_FAULT;
    }
    machine->table = table;
    machine->pieces = pieces;
    look_at_table(machine);
    return E_OK;
}

static struct machine *stepped;

/* Behind an instruction; those of the host do not count. */
static void step(int number, siginfo_t *about, void *context)
{
    const ucontext_t *at = context;
    uint64_t offset = (uint64_t)at->uc_mcontext.gregs[REG_RIP] - (uintptr_t)stepped->window;

    (void)number;
    (void)about;
    if (offset < WINDOW_BYTES && stepped->run->fault[0] == '\0') {
        look_at_table(stepped);
    }
    if (offset < WINDOW_BYTES && stepped->run->fault[0] == '\0') {
        look_at_files(stepped);
    }
}

static void set_trap_flag(bool on)
{
    unsigned long long flags = __builtin_ia32_readeflags_u64() & ~(unsigned long long)FLAG_TRAP;

    __builtin_ia32_writeeflags_u64(on ? flags | FLAG_TRAP : flags);
}

static void step_begin(struct machine *machine)
{
    static uint8_t stack[STEPPED_STACK_BYTES];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_ONSTACK | SA_SIGINFO};

    stepped = machine;
    sigaltstack(&other, NULL);
    sigaction(SIGTRAP, &action, NULL);
    set_trap_flag(true);
}

static void step_end(void)
{
    set_trap_flag(false);
    signal(SIGTRAP, SIG_DFL);
}

static int32_t call(struct ecube_gate *gate, uint32_t number, uint32_t first, uint32_t second,
                    uint32_t third)
{
    struct machine *machine = (struct machine *)(void *)gate;
    struct timespec now;

    look_at_table(machine);
    switch (number) {
    case ECUBE_CALL_INFO:
        *(struct ecube_abi_info *)memory(machine, first) = (struct ecube_abi_info){
            .size = 1, .heap_start = machine->heap_start, .heap_end = machine->heap_end};
        return 0;
    case ECUBE_CALL_WRITE: return write_text(machine, first, second, third);
    case ECUBE_CALL_CLOCK:
        clock_gettime(CLOCK_MONOTONIC, &now);
        *(struct ecube_abi_clock *)memory(machine, first) = (struct ecube_abi_clock){
            .wall_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec};
        return 0;
    case ECUBE_CALL_ADVANCE: return 0;
    case ECUBE_CALL_OUTPUT: return name_output(machine, first, second);
    case ECUBE_CALL_EXIT:
    case ECUBE_CALL_ABORT:
        machine->run->status = (int)first;
        leave(machine);
        return 0;
    default: machine->run->refused = number; return E_SYSCALL;
    }
}

static void trap(struct ecube_gate *gate, enum ecube_trap kind, const uint32_t words[4])
{
    struct machine *machine = (struct machine *)(void *)gate;

    machine->run->trapped = true;
    machine->run->status = (int)kind;
    memcpy(machine->run->words, words, sizeof machine->run->words);
    if (kind == ECUBE_TRAP_ERROR) {
        machine->run->called = *(const uint32_t *)memory(machine, words[2]);
    }
    if (kind == ECUBE_TRAP_FINDING) {
        machine->run->finding = finding_unpack(memory(machine, words[0])).kind;
    }
    leave(machine);
}

/* makecontext hands over integers: a pointer in two of them. */
static void enter(unsigned low, unsigned high)
{
    struct machine *machine = (void *)((uintptr_t)high << 32 | low);
    void (*start)(const char *block, uint32_t block_bytes, struct ecube_gate *gate) =
        (void (*)(const char *, uint32_t, struct ecube_gate *))(
            uintptr_t)(machine->window + machine->header->e_entry);

    start((const char *)machine->window + machine->code->p_vaddr - BLOCK_BYTES,
          machine->block_bytes, &machine->gate);
}

static void execute(struct machine *machine)
{
    getcontext(&machine->program);
    machine->program.uc_stack.ss_sp =
        machine->window + machine->code->p_vaddr - BLOCK_BYTES - STACK_BYTES;
    machine->program.uc_stack.ss_size = STACK_BYTES;
    machine->program.uc_link = NULL;
    makecontext(&machine->program, (void (*)(void))(uintptr_t)enter, 2,
                (unsigned)(uintptr_t)machine, (unsigned)((uintptr_t)machine >> 32));
    if (machine->options->whole) {
        step_begin(machine);
    }
    swapcontext(&machine->host, &machine->program);
    if (machine->options->whole) {
        step_end();
    }
    fetch(machine);
}

void native_run_with(struct native_run *run, const char *path, const char *const *arguments,
                     const struct native_options *options)
{
    struct machine *machine = calloc(1, sizeof *machine);

    memset(run, 0, sizeof *run);
    machine->run = run;
    machine->options = options;
    machine->gate = (struct ecube_gate){.call = call, .trap = trap};
    if (read_file(machine, path)) {
        read_segments(machine);
    }
    if (run->fault[0] == '\0') {
        place_heap(machine);
        make_window(machine);
    }
    if (run->fault[0] == '\0') {
        relocate(machine);
    }
    if (run->fault[0] == '\0') {
        write_block(machine, arguments);
        execute(machine);
    }
    if (machine->window) {
        munmap(machine->window, WINDOW_BYTES);
    }
    if (machine->file) {
        munmap((void *)(uintptr_t)machine->file, machine->file_bytes);
    }
    free(machine);
}

void native_run(struct native_run *run, const char *path, const char *const *arguments)
{
    native_run_with(run, path, arguments, &(struct native_options){0});
}
