/*
 * fold_test.c - lines of words that fit what shows them, and numbers that fit a table.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/console/cell.h"
#include "host/console/fold.h"
#include "tests/testing.h"

static char *fold(const char *line, unsigned columns)
{
    char *text;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    fold_line(file, line, strlen(line), columns);
    fclose(file);
    return text;
}

static void folds(const char *line, unsigned columns, const char *wanted)
{
    char *text = fold(line, columns);

    assert_string_equal(text, wanted);
    free(text);
}

TEST(a_line_that_fits_stays_as_it_is)
{
    folds("", 20, "\n");
    folds("  two words", 11, "  two words\n");
    folds("ecube: node 3 is dead", 21, "ecube: node 3 is dead\n");
}

TEST(a_message_goes_on_under_its_words)
{
    folds("ecube: node 3 is dead and gone", 25, "ecube: node 3 is dead and\n       gone\n");
    folds("ecube run: unrecognized option '-y'", 30,
          "ecube run: unrecognized option\n       '-y'\n");
}

TEST(a_line_is_broken_behind_a_comma_of_its_second_half)
{
    folds("ecube: a fault in one, called from two words", 36,
          "ecube: a fault in one,\n       called from two words\n");
    folds("ecube: in, a fault of nine that went on and on", 36,
          "ecube: in, a fault of nine that went\n       on and on\n");
}

TEST(a_line_hangs_behind_its_mark_or_its_label)
{
    folds("node  3  \vwaits for a message of node 4", 33,
          "node  3  waits for a message of\n         node 4\n");
    folds("bound  47 us: the bytes of a node", 24, "bound  47 us: the bytes\n       of a node\n");
    folds("  words that have no label", 18, "  words that have\n      no label\n");
}

TEST(a_margin_leaves_room_for_words)
{
    folds("a very long first column      \vand words", 34,
          "a very long first column      and\n    words\n");
}

TEST(a_character_of_utf8_is_one_column)
{
    folds("ecube: \xc3\xa4\xc3\xb6\xc3\xbc \xc3\x9f", 12,
          "ecube: \xc3\xa4\xc3\xb6\xc3\xbc \xc3\x9f\n");
    folds("ecube: \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6 \xc3\x9f", 13,
          "ecube: \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\n    \xc3\x9f\n");
}

TEST(a_word_that_is_too_long_stays_whole)
{
    folds("ecube: cannot read /a/path/of/many/words here", 20,
          "ecube: cannot read\n       /a/path/of/many/words\n       here\n");
}

/* Nothing is lost, and no line is wider but for one long word. */
TEST(every_line_fits_whatever_it_says)
{
    static const char letters[] = "ab ,: \xc3\xa4";
    uint32_t seed = 7;

    for (unsigned run = 0; run < 20000; run++) {
        char line[240];
        unsigned bytes = 0, columns = 20 + run % 60;
        for (unsigned i = 0; i < run % 100; i++) {
            seed = seed * 1664525 + 1013904223;
            unsigned pick = (seed >> 16) % 7;
            if (pick == 6) {
                line[bytes++] = letters[6];
                line[bytes++] = letters[7];
            } else {
                line[bytes++] = letters[pick];
            }
        }
        line[bytes] = '\0';
        char *text = fold(line, columns), *place = text;
        for (const char *p = line; *p; p++) {
            while (*p != ' ' && (*place == ' ' || *place == '\n')) {
                place++;
            }
            assert_true(*p == ' ' || *p == *place++);
        }
        for (char *l = strtok(text, "\n"); l; l = strtok(NULL, "\n")) {
            unsigned width = 0;
            for (char *p = l; *p; p++) {
                width += ((unsigned char)*p & 0xc0) != 0x80;
            }
            const char *word = l + strspn(l, " ");
            assert_true(width <= columns || strchr(word, ' ') == NULL);
        }
        free(text);
    }
}

TEST(a_number_loses_decimals_and_then_digits)
{
    char cell[CELL_MAX];

    assert_string_equal(cell_real(cell, 12, 417922.1), "417922.100");
    assert_string_equal(cell_real(cell, 12, 127500174.15), "127500174.15");
    assert_string_equal(cell_real(cell, 12, 1829481234567.0), "1.829e+12");
    assert_string_equal(cell_real(cell, 5, 18446744073709551.0), "2e+16");
    assert_string_equal(cell_count(cell, 5, 65536), "65536");
    assert_string_equal(cell_count(cell, 5, 4294967295.0), "4295M");
    assert_string_equal(cell_count(cell, 6, 18446744073709551615.0), "18447P");
    assert_string_equal(cell_count(cell, 5, 18446744073709551615.0), "18E");
}
