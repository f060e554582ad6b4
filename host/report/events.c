/*
 * events.c - a timeline read line by line.
 *
 * The writer puts each event on a line of its own, the begin of an asynchronous one in front of its
 * end, and names a track before it uses it.
 */
#include "host/report/events.h"

#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "host/report/circuits.h"

enum { TRACKS_MAX = 1 << 22 };

/* A track, by its number in the file. */
struct track {
    uint32_t index; /* on the page, from 1 on; 0: it has no name yet */
    uint32_t node;  /* a link that leaves it, at `port`; NETWORK_NO_PORT: it is none */
    unsigned port;
};

struct reader {
    const char *path;
    const struct network *network;
    uint64_t line;
    struct message *message;
    struct track *tracks;
    size_t tracks_room;
    struct circuit_sums *sums;
    uint64_t left_out;
    json_t *names, *processes, *strings, *events, *numbers;
    json_t *begun; /* an asynchronous event, until its end comes */
};

static int fail(struct reader *reader, const char *what)
{
    return message_set(reader->message, "%.300s: line %" PRIu64 ": %s", reader->path, reader->line,
                       what);
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* The number of a text, which is kept once. */
static json_int_t string_number(struct reader *reader, const char *text)
{
    json_t *number = json_object_get(reader->numbers, text);

    if (!number) {
        number = json_integer((json_int_t)json_array_size(reader->strings));
        json_array_append_new(reader->strings, json_string(text));
        json_object_set_new(reader->numbers, text, number);
    }
    return json_integer_value(number);
}

/* A node's number; the host is behind the last one. -1: it is none. */
static int64_t actor_of(const struct reader *reader, const char *text)
{
    char *end;

    if (text && strcmp(text, "host") == 0) {
        return reader->network->nodes;
    }
    if (!text || *text < '0' || *text > '9') {
        return -1;
    }
    unsigned long number = strtoul(text, &end, 10);
    return *end == '\0' && number < reader->network->nodes ? (int64_t)number : -1;
}

/* "3>7": the link is the track's. */
static void find_link(const struct reader *reader, const char *name, struct track *track)
{
    char *end;
    const struct network *network = reader->network;
    unsigned long from, to;

    track->port = NETWORK_NO_PORT;
    if (*name < '0' || *name > '9') {
        return;
    }
    from = strtoul(name, &end, 10);
    if (*end != '>' || end[1] < '0' || end[1] > '9') {
        return;
    }
    to = strtoul(end + 1, &end, 10);
    if (*end == '\0' && from < network->nodes && to < network->nodes) {
        track->node = (uint32_t)from;
        track->port = network_port_to(network, track->node, (uint32_t)to);
    }
}

static int name_track(struct reader *reader, const json_t *event, size_t id)
{
    const char *what = json_string_value(json_object_get(event, "name"));
    json_t *name = json_object_get(json_object_get(event, "args"), "name");
    char process[24];

    snprintf(process, sizeof process, "%" JSON_INTEGER_FORMAT,
             json_integer_value(json_object_get(event, "pid")));
    if (what && json_is_string(name) && strcmp(what, "process_name") == 0) {
        json_object_set(reader->processes, process, name);
    } else if (what && json_is_string(name) && strcmp(what, "thread_name") == 0) {
        json_t *owner = json_object_get(reader->processes, process);
        json_array_append_new(reader->names, json_pack("[O, O]", owner ? owner : name, name));
        reader->tracks[id].index = (uint32_t)json_array_size(reader->names);
        find_link(reader, json_string_value(name), &reader->tracks[id]);
    }
    return 0;
}

/* The number of an event's track, for which there is room then; -1. */
static int find_track(struct reader *reader, const json_t *event, size_t *id)
{
    json_t *number = json_object_get(event, "tid");

    if (!json_is_integer(number) || json_integer_value(number) < 0 ||
        json_integer_value(number) >= TRACKS_MAX) {
        return fail(reader, "an event without a track");
    }
    *id = (size_t)json_integer_value(number);
    if (*id >= reader->tracks_room) {
        size_t room = 2 * *id + 1024;
        reader->tracks = realloc(reader->tracks, room * sizeof *reader->tracks);
        CHECK(reader->tracks);
        memset(reader->tracks + reader->tracks_room, 0,
               (room - reader->tracks_room) * sizeof *reader->tracks);
        reader->tracks_room = room;
    }
    return 0;
}

/* A circuit on a link, or, without a track, at its source. */
static int add_circuit(struct reader *reader, const json_t *event, const struct track *track,
                       double begin_us, double length_us)
{
    json_t *arguments = json_object_get(event, "args");
    json_t *step = json_object_get(arguments, "step");
    int64_t from = actor_of(reader, json_string_value(json_object_get(arguments, "source")));
    int64_t to = actor_of(reader, json_string_value(json_object_get(arguments, "destination")));
    json_int_t bytes = json_integer_value(json_object_get(arguments, "bytes"));

    if (from < 0 || to < 0 || bytes < 0) {
        return fail(reader, "a circuit between no nodes of this network");
    }
    struct shown_circuit circuit = {
        .from = (uint32_t)from,
        .to = (uint32_t)to,
        .bytes = (uint64_t)bytes,
        .collective = (uint32_t)json_integer_value(json_object_get(arguments, "epoch")),
        .step = json_is_integer(step) ? (int32_t)json_integer_value(step) : CIRCUITS_NO_STEP,
        .download = json_is_true(json_object_get(arguments, "image")),
        .begin_us = begin_us,
        .end_us = begin_us + length_us,
    };
    if (track) {
        circuit_sums_add_link(reader->sums, &circuit, track->node, track->port,
                              number_of(arguments, "waited_us"));
    } else {
        circuit_sums_add(reader->sums, &circuit);
    }
    return 0;
}

static int add_event(struct reader *reader, const json_t *event, const struct track *track,
                     double begin_us, double length_us)
{
    const char *name = json_string_value(json_object_get(event, "name"));
    const char *kind = json_string_value(json_object_get(event, "cat"));
    json_t *arguments = json_object_get(event, "args");

    if (!name || !kind || begin_us < 0 || length_us < 0) {
        return fail(reader, "an event without name, kind or time");
    }
    if (strcmp(kind, "collective") == 0) {
        circuit_sums_name(reader->sums,
                          (uint32_t)json_integer_value(json_object_get(arguments, "epoch")), name);
    }
    bool at_source = strcmp(kind, "sent") == 0;
    bool on_link = strcmp(kind, "circuit") == 0 && track->port != NETWORK_NO_PORT;
    if ((at_source || on_link) &&
        add_circuit(reader, event, at_source ? NULL : track, begin_us, length_us) != 0) {
        return -1;
    }
    if (json_array_size(reader->events) == EVENTS_MAX) {
        reader->left_out++;
        return 0;
    }
    json_array_append_new(reader->events,
                          json_pack("[I, f, f, I, I]", (json_int_t)track->index - 1, begin_us,
                                    length_us, string_number(reader, name),
                                    string_number(reader, kind)));
    return 0;
}

static int take_event(struct reader *reader, json_t *event)
{
    const char *phase = json_string_value(json_object_get(event, "ph"));
    size_t id = 0;

    if (!phase || find_track(reader, event, &id) != 0) {
        return phase ? -1 : fail(reader, "no event of a trace");
    }
    if (*phase == 'M') {
        return name_track(reader, event, id);
    }
    const struct track *track = &reader->tracks[id];
    if (track->index == 0) {
        return fail(reader, "an event on a track that has no name");
    }
    double at_us = number_of(event, "ts");
    switch (*phase) {
    case 'X': return add_event(reader, event, track, at_us, number_of(event, "dur"));
    case 'i': return add_event(reader, event, track, at_us, 0);
    case 'b':
        json_decref(reader->begun);
        reader->begun = json_incref(event);
        return 0;
    case 'e':
        if (!reader->begun) {
            return fail(reader, "the end of an event that has not begun");
        }
        double begin_us = number_of(reader->begun, "ts");
        int status = add_event(reader, reader->begun, track, begin_us, at_us - begin_us);
        json_decref(reader->begun);
        reader->begun = NULL;
        return status;
    default: return fail(reader, "an event of a kind that ecube does not write");
    }
}

/* The first line of the file, each event, and the last line: 1 when that has come. */
static int take_line(struct reader *reader, char *line, size_t bytes)
{
    static const char head[] = "{\"displayTimeUnit\":\"ns\"";
    json_error_t error;

    while (bytes > 0 && (line[bytes - 1] == '\n' || line[bytes - 1] == ',')) {
        line[--bytes] = '\0';
    }
    if (reader->line == 1) {
        return strncmp(line, head, sizeof head - 1) == 0 ? 0 : fail(reader, "no trace of ecube");
    }
    if (strcmp(line, "]}") == 0) {
        return 1;
    }
    json_t *event = json_loads(line, 0, &error);
    int status = event ? take_event(reader, event) : fail(reader, "no event of a trace");
    json_decref(event);
    return status;
}

/* The whole ---------------------------------------------------------------------------------- */

static int read_lines(struct reader *reader, FILE *file, char digest[65])
{
    struct sha256_ctx sha;
    uint8_t sum[SHA256_DIGEST_SIZE];
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes;
    int status = 0;

    sha256_init(&sha);
    while (status == 0 && (bytes = getline(&line, &room, file)) > 0) {
        reader->line++;
        sha256_update(&sha, (size_t)bytes, (const uint8_t *)line);
        status = take_line(reader, line, (size_t)bytes);
    }
    if (status == 0) {
        status = fail(reader, "the trace is cut off here");
    }
    sha256_digest(&sha, sizeof sum, sum);
    for (size_t i = 0; i < sizeof sum; i++) {
        snprintf(digest + 2 * i, 3, "%02x", sum[i]);
    }
    free(line);
    return status > 0 ? 0 : -1;
}

json_t *events_read(FILE *file, const char *path, const struct network *network, char digest[65],
                    struct message *message)
{
    struct reader reader = {.path = path,
                            .network = network,
                            .message = message,
                            .names = json_array(),
                            .processes = json_object(),
                            .strings = json_array(),
                            .events = json_array(),
                            .numbers = json_object(),
                            .sums = circuit_sums_make(network)};
    json_t *result = NULL;

    if (read_lines(&reader, file, digest) == 0) {
        result =
            json_pack("{s:O, s:O, s:O, s:I}", "tracks", reader.names, "strings", reader.strings,
                      "events", reader.events, "events_left_out", (json_int_t)reader.left_out);
        circuit_sums_put(reader.sums, result);
    }
    json_decref(reader.names);
    json_decref(reader.processes);
    json_decref(reader.strings);
    json_decref(reader.events);
    json_decref(reader.numbers);
    json_decref(reader.begun);
    free(reader.tracks);
    circuit_sums_free(reader.sums);
    return result;
}
