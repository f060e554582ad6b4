/*
 * events.c - a timeline read line by line.
 *
 * The writer puts each event on a line of its own, the begin of an asynchronous one in front of its
 * end, and names a track before it uses it.
 */
#include "host/report/events.h"

#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"

enum { TRACKS_MAX = 1 << 22, NO_LINK = UINT32_MAX };

/* A track, by its number in the file. */
struct track {
    uint32_t index; /* on the page, from 1 on; 0: it has no name yet */
    uint32_t link;  /* NO_LINK: it is none of the network's */
};

struct link_load {
    uint64_t circuits, bytes;
    double busy_us, waited_us;
};

/* Of a step: a circuit, or, with a link, that it went over it. */
struct piece {
    uint32_t epoch, step, link, from, to;
    uint64_t bytes;
    double begin_us, end_us;
};

struct reader {
    const char *path;
    const struct network *network;
    uint64_t line;
    struct message *message;
    struct track *tracks;
    size_t tracks_room;
    struct link_load *loads; /* of node and port */
    struct piece *pieces;    /* those of steps; messages have no step */
    size_t piece_count, piece_room;
    uint64_t left_out;
    json_t *names, *processes, *strings, *events, *numbers, *epochs;
    json_t *begun; /* an asynchronous event, until its end comes */
};

static const uint32_t no_step = UINT32_MAX;

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

/* "3>7" */
static uint32_t link_named(const struct reader *reader, const char *name)
{
    char *end;
    const struct network *network = reader->network;
    unsigned long from, to;

    if (*name < '0' || *name > '9') {
        return NO_LINK;
    }
    from = strtoul(name, &end, 10);
    if (*end != '>' || end[1] < '0' || end[1] > '9') {
        return NO_LINK;
    }
    to = strtoul(end + 1, &end, 10);
    if (*end || from >= network->nodes || to >= network->nodes) {
        return NO_LINK;
    }
    unsigned port = network_port_to(network, (uint32_t)from, (uint32_t)to);
    return port == NETWORK_NO_PORT ? NO_LINK : (uint32_t)from * network->ports + port;
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
        reader->tracks[id] = (struct track){(uint32_t)json_array_size(reader->names),
                                            link_named(reader, json_string_value(name))};
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

static void keep_piece(struct reader *reader, const struct piece *piece)
{
    if (reader->piece_count == reader->piece_room) {
        reader->piece_room = 2 * reader->piece_room + 1024;
        reader->pieces = realloc(reader->pieces, reader->piece_room * sizeof *reader->pieces);
        CHECK(reader->pieces);
    }
    reader->pieces[reader->piece_count++] = *piece;
}

/* A circuit on a link, or at its source. */
static int add_circuit(struct reader *reader, const json_t *event, uint32_t link, double begin_us,
                       double length_us)
{
    json_t *arguments = json_object_get(event, "args");
    json_t *step = json_object_get(arguments, "step");
    int64_t from = actor_of(reader, json_string_value(json_object_get(arguments, "source")));
    int64_t to = actor_of(reader, json_string_value(json_object_get(arguments, "destination")));
    json_int_t bytes = json_integer_value(json_object_get(arguments, "bytes"));

    if (from < 0 || to < 0 || bytes < 0) {
        return fail(reader, "a circuit between no nodes of this network");
    }
    if (link != NO_LINK) {
        struct link_load *load = &reader->loads[link];
        load->circuits++;
        load->bytes += (uint64_t)bytes;
        load->busy_us += length_us;
        load->waited_us += number_of(arguments, "waited_us");
    }
    struct piece piece = {
        .epoch = (uint32_t)json_integer_value(json_object_get(arguments, "epoch")),
        .step = json_is_integer(step) ? (uint32_t)json_integer_value(step) : no_step,
        .link = link,
        .from = (uint32_t)from,
        .to = (uint32_t)to,
        .bytes = (uint64_t)bytes,
        .begin_us = begin_us,
        .end_us = begin_us + length_us,
    };
    if (link == NO_LINK || piece.step != no_step) {
        keep_piece(reader, &piece);
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
        char epoch[24];
        snprintf(epoch, sizeof epoch, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(json_object_get(arguments, "epoch")));
        json_object_set(reader->epochs, epoch, json_object_get(event, "name"));
    }
    if ((strcmp(kind, "circuit") == 0 && track->link != NO_LINK) || strcmp(kind, "sent") == 0) {
        uint32_t link = strcmp(kind, "sent") == 0 ? NO_LINK : track->link;
        if (add_circuit(reader, event, link, begin_us, length_us) != 0) {
            return -1;
        }
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

/* What links carried ------------------------------------------------------------------------- */

static json_t *links_of(const struct network *network, const struct link_load *loads)
{
    json_t *list = json_array();

    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned port = 0; port < network->ports; port++) {
            uint32_t to = network_neighbour(network, node, port);
            static const struct link_load none;
            const struct link_load *load = loads ? &loads[node * network->ports + port] : &none;
            if (to != NETWORK_NO_NODE) {
                json_array_append_new(list, json_pack("[I, I, I, I, f, f]", (json_int_t)node,
                                                      (json_int_t)to, (json_int_t)load->circuits,
                                                      (json_int_t)load->bytes, load->busy_us,
                                                      load->waited_us));
            }
        }
    }
    return list;
}

json_t *events_no_links(const struct network *network)
{
    return links_of(network, NULL);
}

/* The place of each link in the list. */
static uint32_t *link_places(const struct network *network)
{
    uint32_t *places = calloc((size_t)network->nodes * network->ports + 1, sizeof *places), at = 0;

    CHECK(places);
    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned port = 0; port < network->ports; port++) {
            places[node * network->ports + port] = at;
            at += network_neighbour(network, node, port) != NETWORK_NO_NODE;
        }
    }
    return places;
}

/* Who sent to whom, and steps ----------------------------------------------------------------- */

#define COMPARE(a, b, member)                                                                      \
    if ((a)->member != (b)->member) {                                                              \
        return (a)->member < (b)->member ? -1 : 1;                                                 \
    }

static int by_pair(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    COMPARE(b, a, link) /* NO_LINK first: the circuits at their sources */
    COMPARE(a, b, from)
    COMPARE(a, b, to)
    return 0;
}

static int by_step(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    COMPARE(a, b, epoch)
    COMPARE(a, b, step)
    COMPARE(b, a, link)
    COMPARE(a, b, from)
    COMPARE(a, b, to)
    return 0;
}

static json_t *pairs_of(struct reader *reader)
{
    json_t *list = json_array();
    size_t next;

    qsort(reader->pieces, reader->piece_count, sizeof *reader->pieces, by_pair);
    for (size_t i = 0; i < reader->piece_count && reader->pieces[i].link == NO_LINK; i = next) {
        const struct piece *first = &reader->pieces[i];
        uint64_t bytes = 0;
        for (next = i; next < reader->piece_count && by_pair(first, &reader->pieces[next]) == 0;
             next++) {
            bytes += reader->pieces[next].bytes;
        }
        if (first->from < reader->network->nodes && first->to < reader->network->nodes) {
            json_array_append_new(list, json_pack("[I, I, I, I]", (json_int_t)first->from,
                                                  (json_int_t)first->to, (json_int_t)(next - i),
                                                  (json_int_t)bytes));
        }
    }
    return list;
}

static json_t *step_of(struct reader *reader, const struct piece *pieces, size_t count,
                       const uint32_t *places)
{
    json_t *circuits = json_array(), *links = json_array();
    double begin_us = pieces[0].begin_us, end_us = 0;
    char epoch[16];

    for (size_t i = 0; i < count; i++) {
        const struct piece *piece = &pieces[i];
        begin_us = piece->begin_us < begin_us ? piece->begin_us : begin_us;
        end_us = piece->end_us > end_us ? piece->end_us : end_us;
        if (piece->link == NO_LINK) {
            json_array_append_new(circuits,
                                  json_pack("[I, I, I]", (json_int_t)piece->from,
                                            (json_int_t)piece->to, (json_int_t)piece->bytes));
        } else {
            json_array_append_new(links, json_integer(places[piece->link]));
        }
    }
    snprintf(epoch, sizeof epoch, "%" PRIu32, pieces[0].epoch);
    json_t *name = json_object_get(reader->epochs, epoch);
    return json_pack("{s:O, s:I, s:I, s:f, s:f, s:o, s:o}", "collective",
                     name ? name : json_object_get(reader->epochs, ""), "run",
                     (json_int_t)pieces[0].epoch, "step", (json_int_t)pieces[0].step, "begin_us",
                     begin_us, "end_us", end_us, "circuits", circuits, "links", links);
}

/* As many as the page bears; `left_out` becomes the number of the others. */
static json_t *steps_of(struct reader *reader, json_int_t *left_out)
{
    json_t *list = json_array();
    uint32_t *places = link_places(reader->network);
    size_t next, kept = 0;

    *left_out = 0;
    json_object_set_new(reader->epochs, "", json_string("collective"));
    qsort(reader->pieces, reader->piece_count, sizeof *reader->pieces, by_step);
    for (size_t i = 0; i < reader->piece_count; i = next) {
        const struct piece *first = &reader->pieces[i];
        for (next = i; next < reader->piece_count && reader->pieces[next].epoch == first->epoch &&
                       reader->pieces[next].step == first->step;
             next++) {
        }
        if (first->step == no_step) {
            continue;
        }
        if (kept + (next - i) > EVENTS_CIRCUITS_MAX) {
            ++*left_out;
            continue;
        }
        kept += next - i;
        json_array_append_new(list, step_of(reader, first, next - i, places));
    }
    free(places);
    return list;
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
                            .epochs = json_object()};
    json_t *result = NULL;

    reader.loads = calloc((size_t)network->nodes * network->ports + 1, sizeof *reader.loads);
    CHECK(reader.loads);
    if (read_lines(&reader, file, digest) == 0) {
        json_int_t steps_left_out;
        json_t *pairs = pairs_of(&reader), *steps = steps_of(&reader, &steps_left_out);
        result = json_pack("{s:O, s:O, s:O, s:I, s:o, s:o, s:o, s:I}", "tracks", reader.names,
                           "strings", reader.strings, "events", reader.events, "events_left_out",
                           (json_int_t)reader.left_out, "links", links_of(network, reader.loads),
                           "pairs", pairs, "steps", steps, "steps_left_out", steps_left_out);
    }
    json_decref(reader.names);
    json_decref(reader.processes);
    json_decref(reader.strings);
    json_decref(reader.events);
    json_decref(reader.numbers);
    json_decref(reader.epochs);
    json_decref(reader.begun);
    free(reader.tracks);
    free(reader.loads);
    free(reader.pieces);
    return result;
}
