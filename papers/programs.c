/*
 * programs.c - what formulae ask of programs that run in `ecube sim`: how one ends, what it has
 * measured, what it prints.
 *
 *     sim_status('mesh:4x5', 'figure4.so p')                     the tool's exit status
 *     report_steps('cube:4 --map gray', 'vectors.so 1 2', 'shift by 2')
 *     told('cube:3 --ports all', 'prefix.so 8', ' steps,')       the number before these words
 *
 * A network may have options of the tool behind it. A program is one of build/papers, else one of
 * build/examples. Programs run on a machine without start-up and set-up, on which a number of 8
 * bytes over a hop takes a microsecond, so that times are steps.
 */
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "papers/functions.h"

enum { COMMAND_MAX = 2048, PRINTED_MAX = 1 << 16, PATH_BYTES = 512 };

static const char machine[] = "{\"name\": \"steps\", \"xi_ns\": 0, \"tau_ns\": 0, \"element_ns\": "
                              "1000, \"element_bytes\": 8, \"sigma\": 1, \"ports\": 1}\n";

/* The last run: its command, how it ended, what it printed, its reports. */
static char command[COMMAND_MAX], printed[PRINTED_MAX];
static int status;
static json_t *reports;

/* A file of ours that is made anew. */
static const char *path_of(const char *name)
{
    static char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/papers/%s", papers_build, name);
    return path;
}

static void describe_machine(void)
{
    const char *path = path_of("steps.json");
    FILE *file = fopen(path, "w");

    if (!file || fputs(machine, file) == EOF || fclose(file) != 0) {
        papers_refuse("cannot be written", path);
    }
}

/* Where a program lies whose arguments stand behind its name. */
static const char *folder_of(const char *program)
{
    char path[COMMAND_MAX];

    snprintf(path, sizeof path, "%s/papers/%.*s", papers_build, (int)strcspn(program, " "),
             program);
    return access(path, R_OK) == 0 ? "papers" : "examples";
}

static void read_back(void)
{
    FILE *file = fopen(path_of("run.txt"), "r");
    size_t length = file ? fread(printed, 1, sizeof printed - 1, file) : 0;
    printed[length] = '\0';
    if (file) {
        fclose(file);
    }
    json_decref(reports);
    reports = json_load_file(path_of("run.json"), 0, NULL);
}

/* Runs a program on a network; the last run is kept. */
static void run(const struct formula_value *network, const struct formula_value *program)
{
    char wanted[COMMAND_MAX];

    if (!network->text || !program->text) {
        papers_refuse("a network and a program should stand here, no number", "");
    }
    const char *b = papers_build;
    snprintf(wanted, sizeof wanted,
             "ECUBE_CACHE=%s/papers/plans %s/ecube sim -q --profile %s/papers/steps.json --network "
             "%s --json %s/papers/run.json %s/%s/%s >%s/papers/run.txt 2>&1",
             b, b, b, network->text, b, b, folder_of(program->text), program->text, b);
    if (strcmp(command, wanted) == 0) {
        return;
    }
    describe_machine();
    remove(path_of("run.json"));
    int ended = system(wanted);
    status = ended < 0 || !WIFEXITED(ended) ? -1 : WEXITSTATUS(ended);
    read_back();
    snprintf(command, sizeof command, "%s", wanted);
}

static double call_sim_status(const struct formula_value *a, unsigned count)
{
    (void)count;
    run(a, a + 1);
    return status;
}

/* What a report of a program has measured. That a program ends well is part of it. */
static double call_report_steps(const struct formula_value *a, unsigned count)
{
    json_t *list, *report;
    size_t index;

    (void)count;
    run(a, a + 1);
    if (status != 0 || !a[2].text) {
        papers_refuse("this has failed", command);
    }
    list = json_object_get(reports, "reports");
    json_array_foreach(list, index, report)
    {
        const char *name = json_string_value(json_object_get(report, "name"));
        if (name && strcmp(name, a[2].text) == 0) {
            return json_number_value(json_object_get(report, "model_us"));
        }
    }
    papers_refuse("there is no such report", a[2].text);
}

/* The number that stands before words that a program prints. */
static double call_told(const struct formula_value *a, unsigned count)
{
    (void)count;
    run(a, a + 1);
    const char *at = a[2].text ? strstr(printed, a[2].text) : NULL;
    if (status != 0 || !at) {
        papers_refuse("this has failed, or does not say so", command);
    }
    while (at > printed && (isdigit((unsigned char)at[-1]) || at[-1] == '.')) {
        at--;
    }
    return strtod(at, NULL);
}

const struct formula_function program_functions[] = {{"sim_status", 2, 2, call_sim_status},
                                                     {"report_steps", 3, 3, call_report_steps},
                                                     {"told", 3, 3, call_told},
                                                     {0}};
