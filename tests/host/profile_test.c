/*
 * Profiles as files, and what least squares make of tables: a profile that is shown is taken back,
 * what is wrong in one is told with its file and key; exact times give their numbers back.
 */
#include "tests/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/profile/fit.h"
#include "host/profile/fit_table.h"
#include "host/profile/profile_file.h"
#include "host/profile/profiles.h"

enum { PATH_ROOM = 40, ROWS_MAX = 64 };

static const char good[] = "{\"name\":\"odd\",\"xi_ns\":777,\"tau_ns\":31,\"element_ns\":13,"
                           "\"element_bytes\":3,\"sigma\":1.501,\"ports\":1}";

/* A file in memory with this text, and its path. */
static int make_file(const char *text, size_t bytes, char path[PATH_ROOM])
{
    int fd = memfd_create("profile", 0);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, bytes), bytes);
    snprintf(path, PATH_ROOM, "/proc/self/fd/%d", fd);
    return fd;
}

static int read_text(const char *text, struct machine_profile *profile, struct message *message)
{
    char path[PATH_ROOM];
    int fd = make_file(text, strlen(text), path);
    int status = profile_file_read(path, profile, message);

    close(fd);
    return status;
}

/* The line begins with the file's path and has these words. */
static void is_refused(const char *text, const char *words)
{
    struct machine_profile profile;
    struct message message;

    if (read_text(text, &profile, &message) == 0) {
        fail_msg("taken: %s", text);
    }
    if (!strstr(message.text, words) || strncmp(message.text, "/proc/self/fd/", 14) != 0 ||
        strchr(message.text, '\n')) {
        fail_msg("%s: said is \"%s\", not \"%s\"", text, message.text, words);
    }
}

/* The good text with one piece of it changed. */
static void is_refused_with(const char *piece, const char *other, const char *words)
{
    const char *at = strstr(good, piece);
    char text[400];

    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, other, at + strlen(piece));
    is_refused(text, words);
}

static bool same_profile(const struct profile *a, const struct profile *b)
{
    return a->xi_ns == b->xi_ns && a->tau_ns == b->tau_ns && a->element_ns == b->element_ns &&
           a->element_bytes == b->element_bytes && a->sigma_permille == b->sigma_permille &&
           clock_ports(a) == clock_ports(b);
}

/* Files --------------------------------------------------------------------------------------- */

TEST(a_file_gives_its_numbers)
{
    const struct profile numbers = {777, 31, 13, 1501, 0, 3};
    struct machine_profile profile;
    struct message message;

    assert_int_equal(read_text(good, &profile, &message), 0);
    assert_string_equal(profile.name, "odd");
    assert_true(same_profile(&profile.profile, &numbers));
    assert_string_equal(profile.source, "");
}

TEST(what_is_built_in_is_found_by_name_and_read_back_from_what_is_shown_of_it)
{
    const struct machine_profile *one;
    unsigned count = 0;

    for (; (one = profile_built_in(count)); count++) {
        struct machine_profile found, back;
        struct message message;
        json_t *object = profile_to_json(one);
        char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        assert_int_equal(profile_find(one->name, &found, &message), 0);
        assert_int_equal(read_text(text, &back, &message), 0);
        assert_string_equal(back.name, one->name);
        assert_string_equal(back.source, one->source);
        assert_string_equal(back.note, one->note);
        assert_true(same_profile(&back.profile, &one->profile));
        assert_true(same_profile(&found.profile, &one->profile));
        assert_true(strlen(one->source) > 0);
        free(text);
        json_decref(object);
    }
    assert_int_equal(count, 5);
}

TEST(every_thousandth_of_sigma_comes_back)
{
    struct machine_profile profile = {.name = "s", .profile = {1, 2, 3, 0, 0, 4}}, back;
    struct message message;

    for (unsigned permille = 0; permille <= 60000; permille += 997) {
        profile.profile.sigma_permille = (uint16_t)permille;
        json_t *object = profile_to_json(&profile);
        char *text = json_dumps(object, JSON_REAL_PRECISION(15));
        assert_int_equal(read_text(text, &back, &message), 0);
        assert_true(same_profile(&back.profile, &profile.profile));
        free(text);
        json_decref(object);
    }
}

TEST(what_is_missing_negative_absurd_or_unknown_is_told_with_its_key)
{
    is_refused_with("\"xi_ns\":777,", "", ": xi_ns is missing");
    is_refused_with("\"name\":\"odd\",", "", ": name is missing");
    is_refused_with(",\"ports\":1", "", ": ports is missing");
    is_refused_with("777", "-1", ": xi_ns: -1: use a whole number from 0 to 1000000000 (ns)");
    is_refused_with("777", "1000000001", ": xi_ns: 1000000001: use");
    is_refused_with("777", "7.5", ": xi_ns: 7.5: use a whole number");
    is_refused_with("777", "\"777\"", ": xi_ns: \"777\": use a whole number");
    is_refused_with("777", "null", ": xi_ns: null: use");
    is_refused_with("777", "99999999999999999999", "too big integer");
    is_refused_with("31", "[31]", ": tau_ns: [31]: use");
    is_refused_with("\"element_ns\":13", "\"element_ns\":0",
                    ": element_ns: 0: use a whole number from 1 to 100000 (ns)");
    is_refused_with("\"element_bytes\":3", "\"element_bytes\":0",
                    ": element_bytes: 0: use a whole number from 1 to 256 (bytes)");
    is_refused_with("\"element_bytes\":3", "\"element_bytes\":257", ": element_bytes: 257: use");
    is_refused_with("1.501", "-1", ": sigma: -1: use a number from 0 to 60");
    is_refused_with("1.501", "60.001", ": sigma: 60.001: use");
    is_refused_with("1.501", "1.5005", ": sigma: 1.5005: use");
    is_refused_with("1.501", "true", ": sigma: true: use");
    is_refused_with("\"ports\":1", "\"ports\":17", ": ports: 17: use a whole number from 1 to 16");
    is_refused_with("\"ports\":1", "\"ports\":\"some\"", ": ports: \"some\": use a whole number");
    is_refused_with("\"ports\":1", "\"ports\":0", ": ports: 0: use a whole number from 1 to 16");
    is_refused_with("\"ports\":1", "\"ports\":-1", ": ports: -1: use a whole number");
    is_refused_with("\"odd\"", "\"\"", ": name: \"\": use a name of 1 to 63");
    is_refused_with("\"odd\"", "\"a b\"", ": name: \"a b\": use");
    is_refused_with("\"odd\"", "\"a\\u0000b\"", "NUL");
    is_refused_with("\"odd\"", "7", ": name: 7: use");
    is_refused_with("\"xi_ns\":777", "\"xi_ns\":777,\"tau_us\":1",
                    ": unknown key 'tau_us': did you mean tau_ns?");
    is_refused_with("\"xi_ns\":777", "\"xi_ns\":777,\"colour\":1",
                    ": unknown key 'colour': use name");
    is_refused_with("\"xi_ns\":777", "\"xi_ns\":777,\"xi_ns\":8", "duplicate object key");
    is_refused_with("\"ports\":1", "\"ports\":1,\"source\":\"a\\nb\"",
                    ": source: \"a\\nb\": use one line");
    is_refused_with("\"ports\":1", "\"ports\":1,\"note\":5", ": note: 5: use one line");
}

TEST(what_is_no_json_object_is_told)
{
    is_refused("", ", line 1: this is no JSON");
    is_refused("\n\nname: odd\n", ", line 3: this is no JSON");
    is_refused("[1]", " is no profile: it is no JSON object");
    is_refused("{} {}", ", line 1: this is no JSON");
    char *large = calloc(70000, 1);
    memset(large, ' ', 69999);
    is_refused(large, " is no profile: it has more than 65536 bytes");
    free(large);
}

TEST(a_file_that_cannot_be_read_is_told_and_a_name_that_is_near_is_offered)
{
    struct machine_profile profile;
    struct message message;

    assert_int_equal(profile_find("./none.json", &profile, &message), -1);
    assert_string_equal(message.text,
                        "cannot read the profile ./none.json: No such file or directory");
    assert_int_equal(profile_find("/", &profile, &message), -1);
    assert_string_equal(message.text, "cannot read the profile /: Is a directory");
    assert_int_equal(profile_find("ipsc86", &profile, &message), -1);
    assert_string_equal(message.text, "unknown profile 'ipsc86': did you mean ipsc860?");
    assert_int_equal(profile_find("cray", &profile, &message), -1);
    assert_string_equal(message.text,
                        "unknown profile 'cray': use ipsc860, ipsc2, delta, t800, unit, or a file");
}

/* Tables -------------------------------------------------------------------------------------- */

static int read_table(const char *text, size_t bytes, struct fit_table *table,
                      struct message *message)
{
    char path[PATH_ROOM];
    int fd = make_file(text, bytes, path);
    int status = fit_table_read(path, table, message);

    close(fd);
    return status;
}

static void table_is_refused(const char *text, size_t bytes, const char *words)
{
    struct fit_table table;
    struct message message;

    assert_int_equal(read_table(text, bytes, &table, &message), -1);
    if (!strstr(message.text, words)) {
        fail_msg("%s: said is \"%s\", not \"%s\"", text, message.text, words);
    }
}

TEST(a_table_may_have_names_units_remarks_and_any_mark_between_columns)
{
    static const char *const texts[] = {"8,2,1.5\n1000,3,20", "bytes,hops,us\n8,2,1.5\n1000,3,20\n",
                                        "# a\n\nbytes hops ms\n8\t2  0.0015 # b\n1000;3;2e-2\n",
                                        "bytes;hops;ns\r\n8;2;1500\r\n1000;3;20000"};

    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct fit_table table;
        struct message message;
        assert_int_equal(read_table(texts[i], strlen(texts[i]), &table, &message), 0);
        assert_int_equal(table.count, 2);
        assert_int_equal(table.rows[0].bytes, 8);
        assert_int_equal(table.rows[1].hops, 3);
        assert_true(fabs(table.rows[0].ns - 1500) < 1e-6 && fabs(table.rows[1].ns - 20000) < 1e-6);
        fit_table_free(&table);
    }
}

TEST(a_row_that_is_wrong_is_told_with_its_line)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {{"8,1,2\n9,1\n", ", line 2: a row has three columns"},
                 {"8,1,2,3\n", ", line 1: a row has three columns"},
                 {"-8,1,2\n", ", line 1: '-8': use bytes from 0"},
                 {"4294967296,1,2\n", "'4294967296': use bytes"},
                 {"8.5,1,2\n", "'8.5': use bytes"},
                 {"8,0,2\n", "'0': use hops from 1"},
                 {"8,1,0\n", "'0': use a time above 0"},
                 {"8,1,-3\n", "'-3': use a time"},
                 {"8,1,nan\n", "'nan': use a time"},
                 {"8,1,inf\n", "'inf': use a time"},
                 {"8,1,3us\n", "'3us': use a time"},
                 {"8,1,1e300\n", "'1e300': use a time"},
                 {"8,1,2\nbytes,hops,us\n", ", line 2: 'bytes': use bytes"},
                 {"bytes,hops,weeks\n", ", line 1: 'bytes': use bytes"}};

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        table_is_refused(wrong[i].text, strlen(wrong[i].text), wrong[i].words);
    }
    table_is_refused("\0\0\0\n", 4, ", line 1: it is no text");
    char *large = calloc(3000, 1);
    memset(large, '7', 2999);
    table_is_refused(large, 2999, ", line 1: it is longer than a row");
    free(large);
}

/* Least squares ------------------------------------------------------------------------------- */

static struct fit_row rows[ROWS_MAX];

/* A message of each size over each number of hops, and what it takes on a machine. */
static unsigned measure(const struct profile *machine)
{
    static const uint32_t sizes[] = {0, 1, 64, 100, 1000, 65536, 1000000};
    unsigned count = 0;

    for (uint32_t hops = 1; hops <= 5; hops += 2) {
        for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            rows[count] = (struct fit_row){.bytes = sizes[i], .hops = hops};
            rows[count].ns = (double)fit_time_ns(machine, &rows[count]);
            count++;
        }
    }
    return count;
}

TEST(exact_times_give_their_numbers_back)
{
    static const struct profile machines[] = {{65425, 9575, 425, 0, 0, 1},
                                              {1000, 1000, 1000, 0, 0, 1},
                                              {777, 31, 13, 0, 0, 3},
                                              {0, 2000, 575, 0, 0, 1},
                                              {318736, 0, 243, 0, 0, 1},
                                              {1, 1, 1, 0, 0, 256},
                                              {999999937, 999999929, 99991, 0, 0, 7}};

    for (unsigned i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct fit_request request = {.rows = rows,
                                      .count = measure(&machines[i]),
                                      .element_bytes = machines[i].element_bytes,
                                      .tau_ns = -1};
        struct message message;
        struct fit fit;
        for (unsigned known = 0; known < 2; known++) {
            assert_int_equal(fit_profile(&request, &fit, &message), 0);
            struct profile found = fit_machine(&request, &fit);
            assert_true(same_profile(&found, &machines[i]));
            assert_true(fit.rms_ns == 0);
            request.tau_ns = machines[i].tau_ns;
        }
    }
}

/* The errors of the best are orthogonal to ones, hops and elements, but for what rounding adds. */
TEST(noisy_times_leave_errors_that_nothing_makes_smaller)
{
    const struct profile machine = {65425, 9575, 425, 0, 0, 1};
    struct fit_request request = {
        .rows = rows, .count = measure(&machine), .element_bytes = 1, .tau_ns = -1};
    struct message message;
    struct fit fit;
    uint64_t seed = 5;
    double squares = 0, best = 0;

    for (unsigned i = 0; i < request.count; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        rows[i].ns += (double)(seed >> 40) / (1 << 24) * 20000 - 10000;
    }
    assert_int_equal(fit_profile(&request, &fit, &message), 0);
    assert_true(fabs((double)fit.xi_ns - 65425) < 10000);
    assert_true(fabs((double)fit.tau_ns - 9575) < 3000);
    assert_true(fabs((double)fit.element_ns - 425) < 2);
    assert_true(fit.rms_ns > 1000 && fit.rms_ns < 10000);
    for (int change = -1; change < 6; change++) {
        struct profile other = fit_machine(&request, &fit);
        other.xi_ns += change == 0 ? 400u : change == 1 ? -400u : 0;
        other.tau_ns += change == 2 ? 200u : change == 3 ? -200u : 0;
        other.element_ns += change == 4 ? 1u : change == 5 ? -1u : 0;
        squares = 0;
        for (unsigned i = 0; i < request.count; i++) {
            double error = rows[i].ns - (double)fit_time_ns(&other, &rows[i]);
            squares += error * error;
        }
        if (change < 0) {
            best = squares;
            assert_true(fabs(sqrt(squares / request.count) - fit.rms_ns) < 1e-6);
        } else {
            assert_true(squares > best);
        }
    }
    const struct profile found = fit_machine(&request, &fit);
    double worst = fabs(rows[fit.worst].ns - (double)fit_time_ns(&found, &rows[fit.worst]));
    for (unsigned i = 0; i < request.count; i++) {
        assert_true(fabs(rows[i].ns - (double)fit_time_ns(&found, &rows[i])) <= worst);
    }
}

TEST(what_would_be_negative_is_0_and_the_others_are_the_best_with_it)
{
    const struct fit_row falling[] = {{0, 1, 1000}, {100, 1, 2000}, {0, 3, 900}, {100, 3, 1900}};
    struct fit_request request = {.rows = falling, .count = 4, .element_bytes = 1, .tau_ns = -1};
    struct message message;
    struct fit fit;

    assert_int_equal(fit_profile(&request, &fit, &message), 0);
    assert_true(fit.held_tau);
    assert_int_equal(fit.tau_ns, 0);
    assert_false(fit.held_xi);
    assert_int_equal(fit.element_ns, 10);
    assert_int_equal(fit.xi_ns, 941); /* means: 1450 ns and 51 elements, of 99800 / 10004 ns each */
}

static void fit_is_refused(const struct fit_row *given, unsigned count, double tau_ns,
                           const char *words)
{
    struct fit_request request = {
        .rows = given, .count = count, .element_bytes = 1, .tau_ns = tau_ns};
    struct message message;
    struct fit fit;

    assert_int_equal(fit_profile(&request, &fit, &message), -1);
    if (!strstr(message.text, words)) {
        fail_msg("said is \"%s\", not \"%s\"", message.text, words);
    }
}

TEST(a_table_that_cannot_tell_the_numbers_apart_is_refused_with_what_is_missing)
{
    const struct fit_row one_hop[] = {{0, 2, 10}, {9, 2, 20}, {18, 2, 30}};
    const struct fit_row one_size[] = {{9, 1, 10}, {9, 2, 20}, {9, 3, 30}};
    const struct fit_row together[] = {{100, 1, 10}, {200, 2, 20}, {300, 3, 30}, {400, 4, 40}};
    const struct fit_row shrinking[] = {{100, 1, 900}, {200, 1, 600}, {300, 2, 300}, {400, 1, 100}};
    const struct fit_row tiny[] = {{0, 1, 10}, {100000, 1, 11}, {0, 2, 15}, {50000, 2, 15.5}};
    const struct fit_row huge[] = {{0, 1, 5e14}, {1000, 1, 6e14}, {0, 2, 7e14}};

    fit_is_refused(NULL, 0, -1, "it has 0 rows: at least 3 are needed");
    fit_is_refused(one_hop, 1, 0, "it has 1 row: at least 2 are needed");
    fit_is_refused(one_hop, 3, -1, "all rows go over 2 hops");
    fit_is_refused(one_size, 3, -1, "its sizes and hops change together");
    fit_is_refused(one_size + 1, 1, 0, "at least 2");
    fit_is_refused(together, 4, -1, "its sizes and hops change together");
    fit_is_refused(shrinking, 4, -1, "times do not grow with sizes");
    fit_is_refused(tiny, 4, -1, "use larger ones (--element-bytes)");
    fit_is_refused(huge, 3, -1, "more than a profile may have");
}
