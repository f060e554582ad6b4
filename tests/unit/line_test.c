/*
 * What programs print, in the host: packets become lines, lines go to a reader, and what he has
 * taken is told to their node; lines cross a process whole, and stay on their line of a terminal.
 */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/mesh_internal.h"
#include "include/ecube/abi.h"

enum { NODES = 2, PIECE = 111, LINES_MAX = 64 };

struct shown {
    struct line line;
    char *text;
};

struct fixture {
    struct mesh mesh;
    struct shown lines[LINES_MAX];
    unsigned count;
};

static void note_line(void *context, const struct line *line)
{
    struct fixture *f = context;
    struct shown *shown = &f->lines[f->count++];

    assert_true(f->count <= LINES_MAX);
    *shown = (struct shown){*line, malloc(line->bytes + 1)};
    memcpy(shown->text, line->text, line->bytes);
}

/* A mesh whose host has an outbox and no links: what nodes are told stays in it. */
static struct fixture *make_fixture(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct message message;

    assert_true(network_parse(&f->mesh.options.network, "cube:1", &machine_limits, message.text));
    f->mesh.owner = (struct mesh_owner){.context = f, .print = note_line};
    f->mesh.nodes = calloc(NODES, sizeof *f->mesh.nodes);
    f->mesh.host.outbox = calloc(OUTBOX_MAX, sizeof *f->mesh.host.outbox);
    f->mesh.phase = MESH_RUN;
    f->mesh.job_number = 5;
    f->mesh.nodes[0].running = f->mesh.nodes[1].running = true;
    return f;
}

static void free_fixture(struct fixture *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        free(f->lines[i].text);
    }
    mesh_console_begin(&f->mesh, 0);
    mesh_console_begin(&f->mesh, 1);
    free(f->mesh.host.outbox);
    free(f->mesh.nodes);
    free(f);
}

static void hear(struct fixture *f, uint32_t rank, enum ecube_stream stream, const char *text,
                 size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PIECE) {
        size_t piece = bytes - at < PIECE ? bytes - at : PIECE;
        struct console_body told = {(uint8_t)stream, (const uint8_t *)text + at, (uint32_t)piece};

        mesh_take_console(&f->mesh, rank, &told);
    }
}

static void hear_text(struct fixture *f, uint32_t rank, enum ecube_stream stream, const char *text)
{
    hear(f, rank, stream, text, strlen(text));
}

static void assert_line(const struct fixture *f, unsigned number, uint32_t rank,
                        enum ecube_stream stream, const char *text)
{
    const struct shown *shown = &f->lines[number];

    assert_true(number < f->count);
    assert_int_equal(shown->line.rank, rank);
    assert_int_equal(shown->line.stream, stream);
    assert_int_equal(shown->line.bytes, strlen(text));
    assert_memory_equal(shown->text, text, strlen(text));
}

/* What the node has been told last, and in how many packets; 0 for none. */
static uint32_t told(const struct fixture *f, unsigned *packets)
{
    const struct outbox_packet *last = NULL;
    struct taken_body taken = {0};

    *packets = f->mesh.host.outbox_count;
    if (*packets > 0) {
        last = &f->mesh.host.outbox[*packets - 1];
        assert_int_equal(last->kind, PACKET_TAKEN);
        assert_true(taken_unpack(last->body, last->bytes, &taken));
        assert_int_equal(taken.generation, 5);
    }
    return taken.bytes;
}

static void lines_of_ranks_and_streams_are_put_together_apart(void **state)
{
    struct fixture *f = make_fixture();

    (void)state;
    hear_text(f, 0, ECUBE_STREAM_OUTPUT, "one ");
    hear_text(f, 1, ECUBE_STREAM_OUTPUT, "other\n\nthird");
    hear_text(f, 0, ECUBE_STREAM_ERROR, "oh\n");
    hear_text(f, 0, ECUBE_STREAM_OUTPUT, "line\n");
    assert_int_equal(f->count, 4);
    mesh_console_end(&f->mesh, 0);
    mesh_console_end(&f->mesh, 1);
    assert_int_equal(f->count, 5);
    assert_line(f, 0, 1, ECUBE_STREAM_OUTPUT, "other");
    assert_line(f, 1, 1, ECUBE_STREAM_OUTPUT, "");
    assert_line(f, 2, 0, ECUBE_STREAM_ERROR, "oh");
    assert_line(f, 3, 0, ECUBE_STREAM_OUTPUT, "one line");
    assert_line(f, 4, 1, ECUBE_STREAM_OUTPUT, "third");
    free_fixture(f);
}

static void a_node_hears_what_its_reader_has_taken_and_no_more(void **state)
{
    struct fixture *f = make_fixture();
    char text[1000];
    unsigned packets;

    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\n';
    for (unsigned i = 0; i < 16; i++) {
        hear(f, 0, ECUBE_STREAM_OUTPUT, text, sizeof text);
    }
    assert_int_equal(f->count, 16);
    assert_int_equal(told(f, &packets), 0);
    for (unsigned i = 0; i < 16; i++) {
        mesh_line_taken(&f->mesh, &f->lines[i].line.receipt);
        assert_true(told(f, &packets) <= (i + 1) * sizeof text);
        assert_true(told(f, &packets) + CONSOLE_WINDOW / 4 > (i + 1) * sizeof text);
    }
    assert_true(packets <= 4);
    struct line_receipt old = {4, 0, 9000}; /* of the program before */
    mesh_line_taken(&f->mesh, &old);
    assert_true(told(f, &packets) <= 16 * sizeof text);
    free_fixture(f);
}

static void a_line_longer_than_the_window_ends_and_is_whole(void **state)
{
    enum { LONG = 100000 };
    struct fixture *f = make_fixture();
    char *text = malloc(LONG + 1);
    unsigned packets;

    (void)state;
    for (unsigned i = 0; i < LONG; i++) {
        text[i] = (char)('a' + i % 26);
    }
    text[LONG] = '\n';
    for (unsigned at = 0; at <= LONG; at += PIECE) {
        assert_true(told(f, &packets) + CONSOLE_WINDOW >= at + PIECE);
        hear(f, 0, ECUBE_STREAM_OUTPUT, text + at, LONG + 1 - at < PIECE ? LONG + 1 - at : PIECE);
    }
    assert_int_equal(f->count, 1);
    assert_int_equal(f->lines[0].line.bytes, LONG);
    assert_memory_equal(f->lines[0].text, text, LONG);
    free(text);
    free_fixture(f);
}

static void a_line_without_end_is_shown_in_pieces_of_whole_characters(void **state)
{
    struct fixture *f = make_fixture();
    char euros[PIECE];
    uint32_t bytes = 0;

    (void)state;
    for (unsigned i = 0; i < PIECE; i += 3) {
        memcpy(euros + i, "\xe2\x82\xac", 3);
    }
    while (bytes < 3 * CONSOLE_LINE_MAX) {
        hear(f, 0, ECUBE_STREAM_OUTPUT, euros, PIECE);
        bytes += PIECE;
        for (unsigned i = 0; i < f->count && f->lines[i].line.receipt.bytes > 0; i++) {
            assert_true(line_is_text(f->lines[i].text, f->lines[i].line.bytes));
            mesh_line_taken(&f->mesh, &f->lines[i].line.receipt);
            f->lines[i].line.receipt.bytes = 0;
        }
        f->mesh.host.outbox_count = 0;
    }
    assert_in_range(f->count, 2, 3);
    free_fixture(f);
}

static void text_beyond_the_window_is_thrown_away(void **state)
{
    struct fixture *f = make_fixture();
    char line[] = "a line of a node that lies\n";

    (void)state;
    for (unsigned i = 0; i < 2 * CONSOLE_WINDOW / (sizeof line - 1); i++) {
        hear_text(f, 1, ECUBE_STREAM_ERROR, line);
        if (f->count == LINES_MAX) {
            for (unsigned k = 0; k < LINES_MAX; k++) {
                free(f->lines[k].text);
            }
            f->count = 0;
        }
    }
    assert_true(f->mesh.nodes[1].console.received <= CONSOLE_WINDOW);
    free_fixture(f);
}

static void any_bytes_cross_a_process(void **state)
{
    static const char *const texts[] = {
        "plain",        "gr\xc3\xbc\xc3\x9f", "\xff\xfe lone \xe2", "\x1b[2J\r",
        "\xed\xa0\x80", "\xf4\x90\x80\x80",   "\xc0\x80",           ""};

    (void)state;
    for (unsigned i = 0; i <= sizeof texts / sizeof texts[0]; i++) {
        bool zero = i == sizeof texts / sizeof texts[0];
        struct line line = {
            .rank = 7, .stream = ECUBE_STREAM_ERROR, .text = zero ? "a\0b" : texts[i]};
        struct line back;
        char *memory;

        line.bytes = zero ? 3 : strlen(line.text);
        json_t *event = line_to_json(&line);
        char *written = json_dumps(event, JSON_COMPACT);
        json_decref(event);
        event = json_loads(written, 0, NULL);
        assert_true(line_from_json(&back, event, &memory));
        assert_int_equal(back.rank, 7);
        assert_int_equal(back.stream, ECUBE_STREAM_ERROR);
        assert_int_equal(back.bytes, line.bytes);
        assert_memory_equal(back.text, line.text, line.bytes);
        free(memory);
        free(written);
        json_decref(event);
    }
}

static void nothing_leaves_its_line_of_a_terminal(void **state)
{
    static const char *const pairs[][2] = {{"plain\ttext", "plain\ttext"},
                                           {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9d\x84\x9e",
                                            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9d\x84\x9e"},
                                           {"\r[3] lie", "\\x0d[3] lie"},
                                           {"\x1b[2J", "\\x1b[2J"},
                                           {"\xc2\x9b"
                                            "A",
                                            "\\xc2\\x9b"
                                            "A"},
                                           {"\x9b"
                                            "A",
                                            "\\x9b"
                                            "A"},
                                           {"\xe2\x82", "\\xe2\\x82"},
                                           {"\xc0\x8d", "\\xc0\\x8d"},
                                           {"\xe2\x80\xae", "\\xe2\\x80\\xae"},
                                           {"\x7f\b\v", "\\x7f\\x08\\x0b"}};

    (void)state;
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char *bytes;
        size_t count;
        FILE *file = open_memstream(&bytes, &count);

        line_write_shown(file, pairs[i][0], strlen(pairs[i][0]));
        fclose(file);
        assert_string_equal(bytes, pairs[i][1]);
        free(bytes);
    }
}

TEST_MAIN(cmocka_unit_test(lines_of_ranks_and_streams_are_put_together_apart),
          cmocka_unit_test(a_node_hears_what_its_reader_has_taken_and_no_more),
          cmocka_unit_test(a_line_longer_than_the_window_ends_and_is_whole),
          cmocka_unit_test(a_line_without_end_is_shown_in_pieces_of_whole_characters),
          cmocka_unit_test(text_beyond_the_window_is_thrown_away),
          cmocka_unit_test(any_bytes_cross_a_process),
          cmocka_unit_test(nothing_leaves_its_line_of_a_terminal))
