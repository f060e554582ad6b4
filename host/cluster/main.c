/*
 * main.c - ecube-agent: one agent of a machine over several computers.
 *
 * Rank 0 is the tool: it runs a program as `ecube run` does, or holds a machine as `ecube up` does,
 * with nodes elsewhere. The other ranks hold nodes (agent.h). All have the same command line, of
 * which only rank 0 says what is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/cluster/agent.h"
#include "host/cluster/root.h"
#include "host/command/plan_shelf.h"
#include "host/command/process.h"
#include "host/machine/link_maker.h"
#include "host/machine/serve.h"
#include "host/verbs/agent.h"
#include "host/verbs/hosts.h"
#include "host/verbs/up.h"
#include "router/channel.h"

enum { MEGABYTE = 1 << 20 };

/* Rank 0 --------------------------------------------------------------------------------------- */

struct placing {
    struct root root;
    const struct agent_words *words;
    const char *name; /* of a machine that stays; NULL: it does not */
    struct machine_join join;
    pid_t viewer;              /* who shows its boot; 0: nobody, or that has ended */
    uv_signal_t child;         /* in the machine's loop: the viewer's end */
    bool begun;                /* the agents start their nodes */
    char refusal[MESSAGE_MAX]; /* else why not, if it is known */
};

static void print_places(const struct placing *placing, FILE *file)
{
    const struct root *root = &placing->root;
    unsigned size = root->peers->size;

    for (unsigned i = 0; i < size; i++) {
        const struct member *member = &root->members[i];
        unsigned links = 0;

        for (unsigned other = 0; other < size; other++) {
            links += other != i ? root_links_between(root, i, other) : 0;
        }
        fprintf(file, "agent %u  %s: nodes %u-%u, %u MiB free, %u links to others\n", i,
                member->self.computer, (unsigned)member->range.first,
                (unsigned)(member->range.first + member->range.count - 1),
                (unsigned)(member->self.memory_bytes / MEGABYTE), links);
    }
    for (unsigned a = 0; a < size; a++) {
        for (unsigned b = a + 1; b < size; b++) {
            unsigned links = root_links_between(root, a, b);

            if (links > 0) {
                fprintf(file, "links %u-%u  %u\n", a, b, links);
            }
        }
    }
}

/* Reaps the viewer; with WNOHANG only if it has ended. */
static void reap_viewer(struct placing *placing, int options)
{
    pid_t reaped = -1;

    while (placing->viewer > 0 && reaped < 0) {
        reaped = waitpid(placing->viewer, NULL, options);
        if (reaped > 0 || (reaped < 0 && errno != EINTR)) {
            placing->viewer = 0;
        }
    }
}

static void on_child(uv_signal_t *handle, int number)
{
    (void)number;
    reap_viewer(handle->data, WNOHANG);
}

static int join_machine(void *context, uv_loop_t *loop, const struct rundir *rundir,
                        const struct target *target, struct message *message)
{
    struct placing *placing = context;

    if (placing->viewer > 0) {
        uv_signal_init(loop, &placing->child);
        placing->child.data = placing;
        uv_signal_start(&placing->child, on_child, SIGCHLD);
        uv_unref((uv_handle_t *)&placing->child);
    }
    int status = root_join(&placing->root, loop, rundir->path, target->jtag[0] != '\0', message);
    placing->begun = status == 0;
    return status;
}

/* Streams and debug sockets beside what the launcher counts. */
static void raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int find_places(struct placing *placing, struct machine_options *options,
                       struct target *target, struct message *message)
{
    const struct machine_arguments *arguments = &placing->words->run.machine;
    struct root *root = &placing->root;
    struct root_start start = {.name = placing->name ? placing->name : "",
                               .links = arguments->links,
                               .board = arguments->board,
                               .debug = target->jtag[0] != '\0'};

    if (options->crossing_count > 0) {
        return message_set(message, "--cross: not over several computers; 'ecube run' is for one");
    }
    if (root_divide(root, &options->network, message) != 0) {
        return -1;
    }
    options->place = root_launcher_place(root);
    if (link_maker_choose(arguments->links, &options->network, options->place, target, message) !=
        0) {
        return -1;
    }
    raise_descriptors();
    if (root_place(root, &start, message) != 0) {
        return -1;
    }
    placing->join = (struct machine_join){.context = placing, .join = join_machine};
    options->join = &placing->join;
    if (!placing->words->run.load.quiet) {
        print_places(placing, stderr);
    }
    return 0;
}

/* The others hear why, too. */
static int place(void *context, struct machine_options *options, struct target *target,
                 struct message *message)
{
    struct placing *placing = context;
    int status = find_places(placing, options, target, message);

    if (status != 0) {
        memcpy(placing->refusal, message->text, sizeof placing->refusal);
    }
    return status;
}

static int show_places(struct placing *placing)
{
    struct machine_options options;
    struct target target;
    struct message message;

    if (options_make_machine(&placing->words->run.machine, &options, &target, &message) != 0 ||
        root_divide(&placing->root, &options.network, &message) != 0) {
        return message_print(&message);
    }
    print_places(placing, stdout);
    placing->begun = true; /* as much as it shall */
    return 0;
}

/* Shows the boot beside the process that holds the machine, which has no word on the terminal. */
static _Noreturn void become_viewer(int fd, const struct serve_options *options, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(fd, 3) != 3) {
        _exit(0);
    }
    close_range(4, ~0U, 0);
    up_show_boot(3, options);
    _exit(process_end(0));
}

static int hold(struct placing *placing)
{
    static struct serve_options options;
    const struct agent_words *words = placing->words;
    pid_t parent = getpid();
    struct message message;
    int ends[2];

    options.name = words->name.name ? words->name.name : UP_NAME_DEFAULT;
    placing->name = options.name;
    if (rundir_name_check(options.name, &message) != 0 ||
        options_make_machine(&words->run.machine, &options.machine, &options.target, &message) !=
            0 ||
        target_find_jtag(&options.target, &message) != 0 ||
        place(placing, &options.machine, &options.target, &message) != 0) {
        return message_print(&message);
    }
    if (pipe2(ends, O_CLOEXEC) != 0 || (placing->viewer = fork()) < 0) {
        message_set(&message, "cannot start a process: %s", strerror(errno));
        return message_print(&message);
    }
    if (placing->viewer == 0) {
        become_viewer(ends[0], &options, parent);
    }
    close(ends[0]);
    int status = serve_machine(&options, ends[1]);
    reap_viewer(placing, 0);
    return status;
}

/* What is said of a run makes no sense without a program. */
static int check_words(const struct agent_words *words, struct message *message)
{
    const struct load_arguments *load = &words->run.load;
    const char *of_run = load->json                                           ? "--json"
                         : load->trace                                        ? "--trace"
                         : load->report                                       ? "--report"
                         : words->run.cuts.count + words->run.kills.count > 0 ? "--cut or --kill"
                         : load->outputs.output || load->outputs.files ? "--output or --files-to"
                         : load->data.count > 0                        ? "data"
                                                                       : NULL;

    if (load->program_count == 0 && of_run) {
        return message_set(message, "%s: name the program to run, an ELF file made by ecube-cc",
                           of_run);
    }
    if (load->program_count > 0 && words->name.name) {
        return message_set(message,
                           "--name %.40s: only a machine that stays has a name, and it is "
                           "started without a program",
                           words->name.name);
    }
    return 0;
}

static int lead(const struct peers *peers, const struct agent_words *words, uint32_t patience_ms)
{
    static struct placing placing;
    struct run_place run_place = {.context = &placing, .find = place};
    const struct machine_arguments *machine = &words->run.machine;
    struct introduction self;
    struct target target;
    struct message message;
    int status;

    placing.words = words;
    bool found = (!machine->board || target_choose(machine->board, &message) == 0) &&
                 target_find(&target, machine->kernel, machine->qemu, &message) == 0;
    introduction_make(&self, 0, found ? &target : NULL, NULL);
    if (root_gather(&placing.root, peers, &self, patience_ms, &message) != 0 ||
        check_words(words, &message) != 0) {
        memcpy(placing.refusal, message.text, sizeof placing.refusal);
        status = message_print(&message);
    } else if (words->agents.dry_run) {
        status = show_places(&placing);
    } else if (words->run.load.program_count > 0) {
        status = run_placed(&words->run, &run_place);
    } else {
        status = hold(&placing);
    }
    const char *why = placing.refusal[0] ? placing.refusal : "rank 0 could not start the machine";
    root_end(&placing.root, status, placing.begun ? NULL : why);
    return status;
}

/* Everybody has the same command line, and one of them is enough to say what is wrong with it. */
static void be_silent(void)
{
    int null = open("/dev/null", O_WRONLY);

    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
}

int main(int argc, char **argv)
{
    static struct agent_words words;
    char name[] = "ecube agent";
    struct message message;
    struct peers peers;
    int output, errors;

    process_begin();
    argv[0] = name;
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (peers_rank() > 0) {
        be_silent();
    }
    agent_parse(&words, argc, argv);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    close(output);
    close(errors);
    plan_shelf_begin();
    if (peers_find(&peers, words.agents.key_file, &message) != 0) {
        return message.text[0] ? message_print(&message) : STATUS_BAD_INPUT;
    }
    uint32_t patience_ms =
        words.run.machine.patience_ms ? words.run.machine.patience_ms : (uint32_t)DEAD_AFTER_MS;
    if (peers.rank > 0) {
        const struct agent_options options = {.kernel = words.run.machine.kernel,
                                              .qemu = words.run.machine.qemu,
                                              .board = words.run.machine.board,
                                              .patience_ms = patience_ms};
        return agent_serve(&peers, &options);
    }
    hosts_mark_begin();
    int status = process_end(lead(&peers, &words, patience_ms));
    hosts_mark_end(status);
    return status;
}
