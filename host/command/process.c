#include "host/command/process.h"

#include <argp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/console/message.h"
#include "host/console/terminal.h"

/* Without these three the first sockets would take their numbers, and what is printed would go
 * there. What is written to a closed one fails, as it should. */
static void fill_standard_descriptors(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd) {
            exit(STATUS_BAD_INPUT);
        }
    }
}

void process_begin(void)
{
    fill_standard_descriptors();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow shows as an error, as a full disk does */
    terminal_begin();
    argp_err_exit_status = STATUS_BAD_INPUT;
}

int process_end(int status)
{
    struct message message;

    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return status;
    }
    message_set(&message, "cannot write to standard output: it is closed, or its device is full");
    message_print(&message);
    return status ? status : STATUS_BAD_INPUT;
}
