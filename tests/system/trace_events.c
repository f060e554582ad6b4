/*
 * trace_events FILE [TRACK] - prints what a timeline says of the work of nodes, an event a line, so
 * that two of them can be compared: track, begin, name, length, category, arguments. Times count
 * from the first of these events on. Sorted by whoever reads it.
 *
 * Not printed are names of tracks, what is the host's or the machine's, the download, the part of a
 * circuit that is "reserved", which follows from the circuit, and the numbers that join the two
 * halves of an event. With TRACK, a part of its name: only such ones.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACKS_MAX = 1 << 20 };

static const char *tracks[TRACKS_MAX], *processes[TRACKS_MAX];

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
    json_int_t number = json_integer_value(json_object_get(object, key));

    return number >= 0 && number < TRACKS_MAX ? number : 0;
}

static long long ns_of(const json_t *object, const char *key)
{
    return (long long)(json_number_value(json_object_get(object, key)) * 1e3 + 0.5);
}

static void take_name(const json_t *event)
{
    const char *name = text_of(json_object_get(event, "args"), "name");

    if (strcmp(text_of(event, "name"), "thread_name") == 0) {
        tracks[number_of(event, "tid")] = name;
    } else if (strcmp(text_of(event, "name"), "process_name") == 0) {
        processes[number_of(event, "pid")] = name;
    }
}

static int is_work(const json_t *event)
{
    const char *process = processes[number_of(event, "pid")];

    return *text_of(event, "ph") != 'M' && process && strncmp(process, "node", 4) == 0 &&
           strcmp(text_of(event, "name"), "reserved") != 0 &&
           !strstr(text_of(event, "name"), " image");
}

static void print_event(const json_t *event, long long first_ns)
{
    json_t *arguments = json_deep_copy(json_object_get(event, "args"));
    const char *const moments[] = {"flows_us", "issued_us"};

    for (unsigned i = 0; i < 2; i++) {
        if (json_object_get(arguments, moments[i])) {
            json_object_set_new(arguments, moments[i],
                                json_integer(ns_of(arguments, moments[i]) - first_ns));
        }
    }
    char *text = arguments ? json_dumps(arguments, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    printf("%s %s %lld %s %lld %s %s %s\n", processes[number_of(event, "pid")],
           tracks[number_of(event, "tid")], ns_of(event, "ts") - first_ns, text_of(event, "name"),
           ns_of(event, "dur"), text_of(event, "ph"), text_of(event, "cat"), text ? text : "");
    free(text);
    json_decref(arguments);
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *root = argc > 1 ? json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error) : NULL;
    const json_t *events = json_object_get(root, "traceEvents"), *event;
    long long first_ns = -1;
    size_t i;

    if (!json_is_array(events)) {
        fprintf(stderr, "trace_events: %s is no timeline\n", argc > 1 ? argv[1] : "nothing");
        return 2;
    }
    json_array_foreach(events, i, event)
    {
        if (*text_of(event, "ph") == 'M') {
            take_name(event);
        } else if (is_work(event) && (first_ns < 0 || ns_of(event, "ts") < first_ns)) {
            first_ns = ns_of(event, "ts");
        }
    }
    json_array_foreach(events, i, event)
    {
        if (is_work(event) && (argc < 3 || strstr(tracks[number_of(event, "tid")], argv[2]))) {
            print_event(event, first_ns);
        }
    }
    json_decref(root);
    return 0;
}
