/*
 * trace_test.c - a timeline as a viewer reads it, and as the schedules and the model clock say.
 */
#include "tests/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node/sha256.h"
#include "tests/sim/simulation.h"
#include "trace/timeline.h"
#include "wire/record.h"

/* What a timeline holds. */
struct seen {
    unsigned circuits, links; /* slices on links, and tracks of links */
    uint64_t hops;            /* of all circuits */
    unsigned reserved, steps, collectives, measurements, messages, phases;
    unsigned faults, refused, waiting;
    unsigned sent, received; /* circuits, at their two ends */
};

/* The last slice of each track must have ended when the next one begins. */
struct busy {
    uint64_t start_ns, end_ns;
    json_int_t track;
};

static uint64_t ns_of(const json_t *event, const char *key)
{
    const json_t *value = json_object_get(event, key);

    assert_true(json_is_number(value) && json_number_value(value) >= 0);
    return (uint64_t)(json_number_value(value) * 1e3 + 0.5);
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));

    assert_non_null(text);
    return text;
}

/* What the Trace Event Format asks of every event of its kind. */
static void check_event(const json_t *event)
{
    const char *kind = text_of(event, "ph");

    assert_int_equal(strlen(kind), 1);
    assert_non_null(strchr("MXibe", *kind));
    assert_true(json_is_integer(json_object_get(event, "pid")));
    assert_true(json_is_integer(json_object_get(event, "tid")));
    assert_true(*text_of(event, "name"));
    if (*kind == 'M') {
        return;
    }
    ns_of(event, "ts");
    assert_true(*text_of(event, "cat"));
    if (*kind == 'X') {
        assert_true(ns_of(event, "dur") > 0);
    } else if (*kind == 'i') {
        assert_non_null(strstr("t p g", text_of(event, "s")));
    } else {
        assert_true(*text_of(event, "id"));
    }
}

static void count_slice(const json_t *event, const char *category, struct seen *seen)
{
    const json_t *arguments = json_object_get(event, "args");

    if (strcmp(category, "circuit") == 0) {
        seen->circuits++;
        if (json_integer_value(json_object_get(arguments, "hop")) == 1) {
            seen->hops += (uint64_t)json_integer_value(json_object_get(arguments, "hops"));
        }
    }
    seen->reserved += strcmp(category, "reserved") == 0;
    seen->steps += strcmp(category, "step") == 0;
    seen->collectives += strcmp(category, "collective") == 0;
    seen->measurements += strcmp(category, "measurement") == 0;
    seen->phases += strcmp(category, "phase") == 0;
}

static void count_event(const json_t *event, struct seen *seen)
{
    const char *kind = text_of(event, "ph");

    if (*kind == 'M') {
        const char *name =
            json_string_value(json_object_get(json_object_get(event, "args"), "name"));
        seen->links += strcmp(text_of(event, "name"), "thread_name") == 0 && strchr(name, '>');
        return;
    }
    const char *category = text_of(event, "cat");
    if (*kind == 'X' || *kind == 'i') {
        count_slice(event, category, seen);
    }
    seen->messages += *kind == 'b' && strcmp(category, "message") == 0;
    seen->sent += *kind == 'b' && strcmp(category, "sent") == 0;
    seen->received += *kind == 'b' && strcmp(category, "received") == 0;
    seen->faults += *kind == 'i' && strcmp(category, "fault") == 0;
    seen->refused += *kind == 'i' && strcmp(category, "refused") == 0;
    seen->waiting += strchr("Xb", *kind) && strcmp(category, "waiting") == 0;
}

static int earlier(const void *one, const void *other)
{
    const struct busy *a = one, *b = other;

    if (a->track != b->track) {
        return a->track < b->track ? -1 : 1;
    }
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* Slices of one track follow each other; a link is one circuit's until that is done. */
static void check_overlaps(const json_t *events)
{
    struct busy *busy = calloc(json_array_size(events), sizeof *busy);
    size_t count = 0, i;
    const json_t *event;

    assert_non_null(busy);
    json_array_foreach(events, i, event)
    {
        if (strcmp(text_of(event, "ph"), "X") != 0 ||
            strcmp(text_of(event, "cat"), "reserved") == 0) {
            continue;
        }
        busy[count++] = (struct busy){ns_of(event, "ts"), ns_of(event, "ts") + ns_of(event, "dur"),
                                      json_integer_value(json_object_get(event, "tid"))};
    }
    qsort(busy, count, sizeof *busy, earlier);
    for (i = 1; i < count; i++) {
        assert_true(busy[i].track != busy[i - 1].track || busy[i].start_ns >= busy[i - 1].end_ns);
    }
    free(busy);
}

/* The file of a simulation up to its end, or that of its first `events` events. */
static char *traced(struct sim_options options, uint64_t events, size_t *bytes)
{
    int fd = memfd_create("trace", MFD_CLOEXEC);
    char *text;

    assert_true(fd >= 0);
    options.traced = true;
    options.trace_fd = fd;
    struct sim *sim = sim_make(&options);
    assert_non_null(sim);
    while (sim_advance(sim, events ? events : 100000) && !events) {
        ;
    }
    struct trace_result result = sim_trace_end(sim);
    sim_free(sim);
    assert_int_equal(result.error, 0);
    *bytes = (size_t)lseek(fd, 0, SEEK_END);
    assert_int_equal(*bytes, result.bytes);
    text = malloc(*bytes);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, *bytes, 0), *bytes);
    close(fd);

    uint8_t digest[32];
    sha256_of(text, (uint32_t)*bytes, digest);
    assert_memory_equal(digest, result.digest, sizeof digest);
    return text;
}

static struct seen looked_at(struct sim_options options, uint64_t events_max)
{
    struct seen seen = {0};
    json_error_t error;
    size_t bytes, i;
    const json_t *event;
    char *text = traced(options, events_max, &bytes);
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);

    if (!root) {
        fail_msg("line %d: %s", error.line, error.text);
    }
    const json_t *events = json_object_get(root, "traceEvents");
    assert_true(json_is_array(events));
    json_array_foreach(events, i, event)
    {
        check_event(event);
        count_event(event, &seen);
    }
    check_overlaps(events);
    json_decref(root);
    free(text);
    return seen;
}

/* A complete exchange of 8 nodes: each sends to 7 others over 12 links in all, in 7 steps; the
 * align before it has none; the download is one circuit to each node, three of them over links of
 * the host. */
TEST(an_exchange_is_all_on_its_links)
{
    struct sim_options options = simulation(3, SIM_EXCHANGE, 100);

    options.algorithm = "AAP";
    struct seen seen = looked_at(options, 0);

    assert_int_equal(seen.circuits, 8 * 12 + 8);
    assert_int_equal(seen.hops, seen.circuits);
    assert_int_equal(seen.links, 8 * 3 + 3);
    assert_int_equal(seen.steps, 8 * 7);
    assert_int_equal(seen.collectives, 8 * 2);
    assert_int_equal(seen.measurements, 1);
    assert_int_equal(seen.phases, 3);
    assert_int_equal(seen.messages + seen.faults + seen.refused + seen.waiting, 0);
    assert_int_equal(seen.sent, 8 * 7 + 8);
    assert_int_equal(seen.received, 8 * 7 + 8);
}

TEST(every_circuit_is_one_slice_on_each_of_its_links)
{
    for (unsigned scenario = 0; scenario < SIM_ENDING; scenario++) {
        for (unsigned dims = 1; dims <= 4; dims++) {
            struct sim_options options = simulation(dims, (enum sim_scenario)scenario, 700);
            char why[SIM_WHY_MAX];
            if (!sim_scenario_fits(options.scenario, &options.network, why)) {
                continue;
            }
            options.sizes[options.size_count++] = 5000;
            struct seen seen = looked_at(options, 0);
            assert_true(seen.circuits > 0);
            assert_int_equal(seen.hops, seen.circuits);
            assert_int_equal(seen.measurements, 2);
            assert_int_equal(seen.waiting, 0);
        }
    }
}

TEST(every_message_has_its_slice)
{
    struct sim_options options = simulation(4, SIM_RANDOM, 3000);

    assert_int_equal(looked_at(options, 0).messages, 16 * options.messages);
    options.profile.ports = PORTS_ALL;
    assert_int_equal(looked_at(options, 0).messages, 16 * options.messages);
}

/* Frames that are sent once more make no second slice. */
TEST(losses_leave_the_slices_as_they_are)
{
    struct seen well = looked_at(simulation(3, SIM_EXCHANGE, 2000), 0);

    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct sim_options options = simulation(3, SIM_EXCHANGE, 2000);
        options.seed = seed;
        options.faults.drop = options.faults.duplicate = 0.02;
        options.faults.flip = 1e-4;
        options.faults.jitter_ns = 20000;
        struct seen seen = looked_at(options, 0);
        assert_true(seen.faults > 0);
        assert_int_equal(seen.circuits, well.circuits);
        assert_int_equal(seen.hops, well.hops);
        assert_int_equal(seen.steps, well.steps);
    }
}

TEST(a_failed_run_has_its_fault_and_what_waited_at_its_end)
{
    struct sim_options options = simulation(4, SIM_EXCHANGE, 1000);

    options.faults.list[options.faults.count++] =
        (struct sim_fault){.kind = SIM_KILL, .phase = SIM_RUN, .a = 5, .at_ns = 300000};
    struct seen seen = looked_at(options, 0);
    assert_int_equal(seen.faults, 1);
    assert_true(seen.waiting > 0);
    assert_int_equal(seen.phases, 3);
}

TEST(it_is_whole_wherever_it_ends)
{
    for (uint64_t events = 1; events < 2000; events += 37) {
        looked_at(simulation(3, SIM_RANDOM, 3000), events);
    }
}

TEST(the_file_is_a_function_of_the_options)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct sim_options options = simulation(4, SIM_RANDOM, 2000);
        size_t bytes[3];
        options.seed = seed;
        options.faults.drop = 0.01;
        options.faults.jitter_ns = 5000;
        char *one = traced(options, 0, &bytes[0]), *two = traced(options, 0, &bytes[1]);
        options.seed++;
        char *other = traced(options, 0, &bytes[2]);
        assert_int_equal(bytes[0], bytes[1]);
        assert_memory_equal(one, two, bytes[0]);
        assert_true(bytes[2] != bytes[0] || memcmp(one, other, bytes[0]) != 0);
        free(one);
        free(two);
        free(other);
    }
}

TEST(events_are_the_same_with_and_without_it)
{
    struct sim_options options = simulation(4, SIM_HOTSPOT, 2000);
    struct sim_result without = simulated_well(&options);

    options.traced = true;
    options.trace_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct sim_result with = simulated_well(&options);
    close(options.trace_fd);
    assert_int_equal(with.digest[0], without.digest[0]);
    assert_int_equal(with.digest[1], without.digest[1]);
}

TEST(a_full_device_is_told)
{
    struct sim_options options = simulation(2, SIM_BARRIER, 0);

    options.traced = true;
    options.trace_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct sim *sim = sim_make(&options);
    assert_non_null(sim);
    while (sim_advance(sim, 100000)) {
        ;
    }
    assert_int_equal(sim_trace_end(sim).error, ENOSPC);
    sim_free(sim);
    close(options.trace_fd);
}

/* As the handler of SIGABRT does it. */
TEST(an_abandoned_file_is_whole)
{
    struct sim_options options = simulation(3, SIM_EXCHANGE, 100);
    json_error_t error;
    char name[64];

    options.traced = true;
    options.trace_fd = memfd_create("trace", MFD_CLOEXEC);
    struct sim *sim = sim_make(&options);
    assert_non_null(sim);
    sim_advance(sim, 300);
    sim_trace_abandon(sim);
    snprintf(name, sizeof name, "/proc/self/fd/%d", options.trace_fd);
    json_t *root = json_load_file(name, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(root);
    assert_true(json_array_size(json_object_get(root, "traceEvents")) > 10);
    json_decref(root);
    sim_free(sim);
    close(options.trace_fd);
}

/* A byte of those that matter: quotes, backslashes, control bytes, what UTF-8 begins with. */
static uint8_t drawn_byte(uint64_t *state)
{
    static const uint8_t odd[] = {'"',  '\\', 0x01, '\n', 0x1f, 0x7f, 0x80, 0xbf, 0xc1, 0xc3,
                                  0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff, 'a',  '/'};

    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint32_t draw = (uint32_t)(*state >> 33);
    return draw % 4 ? odd[draw / 4 % sizeof odd] : (uint8_t)(draw / 4 % UINT8_MAX + 1);
}

/* What a mark's name becomes in the file, as a reader of JSON has it; to be freed. */
static json_t *mark_in_file(const char *name)
{
    struct sim_options options = simulation(1, SIM_BARRIER, 0);
    struct node_record mark = {.kind = RECORD_MARK, .begin_ns = 5};
    char path[64];
    json_t *found = NULL, *event;
    size_t i;
    int fd = memfd_create("trace", MFD_CLOEXEC);

    assert_true(fd >= 0);
    struct timeline *timeline = timeline_make(fd, &options.network, &options.profile, "");
    assert_non_null(timeline);
    memcpy(mark.name, name, strlen(name) + 1);
    timeline_record(timeline, 1, &mark);
    assert_int_equal(timeline_end(timeline).error, 0);
    timeline_free(timeline);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        const char *category = json_string_value(json_object_get(event, "cat"));
        if (category && strcmp(category, "mark") == 0) {
            assert_null(found);
            found = json_incref(json_object_get(event, "name"));
        }
    }
    json_decref(root);
    close(fd);
    assert_non_null(found);
    return found;
}

/* Names of programs may hold anything: what is UTF-8 is read as it was set, of the rest what is. */
TEST(a_mark_has_its_name_whatever_bytes_that_has)
{
    uint64_t draws = 1;
    unsigned whole = 0, cut = 0;

    for (unsigned round = 0; round < 3000; round++) {
        char name[ECUBE_NAME_MAX] = {0};
        unsigned bytes = 1 + round % (ECUBE_NAME_MAX - 1);
        for (unsigned i = 0; i < bytes; i++) {
            name[i] = (char)drawn_byte(&draws);
        }
        json_t *given = json_string(name), *found = mark_in_file(name);
        if (given) {
            assert_true(json_equal(given, found));
            whole++;
        } else {
            assert_non_null(strchr(json_string_value(found), '?'));
            cut++;
        }
        json_decref(given);
        json_decref(found);
    }
    assert_true(whole > 100 && cut > 100);
}
