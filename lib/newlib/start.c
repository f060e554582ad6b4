/*
 * start.c - from the entry point to main: bss, C library, constructors, argv; and from main to
 * exit.
 *
 * The private block that crt0 hands over is laid out in wire/run.h. It came over links, so its
 * strings are counted, not trusted to end.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/portable/call.h"
#include "lib/portable/data.h"
#include "wire/run.h"

enum {
    EXIT_NO_START = 125 /* exit status of a program whose block or memory does not let it start */
};

/* From the linker script. */
extern uint32_t program_bss_start[], program_bss_end[];
extern void (*program_preinit_start[])(void), (*program_preinit_end[])(void);
extern void (*program_init_start[])(void), (*program_init_end[])(void);
extern void (*program_fini_start[])(void), (*program_fini_end[])(void);

int main(int argc, char **argv);
_Noreturn void ecube_program_start(const char *block, uint32_t block_bytes);
_Noreturn void _exit(int status);
void _init(void);
void _fini(void);

/* The C library refers to these two; there is nothing in them. */
void _init(void)
{
}

void _fini(void)
{
}

static void run_constructors(void)
{
    for (size_t i = 0; &program_preinit_start[i] < program_preinit_end; i++) {
        program_preinit_start[i]();
    }
    for (size_t i = 0; &program_init_start[i] < program_init_end; i++) {
        program_init_start[i]();
    }
}

static void run_destructors(void)
{
    for (size_t i = (size_t)(program_fini_end - program_fini_start); i > 0; i--) {
        program_fini_start[i - 1]();
    }
}

/* argv on the heap: argc pointers into copies of the block's strings, then NULL. */
static char **make_arguments(const char *block, uint32_t block_bytes, int *argc)
{
    struct block_header header;
    if (!block_unpack((const uint8_t *)block, block_bytes, &header)) {
        return NULL;
    }
    uint32_t begin = block_strings(&header);
    uint32_t count = header.argument_count, left = block_bytes - begin;
    char *text = malloc(left + 1);
    char **arguments = count <= left ? malloc((count + 1) * sizeof *arguments) : NULL;
    if (!arguments || !text) {
        return NULL;
    }
    memcpy(text, block + begin, left);
    for (uint32_t i = 0; i < count; i++) {
        const char *end = memchr(text, 0, left);
        if (!end) {
            return NULL;
        }
        arguments[i] = text;
        left -= (uint32_t)(end + 1 - text);
        text += end + 1 - text;
    }
    arguments[count] = NULL;
    *argc = (int)count;
    return arguments;
}

_Noreturn void ecube_program_start(const char *block, uint32_t block_bytes)
{
    for (uint32_t *word = program_bss_start; word < program_bss_end; word++) {
        *word = 0;
    }
    ecube_program_info_load();
    if (!ecube_data_open(block, block_bytes)) {
        _exit(EXIT_NO_START);
    }
    run_constructors();
    atexit(run_destructors);
    int argc = 0;
    char **argv = make_arguments(block, block_bytes, &argc);
    if (!argv) {
        _exit(EXIT_NO_START);
    }
    exit(main(argc, argv));
}
