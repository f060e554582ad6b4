/*
 * rundir_test.c - a tool that is killed while it makes its directory leaves none. The linker
 * (--wrap) puts this file's flock and rename in the place of the system's.
 */
#include "tests/testing.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/machine/rundir.h"

int __wrap_flock(int fd, int operation);
int __real_flock(int fd, int operation);
int __wrap_rename(const char *from, const char *to);
int __real_rename(const char *from, const char *to);

static enum { AT_LOCK, AT_NAME, NEVER } killed;

int __wrap_flock(int fd, int operation)
{
    if (killed == AT_LOCK) {
        raise(SIGKILL);
    }
    return __real_flock(fd, operation);
}

int __wrap_rename(const char *from, const char *to)
{
    if (killed == AT_NAME) {
        raise(SIGKILL);
    }
    return __real_rename(from, to);
}

static unsigned entries(const char *base)
{
    DIR *directory = opendir(base);
    unsigned count = 0;

    assert_non_null(directory);
    while (readdir(directory)) {
        count++;
    }
    closedir(directory);
    return count - 2;
}

static void begin(char base[24])
{
    strcpy(base, "/tmp/ecube-test.XXXXXX");
    assert_non_null(mkdtemp(base));
    assert_int_equal(setenv("XDG_RUNTIME_DIR", base, 1), 0);
}

TEST(a_tool_that_is_killed_while_it_makes_its_directory_leaves_none)
{
    char base[24];
    int status;

    begin(base);
    for (killed = AT_LOCK; killed < NEVER; killed++) {
        pid_t tool = fork();
        if (tool == 0) {
            struct rundir rundir;
            struct message message;
            rundir_create(&rundir, "lab", &message);
            _exit(0);
        }
        assert_int_equal(waitpid(tool, &status, 0), tool);
        assert_true(WIFSIGNALED(status));
        for (unsigned i = 0; i < 2000 && entries(base) > 0; i++) {
            usleep(10000);
        }
        assert_int_equal(entries(base), 0);
    }
    assert_int_equal(rmdir(base), 0);
}

TEST(a_second_machine_of_a_name_is_refused_and_leaves_the_first_alone)
{
    struct rundir first, second;
    struct message message;
    char base[24];

    killed = NEVER;
    begin(base);
    assert_int_equal(rundir_create(&first, "lab", &message), 0);
    assert_int_equal(rundir_create(&second, "lab", &message), -1);
    assert_int_equal(entries(base), 1);
    assert_int_equal(access(first.path, F_OK), 0);
    rundir_remove(&second);
    assert_int_equal(entries(base), 1);
    rundir_remove(&first);
    assert_int_equal(entries(base), 0);
    assert_int_equal(rmdir(base), 0);
}
