/*
 * choice_test.c - words that should be one of several names.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "host/console/choice.h"
#include "tests/testing.h"

static const char *const names[] = {"broadcast", "scatter", "scan", "halving tree", "AAP", "x"};

enum { NAMES = sizeof names / sizeof names[0] };

static const char *near(const char *word)
{
    struct choice choice;

    choice_begin(&choice, word);
    for (unsigned i = 0; i < NAMES; i++) {
        choice_offer(&choice, names[i]);
    }
    return choice.near ? choice.near : "";
}

TEST(a_name_is_taken_as_it_is)
{
    struct choice choice;

    choice_begin(&choice, "scan");
    assert_false(choice_offer(&choice, "scatter"));
    assert_true(choice_offer(&choice, "scan"));
    assert_false(choice_offer(&choice, "Scan"));
    choice_begin(&choice, "alltoall");
    assert_false(choice_offer(&choice, "exchange"));
    assert_true(choice_offer_alias(&choice, "alltoall"));
}

TEST(letters_put_in_left_out_changed_or_exchanged_are_near)
{
    assert_string_equal(near("broadcasts"), "broadcast");
    assert_string_equal(near("brodcast"), "broadcast");
    assert_string_equal(near("broadkast"), "broadcast");
    assert_string_equal(near("borad-cast"), "broadcast");
    assert_string_equal(near("sacn"), "scan");
    assert_string_equal(near("HALVING TREE"), "halving tree");
    assert_string_equal(near("aap"), "AAP");
    assert_string_equal(near("aa"), "");
    assert_string_equal(near("aat"), "AAP");
}

TEST(a_beginning_is_near)
{
    assert_string_equal(near("broad"), "broadcast");
    assert_string_equal(near("halving"), "halving tree");
    assert_string_equal(near("br"), "");
}

TEST(other_words_are_far)
{
    assert_string_equal(near(""), "");
    assert_string_equal(near("y"), "");
    assert_string_equal(near("sort"), "");
    assert_string_equal(near("recast"), "");
    assert_string_equal(near("a word that is longer than all the names that there could ever be"),
                        "");
}

TEST(what_is_near_is_suggested_else_all_are_named)
{
    struct message message;
    struct choice choice;

    choice_begin(&choice, "scam");
    choice_offer(&choice, "scan");
    assert_int_equal(choice_refuse(&choice, "unknown thing", &message), -1);
    assert_string_equal(message.text, "unknown thing 'scam': did you mean scan?");
    choice_begin(&choice, "z");
    choice_offer(&choice, "scan");
    choice_offer(&choice, "exchange");
    choice_offer_alias(&choice, "alltoall");
    choice_refuse(&choice, "unknown thing", &message);
    assert_string_equal(message.text, "unknown thing 'z': use scan, exchange (alltoall)");
}

TEST(more_names_than_there_is_room_for_are_cut)
{
    struct choice choice;

    choice_begin(&choice, "z");
    for (unsigned i = 0; i < 200; i++) {
        choice_offer(&choice, "a name of some length");
        assert_true(choice.used < sizeof choice.names);
    }
    assert_int_equal(strlen(choice.names), choice.used);
}
