#include "tests/lib/native_host.h"

#include <elf.h>
#include <fcntl.h>
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
#include "wire/run.h"

/* Where things lie, seen from the image: before it the block, before that the stack. */
enum { HEAP_BYTES = 32 << 20, BLOCK_BYTES = 1 << 20, STACK_BYTES = 1 << 20, PAGE_BYTES = 4096 };

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

static void read_notes(struct machine *machine, const Elf64_Phdr *segment)
{
    const Elf64_Nhdr *note = (const void *)(machine->file + segment->p_offset);

    machine->has_note = segment->p_filesz >= sizeof *note + sizeof "ecube" &&
                        note->n_namesz == sizeof "ecube" && note->n_type == ECUBE_NOTE_NATIVE &&
                        memcmp(note + 1, "ecube", sizeof "ecube") == 0;
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
    uint64_t end = machine->data->p_vaddr + machine->data->p_memsz + HEAP_BYTES;
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

static void write_block(struct machine *machine, const char *const *arguments)
{
    uint8_t *block = machine->window + machine->code->p_vaddr - BLOCK_BYTES;
    uint32_t bytes = BLOCK_HEADER_BYTES, count = 0;

    for (; arguments[count]; count++) {
        size_t length = strlen(arguments[count]) + 1;
        memcpy(block + bytes, arguments[count], length);
        bytes += (uint32_t)length;
    }
    block_pack(block, &(struct block_header){.size = 1, .argument_count = count});
    machine->block_bytes = bytes;
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

static int32_t call(struct ecube_gate *gate, uint32_t number, uint32_t first, uint32_t second,
                    uint32_t third)
{
    struct machine *machine = (struct machine *)(void *)gate;
    struct timespec now;

    switch (number) {
    case ECUBE_CALL_INFO:
        *(struct ecube_abi_info *)memory(machine, first) = (struct ecube_abi_info){
            .size = 1,
            .heap_start = (uint32_t)(machine->data->p_vaddr + machine->data->p_memsz),
            .heap_end = (uint32_t)(machine->data->p_vaddr + machine->data->p_memsz) + HEAP_BYTES};
        return 0;
    case ECUBE_CALL_WRITE: return write_text(machine, first, second, third);
    case ECUBE_CALL_CLOCK:
        clock_gettime(CLOCK_MONOTONIC, &now);
        *(struct ecube_abi_clock *)memory(machine, first) = (struct ecube_abi_clock){
            .wall_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec};
        return 0;
    case ECUBE_CALL_ADVANCE: return 0;
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
    swapcontext(&machine->host, &machine->program);
}

void native_run(struct native_run *run, const char *path, const char *const *arguments)
{
    struct machine *machine = calloc(1, sizeof *machine);

    memset(run, 0, sizeof *run);
    machine->run = run;
    machine->gate = (struct ecube_gate){.call = call, .trap = trap};
    if (read_file(machine, path)) {
        read_segments(machine);
    }
    if (run->fault[0] == '\0') {
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
