/*
 * main.c - ecube-sim-mpi: `ecube sim` over the processes of an MPI job.
 *
 * Rank 0 is the user's: it reads standard input, prints, and its exit status is that of the job.
 */
#include <argp.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/command/command_line.h"
#include "host/command/plan_shelf.h"
#include "host/console/message.h"
#include "host/console/terminal.h"
#include "host/sim/sim.h"
#include "host/sim_mpi/mpi_ranks.h"

static struct ranks *ranks;
static bool over;      /* the simulation has ended, with all ranks */
static int error = -1; /* what standard error was; -1: it still is */

/* What this rank alone has said, which nobody has heard. */
static void tell_own(void)
{
    static const char begin[] = "ecube: ";
    char text[MESSAGE_MAX] = "";
    const char *words = text;

    if (pread(STDERR_FILENO, text, sizeof text - 1, 0) > 0) {
        words += strncmp(text, begin, sizeof begin - 1) == 0 ? sizeof begin - 1 : 0;
        dprintf(error, "%srank %u: %s", begin, ranks->own, words);
    }
}

/* All ranks refuse a command line, for they have the same one. Once they have met, one that ends
 * does so alone, and would wait for the others. */
static void finish(int status, void *context)
{
    (void)context;
    if (!over && ranks->spent_ns(ranks) > 0) {
        fflush(NULL);
        if (error >= 0) {
            tell_own();
        }
        _exit(status);
    }
    MPI_Finalize();
}

/* What is wrong with a command line rank 0 says for all. */
static void hush(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), kept = memfd_create("said", MFD_CLOEXEC);

    error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    dup2(nowhere, STDOUT_FILENO);
    dup2(kept >= 0 ? kept : nowhere, STDERR_FILENO);
    close(kept);
    close(nowhere);
}

int main(int argc, char **argv)
{
    struct message message;
    sigset_t all, before;
    int provided;

    signal(SIGXFSZ, SIG_IGN);
    /* what mpirun gives as a terminal is none that anybody looks at */
    setenv("TERM", "dumb", 1);
    setenv("COLUMNS", "100", 0);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* the threads of MPI take no signal of a run's */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ranks = mpi_ranks_make();
    on_exit(finish, NULL);
    if (ranks->own != 0) {
        hush();
    }
    terminal_begin();
    argp_err_exit_status = STATUS_BAD_INPUT;
    if (ranks->count > RANKS_MAX) {
        message_set(&message, "%u ranks: use mpirun -n %d at most, and --threads in each",
                    ranks->count, RANKS_MAX);
        return message_print(&message);
    }
    plan_shelf_begin();
    int status = sim_run_ranks(argc, argv, ranks, error);
    over = true;
    return status;
}
