/* What a program sees of the data that came with it, and what it leaves: input, streams, files, in
 * a window of its own (native_host.h). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drivers/status.h"
#include "include/ecube/abi.h"
#include "include/ecube/called.h"
#include "tests/lib/native_host.h"
#include "tests/testing.h"
#include "wire/finding.h"
#include "wire/output.h"
#include "wire/run.h"

enum { SMALL_HEAP_BYTES = 1 << 18 };

static const struct native_given data_given[] = {{BLOCK_COMMON, "table", "for all", 7},
                                                 {BLOCK_INPUT, "", "window", 6},
                                                 {BLOCK_PRIVATE, "own", "private", 7},
                                                 {0, NULL, NULL, 0}};
static const struct native_given input_given[] = {{BLOCK_STDIN, "", "one\ntwo\n\nfour", 13},
                                                  {0, NULL, NULL, 0}};
static const struct native_given files_given[] = {
    {BLOCK_FILE, "in/lines", "one\ntwo\nthree", 13},
    {BLOCK_FILE, "some", "1 2 3 4", 7},
    {BLOCK_FILE, "more", "more", 4},
    {BLOCK_FILE, "some", "another with this name", 22},
    {BLOCK_FILE, "letters", "abcdefghijklmnopqrstuvwxyzabcd", 30},
    {BLOCK_FILE, "stays", "", 0},
    {0, NULL, NULL, 0}};

static struct native_run run;

/* The file of the program, and the arguments. */
static void run_program(const char *file, const struct native_options *options, const char *what,
                        const char *end)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);

    assert_true(length > 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/'), "/../programs/");
    strcat(path, file);
    native_run_with(&run, path, (const char *const[]){"native_data", what, end, NULL}, options);
    assert_string_equal(run.fault, "");
}

/* The programs lie in the folder beside that of this test. */
static void run_with(const struct native_options *options, const char *what, const char *end)
{
    run_program("native_data.so", options, what, end);
}

static void run_checked(const char *what)
{
    run_program("native_data_checked.so", &(struct native_options){.given = files_given}, what, "");
}

static void run_files(const char *what, const char *end)
{
    run_with(&(struct native_options){.given = files_given}, what, end);
}

static void says(const char *output)
{
    assert_string_equal(run.output, output);
    assert_false(run.trapped);
    assert_int_equal(run.status, 0);
}

/* A piece of what the program has left; false: there are not so many. */
static bool find_piece(uint32_t piece, const char **data, uint32_t *bytes)
{
    struct output output;
    const uint8_t *at = run.left;

    if (!output_open(&output, run.left, run.left_bytes) || piece >= output.pieces) {
        return false;
    }
    for (uint32_t i = 0; i < piece; i++) {
        at += output_piece_bytes(&output, i);
    }
    *data = (const char *)at;
    *bytes = output_piece_bytes(&output, piece);
    return true;
}

static uint32_t files_left(void)
{
    struct output output;

    return output_open(&output, run.left, run.left_bytes) ? output.pieces - OUTPUT_FIRST_FILE : 0;
}

/* The text that a file has left; NULL: there is none of this name. */
static const char *left(const char *name)
{
    static char text[NATIVE_LEFT_MAX + 1];
    struct output output;
    const char *at, *data;
    uint32_t bytes;

    if (!output_open(&output, run.left, run.left_bytes)) {
        return NULL;
    }
    at = output.names;
    for (uint32_t i = OUTPUT_FIRST_FILE; i < output.pieces; i++) {
        if (strcmp(at, name) == 0 && find_piece(i, &data, &bytes)) {
            memcpy(text, data, bytes);
            text[bytes] = '\0';
            return text;
        }
        at += strlen(at) + 1;
    }
    return NULL;
}

static void assert_output(const char *text)
{
    const char *data;
    uint32_t bytes;

    assert_true(find_piece(1, &data, &bytes));
    assert_int_equal(bytes, strlen(text));
    assert_memory_equal(data, text, bytes);
}

TEST(what_came_for_the_node_lies_in_its_memory)
{
    run_with(&(struct native_options){.given = data_given}, "given", "");
    says("1 input window\n1 common for all\n1 private Private\nsame 1\n");
    run_files("given", "");
    says("0 input \n0 common \n0 private \nsame 1\n");
    assert_int_equal(run.left_bytes, 0);
}

TEST(standard_input_reads_what_came_for_it_and_ends)
{
    run_with(&(struct native_options){.given = input_given}, "input", "");
    says("1 one\n2 two\n3 \n4 fourend 1 1\nread 0\nseek -1 ESPIPE\nterminal 1\n");
    run_files("input", "");
    says("end 1 1\nread 0\nseek -1 ESPIPE\nterminal 1\n");
}

TEST(a_block_that_names_no_memory_starts_no_program)
{
    static const struct native_given wrong[] = {{BLOCK_INPUT, "", NULL, 6}, {0, NULL, NULL, 0}};

    run_with(&(struct native_options){.given = wrong}, "given", "");
    assert_string_equal(run.output, "");
    assert_int_equal(run.status, 125);
}

TEST(a_file_that_came_is_read_where_it_lies)
{
    run_files("reads", "");
    says("line one\nat 4\nfread 4\ntext hre, end 1\ngetc 111\nfstat 0\nsize 13, file 1\nstat 0\n"
         "size 13\nterminal 0\nwrite -1 EBADF\nseek -1 EINVAL\nseek 1\nread 0\n"
         "far -1 EOVERFLOW\nclose -1 EBADF\nopen -1 ENOENT\nstat -1 ENOENT\n");
    assert_int_equal(run.left_bytes, 0);
}

TEST(what_is_written_comes_back_with_its_names)
{
    char numbers[5000] = "";

    run_files("writes", "");
    says("");
    for (int i = 0; i < 1000; i++) {
        snprintf(numbers + strlen(numbers), 16, "%d\n", i);
    }
    assert_int_equal(files_left(), 4);
    assert_string_equal(left("out/one.txt"), numbers);
    assert_string_equal(left("empty"), "");
    assert_string_equal(left("two"), "second");
    assert_string_equal(left("open"), "left open");
    assert_output("result");
}

TEST(files_are_appended_to_changed_and_shared)
{
    run_files("changes", "");
    says("read back 1 2 5 4\nread back written\nread 0\nread 1\nseek 0\nshared abcXe\n"
         "exclusive -1 EEXIST\nwrite 0\nread -1 EBADF\n");
    assert_int_equal(files_left(), 5);
    assert_string_equal(left("new"), "one two");
    assert_string_equal(left("more"), "more+");
    assert_string_equal(left("some"), "1 2 5 4");
    assert_string_equal(left("both"), "written");
    assert_string_equal(left("shared"), "abcXe");
}

TEST(files_are_cut_and_lengthened)
{
    run_files("lengths", "");
    says("shorter 0\nlonger 0\nseek 8\nwrite 1\nseek 9\nnegative -1 EINVAL\nnegative -1 EINVAL\n"
         "came 0\nnothing 0\nread only -1 EBADF\n");
    assert_int_equal(files_left(), 5);
    assert_string_equal(left("short"), "text");
    assert_string_equal(left("some"), "");
    assert_memory_equal(left("cut"), "0123\0\0\0\0008", 10);
    assert_string_equal(left("more"), "mo");
    assert_string_equal(left("none"), "");
}

TEST(as_many_files_as_32_are_open_at_a_time)
{
    run_files("many", "");
    says("the last 34\none more -1 EMFILE\nagain 8\n");
}

TEST(names_that_lead_elsewhere_are_refused)
{
    run_files("names", "");
    says(" ENOENT\n/ EACCES\n/etc/passwd EACCES\n/tmp EACCES\n/tmp/ EISDIR\n/tmp/.. EACCES\n"
         "/tmpfile EACCES\n.. EACCES\n../x EACCES\na/../b EACCES\n. EISDIR\ndir/ EISDIR\n"
         "./ok made\na//b/./c made\na/b EISDIR\na/b/c/d ENOTDIR\na/b/c made\n..x made\n"
         "/tmp/x/y made\nnnnnnnnnnnnnnnnnnnnn made\nnnnnnnnnnnnnnnnnnnnn ENAMETOOLONG\n");
    assert_int_equal(files_left(), 4);
    assert_string_equal(left("a/b/c"), "");
}

TEST(without_memory_writes_fail_and_files_stay_as_they_are)
{
    run_with(&(struct native_options){.given = files_given, .heap_bytes = SMALL_HEAP_BYTES}, "full",
             "");
    says("big -1 ENOSPC\nother -1 ENOSPC\nsizes 1 1\na third at least 1\na part 1\nnew -1 ENOSPC\n"
         "some -1 ENOSPC\nstays 1\noutput 0\nremove 0\nremove 0\nnew 1\n");
    assert_int_equal(files_left(), 1);
    assert_output("full");
}

TEST(as_many_files_as_318_come_back)
{
    run_files("limit", "");
    says("n318 ENOSPC\ncame -1 ENOSPC\nsome: 1 2 3 4\nrename -1 ENOSPC\nsome: 1 2 3 4\nremove 0\n");
    assert_int_equal(files_left(), ECUBE_PIECES_MAX - OUTPUT_FIRST_FILE);
    assert_string_equal(left("n7"), "back");
    assert_string_equal(left("n317"), "");
}

TEST(files_are_renamed_and_removed)
{
    run_files("renames", "");
    says("over 0\nitself 0\nnone -1 ENOENT\ncame 0\ninto a file -1 ENOTDIR\n"
         "over a directory -1 EISDIR\nrefused -1 EACCES\nover what came 0\nlink -1 EMLINK\n"
         "remove 0\nremove -1 ENOENT\nstill 4\ngone on\nb: a\nmore: c\n");
    assert_int_equal(files_left(), 4);
    assert_string_equal(left("b"), "a");
    assert_string_equal(left("more"), "c");
    assert_string_equal(left("dir/some"), "1 2 3 4");
    assert_string_equal(left("gone"), "new");
}

TEST(what_is_in_tmp_stays_at_the_node)
{
    run_files("scratch", "");
    says("tmpfile scratch\ntmpnam 1\nnamed 5\nout 0\nin 0\n/tmp/back: back\n");
    assert_int_equal(files_left(), 1);
    assert_string_equal(left("there"), "here");
}

TEST(regions_have_names_and_lie_in_memory)
{
    run_files("region", "");
    says("longest 0\ntoo long -2 none\nno name -2 none\nNULL -2 none\npath -2 none\nno bytes -2 "
         "none\n"
         "outside -11 none\nr0 0\nr1 0\nr2 0\nr3 0\nr4 0\nr5 0\nr6 0\ntoo many -1 none\nagain "
         "0\nwait -2 none\n"
         "bytes 0\nnobody -15 none\n");
}

TEST(the_output_is_what_was_named_last_as_it_is_at_the_end)
{
    run_files("output", "");
    says("none 0\nfirst 0\noutside -11 none\ntoo many -11 none\nnothing 0\nsecond 0\n");
    assert_output("ate");
}

TEST(output_outside_of_memory_ends_the_program_and_names_the_call)
{
    run_files("outside", "");
    assert_true(run.trapped);
    assert_int_equal(run.status, ECUBE_TRAP_ERROR);
    assert_int_equal((int)run.words[0], E_FAULT);
    assert_int_equal(run.called, ECUBE_CALLED_OUTPUT);
}

TEST(an_abort_loses_nothing_and_a_crash_what_lies_in_buffers)
{
    run_files("unfinished", "");
    assert_string_equal(left("log"), "flushed, kept");
    run_files("unfinished", "abort");
    assert_int_equal(run.status, 3);
    assert_string_equal(left("log"), "flushed, kept");
    run_files("unfinished", "crash");
    assert_true(run.trapped);
    assert_string_equal(left("log"), "flushed,");
}

TEST(a_kernel_that_takes_no_output_takes_no_files)
{
    struct native_options options = {.given = files_given, .no_output = true};

    run_with(&options, "writes", "");
    assert_string_equal(run.output, "fopen out/one.txt w: ENOSYS\n");
    run_with(&options, "reads", "");
    assert_int_equal(run.status, 0);
    assert_int_equal(run.refused, 0);
    run_with(&options, "output", "");
    assert_true(run.trapped || strstr(run.output, "first -15"));
}

TEST(with_checks_files_are_the_same)
{
    run_checked("changes");
    assert_int_equal(run.status, 0);
    assert_string_equal(left("shared"), "abcXe");
    run_checked("renames");
    assert_int_equal(run.status, 0);
    assert_string_equal(left("more"), "c");
    run_checked("reads");
    assert_int_equal(run.status, 0);
    run_checked("output");
    assert_int_equal(run.status, 0);
    assert_output("ate");
}

TEST(the_checks_find_output_that_is_freed)
{
    run_files("freed", "");
    says("");
    run_checked("freed");
    assert_true(run.trapped);
    assert_int_equal(run.status, ECUBE_TRAP_FINDING);
    assert_int_equal(run.finding, FINDING_OUTPUT_FREED);
}

/* Each file holds letters in the order of their places. */
static bool has_letters(const char *name, const uint8_t *data, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        if (data[i] != 'a' + i % 26) {
            return false;
        }
    }
    return *name != '\0' && name[strlen(name) - 1] <= 'z';
}

TEST(wherever_a_program_is_stopped_what_it_leaves_is_whole)
{
    run_with(&(struct native_options){.given = files_given, .whole = has_letters}, "steps", "");
    says("");
    assert_int_equal(files_left(), 5);
    assert_int_equal(strlen(left("two")), 30);
    assert_int_equal(strlen(left("letters")), 40);
    assert_int_equal(strlen(left("a/name/of/some/e")), 40);
    assert_int_equal(strlen(left("a/name/of/some/c")), 10);
    assert_output("");
}
