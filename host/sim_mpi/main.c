/*
 * main.c - ecube-sim-mpi: `ecube sim` over the processes of an MPI job.
 *
 * Rank 0 is the user's: it reads standard input, prints, and its exit status is that of the job.
 */
#include <argp.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/command/command_line.h"
#include "host/command/plan_shelf.h"
#include "host/console/message.h"
#include "host/console/terminal.h"
#include "host/sim/sim.h"
#include "host/sim_mpi/mpi_ranks.h"

/* Also where a command line is refused: all ranks have the same one. */
static void finish(void)
{
    int over;

    MPI_Finalized(&over);
    if (!over) {
        MPI_Finalize();
    }
}

/* What is wrong with a command line rank 0 says for all; the descriptor that standard error was. */
static int hush(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), error;

    error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
    return error;
}

int main(int argc, char **argv)
{
    struct message message;
    struct ranks *ranks;
    int provided;

    signal(SIGXFSZ, SIG_IGN);
    /* what mpirun gives as a terminal is none that anybody looks at */
    setenv("TERM", "dumb", 1);
    setenv("COLUMNS", "100", 0);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    atexit(finish);
    ranks = mpi_ranks_make();
    int error = ranks->own == 0 ? -1 : hush();
    terminal_begin();
    argp_err_exit_status = STATUS_BAD_INPUT;
    if (ranks->count > RANKS_MAX) {
        message_set(&message, "%u ranks: at most %d make a simulation", ranks->count, RANKS_MAX);
        return message_print(&message);
    }
    plan_shelf_begin();
    return sim_run_ranks(argc, argv, ranks, error);
}
