/* native_run.c PROGRAM.so [ARGUMENT...] - runs a program for this computer alone: its output, and
 * its status; 134 for one that a signal or an error has ended. */
#include <stdio.h>

#include "tests/lib/native_host.h"

int main(int argc, char **argv)
{
    static struct native_run run;

    if (argc < 2) {
        fputs("usage: native_run PROGRAM.so [ARGUMENT...]\n", stderr);
        return 2;
    }
    native_run(&run, argv[1], (const char *const *)(argv + 1));
    fputs(run.output, stdout);
    fputs(run.errors, stderr);
    if (run.fault[0] != '\0') {
        fprintf(stderr, "native_run: %s\n", run.fault);
        return 2;
    }
    return run.trapped ? 134 : run.status;
}
