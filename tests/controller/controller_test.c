/*
 * The controller with nodes that a test plays: download, run, questions, failure, reset. What nodes
 * forget, say twice, cut short or never say.
 */
#include "tests/testing.h"

#include <string.h>

#include "controller/internal.h"
#include "drivers/status.h"
#include "include/ecube/abi.h"
#include "tests/controller/fake_nodes.h"
#include "wire/frame.h"

enum {
    PATIENCE_MS = FAKE_PATIENCE_US / 1000,
    COLLECT_MS = FAILURE_COLLECT_MS + 1,
    ANSWER_MS = 1500,
    OFFERS_WINDOW = 32,
    TEXT_MAX = 1000,
    JUNK_MAX = 200,
    STAND_MS = 20000,        /* more than it takes to see that programs of four nodes stand */
    LOOKS_OF_TWO = 1 + 3 + 2 /* that are the same, of two nodes that stand */
};

static struct offer_body last_offer(const struct fake_nodes *all)
{
    const struct fake_packet *packet = fake_last(all, PACKET_OFFER);
    struct offer_body offer;

    assert_true(offer_unpack(packet->body, packet->bytes, &offer));
    return offer;
}

/* Download. */

TEST(an_offer_says_which_program_it_is_of)
{
    struct fake_nodes *all = fake_loaded("ring:3");
    struct offer_body first = last_offer(all), second;

    controller_stop(&all->controller, all->now_us);
    assert_int_equal(fake_load(all, false), CONTROLLER_OK);
    second = last_offer(all);
    assert_int_equal(first.generation, 1);
    assert_int_equal(second.generation, 2);
    assert_int_not_equal(first.name, second.name);
    fake_free(all);
}

TEST(an_offer_without_an_answer_is_repeated)
{
    struct fake_nodes *all = fake_booted("ring:3");

    fake_load(all, false);
    for (unsigned i = 1; i <= 4; i++) {
        assert_int_equal(fake_sent(all, PACKET_OFFER), i);
        fake_wait_ms(all, 299);
        assert_int_equal(fake_sent(all, PACKET_OFFER), i);
        fake_wait_ms(all, 1);
    }
    fake_reply(all, 0, PACKET_CTS, all->controller.name);
    fake_forget(all);
    fake_wait_ms(all, 1000);
    assert_int_equal(fake_sent(all, PACKET_OFFER), 0);
    fake_free(all);
}

TEST(a_node_that_says_retry_is_offered_again_soon)
{
    struct fake_nodes *all = fake_booted("ring:3");

    fake_load(all, false);
    fake_reply(all, 0, PACKET_RETRY, all->controller.name);
    fake_wait_ms(all, 19);
    assert_int_equal(fake_sent(all, PACKET_OFFER), 1);
    fake_wait_ms(all, 1);
    assert_int_equal(fake_sent(all, PACKET_OFFER), 2);
    fake_free(all);
}

/* Nobody answers; then the first root does, and its circuit is accepted. */
TEST(no_more_offers_are_open_than_a_window)
{
    struct fake_nodes *all = fake_booted("ring:100");

    fake_load(all, true);
    assert_int_equal(fake_sent(all, PACKET_OFFER), OFFERS_WINDOW);
    fake_reply(all, 0, PACKET_CTS, all->controller.name);
    assert_int_equal(fake_sent(all, PACKET_OFFER), OFFERS_WINDOW + 1);
    fake_free(all);
}

TEST(circuits_go_one_after_another)
{
    struct fake_nodes *all = fake_booted("ring:3");
    uint32_t name;

    fake_load(all, true);
    name = all->controller.name;
    fake_reply(all, 2, PACKET_CTS, name + 2);
    fake_reply(all, 1, PACKET_CTS, name + 1);
    assert_int_equal(all->controller.message_next, 0);
    fake_reply(all, 0, PACKET_CTS, name + 1); /* not what it was offered */
    assert_int_equal(all->controller.message_next, 0);
    fake_reply(all, 0, PACKET_CTS, name);
    assert_int_equal(all->controller.message_next, 3);
    assert_true(controller_quiet(&all->controller));
    fake_free(all);
}

TEST(a_circuit_that_meets_a_busy_link_is_offered_again)
{
    static const int busy[] = {E_REFUSED, E_BUSY};

    for (unsigned i = 0; i < 2; i++) {
        struct fake_nodes *all = fake_booted("ring:3");

        fake_load(all, false);
        all->refusal = busy[i];
        fake_reply(all, 0, PACKET_CTS, all->controller.name);
        fake_wait_ms(all, 20);
        assert_int_equal(fake_sent(all, PACKET_OFFER), 2);
        assert_int_equal(fake_told(all, EVENT_LOAD_FAILED), 0);
        fake_reply(all, 0, PACKET_CTS, all->controller.name);
        assert_int_equal(all->controller.message_next, 1);
        assert_int_equal(all->controller.given_bytes, FAKE_IMAGE_BYTES + 3 * FAKE_BLOCK_BYTES);
        fake_free(all);
    }
}

TEST(a_circuit_without_a_way_breaks_the_download)
{
    struct fake_nodes *all = fake_booted("ring:3");

    fake_load(all, false);
    all->refusal = E_LINK_DEAD;
    fake_reply(all, 0, PACKET_CTS, all->controller.name);
    assert_int_equal(fake_event(all, EVENT_LOAD_FAILED)->reason, LOAD_REFUSED);
    assert_int_equal(fake_event(all, EVENT_LOAD_FAILED)->status, E_LINK_DEAD);
    fake_free(all);
}

TEST(a_receipt_that_is_cut_short_is_none)
{
    struct fake_nodes *all = fake_booted("ring:3");
    uint8_t body[RECEIPT_BYTES] = {0};

    fake_load(all, false);
    fake_say(all, 1, PACKET_RECEIPT, body, RECEIPT_BYTES - 1);
    assert_int_equal(fake_told(all, EVENT_LOAD_FAILED), 0);
    fake_receipt(all, 1, 5);
    fake_receipt(all, 1, 5); /* once more is not another node */
    assert_int_equal(fake_told(all, EVENT_RECEIPT), 1);
    assert_int_equal(fake_event(all, EVENT_RECEIPT)->done, 1);
    fake_free(all);
}

static void expect_load_failure(struct fake_nodes *all, enum load_failure reason, uint32_t rank,
                                const char *words)
{
    const struct controller_event *event = fake_event(all, EVENT_LOAD_FAILED);
    char text[WORDS_MAX];

    assert_int_equal(event->reason, reason);
    assert_int_equal(event->rank, rank);
    assert_true(words_of_event(&all->controller, event, text));
    assert_string_equal(text, words);
    fake_wait_ms(all, COLLECT_MS);
    assert_int_equal(fake_event(all, EVENT_BROKEN)->phase, PHASE_DOWNLOAD);
    assert_int_equal(fake_load(all, false), CONTROLLER_BROKEN);
    fake_free(all);
}

/* Says a receipt for segments `first` and on of what it was sent; those in `wrong` (bits) with
 * another digest. */
static void say_digests(struct fake_nodes *all, uint32_t rank, unsigned first, unsigned count,
                        unsigned wrong, bool last)
{
    uint8_t digests[FAKE_SEGMENTS * DIGEST_BYTES];
    const uint8_t *right[FAKE_SEGMENTS] = {all->image_digest[0], all->digests[rank]};
    const uint32_t bytes[FAKE_SEGMENTS] = {FAKE_IMAGE_BYTES, FAKE_BLOCK_BYTES};
    struct node_load *load = &all->controller.nodes[rank].load;
    bool repair = all->controller.nodes[rank].flags & NODE_REPAIRS;
    struct receipt_body receipt = {.model_ns = repair ? 9500 : 7000,
                                   .first = (uint16_t)first,
                                   .count = (uint16_t)count,
                                   .last = last,
                                   .digests = digests};

    for (unsigned i = 0; i < count; i++) {
        unsigned segment = load->sent_from + first + i;
        memcpy(digests + (size_t)i * DIGEST_BYTES, right[segment], DIGEST_BYTES);
        digests[i * DIGEST_BYTES] ^= (uint8_t)(wrong >> segment & 1);
    }
    for (unsigned i = load->sent_from; i < load->sent_to; i++) {
        receipt.held_bytes += bytes[i];
    }
    fake_say_receipt(all, rank, &receipt);
}

static void say_failed(struct fake_nodes *all, uint32_t rank, int32_t status)
{
    fake_say_receipt(all, rank, &(struct receipt_body){.status = status, .last = true});
}

/* A booted ring of three whose nodes 0 and 1 hold what they were sent. */
static struct fake_nodes *almost_loaded(void)
{
    struct fake_nodes *all = fake_booted("ring:3");

    fake_load(all, false);
    fake_reply(all, 0, PACKET_CTS, all->controller.name);
    fake_receipt(all, 0, 5000);
    fake_receipt(all, 1, 6000);
    return all;
}

/* The present repair is offered to this node: these segments of the list. */
static void expect_repair(const struct fake_nodes *all, uint32_t rank, unsigned from, unsigned to)
{
    const struct fake_packet *packet = fake_last(all, PACKET_OFFER);
    struct offer_body offer = last_offer(all);

    assert_int_equal(packet->dst, rank);
    assert_int_equal(offer.count, 1);
    assert_int_equal(offer.from_segment, from);
    assert_int_equal(offer.to_segment, to);
    assert_int_equal(offer.generation, all->controller.generation);
    assert_int_equal(offer.message_bytes,
                     FAKE_LIST_BYTES + load_data_bytes(&all->controller.list, from, to, rank, 1));
}

TEST(a_message_is_the_list_and_the_pieces_of_its_nodes)
{
    struct fake_nodes *all = fake_booted("ring:3");

    fake_load(all, false);
    struct offer_body offer = last_offer(all);
    fake_reply(all, 0, PACKET_CTS, all->controller.name);
    assert_int_equal(offer.list_bytes, FAKE_LIST_BYTES);
    assert_int_equal(offer.message_bytes,
                     FAKE_LIST_BYTES + FAKE_IMAGE_BYTES + 3 * FAKE_BLOCK_BYTES);
    assert_int_equal(offer.from_segment, 0);
    assert_int_equal(offer.to_segment, FAKE_SEGMENTS);
    assert_int_equal(offer.top, FAKE_TOP);
    assert_memory_equal(offer.digest, all->list_digest, DIGEST_BYTES);
    assert_memory_equal(all->sink, all->list, FAKE_LIST_BYTES);
    assert_memory_equal(all->sink + FAKE_LIST_BYTES, all->image, FAKE_IMAGE_BYTES);
    assert_memory_equal(all->sink + FAKE_LIST_BYTES + FAKE_IMAGE_BYTES, all->blocks,
                        3 * FAKE_BLOCK_BYTES);
    assert_int_equal(all->controller.given_bytes, FAKE_IMAGE_BYTES + 3 * FAKE_BLOCK_BYTES);
    fake_free(all);
}

TEST(a_receipt_may_come_in_several_packets)
{
    struct fake_nodes *all = almost_loaded();

    say_digests(all, 2, 0, 1, 0, false);
    assert_int_equal(all->controller.phase, PHASE_DOWNLOAD);
    say_digests(all, 2, 1, 1, 0, true);
    assert_int_equal(fake_event(all, EVENT_LOADED)->done, 3);
    assert_int_equal(fake_event(all, EVENT_LOADED)->repaired, 0);
    assert_int_equal(fake_event(all, EVENT_LOADED)->repair_ns, 0);
    assert_int_equal(fake_event(all, EVENT_LOADED)->model_ns, 7000);
    fake_free(all);
}

TEST(only_the_segments_that_are_wrong_are_sent_again)
{
    struct fake_nodes *all = almost_loaded();

    say_digests(all, 2, 0, 2, 1 << FAKE_BLOCKS, true);
    assert_int_equal(fake_told(all, EVENT_RECEIPT), 2);
    expect_repair(all, 2, FAKE_BLOCKS, FAKE_BLOCKS + 1);
    fake_reply(all, 2, PACKET_CTS, last_offer(all).name);
    assert_memory_equal(all->sink, all->list, FAKE_LIST_BYTES);
    assert_memory_equal(all->sink + FAKE_LIST_BYTES, all->blocks + 2 * FAKE_BLOCK_BYTES,
                        FAKE_BLOCK_BYTES);
    say_digests(all, 2, 0, 1, 0, true);
    const struct controller_event *loaded = fake_event(all, EVENT_LOADED);
    assert_int_equal(loaded->done, 3);
    assert_int_equal(loaded->repaired, 1);
    assert_int_equal(loaded->model_ns, 7000); /* of the first sending; the repair took */
    assert_int_equal(loaded->repair_ns, 2500);
    fake_free(all);
}

/* Node 1 too is wrong, and is known to be so first; node 0 has not answered. */
TEST(repairs_begin_when_all_have_answered_and_go_one_by_one)
{
    struct fake_nodes *all = fake_booted("ring:3");

    fake_load(all, false);
    fake_reply(all, 0, PACKET_CTS, all->controller.name);
    say_digests(all, 1, 0, 2, 1 << FAKE_IMAGE, true);
    say_digests(all, 2, 0, 2, 3, true);
    fake_wait_ms(all, 1000);
    assert_int_equal(fake_sent(all, PACKET_OFFER), 1);
    fake_receipt(all, 0, 9000);
    expect_repair(all, 1, FAKE_IMAGE, FAKE_IMAGE + 1);
    fake_wait_ms(all, 299);
    assert_int_equal(fake_sent(all, PACKET_OFFER), 2);
    fake_wait_ms(all, 1); /* unanswered, it is repeated */
    assert_int_equal(fake_sent(all, PACKET_OFFER), 3);
    fake_reply(all, 2, PACKET_CTS, last_offer(all).name); /* not its own */
    assert_int_equal(all->controller.message_next, 1);
    fake_reply(all, 1, PACKET_CTS, last_offer(all).name);
    expect_repair(all, 2, 0, FAKE_SEGMENTS);
    fake_reply(all, 2, PACKET_CTS, last_offer(all).name);
    say_digests(all, 2, 0, 2, 0, true);
    say_digests(all, 1, 0, 1, 0, true);
    assert_int_equal(fake_event(all, EVENT_LOADED)->repaired, 2);
    assert_int_equal(fake_event(all, EVENT_LOADED)->model_ns, 9000);
    fake_free(all);
}

/* A digest too few or too many, and a length that is not what was sent. */
TEST(a_receipt_that_is_not_of_what_was_sent_is_wrong_as_a_whole)
{
    for (unsigned kind = 0; kind < 4; kind++) {
        struct fake_nodes *all = almost_loaded();
        uint8_t digests[3 * DIGEST_BYTES] = {0};
        struct receipt_body receipt = {.held_bytes = FAKE_BLOCK_BYTES + FAKE_IMAGE_BYTES,
                                       .count = 2,
                                       .last = true,
                                       .digests = digests};

        memcpy(digests, all->image_digest[0], DIGEST_BYTES);
        memcpy(digests + DIGEST_BYTES, all->digests[2], DIGEST_BYTES);
        receipt.count = kind == 0 ? 1 : kind == 1 ? 3 : 2;
        receipt.held_bytes += kind == 2;
        receipt.first = kind == 3;
        fake_say_receipt(all, 2, &receipt);
        expect_repair(all, 2, 0, FAKE_SEGMENTS);
        fake_free(all);
    }
}

TEST(a_node_that_is_wrong_after_three_repairs_breaks_the_download)
{
    struct fake_nodes *all = almost_loaded();

    for (unsigned i = 0; i < 3; i++) {
        say_digests(all, 2, 0, i ? 1 : 2, 1 << FAKE_BLOCKS, true);
        assert_int_equal(fake_told(all, EVENT_LOAD_FAILED), 0);
        expect_repair(all, 2, FAKE_BLOCKS, FAKE_BLOCKS + 1);
        if (i > 0) { /* the answer to the repair before, once more */
            fake_reply(all, 2, PACKET_CTS, last_offer(all).name - 1);
            assert_int_equal(all->controller.message_next, 1 + i);
        }
        fake_reply(all, 2, PACKET_CTS, last_offer(all).name);
    }
    say_digests(all, 2, 0, 1, 1 << FAKE_BLOCKS, true);
    expect_load_failure(all, LOAD_WRONG, 2,
                        "download to node 2 (rank 2) failed: the node holds other bytes than were "
                        "sent, also when they are sent again");
}

/* It has answered, so nobody waits for it; when it is sent something again, it is waited for. */
TEST(a_node_that_is_silent_in_its_repair_is_given_up)
{
    struct fake_nodes *all = almost_loaded();

    say_digests(all, 2, 0, 2, 1, true);
    fake_pass_ms(all, PATIENCE_MS * 3 / 2);
    expect_load_failure(all, LOAD_SILENT, 2,
                        "download failed: node 2 (rank 2) has not answered for 15 s (--patience), "
                        "2 of 3 receipts");
}

/* Names go on behind those of repairs: a late answer to one is for nothing that is offered now. */
TEST(a_load_after_repairs_has_new_names)
{
    struct fake_nodes *all = almost_loaded();

    say_digests(all, 2, 0, 2, 1, true);
    uint32_t name = last_offer(all).name;
    fake_reply(all, 2, PACKET_CTS, name);
    say_digests(all, 2, 0, 1, 0, true);
    fake_load(all, false);
    assert_true(last_offer(all).name > name);
    assert_int_equal(all->controller.nodes[2].flags & NODE_REPAIRS, 0);
    fake_free(all);
}

TEST(a_node_that_cannot_take_the_program_breaks_the_download)
{
    struct fake_nodes *all = fake_booted("ring:3");

    fake_load(all, false);
    say_failed(all, 1, E_NO_ROOM);
    expect_load_failure(all, LOAD_ERROR, 1,
                        "download to node 1 (rank 1) failed: does not fit the program region");
}

TEST(a_root_that_runs_a_program_refuses_the_download)
{
    struct fake_nodes *all = fake_booted("ring:3");

    fake_load(all, false);
    fake_reply(all, 0, PACKET_CANCEL, all->controller.name);
    expect_load_failure(all, LOAD_REFUSED, 0,
                        "node 0 (rank 0) refused the download: it runs a program");
}

TEST(who_is_silent_for_longest_is_asked_then_told_then_given_up)
{
    struct fake_nodes *all = fake_booted("ring:3");

    fake_load(all, false);
    fake_pass_ms(all, 1000);
    fake_reply(all, 0, PACKET_RETRY, all->controller.name); /* a word, whatever it says */
    fake_receipt(all, 1, 5);
    fake_pass_ms(all, 1000);
    assert_int_equal(fake_sent_to(all, PACKET_QUERY, 2), 1);
    assert_int_equal(fake_sent(all, PACKET_QUERY), 1);
    fake_pass_ms(all, 8000);
    assert_int_equal(fake_event(all, EVENT_LOAD_WAITS)->rank, 2);
    assert_int_equal(fake_sent_to(all, PACKET_QUERY, 0), 1);
    assert_int_equal(fake_sent_to(all, PACKET_QUERY, 1), 0);
    fake_pass_ms(all, PATIENCE_MS * 3 / 2 - 10000 - 100);
    assert_int_equal(fake_told(all, EVENT_LOAD_FAILED), 0);
    fake_pass_ms(all, 100);
    assert_int_equal(fake_told(all, EVENT_LOAD_WAITS), 1);
    assert_int_equal(fake_sent_to(all, PACKET_QUERY, 2), 1);
    expect_load_failure(all, LOAD_SILENT, 2,
                        "download failed: node 2 (rank 2) has not answered for 15 s (--patience), "
                        "1 of 3 receipts");
}

TEST(a_node_that_answers_is_not_given_up)
{
    struct fake_nodes *all = fake_booted("cube:1");
    const struct state_body loading = {.program = PROGRAM_LOADING};

    fake_load(all, false);
    for (unsigned i = 0; i < 20; i++) {
        fake_pass_ms(all, 3000);
        fake_state(all, 0, &loading);
        fake_state(all, 1, &loading);
    }
    assert_true(fake_sent_to(all, PACKET_QUERY, 0) >= 19);
    assert_int_equal(fake_told(all, EVENT_LOAD_WAITS), 0);
    assert_int_equal(fake_told(all, EVENT_LOAD_FAILED), 0);
    fake_free(all);
}

/* fake_settle looks at the deadline, which an owner waits for. */
TEST(offers_that_find_no_room_wait_and_do_not_spin)
{
    struct fake_nodes *all = fake_booted("ring:100");

    all->deaf = true;
    fake_load(all, true);
    fake_pass_ms(all, 5000); /* and silent nodes are to be asked */
    assert_true(fake_sent(all, PACKET_OFFER) < OFFERS_WINDOW);
    all->deaf = false;
    fake_pass_ms(all, 1000);
    assert_true(fake_sent(all, PACKET_OFFER) >= OFFERS_WINDOW);
    assert_int_equal(fake_sent(all, PACKET_QUERY), 100);
    fake_free(all);
}

TEST(loads_are_refused_while_they_cannot_be)
{
    struct fake_nodes *all = fake_make("ring:3");

    assert_int_equal(fake_load(all, false), CONTROLLER_BOOTS);
    fake_free(all);
    all = fake_booted("ring:3");
    assert_int_equal(fake_load(all, false), CONTROLLER_OK);
    assert_int_equal(fake_load(all, false), CONTROLLER_BUSY);
    fake_free(all);
    all = fake_running("ring:3");
    assert_int_equal(fake_load(all, false), CONTROLLER_BUSY);
    fake_free(all);
    all = fake_loaded("ring:3");
    assert_int_equal(fake_load(all, false), CONTROLLER_OK); /* replaces it */
    fake_free(all);
}

/* Run. */

TEST(programs_start_at_the_latest_model_time_of_all)
{
    struct fake_nodes *all = fake_loaded("ring:3");
    struct start_body start;

    assert_int_equal(fake_event(all, EVENT_LOADED)->model_ns, 1002);
    fake_state(all, 1, &(struct state_body){.program = PROGRAM_LOADED, .model_ns = 7000});
    controller_run(&all->controller, all->now_us);
    fake_settle(all);
    for (uint32_t rank = 0; rank < 3; rank++) {
        assert_int_equal(fake_sent_to(all, PACKET_START, rank), 1);
    }
    assert_true(start_unpack(fake_last(all, PACKET_START)->body, START_BYTES, &start));
    assert_int_equal(start.model_ns, 7000);
    fake_free(all);
}

/* A list of packets to be sent would have had room for 1,024. */
TEST(nothing_overflows_in_a_large_machine)
{
    struct fake_nodes *all = fake_running("ring:1500");

    controller_ask(&all->controller, all->now_us);
    fake_settle(all);
    controller_stop(&all->controller, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_sent(all, PACKET_QUERY), 1500);
    assert_int_equal(fake_sent(all, PACKET_STOP), 1500);
    assert_int_equal(fake_told(all, EVENT_ENDED), 1);
    fake_free(all);
}

TEST(a_run_ends_when_all_programs_have)
{
    struct fake_nodes *all = fake_running("ring:3");
    uint8_t fault[FAULT_BYTES];

    fake_exit(all, 1, 0x107);
    fake_exit(all, 1, 3); /* it has ended */
    assert_int_equal(fake_told(all, EVENT_EXIT), 1);
    assert_int_equal(fake_event(all, EVENT_EXIT)->status, 7);
    fault_pack(fault, &(struct fault_body){.kind = FAULT_DATA});
    fake_say(all, 0, PACKET_FAULT, fault, sizeof fault);
    assert_int_equal(fake_event(all, EVENT_FAULT)->done, 2);
    fake_exit(all, 2, 0);
    assert_int_equal(fake_event(all, EVENT_ENDED)->reason, ENDED_BY_ITSELF);
    assert_int_equal(fake_event(all, EVENT_ENDED)->done, 3);
    assert_int_equal(fake_sent(all, PACKET_STOP), 0);
    fake_free(all);
}

/* All programs of ring:3 have ended, the last for a dead link. */
static struct fake_nodes *ended_for_a_dead_link(void)
{
    struct fake_nodes *all = fake_running("ring:3");
    struct fault_body fault = {.kind = FAULT_ERROR, .registers = {(uint32_t)E_LINK_DEAD}};
    uint8_t body[FAULT_BYTES + 1];

    fake_exit(all, 0, 0);
    fake_exit(all, 1, 0);
    fault_pack(body, &fault);
    fake_say(all, 2, PACKET_FAULT, body, FAULT_BYTES);
    assert_int_equal(fake_event(all, EVENT_FAULT)->done, 3);
    return all;
}

TEST(a_run_that_ended_for_a_dead_link_waits_for_word_of_it)
{
    struct fake_nodes *all = ended_for_a_dead_link();

    fake_wait_ms(all, COLLECT_MS / 2);
    assert_int_equal(fake_told(all, EVENT_ENDED), 0);
    fake_link_dead(all, 1, 0, DEAD_CARRIER);
    fake_wait_ms(all, COLLECT_MS);
    assert_int_equal(fake_told(all, EVENT_LINK_DIED), 1);
    assert_int_equal(fake_told(all, EVENT_BROKEN), 1);
    assert_int_equal(fake_told(all, EVENT_ENDED), 0);
    fake_free(all);
}

TEST(when_there_is_none_it_ends)
{
    struct fake_nodes *all = ended_for_a_dead_link();

    fake_wait_ms(all, COLLECT_MS);
    assert_int_equal(fake_event(all, EVENT_ENDED)->reason, ENDED_BY_ITSELF);
    fake_wait_ms(all, COLLECT_MS);
    assert_int_equal(fake_told(all, EVENT_ENDED), 1);
    fake_free(all);
}

TEST(whoever_still_runs_is_told_to_stop)
{
    struct fake_nodes *all = fake_running("ring:3");

    fake_exit(all, 1, 0);
    controller_stop(&all->controller, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_event(all, EVENT_ENDED)->reason, ENDED_STOPPED);
    assert_int_equal(fake_sent(all, PACKET_STOP), 2);
    assert_int_equal(fake_sent_to(all, PACKET_STOP, 1), 0);
    fake_free(all);
}

TEST(programs_of_a_broken_machine_are_told_to_stop)
{
    struct fake_nodes *all = fake_running("ring:3");

    fake_link_dead(all, 1, 0, DEAD_CARRIER);
    fake_wait_ms(all, COLLECT_MS);
    assert_int_equal(fake_event(all, EVENT_BROKEN)->phase, PHASE_RUN);
    assert_int_equal(fake_told(all, EVENT_ENDED), 0);
    controller_stop(&all->controller, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_sent(all, PACKET_STOP), 3);
    fake_free(all);
}

static void say_text(struct fake_nodes *all, uint32_t rank, uint32_t bytes)
{
    static const uint8_t text[TEXT_MAX];
    uint8_t body[CONSOLE_HEADER_BYTES + TEXT_MAX];

    while (bytes > 0) {
        uint32_t some = bytes < TEXT_MAX ? bytes : TEXT_MAX;
        uint32_t all_bytes = console_pack(
            body, &(struct console_body){.stream = 1, .text = text, .text_bytes = some});

        fake_say(all, rank, PACKET_CONSOLE, body, all_bytes);
        bytes -= some;
    }
}

TEST(text_beyond_the_window_is_thrown_away)
{
    struct fake_nodes *all = fake_running("cube:1");
    struct taken_body taken;

    say_text(all, 1, 16 * 1024);
    assert_int_equal(all->controller.nodes[1].received, 16 * 1024);
    say_text(all, 1, 1);
    assert_int_equal(all->controller.nodes[1].received, 16 * 1024);
    controller_taken(&all->controller, 1, 16 * 1024 + 1); /* more than there was */
    controller_taken(&all->controller, 1, 5000);
    fake_settle(all);
    assert_int_equal(fake_sent(all, PACKET_TAKEN), 1);
    assert_true(taken_unpack(fake_last(all, PACKET_TAKEN)->body, TAKEN_BYTES, &taken));
    assert_int_equal(taken.bytes, 5000);
    assert_int_equal(taken.generation, 1);
    say_text(all, 1, 5000);
    assert_int_equal(all->controller.nodes[1].received, 16 * 1024 + 5000);
    fake_free(all);
}

/* Questions. */

static const struct state_body receives = {
    .program = PROGRAM_RUNNING, .wait = WAIT_RECEIVE, .flags = STATE_DELIVERED};
static const struct state_body computes = {.program = PROGRAM_RUNNING, .flags = STATE_DELIVERED};

/* Whoever has been asked answers: all but those of `silent` as `state` says. */
static void answer_all(struct fake_nodes *all, const struct state_body *state, uint32_t silent)
{
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        if (rank != silent && controller_has(&all->controller, rank, NODE_ASKED)) {
            fake_state(all, rank, state);
        }
    }
}

TEST(a_node_that_owes_an_answer_is_not_asked_again)
{
    struct fake_nodes *all = fake_running("cube:2");

    for (unsigned i = 1; i <= 3; i++) {
        controller_ask(&all->controller, all->now_us);
        fake_settle(all);
        answer_all(all, &computes, 3);
        assert_int_equal(fake_told(all, EVENT_ANSWERED), i - 1);
        fake_wait_ms(all, ANSWER_MS);
        assert_int_equal(fake_told(all, EVENT_ANSWERED), i);
        assert_true(controller_answered(&all->controller, 0));
        assert_false(controller_answered(&all->controller, 3));
        assert_int_equal(fake_sent_to(all, PACKET_QUERY, 0), i);
        assert_int_equal(fake_sent_to(all, PACKET_QUERY, 3), 1);
    }
    fake_state(all, 3, &computes);
    controller_ask(&all->controller, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_sent_to(all, PACKET_QUERY, 3), 2);
    answer_all(all, &computes, CONTROLLER_NO_NODE);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 4);
    fake_free(all);
}

/* A node tells of `told` of its three ports. */
static void tell_traffic(struct fake_nodes *all, uint32_t rank, unsigned first, unsigned told)
{
    struct traffic_header header = {3, (uint8_t)first, (uint8_t)told};
    struct traffic_port port = {.frames = rank};
    uint8_t body[TRAFFIC_BYTES_MAX];

    for (unsigned i = 0; i < told; i++) {
        traffic_port_pack(body, i, &port);
    }
    fake_say(all, rank, PACKET_TRAFFIC, body, traffic_pack(body, &header));
}

TEST(links_are_asked_for_port_after_port_until_all_are_told)
{
    struct fake_nodes *all = fake_running("cube:2");

    controller_ask_traffic(&all->controller, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_sent(all, PACKET_TRAFFIC_ASK), 0);
    answer_all(all, &computes, CONTROLLER_NO_NODE);
    assert_int_equal(fake_sent(all, PACKET_TRAFFIC_ASK), 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        assert_int_equal(fake_told(all, EVENT_ANSWERED), 0);
        tell_traffic(all, rank, 0, 2);
        assert_int_equal(fake_sent_to(all, PACKET_TRAFFIC_ASK, rank), 2);
        assert_int_equal(fake_last(all, PACKET_TRAFFIC_ASK)->body[0], 2);
        assert_int_equal(fake_event(all, EVENT_TRAFFIC)->rank, rank);
        tell_traffic(all, rank, 0, 2); /* once more: of a question before, maybe */
        assert_int_equal(fake_told(all, EVENT_TRAFFIC), 2 * rank + 1);
        tell_traffic(all, rank, 2, 1);
        assert_int_equal(fake_event(all, EVENT_TRAFFIC)->traffic.first, 2);
    }
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 1);
    assert_int_equal(fake_told(all, EVENT_TRAFFIC), 8);
    assert_int_equal(fake_sent(all, PACKET_TRAFFIC_ASK), 8);
    fake_free(all);
}

TEST(who_has_answered_an_open_question_is_asked_for_its_links_too)
{
    struct fake_nodes *all = fake_running("cube:2");

    controller_ask(&all->controller, all->now_us);
    fake_settle(all);
    answer_all(all, &computes, 3);
    controller_ask_traffic(&all->controller, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_sent(all, PACKET_TRAFFIC_ASK), 3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        tell_traffic(all, rank, 0, 3);
    }
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 0);
    fake_state(all, 3, &computes);
    fake_state(all, 3, &computes); /* does not count twice */
    tell_traffic(all, 3, 0, 3);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 1);
    assert_int_equal(fake_sent(all, PACKET_QUERY), 4);
    fake_free(all);
}

TEST(an_answer_that_is_cut_off_is_counted_and_no_more_is_waited_for)
{
    struct fake_nodes *all = fake_running("cube:2");

    controller_ask_traffic(&all->controller, all->now_us);
    fake_settle(all);
    answer_all(all, &computes, CONTROLLER_NO_NODE);
    tell_traffic(all, 0, 0, 3);
    for (uint32_t rank = 1; rank < 4; rank++) {
        struct traffic_header header = {rank == 1 ? 4 : 3, 0, rank == 2 ? 0 : 3};
        uint8_t body[TRAFFIC_BYTES_MAX] = {0};
        uint32_t bytes = traffic_pack(body, &header);
        assert_int_equal(fake_told(all, EVENT_ANSWERED), 0);
        /* more ports than a node has; none of those that are left; not all bytes */
        fake_say(all, rank, PACKET_TRAFFIC, body, rank == 3 ? bytes - 1 : bytes);
        assert_int_equal(all->controller.answers_cut, rank);
    }
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 1);
    assert_int_equal(fake_told(all, EVENT_TRAFFIC), 1);
    fake_free(all);
}

TEST(a_node_that_tells_nothing_of_its_links_is_given_up_and_told_of_with_the_next_question)
{
    struct fake_nodes *all = fake_running("cube:2");

    controller_ask_traffic(&all->controller, all->now_us);
    fake_settle(all);
    answer_all(all, &computes, CONTROLLER_NO_NODE);
    for (uint32_t rank = 0; rank < 3; rank++) {
        tell_traffic(all, rank, 0, 3);
    }
    fake_wait_ms(all, ANSWER_MS);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 1);
    tell_traffic(all, 3, 0, 3); /* too late */
    assert_int_equal(fake_told(all, EVENT_TRAFFIC), 3);
    controller_ask(&all->controller, all->now_us);
    fake_settle(all);
    answer_all(all, &computes, CONTROLLER_NO_NODE);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 2);
    controller_ask_traffic(&all->controller, all->now_us);
    fake_settle(all);
    answer_all(all, &computes, CONTROLLER_NO_NODE);
    controller_node_died(&all->controller, 0, all->now_us);
    controller_halted(&all->controller, 1, true);
    fake_settle(all);
    controller_halted(&all->controller, 1, false);
    for (uint32_t rank = 1; rank < 4; rank++) {
        fake_settle(all);
        assert_int_equal(fake_told(all, EVENT_ANSWERED), 2);
        tell_traffic(all, rank, 0, 3);
    }
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 3);
    fake_free(all);
}

TEST(nobody_answers_in_a_boot_and_no_halted_node_is_asked)
{
    struct fake_nodes *all = fake_make("cube:1");

    controller_ask(&all->controller, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 1);
    fake_free(all);
    all = fake_running("cube:1");
    controller_halted(&all->controller, 1, true);
    controller_ask(&all->controller, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_sent_to(all, PACKET_QUERY, 1), 0);
    controller_halted(&all->controller, 0, true); /* it was asked, and will not answer */
    fake_settle(all);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 1);
    fake_free(all);
}

/* Lets passed time go by; each question is answered by all at once. */
static void watch(struct fake_nodes *all, unsigned ms, const struct state_body *state)
{
    for (unsigned passed = 0; passed < ms; passed += 100) {
        fake_pass_ms(all, 100);
        answer_all(all, state, CONTROLLER_NO_NODE);
    }
}

TEST(programs_that_wait_for_ever_end_the_run)
{
    struct fake_nodes *all = fake_running("cube:2");

    watch(all, 900, &receives);
    assert_int_equal(fake_sent(all, PACKET_QUERY), 0);
    watch(all, STAND_MS, &receives);
    assert_int_equal(fake_event(all, EVENT_ENDED)->reason, ENDED_STANDS);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 1 + 3 + 2 * 2);
    assert_int_equal(fake_sent(all, PACKET_STOP), 4);
    fake_free(all);
}

/* The first look, at a tick; what follows it needs no tick, for no time passes that counts. */
static struct fake_nodes *looked_at(const char *network)
{
    struct fake_nodes *all = fake_running(network);

    fake_pass_ms(all, 1000);
    assert_int_equal(fake_sent(all, PACKET_QUERY), all->network.nodes);
    return all;
}

TEST(a_look_follows_the_last_answer_to_the_one_before)
{
    struct fake_nodes *all = looked_at("cube:1");
    uint64_t start_us = all->now_us;

    for (unsigned ms = 0; ms < STAND_MS && fake_told(all, EVENT_ENDED) == 0; ms++) {
        answer_all(all, &receives, CONTROLLER_NO_NODE);
        fake_wait_ms(all, 1);
    }
    assert_int_equal(fake_event(all, EVENT_ENDED)->reason, ENDED_STANDS);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), LOOKS_OF_TWO);
    /* No sooner than what a node repeats by itself would show. */
    assert_in_range(all->now_us - start_us, 500 * 1000, 700 * 1000);
    fake_free(all);
}

TEST(a_late_answer_is_waited_for_and_is_no_movement)
{
    struct fake_nodes *all = looked_at("cube:1");

    for (unsigned i = 1; i <= LOOKS_OF_TWO; i++) {
        assert_int_equal(fake_sent_to(all, PACKET_QUERY, 0), i);
        assert_int_equal(fake_sent_to(all, PACKET_QUERY, 1), i);
        fake_state(all, 0, &receives);
        fake_wait_ms(all, 10 * ANSWER_MS);
        assert_int_equal(fake_told(all, EVENT_ANSWERED), i - 1);
        fake_state(all, 1, &receives);
        fake_wait_ms(all, 1);
        assert_int_equal(fake_told(all, EVENT_ANSWERED), i);
    }
    assert_int_equal(fake_event(all, EVENT_ENDED)->reason, ENDED_STANDS);
    fake_free(all);
}

/* Whoever asks beside the watch gets the answers that there are, and new ones. */
TEST(who_asks_while_the_watch_waits_for_a_late_answer_waits_no_longer)
{
    struct fake_nodes *all = looked_at("cube:1");

    for (unsigned i = 1; i < LOOKS_OF_TWO; i++) {
        answer_all(all, &receives, CONTROLLER_NO_NODE);
        fake_wait_ms(all, ANSWER_MS);
    }
    fake_state(all, 0, &receives);
    fake_wait_ms(all, 10 * ANSWER_MS);
    fake_forget(all);
    controller_ask(&all->controller, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_sent_to(all, PACKET_QUERY, 0), 1);
    fake_state(all, 0, &receives);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 0);
    fake_wait_ms(all, ANSWER_MS);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 1);
    assert_false(controller_answered(&all->controller, 1));
    /* The row goes on where it was. */
    assert_int_equal(fake_told(all, EVENT_ENDED), 0);
    answer_all(all, &receives, CONTROLLER_NO_NODE);
    assert_int_equal(fake_event(all, EVENT_ENDED)->reason, ENDED_STANDS);
    fake_free(all);
}

TEST(a_look_is_over_with_its_run)
{
    struct fake_nodes *all = looked_at("cube:1");

    fake_state(all, 0, &receives);
    fake_exit(all, 0, 0);
    fake_exit(all, 1, 0);
    assert_int_equal(fake_told(all, EVENT_ENDED), 1);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 1);
    assert_false(controller_answered(&all->controller, 1));
    fake_free(all);
}

/* Lets programs be looked at for so long; notes when each look begins, in ms from the start. */
static unsigned note_looks(struct fake_nodes *all, unsigned ms, bool moving, unsigned *begins_ms,
                           unsigned room)
{
    struct state_body answer = moving ? receives : computes;
    unsigned count = 0;

    for (unsigned at_ms = 100; at_ms <= ms; at_ms += 100) {
        fake_pass_ms(all, 100);
        if (fake_sent(all, PACKET_QUERY) > 0 && count < room) {
            begins_ms[count++] = at_ms;
        }
        answer.counters[COUNTER_PROGRESS]++;
        answer_all(all, &answer, CONTROLLER_NO_NODE);
        fake_forget(all);
    }
    return count;
}

TEST(a_machine_that_computes_is_asked_after_1_2_and_4_s_and_so_on)
{
    static const unsigned expected_ms[] = {1000, 2000, 4000, 8000, 12000, 16000, 20000};
    struct fake_nodes *all = fake_running("cube:7");
    unsigned begins_ms[16];

    assert_int_equal(note_looks(all, 23900, false, begins_ms, 16), 7);
    assert_memory_equal(begins_ms, expected_ms, sizeof expected_ms);
    controller_active(&all->controller); /* a word: it is seen within 100 ms */
    assert_int_equal(note_looks(all, 1100, false, begins_ms, 16), 1);
    assert_int_equal(begins_ms[0], 1100);
    fake_free(all);
}

/* All wait whenever they are asked, and go on between: two looks at a time say so. Both nodes have
 * come as far each time, and yet their answers are not the same together. */
TEST(programs_that_move_are_asked_twice_at_a_time)
{
    static const unsigned expected_ms[] = {1000, 1200, 2200, 2400, 4400, 4600, 8600, 8800};
    struct fake_nodes *all = fake_running("cube:1");
    unsigned begins_ms[16];

    assert_int_equal(note_looks(all, 12000, true, begins_ms, 16), 8);
    assert_memory_equal(begins_ms, expected_ms, sizeof expected_ms);
    fake_free(all);
}

TEST(what_is_still_on_a_link_may_end_the_wait)
{
    struct fake_nodes *all = fake_running("cube:2");
    struct state_body under_way = receives;

    under_way.flags = 0;
    watch(all, STAND_MS, &under_way);
    assert_int_equal(fake_told(all, EVENT_ENDED), 0);
    fake_free(all);
}

TEST(a_node_that_passes_on_shows_that_not_all_stands)
{
    struct fake_nodes *all = fake_running("cube:1");
    struct state_body moves = {.program = PROGRAM_EXITED, .flags = STATE_DELIVERED};

    fake_exit(all, 1, 0);
    for (unsigned i = 0; i < STAND_MS / 100; i++) {
        fake_pass_ms(all, 100);
        moves.counters[COUNTER_PROGRESS] = i;
        if (controller_has(&all->controller, 0, NODE_ASKED)) {
            fake_state(all, 0, &receives);
        }
        if (controller_has(&all->controller, 1, NODE_ASKED)) {
            fake_state(all, 1, &moves);
        }
    }
    assert_true(fake_told(all, EVENT_ANSWERED) > 10);
    assert_int_equal(fake_told(all, EVENT_ENDED), 0);
    watch(all, STAND_MS, &receives);
    assert_int_equal(fake_told(all, EVENT_ENDED), 1);
    fake_free(all);
}

TEST(programs_that_test_have_a_minute)
{
    struct fake_nodes *all = fake_running("cube:1");
    struct state_body polls = receives;

    polls.flags |= STATE_POLLS;
    watch(all, 59000, &polls);
    assert_int_equal(fake_told(all, EVENT_ENDED), 0);
    assert_in_range(fake_sent_to(all, PACKET_QUERY, 0), LOOKS_OF_TWO, LOOKS_OF_TWO + 60 / 4 + 1);
    watch(all, 6000, &polls);
    assert_int_equal(fake_event(all, EVENT_ENDED)->reason, ENDED_STANDS);
    fake_free(all);
}

TEST(a_program_that_computes_or_speaks_does_not_stand)
{
    struct fake_nodes *all = fake_running("cube:1");

    watch(all, STAND_MS, &computes);
    assert_int_equal(fake_told(all, EVENT_ENDED), 0);
    for (unsigned i = 0; i < 10; i++) {
        controller_active(&all->controller);
        watch(all, 1400, &receives);
    }
    assert_int_equal(fake_told(all, EVENT_ENDED), 0);
    fake_free(all);
}

TEST(after_a_failed_program_the_others_are_looked_at_at_once)
{
    struct fake_nodes *all = fake_running("cube:1");

    fake_exit(all, 1, 1);
    watch(all, 200, &receives);
    assert_int_equal(fake_sent_to(all, PACKET_QUERY, 0), 1);
    watch(all, 2500, &receives);
    assert_int_equal(fake_told(all, EVENT_ENDED), 1);
    fake_free(all);
}

TEST(a_run_whose_time_is_over_is_looked_at_twice)
{
    struct fake_nodes *all = fake_running("cube:1");

    controller_time_out(&all->controller, all->now_us);
    fake_settle(all);
    answer_all(all, &receives, CONTROLLER_NO_NODE);
    assert_int_equal(fake_told(all, EVENT_ENDED), 0);
    answer_all(all, &receives, CONTROLLER_NO_NODE);
    assert_int_equal(fake_event(all, EVENT_ENDED)->reason, ENDED_TIMEOUT_STANDS);
    assert_int_equal(fake_sent(all, PACKET_STOP), 2);
    fake_free(all);
    all = fake_running("cube:1");
    controller_time_out(&all->controller, all->now_us);
    fake_settle(all);
    answer_all(all, &computes, CONTROLLER_NO_NODE);
    assert_int_equal(fake_event(all, EVENT_ENDED)->reason, ENDED_TIMEOUT);
    fake_free(all);
    all = fake_running("cube:1"); /* nobody answers */
    controller_time_out(&all->controller, all->now_us);
    fake_settle(all);
    fake_wait_ms(all, ANSWER_MS);
    assert_int_equal(fake_event(all, EVENT_ENDED)->reason, ENDED_TIMEOUT);
    fake_free(all);
}

/* What earlier looks have seen holds while a frame is under way, unless that moves something. */
TEST(frames_under_way_when_time_is_over_take_back_no_look)
{
    for (unsigned moved = 0; moved < 2; moved++) {
        struct fake_nodes *all = fake_running("cube:2");
        struct state_body last = receives;

        watch(all, 1300, &receives);
        controller_time_out(&all->controller, all->now_us);
        fake_settle(all);
        answer_all(all, &receives, CONTROLLER_NO_NODE);
        assert_int_equal(fake_told(all, EVENT_ENDED), 0);
        last.flags = 0;
        last.counters[COUNTER_PROGRESS] = moved;
        answer_all(all, &last, CONTROLLER_NO_NODE);
        assert_int_equal(fake_event(all, EVENT_ENDED)->reason,
                         moved ? ENDED_TIMEOUT : ENDED_TIMEOUT_STANDS);
        fake_free(all);
    }
}

/* Who waits for whom. */

static struct state_body waits_on(int32_t peer)
{
    struct state_body state = receives;

    state.peer = peer;
    state.tag = 5;
    return state;
}

static void ask_and_answer(struct fake_nodes *all, const struct state_body *states)
{
    controller_ask(&all->controller, all->now_us);
    fake_settle(all);
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        fake_state(all, rank, &states[rank]);
    }
}

static void expect_state_words(const struct fake_nodes *all, uint32_t rank, const char *words)
{
    char text[WORDS_MAX];

    words_of_state(&all->controller, rank, text);
    assert_string_equal(text, words);
}

TEST(a_circle_of_programs_is_found)
{
    struct fake_nodes *all = fake_running("cube:2");
    struct state_body states[4] = {waits_on(2), computes, waits_on(3), waits_on(2)};
    uint32_t ranks[4];

    states[3].requests = 3;
    ask_and_answer(all, states);
    assert_int_equal(waits_for(&all->controller, 0), 2);
    assert_int_equal(waits_for(&all->controller, 1), 1);
    assert_int_equal(waits_circle(&all->controller, ranks, 4), 2);
    assert_int_equal(ranks[0], 2);
    assert_int_equal(ranks[1], 3);
    expect_state_words(all, 0, "waits to receive from rank 2, tag 5");
    expect_state_words(all, 1, "computes");
    char text[WORDS_MAX];
    words_of_requests(&all->controller, 3, text);
    assert_string_equal(text, " (one of 3 open requests)");
    states[3] = computes;
    ask_and_answer(all, states);
    assert_int_equal(waits_circle(&all->controller, ranks, 4), 0);
    fake_free(all);
}

TEST(a_program_that_waits_for_an_ended_one_or_itself_is_told_as_that)
{
    struct fake_nodes *all = fake_running("cube:2");
    struct state_body states[4] = {waits_on(1), computes, waits_on(2), computes};
    uint32_t ranks[4];
    char text[WORDS_MAX];

    fake_exit(all, 1, 0);
    ask_and_answer(all, states);
    expect_state_words(all, 0, "waits to receive from rank 1, tag 5, whose program has ended");
    expect_state_words(all, 2, "waits to receive from rank 2, tag 5");
    assert_int_equal(waits_circle(&all->controller, ranks, 4), 1);
    words_of_circle(&(struct network){0}, ranks, 1, text);
    assert_string_equal(text, "the program of rank 2 waits for itself");
    fake_free(all);
}

/* Only a send that has no answer can have no place there. */
TEST(a_send_that_finds_no_place_is_told_as_that)
{
    struct fake_nodes *all = fake_running("cube:2");
    struct state_body states[4] = {waits_on(1), waits_on(0), waits_on(0), waits_on(0)};
    char text[WORDS_MAX];

    states[0].stored = MESSAGES_STORED_MAX;
    states[1].wait = states[2].wait = WAIT_SEND;
    states[2].transfer = TRANSFER_KNOWN;
    states[3].stored = 1;
    ask_and_answer(all, states);
    expect_state_words(all, 0, "waits to receive from rank 1, tag 5");
    words_of_requests(&all->controller, 0, text);
    assert_string_equal(text, " (64 messages not received)");
    words_of_requests(&all->controller, 3, text);
    assert_string_equal(text, " (1 message not received)");
    expect_state_words(
        all, 1, "waits to send 0 bytes to rank 0, tag 5, whose 64 places for messages are full");
    expect_state_words(all, 2,
                       "waits to send 0 bytes to rank 0, tag 5, which has not asked for it");
    states[0].stored--;
    ask_and_answer(all, states);
    expect_state_words(all, 1, "waits to send 0 bytes to rank 0, tag 5");
    fake_free(all);
}

static struct state_body enters_with(uint32_t partner)
{
    return (struct state_body){.program = PROGRAM_RUNNING,
                               .wait = WAIT_COLLECTIVE,
                               .stage = COLLECTIVE_ENTRY,
                               .operation = 1,
                               .collective_bytes = 4,
                               .root = 1,
                               .partner = partner};
}

TEST(who_has_not_entered_a_collective_is_named)
{
    struct fake_nodes *all = fake_running("cube:2");
    struct state_body states[4] = {enters_with(1), enters_with(3), enters_with(0), waits_on(0)};
    uint32_t ranks[4];

    ask_and_answer(all, states);
    assert_int_equal(waits_missing(&all->controller, 2), 3);
    assert_int_equal(waits_for(&all->controller, 0), 3);
    expect_state_words(all, 2, "waits in broadcast of 4 bytes with root 1 for rank 3 to enter");
    /* 3 waits for a message of 0, which waits for 3 to enter, by way of 1 */
    assert_int_equal(waits_circle(&all->controller, ranks, 4), 2);
    assert_int_equal(ranks[0] + ranks[1], 3);
    fake_free(all);
}

TEST(entries_that_take_each_others_miss_nobody)
{
    struct fake_nodes *all = fake_running("cube:2");
    struct state_body states[4] = {enters_with(1), enters_with(3), enters_with(0), enters_with(2)};
    uint32_t ranks[4];

    ask_and_answer(all, states);
    for (uint32_t rank = 0; rank < 4; rank++) {
        assert_int_equal(waits_missing(&all->controller, rank), rank);
    }
    assert_int_equal(waits_circle(&all->controller, ranks, 4), 0);
    states[0] = enters_with(4096); /* no such node */
    ask_and_answer(all, states);
    assert_int_equal(waits_missing(&all->controller, 0), 0);
    fake_free(all);
}

/* Says it, and returns what is told of it; NULL: nothing. */
static const char *disagreement(struct fake_nodes *all, const struct disagree_body *told,
                                char text[WORDS_MAX])
{
    uint8_t body[DISAGREE_BYTES];

    fake_forget(all);
    disagree_pack(body, told);
    fake_say(all, 0, PACKET_DISAGREE, body, sizeof body);
    if (fake_told(all, EVENT_DISAGREE) == 0) {
        return NULL;
    }
    assert_true(words_of_event(&all->controller, fake_event(all, EVENT_DISAGREE), text));
    return text;
}

TEST(a_disagreement_is_told_in_words)
{
    struct fake_nodes *all = fake_running("cube:2");
    struct disagree_body told = {.status = E_MISMATCH,
                                 .first_rank = 1,
                                 .other_rank = 3,
                                 .first = {ECUBE_BROADCAST, 0, 0, 4, 1, 5, 0},
                                 .other = {ECUBE_BARRIER, 0, 0, 0, 0, 6, 0}};
    char text[WORDS_MAX];

    assert_string_equal(disagreement(all, &told, text),
                        "node 1 (rank 1) and node 3 (rank 3) disagree on a collective: "
                        "broadcast of 4 bytes with root 1, and barrier");
    assert_int_equal(fake_event(all, EVENT_DISAGREE)->rank, 1);
    assert_int_equal(fake_event(all, EVENT_DISAGREE)->peer, 3);
    told.first = (struct entry){ECUBE_REDUCE, ECUBE_DOUBLE, ECUBE_SUM, 8, 0, 5, 0};
    told.other = (struct entry){ECUBE_REDUCE, ECUBE_INT32, 77, 8, 0, 5, 0};
    assert_string_equal(disagreement(all, &told, text),
                        "node 1 (rank 1) and node 3 (rank 3) disagree on a collective: reduce of 8 "
                        "bytes with root 0 (double, sum), and reduce of 8 bytes with root 0 "
                        "(int32, unknown operator)");
    told.first = told.other = (struct entry){ECUBE_EXCHANGE, 0, 0, 4, 0, 0xab, 0};
    told.other.digest = 0xcd;
    assert_string_equal(disagreement(all, &told, text),
                        "node 1 (rank 1) and node 3 (rank 3) disagree on a collective: exchange of "
                        "4 bytes, by plan 000000ab and by plan 000000cd");
    told.other.choice = 9;
    assert_string_equal(disagreement(all, &told, text),
                        "node 1 (rank 1) and node 3 (rank 3) disagree on a collective: exchange of "
                        "4 bytes, by the host's choice and by an unknown algorithm");
    told.other_rank = 77;
    assert_null(disagreement(all, &told, text));
    fake_free(all);
}

TEST(sizes_that_differ_are_told_of_both_ends)
{
    struct fake_nodes *all = fake_running("cube:2");
    struct disagree_body told = {.status = E_MISMATCH,
                                 .first_rank = 0,
                                 .other_rank = 2,
                                 .first = {.operation = ECUBE_EXCHANGEV, .type = SIZES_AGREE},
                                 .other = {.operation = ECUBE_EXCHANGEV,
                                           .type = SIZES_DIFFER,
                                           .bytes = 80,
                                           .root = 3,
                                           .digest = 100}};
    char text[WORDS_MAX];

    assert_string_equal(disagreement(all, &told, text),
                        "node 3 (rank 3) and node 2 (rank 2) disagree on the size of a block of "
                        "exchangev: rank 3 sends 100 bytes, rank 2 expects 80");
    assert_int_equal(fake_event(all, EVENT_DISAGREE)->rank, 2);
    assert_int_equal(fake_event(all, EVENT_DISAGREE)->peer, 3);
    told.other.root = 2;
    assert_string_equal(disagreement(all, &told, text),
                        "node 2 (rank 2) disagrees with itself on the size of its own block of "
                        "exchangev: it sends 100 bytes and expects 80");
    told.other.root = 4;
    assert_null(disagreement(all, &told, text));
    fake_free(all);
}

TEST(who_could_not_enter_a_collective_is_named)
{
    struct fake_nodes *all = fake_running("cube:2");
    struct disagree_body told = {.status = E_FAULT,
                                 .first_rank = 2,
                                 .other_rank = ID_UNKNOWN,
                                 .first = {ECUBE_ALLGATHER, 0, 0, 4, 0, 5, 0}};
    char text[WORDS_MAX];

    assert_non_null(disagreement(all, &told, text));
    assert_non_null(strstr(text,
                           "node 2 (rank 2) could not enter allgather of 4 bytes, which fails "
                           "at all nodes: "));
    assert_int_equal(fake_event(all, EVENT_DISAGREE)->peer, ID_UNKNOWN);
    assert_int_equal(fake_event(all, EVENT_DISAGREE)->status, E_FAULT);
    told.first = (struct entry){.operation = ECUBE_BROADCAST, .bytes = 4, .root = (uint32_t)-7};
    assert_non_null(disagreement(all, &told, text));
    assert_non_null(strstr(text, "broadcast of 4 bytes with root -7, which fails"));
    told.first.operation = ECUBE_EXCHANGEV;
    assert_non_null(disagreement(all, &told, text));
    assert_non_null(strstr(text, "could not enter exchangev, which fails at all nodes: "));
    told.first_rank = 4;
    assert_null(disagreement(all, &told, text));
    told.first_rank = 2;
    told.status = E_OK;
    assert_null(disagreement(all, &told, text));
    fake_free(all);
}

/* Failure. */

TEST(a_dead_link_is_told_once_and_ends_the_run)
{
    struct fake_nodes *all = fake_running("cube:2");
    char text[WORDS_MAX];

    fake_link_dead(all, 1, 1, DEAD_TIMEOUT);
    fake_wait_ms(all, 200);
    fake_link_dead(all, 3, 1, DEAD_CARRIER); /* the other end of the same */
    assert_int_equal(fake_told(all, EVENT_LINK_DIED), 0);
    fake_wait_ms(all, 100);
    assert_int_equal(fake_told(all, EVENT_LINK_DIED), 1);
    assert_true(words_of_event(&all->controller, fake_event(all, EVENT_LINK_DIED), text));
    assert_string_equal(text, "link 1-3 (dimension 1) died during run: no acknowledgement through "
                              "all retries, told by node 1 (rank 1)");
    assert_int_equal(fake_told(all, EVENT_BROKEN), 1);
    assert_true(controller_link_is_dead(&all->controller, 3, 1));
    fake_free(all);
}

TEST(a_dead_node_explains_its_links)
{
    struct fake_nodes *all = fake_running("cube:2");

    controller_node_died(&all->controller, 3, all->now_us);
    controller_node_died(&all->controller, 3, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_event(all, EVENT_NODE_DIED)->rank, 3);
    fake_link_dead(all, 1, 1, DEAD_CARRIER);
    fake_link_dead(all, 2, 0, DEAD_CARRIER);
    fake_wait_ms(all, COLLECT_MS);
    assert_int_equal(fake_told(all, EVENT_NODE_DIED), 1);
    assert_int_equal(fake_told(all, EVENT_LINK_DIED), 0);
    assert_int_equal(fake_told(all, EVENT_BROKEN), 1);
    assert_false(controller_reset_mends(&all->controller));
    fake_free(all);
}

TEST(all_nodes_may_die_at_once)
{
    struct fake_nodes *all = fake_booted("ring:100");

    for (uint32_t rank = 0; rank < 100; rank++) {
        controller_node_died(&all->controller, rank, all->now_us);
    }
    controller_ask(&all->controller, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_told(all, EVENT_NODE_DIED), 100);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 1);
    fake_wait_ms(all, COLLECT_MS);
    assert_int_equal(fake_told(all, EVENT_BROKEN), 1);
    fake_free(all);
}

TEST(more_dead_links_than_are_noted_break_the_machine_once)
{
    struct fake_nodes *all = fake_running("ring:200");

    for (uint32_t rank = 0; rank < 200; rank++) {
        fake_link_dead(all, rank, 0, DEAD_CARRIER);
    }
    fake_wait_ms(all, COLLECT_MS);
    assert_int_equal(fake_told(all, EVENT_LINK_DIED), CONTROLLER_DEAD_LINKS_MAX);
    assert_int_equal(fake_told(all, EVENT_BROKEN), 1);
    fake_free(all);
}

TEST(a_kernel_that_stops_breaks_the_machine)
{
    struct fake_nodes *all = fake_booted("cube:1");
    uint8_t fault[FAULT_BYTES];

    fault_pack(fault, &(struct fault_body){.kind = FAULT_CHECK});
    fake_say(all, 1, PACKET_FAULT, fault, sizeof fault);
    assert_int_equal(fake_event(all, EVENT_KERNEL_FAULT)->rank, 1);
    assert_int_equal(fake_load(all, false), CONTROLLER_BROKEN);
    fake_free(all);
}

/* A reset leaves the carrier: the other ends find that it has started anew. */
TEST(a_reset_node_breaks_the_machine_and_explains_its_links)
{
    struct fake_nodes *all = fake_running("cube:2");

    controller_was_reset(&all->controller, 3, all->now_us);
    fake_link_dead(all, 1, 1, DEAD_RESTARTED);
    fake_link_dead(all, 2, 0, DEAD_CARRIER); /* and this was cut */
    fake_wait_ms(all, COLLECT_MS);
    assert_int_equal(fake_told(all, EVENT_RESET), 1);
    assert_int_equal(fake_told(all, EVENT_LINK_DIED), 1);
    assert_int_equal(fake_event(all, EVENT_LINK_DIED)->rank, 2);
    assert_int_equal(fake_told(all, EVENT_BROKEN), 1);
    assert_int_equal(fake_told(all, EVENT_ENDED), 0);
    fake_free(all);
}

/* In three orders, again and again. */
TEST(when_all_nodes_have_been_reset_the_machine_boots_anew)
{
    static const uint32_t orders[3][3] = {{0, 1, 2}, {2, 1, 0}, {1, 1, 0}};

    for (unsigned i = 0; i < 3; i++) {
        struct fake_nodes *all = fake_running("ring:3");

        for (unsigned k = 0; k < 3; k++) {
            controller_was_reset(&all->controller, orders[i][k], all->now_us);
        }
        if (i == 2) {
            fake_wait_ms(all, COLLECT_MS);
            assert_int_equal(fake_told(all, EVENT_RESTART), 0);
            controller_was_reset(&all->controller, 2, all->now_us);
        }
        fake_settle(all);
        assert_int_equal(fake_event(all, EVENT_RESTART)->phase, i == 2 ? PHASE_READY : PHASE_RUN);
        assert_int_equal(fake_load(all, false), CONTROLLER_BROKEN);
        fake_restart(all);
        assert_false(controller_answered(&all->controller, 0));
        fake_forget(all);
        fake_tell_all_links(all);
        assert_int_equal(fake_told(all, EVENT_BOOTED), 1);
        fake_load_whole(all);
        assert_int_equal(fake_event(all, EVENT_LOADED)->base_ns, 0);
        fake_free(all);
    }
}

static void reset_all(struct fake_nodes *all)
{
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        controller_was_reset(&all->controller, rank, all->now_us);
    }
    fake_settle(all);
    assert_int_equal(fake_told(all, EVENT_RESTART), 1);
    fake_forget(all);
    fake_restart(all);
}

/* What was reset before does not count as reset in the new boot. */
TEST(nodes_that_are_reset_again_in_the_boot_start_again)
{
    struct fake_nodes *all = fake_running("ring:3");

    reset_all(all);
    reset_all(all);
    fake_tell_all_links(all);
    assert_int_equal(fake_told(all, EVENT_BOOTED), 1);
    fake_free(all);
}

/* Who asks must not wait for those who are no more. */
TEST(a_question_is_over_when_the_machine_starts_anew)
{
    struct fake_nodes *all = fake_running("ring:3");

    controller_ask(&all->controller, all->now_us);
    reset_all(all);
    fake_settle(all);
    assert_int_equal(fake_told(all, EVENT_ANSWERED), 1);
    assert_int_equal(fake_sent(all, PACKET_QUERY), 0);
    fake_free(all);
}

TEST(a_reset_mends_neither_a_dead_node_nor_a_cut_cable)
{
    for (unsigned dead = 0; dead < 2; dead++) {
        struct fake_nodes *all = fake_running("ring:3");

        if (dead) {
            controller_node_died(&all->controller, 1, all->now_us);
        } else {
            fake_link_dead(all, 1, 0, DEAD_CARRIER);
        }
        for (uint32_t rank = 0; rank < 3; rank++) {
            controller_was_reset(&all->controller, rank, all->now_us);
        }
        fake_wait_ms(all, COLLECT_MS);
        assert_int_equal(fake_told(all, EVENT_RESTART), 0);
        assert_int_equal(fake_told(all, EVENT_BROKEN), 1);
        fake_free(all);
    }
}

TEST(a_node_that_is_reset_in_the_boot_must_tell_its_links_again)
{
    struct fake_nodes *all = fake_make("ring:3");

    fake_tell_links(all, 0);
    fake_tell_links(all, 1);
    controller_was_reset(&all->controller, 1, all->now_us);
    fake_tell_links(all, 2);
    assert_int_equal(fake_told(all, EVENT_BOOTED), 0);
    assert_int_equal(cables_reported(&all->controller), 2);
    fake_tell_links(all, 1);
    assert_int_equal(fake_told(all, EVENT_BOOTED), 1);
    assert_int_equal(all->controller.resets, 0);
    /* what was before the boot is over does not count */
    controller_was_reset(&all->controller, 0, all->now_us);
    controller_was_reset(&all->controller, 2, all->now_us);
    fake_settle(all);
    assert_int_equal(fake_told(all, EVENT_RESTART), 0);
    fake_free(all);
}

TEST(a_boot_whose_time_is_over_leaves_a_broken_machine)
{
    struct fake_nodes *all = fake_make("ring:3");

    controller_time_out(&all->controller, all->now_us);
    for (uint32_t rank = 0; rank < 3; rank++) {
        fake_tell_links(all, rank);
    }
    assert_int_equal(fake_told(all, EVENT_BOOTED), 0);
    assert_int_equal(fake_load(all, false), CONTROLLER_BROKEN);
    fake_free(all);
}

/* Bytes from nodes are data: whatever kind, length and content. */
TEST(no_packet_of_any_length_is_too_much)
{
    struct fake_nodes *all = fake_running("ring:3");
    uint8_t body[JUNK_MAX];

    for (unsigned kind = 16; kind < 64; kind++) {
        for (unsigned bytes = 0; bytes < sizeof body; bytes += 3) {
            for (unsigned i = 0; i < sizeof body; i++) {
                body[i] = (uint8_t)memory_random(&all->seed);
            }
            all->seed += kind;
            fake_say(all, kind % 3, (uint8_t)kind, body, bytes);
            all->event_count = 0;
        }
    }
    fake_wait_ms(all, COLLECT_MS);
    fake_free(all);
}
