#include "host/command/figure.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/computer/target.h"

extern char **environ;

static int find_script(char path[TARGET_PATH_MAX], const char *name, struct message *message)
{
    char built[64], installed[64];
    const char *const places[] = {built, installed, NULL};

    snprintf(built, sizeof built, "%s.gp", name);
    snprintf(installed, sizeof installed, "../lib/ecube/%s.gp", name);
    return target_find_part(path, "the figure's script", places, message);
}

int figure_find(const char *path, const char *script, struct message *message)
{
    char found[TARGET_PATH_MAX];

    if (!target_find_program(found, "gnuplot")) {
        return message_set(message,
                           "--svg %.200s: gnuplot draws it, and is not in PATH: install "
                           "Debian's package gnuplot-nox",
                           path);
    }
    return find_script(found, script, message);
}

FILE *figure_begin(const struct output *output, struct message *message)
{
    FILE *file = tmpfile();

    if (!file) {
        message_set(message, "--svg %.200s: %s", output->path, strerror(errno));
    }
    return file;
}

/* Runs gnuplot; whether it ended well. */
static bool run_gnuplot(const char *gnuplot, int from, int to)
{
    char name[] = "gnuplot", dash[] = "-";
    char *words[] = {name, dash, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    bool ran = posix_spawn(&child, gnuplot, &actions, NULL, words, environ) == 0;
    while (ran && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    posix_spawn_file_actions_destroy(&actions);
    return ran && status == 0;
}

int figure_draw(FILE *file, const char *script, struct output *output, struct message *message)
{
    char gnuplot[TARGET_PATH_MAX], path[TARGET_PATH_MAX];

    if (!target_find_program(gnuplot, "gnuplot") || find_script(path, script, message) != 0 ||
        output_begin(output, message) != 0) {
        fclose(file);
        return -1;
    }
    fprintf(file, "load '%s'\n", path);
    bool written = fflush(file) == 0;
    rewind(file);
    bool drawn = written && run_gnuplot(gnuplot, fileno(file), output->fd);
    fclose(file);
    close(output->fd);
    output->fd = -1;
    return drawn ? 0 : message_set(message, "--svg %.200s: gnuplot has failed", output->path);
}
