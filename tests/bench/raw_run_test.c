/*
 * The bench's raw runs, with scripts in the place of QEMU.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/raw_run.h"

static char script[] = "/tmp/raw_run_test.XXXXXX";

/* A bench whose every QEMU is a shell that does `what`. */
static struct raw_bench bench_of(const char *what)
{
    FILE *file = fopen(script, "w");

    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", what);
    fclose(file);
    assert_int_equal(chmod(script, 0700), 0);
    return (struct raw_bench){.qemu = script, .image = "image"};
}

TEST(the_line_of_the_receiver_is_the_result)
{
    struct raw_bench bench = bench_of("echo 'raw receive 4000 10'\nexec sleep 60");
    struct raw_stream stream;

    assert_true(raw_run_stream(&bench, 0, 4000, &stream));
    assert_true(stream.bytes_per_us == 400);
    assert_int_equal(bench.runs, 1);
    assert_int_equal(bench.stood_still, 0);
}

TEST(rings_in_shared_memory_have_roles_of_their_own)
{
    struct raw_bench bench = bench_of("case \"$*\" in\n"
                                      "*ivshmem*arg=2,arg=ring-receive,*)\n"
                                      "echo 'raw receive 4000 10';;\n"
                                      "esac\nexec sleep 60");
    struct raw_stream stream;

    bench.shared = true;
    assert_true(raw_run_stream(&bench, 1, 4000, &stream));
    assert_true(stream.bytes_per_us == 400);
}

TEST(node_0_tells_the_time_of_an_exchange)
{
    struct raw_bench bench = bench_of("case \"$*\" in\n"
                                      "*arg=0,arg=ring-exchange,arg=3*)\n"
                                      "echo 'raw exchange 5000 6000';;\n"
                                      "esac\nexec sleep 60");
    struct raw_exchange exchange;

    bench.shared = true;
    assert_true(raw_run_exchange(&bench, 3, 3, &exchange));
    assert_true(exchange.wall_us == 5);
    assert_int_equal(bench.runs, 1);
}

TEST(a_run_in_which_all_wait_is_counted_as_standing_still)
{
    struct raw_bench bench = bench_of("exec sleep 60");
    struct raw_stream stream;

    assert_false(raw_run_stream(&bench, 0, 4000, &stream));
    assert_int_equal(bench.runs, 1);
    assert_int_equal(bench.stood_still, 1);
}

TEST(a_run_that_ends_without_a_result_has_failed_and_does_not_stand)
{
    struct raw_bench bench = bench_of("echo nothing");
    struct raw_stream stream;

    assert_false(raw_run_stream(&bench, 0, 4000, &stream));
    assert_int_equal(bench.runs, 1);
    assert_int_equal(bench.stood_still, 0);
}

static int make_script(void **state)
{
    int file = mkstemp(script);

    (void)state;
    return file < 0 ? -1 : close(file);
}

static int remove_script(void **state)
{
    (void)state;
    return unlink(script);
}

TEST_GROUP(make_script, remove_script);
