/*
 * The boot of a network that is not as it should be, in the controller's own words: what nodes tell
 * of their links is made by hand, on four networks.
 */
#include "tests/testing.h"

#include "tests/controller/fake_nodes.h"
#include "wire/frame.h"

enum { FAULTS = 32, PATIENCE_MS = FAKE_PATIENCE_US / 1000 };

static const struct links_port silent = {LINK_SILENT, 0, ID_UNKNOWN};

/* All nodes tell but one; then the patience passes. */
static void tell_all_but(struct fake_nodes *all, uint32_t quiet)
{
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        if (rank != quiet) {
            fake_tell_links(all, rank);
        }
    }
    fake_pass_ms(all, PATIENCE_MS + 600);
}

static void tell_all(struct fake_nodes *all)
{
    tell_all_but(all, CONTROLLER_NO_NODE);
}

static void expect_cables(const struct fake_nodes *all, unsigned count, const char *const *lines)
{
    struct cable_fault faults[FAULTS];
    char text[WORDS_MAX];

    assert_int_equal(cables_find(&all->controller, faults, FAULTS), count);
    for (unsigned i = 0; i < count; i++) {
        words_of_cable(&faults[i], text);
        assert_string_equal(text, lines[i]);
    }
}

static void expect_failure(const struct fake_nodes *all, const char *words)
{
    char text[WORDS_MAX];

    assert_int_equal(fake_told(all, EVENT_BOOT_FAILED), 1);
    assert_true(words_of_event(&all->controller, fake_event(all, EVENT_BOOT_FAILED), text));
    assert_string_equal(text, words);
    assert_int_equal(fake_told(all, EVENT_BROKEN), 1);
    assert_int_equal(fake_event(all, EVENT_BROKEN)->phase, PHASE_BOOT);
    assert_true(all->controller.broken);
}

TEST(a_whole_network_is_booted)
{
    static const char *const networks[] = {"cube:0", "cube:4", "ring:6", "mesh:3x4", "torus:3x2"};

    for (unsigned i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        struct fake_nodes *all = fake_make(networks[i]);

        tell_all(all);
        assert_int_equal(fake_told(all, EVENT_BOOT_PROGRESS), all->network.nodes);
        assert_int_equal(fake_told(all, EVENT_BOOTED), 1);
        assert_int_equal(fake_told(all, EVENT_BOOT_FAILED), 0);
        expect_cables(all, 0, NULL);
        fake_free(all);
    }
}

TEST(a_missing_cable_is_one_line)
{
    static const char *const lines[] = {
        "missing: link 1-3 (dimension 1): node 1 hears nothing, node 3 hears nothing"};
    struct fake_nodes *all = fake_make("cube:2");

    fake_find(all, 1, 3, silent);
    fake_find(all, 3, 1, silent);
    tell_all(all);
    expect_cables(all, 1, lines);
    expect_failure(all, "boot failed: 4 of 4 nodes answered, 2 have all their links, nothing new "
                        "for 15 s (--patience)");
    fake_free(all);
}

TEST(the_cable_that_closes_a_ring_is_named)
{
    static const char *const lines[] = {
        "missing: link 5-0 (dimension 0): node 5 hears nothing, node 0 had it and lost it"};
    struct fake_nodes *all = fake_make("ring:6");

    fake_find(all, 5, 0, silent);
    fake_find(all, 0, 5, (struct links_port){LINK_DEAD, 0, 5});
    tell_all(all);
    expect_cables(all, 1, lines);
    fake_free(all);
}

TEST(a_one_way_cable_is_one_line)
{
    static const char *const cube[] = {
        "one-way: link 0-1 (dimension 0): node 0 hears nothing, node 1 hears the other end but is "
        "not heard"};
    static const char *const mesh[] = {
        "one-way: link 5-9 (dimension 1): node 5 sees it up, node 9 hears nothing"};
    struct fake_nodes *all = fake_make("cube:2");

    fake_find(all, 0, 1, silent);
    fake_find(all, 1, 0, (struct links_port){LINK_HEARD, 0, 0});
    tell_all(all);
    expect_cables(all, 1, cube);
    fake_free(all);
    all = fake_make("mesh:3x4");
    fake_find(all, 9, 5, silent);
    tell_all(all);
    expect_cables(all, 1, mesh);
    fake_free(all);
}

TEST(crossed_cables_are_a_line_each)
{
    static const char *const lines[] = {
        "crossed: link 0-1 (dimension 0) leads from node 0 to node 2, port 1, and from node 1 to "
        "node 0, port 1",
        "crossed: link 0-2 (dimension 1) leads from node 0 to node 1, port 0, and from node 2 to "
        "node 0, port 0"};
    struct fake_nodes *all = fake_make("cube:2");

    fake_plug(all, 0, 0, 2, 1);
    fake_plug(all, 0, 1, 1, 0);
    tell_all(all);
    expect_cables(all, 2, lines);
    expect_failure(all, "boot failed: 2 links are crossed, 4 of 4 nodes answered");
    fake_free(all);
}

TEST(crossed_cables_of_a_mesh_are_named)
{
    static const char *const lines[] = {
        "crossed: link 5-6 (dimension 0) leads from node 5 to node 10, port 1, and from node 6 to "
        "node 9, port 0",
        "crossed: link 9-10 (dimension 0) leads from node 9 to node 6, port 1, and from node 10 to "
        "node 5, port 0"};
    struct fake_nodes *all = fake_make("mesh:3x4");

    fake_plug(all, 5, 0, 10, 1);
    fake_plug(all, 9, 0, 6, 1);
    tell_all(all);
    expect_cables(all, 2, lines);
    fake_free(all);
}

TEST(a_cable_in_a_port_without_a_link_is_found_at_its_other_end)
{
    static const char *const lines[] = {
        "crossed: link 2-3 (dimension 0) leads from node 2 to node 11, port 0"};
    struct fake_nodes *all = fake_make("mesh:3x4");

    fake_find(all, 3, 2, silent);
    fake_plug(all, 2, 0, 11, 0); /* node 11 is the last of its row */
    tell_all(all);
    expect_cables(all, 1, lines);
    fake_free(all);
}

/* 0-1 and 2-3 are crossed, and node 0 has made a 1 of node 3. */
static void cross_and_rename(struct fake_nodes *all)
{
    all->found[1][0] = (struct links_port){LINK_CROSSED, 0, 2};
    all->found[1][1] = (struct links_port){LINK_CROSSED, 1, 1};
    all->found[2][0] = (struct links_port){LINK_CROSSED, 0, 1};
}

TEST(crossed_cables_are_named_when_one_gives_a_wrong_number)
{
    static const char *const lines[] = {
        "crossed: link 0-1 (dimension 0) leads from node 0 to node 3, port 0, and from node 1 to "
        "node 2, port 0",
        "crossed: link 2-3 (dimension 0) leads from node 2 to node 1, port 0, and from node 3 to "
        "node 0, port 0"};
    struct fake_nodes *all = fake_make("cube:2");

    cross_and_rename(all);
    tell_all_but(all, 3);
    expect_cables(all, 2, lines);
    expect_failure(all, "boot failed: 2 links are crossed, 3 of 4 nodes answered");
    fake_free(all);
}

/* The example of cables.h. */
TEST(the_second_node_of_a_number_is_told_from_the_first)
{
    static const char *const lines[] = {
        "crossed: link 1-3 (dimension 1) leads from node 1 to node 7, port 1, and from node 3 to "
        "node 5, port 1",
        "crossed: link 5-7 (dimension 1) leads from node 5 to node 3, port 1, and from node 7 to "
        "node 1, port 1"};
    struct fake_nodes *all = fake_make("cube:3");

    all->found[3][1] = (struct links_port){LINK_CROSSED, 1, 5};
    all->found[5][1] = (struct links_port){LINK_CROSSED, 1, 3};
    all->found[6][0] = (struct links_port){LINK_CROSSED, 0, 3};
    all->found[3][2] = (struct links_port){LINK_UP, 2, 7};
    tell_all_but(all, 7);
    expect_cables(all, 2, lines);
    fake_free(all);
}

/* 1-5 and 6-10 are crossed. Node 1 has made a 5 of 10, which makes a 6 of 11, which makes a 2 of 7;
 * those three tell nothing. 3 finds a port of a 2 that the real 2, at the edge, has no link at. */
TEST(a_number_that_was_passed_on_blames_no_right_link)
{
    static const char *const lines[] = {
        "crossed: link 1-5 (dimension 1) leads from node 1 to node 10, port 3, and from node 5 to "
        "node 6, port 2",
        "crossed: link 6-10 (dimension 1) leads from node 6 to node 5, port 3, and from node 10 to "
        "node 1, port 2"};
    struct fake_nodes *all = fake_make("mesh:3x4");

    all->found[3][2] = (struct links_port){LINK_CROSSED, 3, 2};
    all->found[5][3] = (struct links_port){LINK_CROSSED, 2, 6};
    all->found[6][0] = (struct links_port){LINK_CROSSED, 1, 2};
    all->found[6][2] = (struct links_port){LINK_CROSSED, 3, 5};
    all->found[9][0] = (struct links_port){LINK_CROSSED, 1, 5};
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        if (rank != 7 && rank != 10 && rank != 11) {
            fake_tell_links(all, rank);
        }
    }
    fake_pass_ms(all, PATIENCE_MS + 600);
    expect_cables(all, 2, lines);
    expect_failure(all, "boot failed: 2 links are crossed, 9 of 12 nodes answered");
    fake_free(all);
}

/* The same two. Node 6, reached over 5, has made a 10 of it: five nodes are silent, and what
 * is seen of 5 and 10 fits no two crossed cables. */
TEST(links_that_may_be_right_are_not_called_crossed)
{
    static const char *const lines[] = {
        "unclear: link 4-5 (dimension 0): node 4 finds node 10, port 1, node 5 tells nothing",
        "unclear: link 5-9 (dimension 1): node 5 tells nothing, node 9 finds node 10, port 2",
        "unclear: link 9-10 (dimension 0): node 9 finds node 5, port 1, node 10 tells nothing"};
    static const uint32_t told[] = {0, 1, 2, 3, 4, 8, 9};
    struct fake_nodes *all = fake_make("mesh:3x4");

    all->found[3][2] = (struct links_port){LINK_CROSSED, 3, 2};
    all->found[4][0] = (struct links_port){LINK_CROSSED, 1, 10};
    all->found[9][0] = (struct links_port){LINK_CROSSED, 1, 5};
    all->found[9][3] = (struct links_port){LINK_CROSSED, 2, 10};
    for (unsigned i = 0; i < sizeof told / sizeof told[0]; i++) {
        fake_tell_links(all, told[i]);
    }
    fake_pass_ms(all, PATIENCE_MS + 600);
    expect_cables(all, 3, lines);
    expect_failure(all, "boot failed: cables are crossed at 3 links or beside them: nodes have "
                        "others' numbers, so which ones is not known; 7 of 12 nodes answered");
    fake_free(all);
}

TEST(a_silent_node_is_named_once)
{
    static const char *const lines[] = {
        "missing: link 1-3 (dimension 1): node 1 hears nothing, node 3 tells nothing",
        "missing: link 2-3 (dimension 0): node 2 hears nothing, node 3 tells nothing",
        "missing: node 3 (rank 3) tells nothing: it does not run, or has no way to the host"};
    struct fake_nodes *all = fake_make("cube:2");

    fake_find(all, 1, 3, silent);
    fake_find(all, 2, 3, silent);
    tell_all_but(all, 3);
    expect_cables(all, 3, lines);
    fake_free(all);
}

TEST(a_missing_host_link_is_one_line)
{
    static const char *const lines[] = {"missing: host link of node 2: the node hears nothing"};
    struct fake_nodes *all = fake_make("cube:2");

    all->found[2][2] = silent;
    tell_all(all);
    expect_cables(all, 1, lines);
    fake_free(all);
}

TEST(more_faults_than_have_room_are_counted)
{
    struct fake_nodes *all = fake_make("cube:10");
    struct cable_fault faults[1];

    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        for (unsigned p = 0; p < 10; p++) {
            all->found[rank][p] = silent;
        }
    }
    tell_all(all);
    assert_true(cables_find(&all->controller, faults, 1) >= CONTROLLER_FINDINGS_MAX / 10);
    fake_free(all);
}

/* One node after the other, each just in time. */
TEST(a_boot_goes_on_while_nodes_show_something_new)
{
    struct fake_nodes *all = fake_make("cube:2");

    fake_pass_ms(all, 100); /* the host's own links are new */
    for (uint32_t rank = 0; rank < 4; rank++) {
        fake_pass_ms(all, PATIENCE_MS - 100);
        assert_int_equal(fake_told(all, EVENT_BOOT_FAILED), 0);
        fake_tell_links(all, rank);
        fake_pass_ms(all, 100);
    }
    assert_int_equal(fake_told(all, EVENT_BOOTED), 1);
    fake_free(all);
}

/* Links that come and go are new only once. */
TEST(the_same_sign_again_is_nothing_new)
{
    struct fake_nodes *all = fake_make("cube:2");

    for (unsigned i = 0; i < PATIENCE_MS / 100 + 4; i++) {
        all->found[0][0].state = i % 2 ? LINK_UP : LINK_SILENT;
        fake_tell_links(all, 0);
        fake_pass_ms(all, 100);
    }
    assert_int_equal(fake_told(all, EVENT_BOOT_FAILED), 1);
    fake_free(all);
}

TEST(a_crossed_cable_ends_the_wait_when_all_have_told)
{
    struct fake_nodes *all = fake_make("cube:2");

    cross_and_rename(all);
    for (uint32_t rank = 0; rank < 3; rank++) {
        fake_tell_links(all, rank);
    }
    fake_wait_ms(all, 900);
    assert_int_equal(fake_told(all, EVENT_BOOT_FAILED), 0); /* for node 3's words */
    fake_tell_links(all, 3);
    assert_int_equal(fake_told(all, EVENT_BOOT_FAILED), 1);
    fake_free(all);
}

TEST(a_crossed_cable_ends_the_wait_soon_when_a_node_is_silent)
{
    struct fake_nodes *all = fake_make("cube:2");

    cross_and_rename(all);
    for (uint32_t rank = 0; rank < 3; rank++) {
        fake_tell_links(all, rank);
    }
    fake_wait_ms(all, 1000);
    assert_int_equal(fake_told(all, EVENT_BOOT_FAILED), 1);
    fake_free(all);
}

TEST(a_link_that_comes_up_late_is_told_again)
{
    struct fake_nodes *all = fake_make("ring:3");

    fake_find(all, 0, 1, silent);
    for (uint32_t rank = 0; rank < 3; rank++) {
        fake_tell_links(all, rank);
    }
    assert_int_equal(fake_event(all, EVENT_BOOT_PROGRESS)->done, 2);
    fake_find(all, 0, 1, (struct links_port){LINK_UP, 1, 1});
    fake_tell_links(all, 0);
    assert_int_equal(fake_told(all, EVENT_BOOTED), 1);
    expect_cables(all, 0, NULL);
    fake_free(all);
}

TEST(a_boot_that_is_held_waits_for_its_owner)
{
    struct fake_nodes *all = fake_make("cube:1");

    all->controller.config.boot_held = true;
    fake_tell_links(all, 0);
    fake_tell_links(all, 1);
    assert_int_equal(fake_told(all, EVENT_BOOTED), 0);
    controller_release_boot(&all->controller, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_told(all, EVENT_BOOTED), 1);
    fake_free(all);
}

TEST(a_boot_is_not_held_for_ever)
{
    struct fake_nodes *all = fake_make("cube:1");

    all->controller.config.boot_held = true;
    tell_all(all);
    assert_int_equal(fake_event(all, EVENT_BOOT_FAILED)->reason, BOOT_HELD);
    fake_free(all);
}
