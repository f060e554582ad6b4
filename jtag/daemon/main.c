/*
 * main.c - ecube-jtag: its command line.
 */
#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "drivers/check.h"
#include "jtag/chain/chain.h"
#include "jtag/daemon/daemon.h"

enum { DIRECTORY_BYTES_MAX = 90, FD_MAX = 1 << 20 }; /* a socket's path has 107 */

enum { KEY_CHAIN = 256, KEY_BLANK, KEY_RAM, KEY_WAKE, KEY_BUS, KEY_NOTICES };

void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "ecube-jtag: internal error at %s:%d: %s\n", file, line, what);
    abort();
}

__attribute__((format(printf, 1, 2))) static _Noreturn void reject(const char *format, ...)
{
    va_list arguments;

    fputs("ecube-jtag: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(STATUS_BAD_INPUT);
}

static const struct argp_option option_list[] = {
    {"directory", 'd', "DIR", 0, "where the sockets lie: n0.stub, n0.qtest, ...", 0},
    {"nodes", 'n', "N", 0, "how many nodes there are", 0},
    {"chain", KEY_CHAIN, NULL, 0, "serve DIR/chain, too: OpenOCD's remote_bitbang", 0},
    {"blank", KEY_BLANK, NULL, 0, "the nodes stand, and have no program (-S, no -kernel)", 0},
    {"ram", KEY_RAM, "BASE,BYTES", 0, "memory in which instructions can lie", 0},
    {"wake", KEY_WAKE, "ADDRESS", 0, "the nodes' interrupt distributor (GICD)", 0},
    {"bus", KEY_BUS, "BASE,BYTES", 0, "physical addresses that answer; as often as need be", 0},
    {"notices", KEY_NOTICES, "FD", 0,
     "tell there in lines what happens; when its other end is closed the program ends", 0},
    {0},
};

/* A number up to `end`; what stands behind it, or NULL. */
static const char *parse_number(const char *text, char end, uint32_t *value)
{
    char *rest;
    unsigned long long number;

    errno = 0;
    number = strtoull(text, &rest, 0);
    if (text[0] < '0' || text[0] > '9' || *rest != end || errno != 0 || number > UINT32_MAX) {
        return NULL;
    }
    *value = (uint32_t)number;
    return rest + 1;
}

static uint32_t take_number(const char *name, const char *text, uint32_t least, uint32_t most)
{
    uint32_t value;

    if (!parse_number(text, '\0', &value) || value < least || value > most) {
        reject("--%s %.40s: use a number from %u to %u", name, text, (unsigned)least,
               (unsigned)most);
    }
    return value;
}

static struct emulator_range take_range(const char *name, const char *text)
{
    struct emulator_range range;
    const char *rest = parse_number(text, ',', &range.base);

    if (!rest || !parse_number(rest, '\0', &range.bytes) || range.bytes == 0 ||
        range.bytes - 1 > UINT32_MAX - range.base) {
        reject("--%s %.40s: use a base and a number of bytes, for example 0x40000000,0x4000000",
               name, text);
    }
    return range;
}

static const char *take_directory(const char *text)
{
    struct stat status;

    if (strlen(text) > DIRECTORY_BYTES_MAX) {
        reject("--directory %.40s...: the path is too long for sockets", text);
    }
    if (stat(text, &status) != 0 || !S_ISDIR(status.st_mode)) {
        reject("--directory %.90s: is no directory", text);
    }
    return text;
}

static void add_bus(struct emulator_machine *machine, const char *text)
{
    if (machine->bus_count == EMULATOR_RANGES_MAX) {
        reject("--bus: at most %d ranges", EMULATOR_RANGES_MAX);
    }
    machine->buses[machine->bus_count++] = take_range("bus", text);
}

static void check_options(const struct daemon_options *options)
{
    if (!options->machine.directory) {
        reject("--directory is missing");
    }
    if (options->nodes == 0) {
        reject("--nodes is missing");
    }
    if (options->machine.ram.bytes == 0) {
        reject("--ram is missing");
    }
    if (options->chain && options->nodes > CHAIN_TAPS_MAX) {
        reject("--nodes %u: a chain has at most %d", options->nodes, CHAIN_TAPS_MAX);
    }
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct daemon_options *options = state->input;

    switch (key) {
    case 'd': options->machine.directory = take_directory(text); break;
    case 'n': options->nodes = take_number("nodes", text, 1, DAEMON_NODES_MAX); break;
    case KEY_CHAIN: options->chain = true; break;
    case KEY_BLANK: options->machine.blank = true; break;
    case KEY_RAM: options->machine.ram = take_range("ram", text); break;
    case KEY_WAKE: options->machine.distributor = take_number("wake", text, 0, UINT32_MAX); break;
    case KEY_BUS: add_bus(&options->machine, text); break;
    case KEY_NOTICES: options->notices_fd = (int)take_number("notices", text, 0, FD_MAX); break;
    case ARGP_KEY_ARG: reject("%.40s: unexpected word", text);
    case ARGP_KEY_END: check_options(options); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    option_list,
    parse,
    NULL,
    "Owns the debug sockets of a machine of emulated nodes: GDB comes to DIR/n0.gdb, DIR/n1.gdb, "
    "...; "
    "OpenOCD to DIR/chain.\v"
    "Example, for one node that was started with -gdb unix:run/n0.stub,server=on,wait=off and "
    "-qtest unix:run/n0.qtest,server=on,wait=off:\n\n"
    "  ecube-jtag --directory run --nodes 1 --chain --ram 0x40000000,0x4000000 \\\n"
    "    --bus 0x40000000,0x4000000 --wake 0x08000000",
    NULL,
    NULL,
    NULL};

int main(int argc, char **argv)
{
    struct daemon_options options = {.notices_fd = -1};

    argp_err_exit_status = STATUS_BAD_INPUT;
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    return daemon_run(&options);
}
