/* A program for this computer, in a window of its own (native_host.h): the C library, addresses,
 * its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/status.h"
#include "include/ecube/abi.h"
#include "include/ecube/called.h"
#include "tests/lib/native_host.h"
#include "tests/testing.h"

static struct native_run run;

/* The program lies in the folder beside that of this test. */
static void run_to(const char *what)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);

    assert_true(length > 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/'), "/../programs/native_calls.so");
    native_run(&run, path, (const char *const[]){"native_calls", what, "two words", "", NULL});
    assert_string_equal(run.fault, "");
}

static void ends_with(int status, const char *output)
{
    assert_string_equal(run.output, output);
    assert_false(run.trapped);
    assert_int_equal(run.status, status);
}

TEST(arguments_streams_constructors_and_the_status_are_those_of_a_node)
{
    run_to("arguments");
    ends_with(42, "[arguments]\n[two words]\n[]\n[none]\nat exit\ndestroyed\n");
    assert_string_equal(run.errors, "global 17");
    run_to("exit");
    ends_with(7, "unfinisheddestroyed\n");
}

TEST(the_c_library_sorts_computes_and_knows_errors)
{
    run_to("library");
    ends_with(0, "sorted 1 3 5 9\nnumber 1 x 1.4142135623730951\nrandom 933\n"
                 "error 1 Not enough space\nname cube 8 0\ndestroyed\n");
}

TEST(there_is_no_memory_for_more_than_a_window_holds)
{
    run_to("memory");
    ends_with(0, "block 1 1\ntoo much 1 1 1 1 1 1, 1\nbreak 1\ndestroyed\n");
}

TEST(the_thread_has_variables)
{
    run_to("thread");
    ends_with(0, "thread 41 1 1\ndestroyed\n");
}

TEST(only_pointers_into_the_own_window_become_addresses_of_memory)
{
    run_to("addresses");
    ends_with(0, "own 1 1 1\nnull 0\nabove 4 4\nbelow 4 4\nlow 4\nlast 1\nwritten -1\ndestroyed\n");
}

TEST(both_clocks_are_those_of_the_node)
{
    run_to("clocks");
    ends_with(0, "clock 0 1\ndestroyed\n");
}

TEST(abort_and_a_failed_assertion_end_in_a_trap)
{
    run_to("abort");
    assert_true(run.trapped);
    assert_int_equal(run.status, ECUBE_TRAP_SIGNAL);
    assert_int_equal(run.words[0], 6);
    run_to("assert");
    assert_int_equal(run.status, ECUBE_TRAP_SIGNAL);
    assert_non_null(strstr(run.errors, "argc == 1"));
}

TEST(an_error_of_a_call_ends_in_a_trap_that_names_the_call)
{
    run_to("send");
    assert_int_equal(run.refused, ECUBE_CALL_SEND);
    assert_true(run.trapped);
    assert_int_equal(run.status, ECUBE_TRAP_ERROR);
    assert_int_equal((int)run.words[0], E_SYSCALL);
    assert_int_equal(run.words[1], ECUBE_CALLED_SEND);
    assert_int_equal(run.called, ECUBE_CALLED_SEND);
}

TEST(ecube_abort_ends_the_run_with_its_status)
{
    run_to("whole");
    ends_with(9, "");
}
