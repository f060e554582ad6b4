#include "bench/debugger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/machine_run.h"
#include "bench/stub_run.h"
#include "bench/timed_run.h"
#include "host/computer/target.h"

enum {
    IMAGE_BYTES = 100 * 1024,
    IMAGE_ROOM = 16 << 20,
    MACHINES = 3,
    OPENOCD_SECONDS = 300,
    IDLE_SECONDS = 10,
    IDLE_START_SECONDS = 2,
    COMMAND_MAX = 2048,
    PATH_BYTES = 300,
    LINE_BYTES = 400
};

enum row {
    SCANS,
    HALT_ALL,
    RESUME_ALL,
    RESET_HALT,
    READ,
    LOAD,
    VERIFY,
    PROGRAM_ALL,
    IDLE_OPENOCD,
    IDLE_JTAG,
    ROWS
};

/* A column for the stub and one for each machine. */
struct table {
    double values[ROWS][1 + MACHINES];
};

static const struct {
    const char *key, *name;
} rows[ROWS] = {
    [SCANS] = {"scans", "scans of IR and DR, per second"},
    [HALT_ALL] = {"halt_all", "halt all nodes, ms"},
    [RESUME_ALL] = {"resume_all", "let all go on, ms"},
    [RESET_HALT] = {"reset_halt", "reset and halt all, ms"},
    [READ] = {"read", "read memory, kB/s"},
    [LOAD] = {"load", "load 100 KiB, kB/s"},
    [VERIFY] = {"verify", "verify it, kB/s"},
    [PROGRAM_ALL] = {"program_all", "100 KiB into every node, ms"},
    [IDLE_OPENOCD] = {"idle_openocd", "OpenOCD that only polls, % of a core"},
    [IDLE_JTAG] = {"idle_jtag", "ecube-jtag meanwhile, % of a core"},
};

static const char *build;

/* Near the end of a program's memory: there is no program. */
static uint32_t image_address(void)
{
    return target_board()->image_end - IMAGE_ROOM;
}

static void make_image(const char *path)
{
    FILE *file = fopen(path, "w");

    for (unsigned i = 0; file && i < IMAGE_BYTES; i++) {
        fputc((int)(i * 37 + i / 251), file);
    }
    if (file) {
        fclose(file);
    }
}

/* Takes the lines "measured NAME VALUE". */
static void take_measured(const char *output, struct table *table, unsigned column)
{
    FILE *file = fopen(output, "r");
    char line[LINE_BYTES], key[40];
    double value;

    while (file && fgets(line, sizeof line, file)) {
        for (unsigned r = 0; r < ROWS; r++) {
            if (sscanf(line, "measured %39s %lf", key, &value) == 2 &&
                strcmp(key, rows[r].key) == 0) {
                table->values[r][column] = value;
            }
        }
    }
    if (file) {
        fclose(file);
    }
}

/* Runs OpenOCD at the machine; its processor time in seconds, -1: it failed. */
static double run_openocd(const char *name, const char *commands, const char *output)
{
    char tool[PATH_BYTES];
    const char *words[] = {tool, "openocd", "--name", name, "--", "-c", commands, NULL};
    struct timed_run run;
    int status;

    snprintf(tool, sizeof tool, "%s/ecube", build);
    status = timed_run_within(OPENOCD_SECONDS, words, output, &run);
    if (status != 0) {
        fprintf(stderr, "bench: OpenOCD failed at %s: see %s\n", name, output);
    }
    return status == 0 ? run.processor_s : -1;
}

/* Processor time of the machine's ecube-jtag so far, in seconds; -1: there is none. */
static double jtag_seconds(const char *name)
{
    char command[COMMAND_MAX], text[64] = "";
    unsigned long user = 0, system = 0;
    FILE *pipe;

    snprintf(command, sizeof command,
             "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline 2>/dev/null | "
             "grep -q \"^[^ ]*ecube-jtag .*-%s \" && cut -d ' ' -f 14,15 $p/stat && break; done",
             name);
    pipe = popen(command, "r");
    if (pipe) {
        if (!fgets(text, sizeof text, pipe)) {
            text[0] = '\0';
        }
        pclose(pipe);
    }
    return sscanf(text, "%lu %lu", &user, &system) == 2
               ? (double)(user + system) / (double)sysconf(_SC_CLK_TCK)
               : -1;
}

/* Lets OpenOCD do nothing but poll for so long; its processor time in seconds, -1: it failed. */
static double poll_for(const char *name, unsigned seconds, const char *output)
{
    enum { TIMED_OUT = 124 };
    char tool[PATH_BYTES], limit[16];
    const char *words[] = {"timeout", limit, tool, "openocd", "--name", name, NULL};
    struct timed_run run;

    snprintf(tool, sizeof tool, "%s/ecube", build);
    snprintf(limit, sizeof limit, "%u", seconds);
    return timed_run_within(OPENOCD_SECONDS, words, output, &run) == TIMED_OUT ? run.processor_s
                                                                               : -1;
}

/* Two runs that differ in how long they poll: what the start takes does not count. (While OpenOCD's
 * command sleep runs, it polls without a pause.) */
static void measure_idle(const char *name, const char *output, struct table *table, unsigned column)
{
    double openocd[2], jtag[3];

    jtag[0] = jtag_seconds(name);
    for (unsigned i = 0; i < 2; i++) {
        openocd[i] = poll_for(name, IDLE_START_SECONDS + i * IDLE_SECONDS, output);
        jtag[i + 1] = jtag_seconds(name);
    }
    if (openocd[0] >= 0 && openocd[1] >= 0) {
        table->values[IDLE_OPENOCD][column] = 100 * (openocd[1] - openocd[0]) / IDLE_SECONDS;
    }
    if (jtag[0] >= 0 && jtag[1] >= 0 && jtag[2] >= 0) {
        table->values[IDLE_JTAG][column] =
            100 * (jtag[2] - jtag[1] - (jtag[1] - jtag[0])) / IDLE_SECONDS;
    }
}

static void measure_machine(unsigned dims, struct table *table, unsigned column)
{
    char name[40], commands[COMMAND_MAX], image[PATH_BYTES], output[PATH_BYTES];

    snprintf(name, sizeof name, "bench-%d-%u", (int)getpid(), dims);
    snprintf(image, sizeof image, "%s/bench/image.bin", build);
    snprintf(output, sizeof output, "%s/bench/openocd.out", build);
    make_image(image);
    if (!machine_run_tool(build, NULL, "up --jtag --network cube:%u --name %s", dims, name)) {
        return;
    }
    fprintf(stderr, "OpenOCD at %u nodes\n", 1u << dims);
    measure_idle(name, output, table, column);
    snprintf(commands, sizeof commands,
             "set BENCH_IMAGE %s; set BENCH_BYTES %d; set BENCH_ADDRESS 0x%x; "
             "source bench/openocd.tcl",
             image, IMAGE_BYTES, image_address());
    run_openocd(name, commands, output);
    take_measured(output, table, column);
    machine_run_tool(build, NULL, "down --name %s", name);
}

static void measure_stub(const char *qemu, struct table *table)
{
    struct stub_figures figures;

    fprintf(stderr, "the emulator's own stub\n");
    if (!stub_run(build, qemu, image_address(), IMAGE_BYTES, &figures)) {
        return;
    }
    table->values[HALT_ALL][0] = figures.halt_ms;
    table->values[RESUME_ALL][0] = figures.resume_ms;
    table->values[RESET_HALT][0] = figures.reset_ms;
    table->values[READ][0] = figures.read_kbs;
    table->values[LOAD][0] = figures.load_kbs;
    table->values[VERIFY][0] = figures.verify_kbs;
    table->values[PROGRAM_ALL][0] = figures.program_ms;
    table->values[SCANS][0] = table->values[IDLE_OPENOCD][0] = table->values[IDLE_JTAG][0] = NAN;
}

static json_t *show(const struct table *table)
{
    json_t *list = json_array();

    printf("\n%-38s %12s %12s %12s %12s\n", "OpenOCD at a machine", "own stub, 1", "1 TAP",
           "4 TAPs", "16 TAPs");
    for (unsigned r = 0; r < ROWS; r++) {
        json_t *values = json_array();
        printf("%-38s", rows[r].name);
        for (unsigned c = 0; c <= MACHINES; c++) {
            double value = table->values[r][c];
            if (isnan(value)) {
                printf(" %12s", "-");
            } else {
                printf(" %12.1f", value);
            }
            json_array_append_new(values, isnan(value) ? json_null() : json_real(value));
        }
        putchar('\n');
        json_array_append_new(list,
                              json_pack("{s:s, s:o}", "name", rows[r].name, "values", values));
    }
    return list;
}

json_t *debugger_run(const char *directory, const char *qemu)
{
    static const unsigned dims[MACHINES] = {0, 2, 4};
    struct table table;

    build = directory;
    for (unsigned r = 0; r < ROWS; r++) {
        for (unsigned c = 0; c <= MACHINES; c++) {
            table.values[r][c] = -1;
        }
    }
    measure_stub(qemu, &table);
    for (unsigned i = 0; i < MACHINES; i++) {
        measure_machine(dims[i], &table, i + 1);
    }
    return show(&table);
}
