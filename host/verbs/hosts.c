#include "host/verbs/hosts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/cluster/division.h"
#include "host/command/standard_input.h"
#include "host/computer/input_file.h"
#include "host/computer/target.h"
#include "host/verbs/agent.h"

#define LAUNCH         "ECUBE_LAUNCH"
#define LAUNCH_DEFAULT "ssh -x -o BatchMode=yes -o ConnectTimeout=15"
#define MARKS          "ECUBE_MARKS"
/* Beyond what anybody prints by chance: the record separator of ASCII. */
#define BEGINS "\036ecube begins\n"
#define ENDS   "\036ecube ends "
/* Of our launcher's words, which count until agents have begun: then it ends as its daemon does. */
#define LAUNCHER "\036ecube: "
/* mpirun's words stand between two of these, at any time; no agent prints such a line. */
#define RULE "--------------------------------------------------------------------------\n"

enum {
    HOST_MAX = 254, /* a name of DNS */
    STATUS_WORDS = 4,
    COMMAND_FAILED = 127,
    END_MS = 2000 /* for mpirun, which waits for a computer that is lost */
};

/* The computers ---------------------------------------------------------------------------------
 */

struct host_list {
    char names[DIVISION_COMPUTERS_MAX][HOST_MAX];
    unsigned count;
};

/* The name that this computer has in mpirun's eyes, too. */
static bool is_here(const char *name)
{
    char own[HOST_MAX] = "";

    gethostname(own, sizeof own - 1);
    return strcmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 ||
           strcmp(name, own) == 0;
}

/* mpirun takes commas and colons for more than a name. */
static int add_host(struct host_list *list, const char *path, const char *name,
                    struct message *message)
{
    if (strlen(name) >= HOST_MAX || name[0] == '-' || strpbrk(name, " \t,:") != NULL) {
        return message_set(
            message, "--hosts %.200s: \"%.100s\" is no name of a computer: one a line", path, name);
    }
    for (unsigned i = 0; i < list->count; i++) {
        if (strcmp(list->names[i], name) == 0 || (is_here(list->names[i]) && is_here(name))) {
            return message_set(message,
                               "--hosts %.200s: two agents on computer %s where one was asked for",
                               path, name);
        }
    }
    if (list->count == DIVISION_COMPUTERS_MAX) {
        return message_set(message, "--hosts %.200s: at most %d computers can share a machine",
                           path, DIVISION_COMPUTERS_MAX);
    }
    strcpy(list->names[list->count++], name);
    return 0;
}

static int read_hosts(struct host_list *list, const char *path, struct message *message)
{
    FILE *file = input_file_open(path, "file of hosts", message);
    char *line = NULL;
    size_t room = 0;
    int status = 0;

    while (file && status == 0 && getline(&line, &room, file) >= 0) {
        char *name = line + strspn(line, " \t"), *end;

        name[strcspn(name, "#\r\n")] = '\0';
        for (end = name + strlen(name); end > name && isspace((unsigned char)end[-1]);) {
            *--end = '\0';
        }
        status = *name ? add_host(list, path, name, message) : 0;
    }
    free(line);
    if (!file) {
        return -1;
    }
    input_file_close(file);
    return status == 0 && list->count == 0
               ? message_set(message, "--hosts %.200s: no computer is named there", path)
               : status;
}

/* The command line of mpirun --------------------------------------------------------------------
 */

struct command {
    char **words; /* NULL ends them */
    char *names;  /* with commas */
    char size[12], mpirun[TARGET_PATH_MAX], agent[TARGET_PATH_MAX];
};

/* The tool's words but --hosts, whose value is at `hosts`, in a word of its own or behind '='. */
static void add_own_words(char **words, const char *hosts, int argc, char **argv)
{
    unsigned count = 0;

    for (int i = 1; i < argc; i++) {
        bool is_value = i + 1 < argc && argv[i + 1] == hosts;
        bool holds_value = hosts >= argv[i] && hosts <= argv[i] + strlen(argv[i]);

        if (!is_value && !holds_value) {
            words[count++] = argv[i];
        }
    }
}

static int find_mpirun(char path[TARGET_PATH_MAX], struct message *message)
{
    return target_find_program(path, "mpirun")
               ? 0
               : message_set(message, "--hosts: mpirun is not in PATH: install Debian's package "
                                      "openmpi-bin");
}

static char *join_names(const struct host_list *list)
{
    char *text = calloc(list->count, HOST_MAX + 1);

    for (unsigned i = 0; text && i < list->count; i++) {
        strcat(text, i > 0 ? "," : "");
        strcat(text, list->names[i]);
    }
    return text;
}

/* What rank 0 is to do with its standard input, a pipe of mpirun's, depends on what this one is. */
static int find_input(const struct data_arguments *data, const char **to, struct message *message)
{
    struct data_arguments with = *data;

    if (standard_input_add(&with, message) != 0) {
        return -1;
    }
    *to = with.count > data->count ? with.list[data->count].name : "none";
    return 0;
}

static int make_command(struct command *command, const struct host_list *list, const char *hosts,
                        const char *input, int argc, char **argv, struct message *message)
{
    char *const first[] = {command->mpirun, "--host", NULL, "-n", command->size,
                           "--bind-to",     "none",   "-x", MARKS};
    unsigned count = 0;

    command->names = join_names(list);
    command->words = calloc((size_t)argc + sizeof first / sizeof first[0] + STATUS_WORDS + 2,
                            sizeof *command->words);
    if (!command->names || !command->words) {
        return message_set(message, "out of memory");
    }
    snprintf(command->size, sizeof command->size, "%u", list->count);
    for (unsigned i = 0; i < sizeof first / sizeof first[0]; i++) {
        command->words[count++] = first[i] ? first[i] : command->names;
    }
    if (geteuid() == 0) {
        command->words[count++] = "--allow-run-as-root";
    }
    command->words[count++] = command->agent;
    command->words[count++] = "--stdin";
    command->words[count++] = (char *)input;
    add_own_words(command->words + count, hosts, argc, argv);
    return 0;
}

/* How mpirun is to start its daemons: by us, without one that starts others (its launcher would not
 * be there), and attached to us, who else do not hear of one that ends because it cannot reach
 * mpirun, and for which that waits; one more variable is for Open MPI 5. Whoever has told mpirun
 * another way has it. */
static int make_environment(struct message *message)
{
    char tool[TARGET_PATH_MAX], launch[TARGET_PATH_MAX + 8];
    const char *own = getenv("OMPI_MCA_plm_rsh_agent");
    ssize_t bytes = readlink("/proc/self/exe", tool, sizeof tool - 1);

    if (bytes < 0 || memchr(tool, ' ', (size_t)bytes)) {
        return message_set(message, "--hosts: mpirun cannot run a tool with a space in its path");
    }
    snprintf(launch, sizeof launch, "%.*s launch", (int)bytes, tool);
    setenv(LAUNCH, own ? own : LAUNCH_DEFAULT, 0);
    setenv("OMPI_MCA_plm_rsh_agent", launch, 1);
    setenv("PRTE_MCA_plm_ssh_agent", launch, 1);
    setenv("OMPI_MCA_plm_rsh_no_tree_spawn", "1", 1);
    setenv("PRTE_MCA_plm_ssh_no_tree_spawn", "1", 1);
    setenv("OMPI_MCA_orte_leave_session_attached", "1", 1);
    setenv("PRTE_MCA_prte_leave_session_attached", "1", 1);
    setenv(MARKS, "1", 1);
    return 0;
}

/* Whose words ------------------------------------------------------------------------------------
 */

struct words {
    enum { BEFORE, WITHIN, AFTER } place;
    int status; /* rank 0's; AFTER */
    FILE *kept; /* mpirun's: in kept_text */
    char *kept_text;
    size_t kept_bytes;
    bool framed;        /* between two rules */
    char pending[4096]; /* a line that has no end yet */
    size_t pending_bytes;
};

/* Whether the line is the mark that ends this part. */
static bool take_mark(struct words *words, const char *line, size_t bytes)
{
    if (words->place == BEFORE && bytes == sizeof BEGINS - 1 &&
        memcmp(line, BEGINS, sizeof BEGINS - 1) == 0) {
        words->place = WITHIN;
        return true;
    }
    if (words->place == WITHIN && bytes > sizeof ENDS - 1 &&
        memcmp(line, ENDS, sizeof ENDS - 1) == 0) {
        words->status = atoi(line + sizeof ENDS - 1);
        words->place = AFTER;
        return true;
    }
    return false;
}

static void take_line(struct words *words, const char *line, size_t bytes)
{
    bool is_rule = bytes == sizeof RULE - 1 && memcmp(line, RULE, sizeof RULE - 1) == 0;
    bool late = words->place != BEFORE && bytes >= sizeof LAUNCHER - 1 &&
                memcmp(line, LAUNCHER, sizeof LAUNCHER - 1) == 0;

    if (!take_mark(words, line, bytes) && !late) {
        bool shown = words->place == WITHIN && !words->framed && !is_rule;

        words->framed = words->framed != is_rule;
        fwrite(line, 1, bytes, shown ? stderr : words->kept);
    }
}

/* What has come, by lines; last: nothing follows. */
static void take_words(struct words *words, bool last)
{
    const char *at = words->pending, *end = at + words->pending_bytes, *stop;

    while (at < end) {
        stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop && !last && words->pending_bytes < sizeof words->pending) {
            break;
        }
        stop = stop ? stop + 1 : end;
        take_line(words, at, (size_t)(stop - at));
        at = stop;
    }
    words->pending_bytes = (size_t)(end - at);
    memmove(words->pending, at, words->pending_bytes);
}

/* False: nothing is there, and nothing will come. */
static bool read_words(struct words *words, int fd)
{
    ssize_t bytes = read(fd, words->pending + words->pending_bytes,
                         sizeof words->pending - words->pending_bytes);

    if (bytes > 0) {
        words->pending_bytes += (size_t)bytes;
        take_words(words, false);
    }
    return bytes > 0 || (bytes < 0 && errno == EINTR);
}

/* mpirun's process -------------------------------------------------------------------------------
 */

static volatile sig_atomic_t mpirun_pid, stopped_by;

static void on_signal(int number)
{
    stopped_by = number;
    kill((pid_t)mpirun_pid, SIGTERM);
}

static _Noreturn void become_mpirun(const struct command *command, int words_fd, bool reads,
                                    pid_t parent)
{
    int null = open("/dev/null", O_RDONLY);

    prctl(PR_SET_PDEATHSIG, SIGTERM); /* which ends its agents */
    setpgid(0, 0);                    /* a terminal's Ctrl-C is for the tool */
    if (getppid() == parent && dup2(words_fd, STDERR_FILENO) >= 0 &&
        (reads || dup2(null, STDIN_FILENO) >= 0)) {
        execv(command->mpirun, command->words);
    }
    dprintf(STDERR_FILENO, "ecube: cannot run %s: %s\n", command->mpirun, strerror(errno));
    _exit(COMMAND_FAILED);
}

/* Until it has ended: its processes elsewhere may still hold the pipe. When rank 0 has called the
 * machine broken it has only so long. Returns its exit status. */
static int follow(struct words *words, int fd)
{
    struct pollfd wanted[] = {{.fd = fd, .events = POLLIN},
                              {.fd = pidfd_open((pid_t)mpirun_pid, 0), .events = POLLIN}};
    int status = 0;

    do {
        wanted[0].revents = wanted[1].revents = 0;
        bool broken = words->place == AFTER && words->status == STATUS_MACHINE;
        if (poll(wanted, 2, broken ? END_MS : -1) == 0) {
            kill((pid_t)mpirun_pid, SIGTERM);
        }
        if (wanted[0].revents != 0 && !read_words(words, fd)) {
            wanted[0].fd = -1;
        }
    } while (wanted[1].revents == 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (wanted[0].fd >= 0 && read_words(words, fd)) {
    }
    take_words(words, true);
    close(wanted[1].fd);
    while (waitpid((pid_t)mpirun_pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What an agent, or our launcher, has said among mpirun's words: the first line of it. */
static bool find_own_line(const struct words *words, struct message *message)
{
    static const char beginning[] = LAUNCHER;
    const char *line = words->kept_text;

    while (line && strncmp(line, beginning, sizeof beginning - 1) != 0 &&
           strncmp(line, beginning + 1, sizeof beginning - 2) != 0) {
        line = strchr(line, '\n');
        line += line != NULL;
    }
    if (line) {
        line = strchr(line, ' ') + 1;
        message_set(message, "%.*s", (int)strcspn(line, "\n"), line);
    }
    return line != NULL;
}

/* Says what is to be said; returns the tool's exit status. */
static int judge(const struct words *words, int status)
{
    struct message message;

    if (stopped_by != 0) {
        return 128 + stopped_by;
    }
    /* a SIGTERM that nobody here has sent is mpirun's, which had its reason */
    if (words->place == AFTER && words->status != 128 + SIGTERM) {
        return words->status;
    }
    if (words->place == BEFORE && find_own_line(words, &message)) {
        return message_print(&message);
    }
    /* an agent could not come to rank 0, and has said why */
    if (words->place == WITHIN && status == STATUS_BAD_INPUT) {
        return status;
    }
    fwrite(words->kept_text, 1, words->kept_bytes, stderr);
    if (words->place == BEFORE) {
        message_set(&message, "mpirun could not start the agents (its exit status is %d)", status);
        return message_print(&message);
    }
    message_set(&message, "mpirun has ended the run (its exit status is %d)", status);
    message_print(&message);
    return STATUS_MACHINE;
}

static int run_command(const struct command *command, bool reads, struct message *message)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    struct words words = {.place = BEFORE};
    pid_t parent = getpid();
    sigset_t all, before;
    int ends[2];

    words.kept = open_memstream(&words.kept_text, &words.kept_bytes);
    if (!words.kept || pipe2(ends, O_CLOEXEC) != 0) {
        return message_set(message, "cannot make a pipe: %s", strerror(errno));
    }
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* a signal from here on finds whom to end */
    mpirun_pid = fork();
    if (mpirun_pid == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        become_mpirun(command, ends[1], reads, parent);
    }
    close(ends[1]);
    for (unsigned i = 0; i < 3 && mpirun_pid > 0; i++) {
        sigaction(numbers[i], &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (mpirun_pid < 0) {
        return message_set(message, "cannot start a process: %s", strerror(errno));
    }
    int status = follow(&words, ends[0]);
    fclose(words.kept);
    status = judge(&words, status);
    free(words.kept_text);
    close(ends[0]);
    return status;
}

int hosts_run(const char *hosts, const struct data_arguments *data, int argc, char **argv)
{
    static struct host_list list;
    static struct command command;
    struct message message;
    const char *input;
    int status = -1;

    if (read_hosts(&list, hosts, &message) == 0 && find_input(data, &input, &message) == 0 &&
        agent_find(command.agent, &message) == 0 && find_mpirun(command.mpirun, &message) == 0 &&
        make_environment(&message) == 0 &&
        make_command(&command, &list, hosts, input, argc, argv, &message) == 0) {
        status = run_command(&command, strcmp(input, "none") != 0, &message);
    }
    free(command.words);
    free(command.names);
    return status < 0 ? message_print(&message) : status;
}

/* In place of ssh --------------------------------------------------------------------------------
 */

static void add_words(char *reason, size_t room, char *line)
{
    char *rest;

    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        size_t used = strlen(reason);

        snprintf(reason + used, room - used, "%s%s", used > 0 ? " " : "", word);
    }
}

/* The last line that was said, or all that Open MPI has said between two rules. */
static void find_reason(char *text, char *reason, size_t room)
{
    bool framed = false;
    char *rest;

    snprintf(reason, room, "no reason given");
    for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
        bool is_rule = line[strspn(line, "-")] == '\0';

        framed = framed != is_rule;
        if (framed == is_rule) {
            reason[0] = '\0';
        }
        if (!is_rule) {
            add_words(reason, room, line);
        }
    }
}

static void say_unreachable(const char *host, const char *launch, int status, int words_fd)
{
    char text[1024], reason[400];
    ssize_t bytes = pread(words_fd, text, sizeof text - 1, 0);

    text[bytes > 0 ? bytes : 0] = '\0';
    find_reason(text, reason, sizeof reason);
    dprintf(STDERR_FILENO,
            LAUNCHER "computer %s: no agent can be started there: %s (%s, status %d)\n", host,
            reason, launch, status);
}

int hosts_launch(int argc, char **argv)
{
    const char *launch = getenv(LAUNCH) ? getenv(LAUNCH) : LAUNCH_DEFAULT;
    int words_fd = memfd_create("words", MFD_CLOEXEC), status = 0;
    char *words[64], text[512], *rest;
    unsigned count = 0;
    pid_t child;

    snprintf(text, sizeof text, "%s", launch);
    for (char *word = strtok_r(text, " ", &rest); word && count < 32;
         word = strtok_r(NULL, " ", &rest)) {
        words[count++] = word;
    }
    for (int i = 1; i < argc && count < 63; i++) {
        words[count++] = argv[i];
    }
    words[count] = NULL;
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* of a computer that is lost nothing would end it */
    child = argc > 2 ? fork() : -1;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(words_fd, STDOUT_FILENO);
        dup2(words_fd, STDERR_FILENO);
        execvp(words[0], words);
        dprintf(STDERR_FILENO, "cannot run %s: %s\n", words[0], strerror(errno));
        _exit(COMMAND_FAILED);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    status = child < 0           ? STATUS_BAD_INPUT
             : WIFEXITED(status) ? WEXITSTATUS(status)
                                 : 128 + WTERMSIG(status);
    if (status != 0) {
        say_unreachable(argc > 1 ? argv[1] : "", words[0] ? words[0] : "", status, words_fd);
    }
    return status;
}

/* In rank 0's agent ------------------------------------------------------------------------------
 */

void hosts_mark_begin(void)
{
    if (getenv(MARKS)) {
        fputs(BEGINS, stderr);
    }
}

void hosts_mark_end(int status)
{
    if (getenv(MARKS)) {
        fprintf(stderr, ENDS "%d\n", status);
    }
}
