/*
 * debug.c - ecube debug: GDB at one node of a machine that is up, or at all of them.
 *
 * GDB takes the place of this process. What it is to do first lies in a file without a name, which
 * it inherits.
 *
 * Nodes in one GDB are inferiors of their own, each with a connection of its own. A node's server
 * stops and goes on as a whole (all-stop), so nodes go on independently only when each is told so
 * in the background: `continue &`. A breakpoint then stops the node that comes to it and no other.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/machine/client.h"
#include "host/machine/openocd.h"
#include "host/command/options.h"
#include "host/computer/target.h"
#include "host/command/verbs.h"

enum { ALL_NODES = CLIENT_ALL_NODES, QUOTED_MAX = 2 * TARGET_PATH_MAX };

/*
 * Seconds that GDB waits for an answer. What is not answered it sends again, and then takes the
 * second answer for that of its next packet. So this is longer than OpenOCD needs to start on a
 * machine under load, and than ecube-jtag waits for an emulator (jtag/README.md); two, GDB's own,
 * are not.
 */
static const char answer_seconds[] = "60";

struct debug {
    struct name_arguments name_arguments;
    bool openocd;
    const char *words[2];
    unsigned word_count;
    struct foreign_words own; /* GDB's */

    int node;
    const char *program; /* NULL: the one loaded last, if there is one */
    json_t *machine;     /* what it has told of itself */
    int failure;         /* the exit status if anything fails */
};

static void take_word(char *text, void *target, struct argp_state *state)
{
    struct debug *debug = target;

    if (foreign_words_take(&debug->own, state)) {
        return;
    }
    if (debug->word_count == 2) {
        word_too_many(text);
    }
    debug->words[debug->word_count++] = text;
}

static const struct option_row option_rows[] = {
    {"openocd", NULL,
     "through OpenOCD and the JTAG chain of a machine that is up with --jtag; one node",
     option_flag, OPTION_AT(struct debug, openocd)},
    {.more = options_name, OPTION_AT(struct debug, name_arguments), .group = 1},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .words = "[NODE] [PROGRAM] [-- GDB'S OWN ARGUMENTS]",
    .text = "Opens gdb-multiarch at a node of a machine that is up, with the symbols of the kernel "
            "and of PROGRAM (if it is not given, of the program that was loaded last). That halts "
            "the node until 'continue', 'detach' or 'quit'. While it is halted, --timeout and the "
            "stall limits do not count. The other nodes go on, and wait for it as long as the link "
            "timeout (--patience of 'ecube up') allows."
            "\vWithout NODE all nodes are inferiors of one GDB, node K is inferior K + 1, and all "
            "are halted. Each goes on by itself with 'continue &', and stops by itself at a "
            "breakpoint while the others go on; 'inferior K' picks the one that other commands are "
            "for. Instead of that for every one:\n\n"
            "  all continue &    every node that is halted goes on (all COMMAND: does this)\n"
            "  stop              every node that goes on is halted\n"
            "  node K            the commands that follow are for node K\n\n"
            "A plain 'continue' lets one node go on and waits until it stops.\n\n"
            "Examples: ecube debug 5 hello.elf\n"
            "  ecube debug --openocd 5\n"
            "  ecube debug 5 -- -batch -ex backtrace",
    .take_word = take_word,
    .in_order = true,
};

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* Takes "NODE", "PROGRAM" or "NODE PROGRAM". */
static int take_words(struct debug *debug, struct message *message)
{
    struct network network;
    unsigned next = 0;
    uint32_t node;

    debug->node = ALL_NODES;
    if (!network_parse(&network, json_string_value(json_object_get(debug->machine, "network")),
                       &machine_limits, message->text)) {
        return -1;
    }
    if (debug->word_count == 2 || (debug->word_count == 1 && is_number(debug->words[0]))) {
        if (!network_parse_node(&network, debug->words[next++], &node, message->text)) {
            return -1;
        }
        debug->node = (int)node;
    }
    debug->program = next < debug->word_count ? debug->words[next] : NULL;
    if (debug->program && access(debug->program, R_OK) != 0) {
        return message_set(message, "cannot read %.300s: %s", debug->program, strerror(errno));
    }
    if (!debug->program) {
        debug->program = json_string_value(json_object_get(debug->machine, "program"));
    }
    if (debug->openocd && debug->node == ALL_NODES) {
        return message_set(message, "name the node, as in 'ecube debug --openocd 3'");
    }
    if (debug->openocd && !json_is_string(json_object_get(debug->machine, "chain"))) {
        return message_set(message,
                           "the machine has no JTAG chain: start one with 'ecube up --jtag'");
    }
    return 0;
}

static const char *directory_of(const struct debug *debug)
{
    return json_string_value(json_object_get(debug->machine, "directory"));
}

/* A word as GDB takes it unchanged where it takes words. */
static void quote(char quoted[QUOTED_MAX], const char *word)
{
    size_t used = 0;

    for (const char *p = word; *p && used + 2 < QUOTED_MAX; p++) {
        if (strchr(" \t\\\"'", *p)) {
            quoted[used++] = '\\';
        }
        quoted[used++] = *p;
    }
    quoted[used] = '\0';
}

/* Symbols of the present inferior. */
static void write_symbols(FILE *script, const struct debug *debug)
{
    char quoted[QUOTED_MAX];

    if (debug->program) {
        quote(quoted, debug->program);
        fprintf(script, "file %s\n", quoted);
    }
    quote(quoted, json_string_value(json_object_get(debug->machine, "kernel")));
    fprintf(script, debug->program ? "add-symbol-file %s\n" : "file %s\n", quoted);
}

/* OpenOCD as the other end of GDB's pipe, whose words a shell takes apart. By itself it leaves a
 * node halted when GDB leaves. */
static void write_openocd(FILE *script, const struct debug *debug)
{
    fprintf(script,
            "target extended-remote | openocd -c \"set ECUBE_GDB_NODE %d\" -c \"gdb_port pipe\" -c "
            "\"log_output {%s/n%d.log}\" -f '%s/" OPENOCD_FILE
            "' -c \"n%d configure -event gdb-detach { resume }\"\n",
            debug->node, directory_of(debug), debug->node, directory_of(debug), debug->node);
}

/* Commands for many nodes. GDB asks a server that goes on nothing, not even for its threads: a node
 * is looked at when it is the present one. At its end GDB lets go only of nodes that are halted
 * when none goes on, so they are let go before. */
static const char all_commands[] =
    "python\n"
    "def quiet(word):\n"
    "    try:\n"
    "        gdb.execute('set suppress-cli-notifications ' + word)\n"
    "    except gdb.error: # GDB before version 13 says which node is looked at\n"
    "        pass\n"
    "def for_each(act):\n"
    "    before = gdb.selected_inferior().num\n"
    "    quiet('on')\n"
    "    for number in sorted(inferior.num for inferior in gdb.inferiors()):\n"
    "        gdb.execute('inferior %d' % number, False, True)\n"
    "        thread = gdb.selected_thread()\n"
    "        if thread is not None:\n"
    "            act(number - 1, thread.is_running())\n"
    "    gdb.execute('inferior %d' % before, False, True)\n"
    "    quiet('off')\n"
    "class All(gdb.Command):\n"
    "    \"\"\"all COMMAND: COMMAND for every node that is halted.\"\"\"\n"
    "    def __init__(self):\n"
    "        super().__init__('all', gdb.COMMAND_RUNNING)\n"
    "    def invoke(self, command, from_tty):\n"
    "        def act(node, running):\n"
    "            if not running:\n"
    "                text = gdb.execute(command, False, True)\n"
    "                gdb.write('node %d: %s' % (node, text) if text else '')\n"
    "        for_each(act)\n"
    "class Stop(gdb.Command):\n"
    "    \"\"\"stop: halts every node that goes on.\"\"\"\n"
    "    def __init__(self):\n"
    "        super().__init__('stop', gdb.COMMAND_RUNNING)\n"
    "    def invoke(self, argument, from_tty):\n"
    "        for_each(lambda node, running: running and gdb.execute('interrupt'))\n"
    "class Node(gdb.Command):\n"
    "    \"\"\"node K: commands are for node K.\"\"\"\n"
    "    def __init__(self):\n"
    "        super().__init__('node', gdb.COMMAND_RUNNING)\n"
    "    def invoke(self, number, from_tty):\n"
    "        gdb.execute('inferior %d' % (int(number, 0) + 1), from_tty)\n"
    "def leave(event):\n"
    "    going = []\n"
    "    for_each(lambda node, running:\n"
    "        going.append(node) if running else gdb.execute('detach', False, True))\n"
    "    if going: # the server lets them go, and GDB complains that it cannot\n"
    "        for word in 'redirect on', 'file /dev/null', 'enabled on':\n"
    "            gdb.execute('set logging ' + word)\n"
    "All()\nStop()\nNode()\n"
    "gdb.events.gdb_exiting.connect(leave)\n"
    "end\n";

static void write_script(FILE *script, const struct debug *debug)
{
    unsigned nodes = (unsigned)json_integer_value(json_object_get(debug->machine, "nodes"));
    unsigned first = debug->node == ALL_NODES ? 0 : (unsigned)debug->node;
    unsigned end = debug->node == ALL_NODES ? nodes : first + 1;

    fprintf(script, "set confirm off\n");
    for (unsigned node = first; node < end; node++) {
        if (node > first) {
            fprintf(script, "add-inferior -no-connection\ninferior %u\n", node - first + 1);
        }
        write_symbols(script, debug);
        if (debug->openocd) {
            write_openocd(script, debug);
        } else {
            fprintf(script, "target remote %s/n%u.gdb\n", directory_of(debug), node);
        }
    }
    if (debug->node == ALL_NODES) {
        fprintf(script, "%sinferior 1\n", all_commands);
    }
    fprintf(script, "set confirm on\n");
}

/* GDB in place of this process. */
static int become_gdb(const struct debug *debug, const char *gdb, struct message *message)
{
    char **arguments = calloc(debug->own.count + 7, sizeof *arguments), path[32];
    char name[] = "gdb-multiarch", quiet[] = "-q", wait[] = "-l", option[] = "-x";
    char seconds[sizeof answer_seconds];
    int fd = memfd_create("ecube-debug", 0);
    FILE *script = fd < 0 ? NULL : fdopen(dup(fd), "w");

    if (!script || !arguments) {
        return message_set(message, "cannot write the commands for GDB: %s", strerror(errno));
    }
    write_script(script, debug);
    fclose(script);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    memcpy(seconds, answer_seconds, sizeof seconds);
    arguments[0] = name;
    arguments[1] = quiet;
    arguments[2] = wait;
    arguments[3] = seconds;
    arguments[4] = option;
    arguments[5] = path;
    for (unsigned i = 0; i < debug->own.count; i++) {
        arguments[6 + i] = debug->own.words[i];
    }
    execv(gdb, arguments);
    return message_set(message, "cannot run %.300s: %s", gdb, strerror(errno));
}

static int debug(struct debug *debug, struct message *message)
{
    char gdb[TARGET_PATH_MAX], openocd[TARGET_PATH_MAX];

    if (!target_find_program(gdb, "gdb-multiarch")) {
        return message_set(message, "gdb-multiarch is not in PATH: install Debian's package "
                                    "gdb-multiarch (make packages does)");
    }
    if (debug->openocd && openocd_find(openocd, message) != 0) {
        return -1;
    }
    debug->machine = client_info(debug->name_arguments.name, &debug->failure, message);
    if (!debug->machine || take_words(debug, message) != 0 ||
        client_check_free(debug->machine, debug->node, message) != 0) {
        return -1;
    }
    return become_gdb(debug, gdb, message);
}

int verb_debug(int argc, char **argv)
{
    struct debug arguments = {.failure = STATUS_BAD_INPUT};
    struct message message;

    command_line_parse(&command_line, argc, argv, &arguments);
    debug(&arguments, &message);
    json_decref(arguments.machine);
    message_print(&message);
    return arguments.failure;
}
