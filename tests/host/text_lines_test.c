/*
 * What programs print, in the host: packets become lines, lines go to a reader, and what he has
 * taken is told to their node; lines cross a process whole, and stay on their line of a terminal.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/console/text_lines.h"
#include "include/ecube/abi.h"
#include "wire/run.h"

enum { NODES = 2, PIECE = 110, LINES_MAX = 64, JOB = 5 };

struct shown {
    struct line line;
    char *text;
};

struct fixture {
    struct teller teller;
    struct text_lines nodes[NODES];
    uint32_t told;    /* to node 0, as taken */
    unsigned packets; /* in which it was */
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

static struct fixture *make_fixture(void)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->teller = (struct teller){.context = f, .print = note_line};
    for (uint32_t rank = 0; rank < NODES; rank++) {
        text_lines_begin(&f->nodes[rank], JOB, rank, rank);
    }
    return f;
}

static void free_fixture(struct fixture *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        free(f->lines[i].text);
    }
    for (uint32_t rank = 0; rank < NODES; rank++) {
        text_lines_begin(&f->nodes[rank], 0, rank, rank);
    }
    free(f);
}

/* Whoever owns the lines tells the node what has been taken whenever that is worth a packet. */
static void tell_taken(struct fixture *f, uint32_t rank)
{
    uint32_t taken;

    if (text_lines_due(&f->nodes[rank], &taken) && rank == 0) {
        f->told = taken;
        f->packets++;
    }
}

static void read_line(struct fixture *f, const struct line_receipt *receipt)
{
    text_lines_written(&f->nodes[receipt->node], receipt->bytes);
    tell_taken(f, receipt->node);
}

static void hear(struct fixture *f, uint32_t rank, enum ecube_stream stream, const char *text,
                 size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PIECE) {
        size_t piece = bytes - at < PIECE ? bytes - at : PIECE;

        text_lines_add(&f->nodes[rank], &f->teller, (uint8_t)stream, (const uint8_t *)text + at,
                       (uint32_t)piece);
        tell_taken(f, rank);
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

TEST(lines_of_ranks_and_streams_are_put_together_apart)
{
    struct fixture *f = make_fixture();

    hear_text(f, 0, ECUBE_STREAM_OUTPUT, "one ");
    hear_text(f, 1, ECUBE_STREAM_OUTPUT, "other\n\nthird");
    hear_text(f, 0, ECUBE_STREAM_ERROR, "oh\n");
    hear_text(f, 0, ECUBE_STREAM_OUTPUT, "line\n");
    assert_int_equal(f->count, 4);
    text_lines_end(&f->nodes[0], &f->teller);
    text_lines_end(&f->nodes[1], &f->teller);
    assert_int_equal(f->count, 5);
    assert_line(f, 0, 1, ECUBE_STREAM_OUTPUT, "other");
    assert_line(f, 1, 1, ECUBE_STREAM_OUTPUT, "");
    assert_line(f, 2, 0, ECUBE_STREAM_ERROR, "oh");
    assert_line(f, 3, 0, ECUBE_STREAM_OUTPUT, "one line");
    assert_line(f, 4, 1, ECUBE_STREAM_OUTPUT, "third");
    free_fixture(f);
}

TEST(a_node_hears_what_its_reader_has_taken_and_no_more)
{
    struct fixture *f = make_fixture();
    char text[1000];

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\n';
    for (unsigned i = 0; i < 16; i++) {
        hear(f, 0, ECUBE_STREAM_OUTPUT, text, sizeof text);
    }
    assert_int_equal(f->count, 16);
    assert_int_equal(f->told, 0);
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(f->lines[i].line.receipt.job, JOB);
        read_line(f, &f->lines[i].line.receipt);
        assert_true(f->told <= (i + 1) * sizeof text);
        assert_true(f->told + CONSOLE_WINDOW / 4 > (i + 1) * sizeof text);
    }
    assert_true(f->packets <= 4);
    free_fixture(f);
}

TEST(a_line_longer_than_the_window_ends_and_is_whole)
{
    enum { LONG = 100000 };
    struct fixture *f = make_fixture();
    char *text = malloc(LONG + 1);

    for (unsigned i = 0; i < LONG; i++) {
        text[i] = (char)('a' + i % 26);
    }
    text[LONG] = '\n';
    for (unsigned at = 0; at <= LONG; at += PIECE) {
        assert_true(f->told + CONSOLE_WINDOW >= at + PIECE);
        hear(f, 0, ECUBE_STREAM_OUTPUT, text + at, LONG + 1 - at < PIECE ? LONG + 1 - at : PIECE);
    }
    assert_int_equal(f->count, 1);
    assert_int_equal(f->lines[0].line.bytes, LONG);
    assert_memory_equal(f->lines[0].text, text, LONG);
    free(text);
    free_fixture(f);
}

TEST(a_line_without_end_is_shown_in_pieces_of_whole_characters)
{
    struct fixture *f = make_fixture();
    char euros[3 * PIECE]; /* pieces end within characters */
    uint32_t bytes = 0;

    for (unsigned i = 0; i < sizeof euros; i += 3) {
        memcpy(euros + i, "\xe2\x82\xac", 3);
    }
    while (bytes < 3 * TEXT_LINE_MAX) {
        hear(f, 0, ECUBE_STREAM_OUTPUT, euros, sizeof euros);
        bytes += (uint32_t)sizeof euros;
        for (unsigned i = 0; i < f->count && f->lines[i].line.receipt.bytes > 0; i++) {
            assert_true(line_is_text(f->lines[i].text, f->lines[i].line.bytes));
            read_line(f, &f->lines[i].line.receipt);
            f->lines[i].line.receipt.bytes = 0;
        }
    }
    assert_in_range(f->count, 2, 3);
    free_fixture(f);
}

TEST(text_beyond_the_window_is_thrown_away)
{
    struct fixture *f = make_fixture();
    char line[] = "a line of a node that lies\n";

    for (unsigned i = 0; i < 2 * CONSOLE_WINDOW / (sizeof line - 1); i++) {
        hear_text(f, 1, ECUBE_STREAM_ERROR, line);
        if (f->count == LINES_MAX) {
            for (unsigned k = 0; k < LINES_MAX; k++) {
                free(f->lines[k].text);
            }
            f->count = 0;
        }
    }
    assert_true(f->nodes[1].received <= CONSOLE_WINDOW);
    free_fixture(f);
}

TEST(any_bytes_cross_a_process)
{
    static const char *const texts[] = {
        "plain",        "gr\xc3\xbc\xc3\x9f", "\xff\xfe lone \xe2", "\x1b[2J\r",
        "\xed\xa0\x80", "\xf4\x90\x80\x80",   "\xc0\x80",           ""};

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

TEST(nothing_leaves_its_line_of_a_terminal)
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
