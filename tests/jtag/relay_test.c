/*
 * A GDB's packets on their way to the stub, and the stub's answers.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

#include "jtag/stub/relay.h"

static struct relay relay;
static char said[4096], asked[4096]; /* to GDB, to the stub: the latter's packets one a line */
static unsigned said_bytes, resets;

static void on_say(void *context, const char *bytes, size_t count)
{
    (void)context;
    assert_true(said_bytes + count < sizeof said);
    memcpy(said + said_bytes, bytes, count);
    said_bytes += (unsigned)count;
    said[said_bytes] = '\0';
}

static void on_ask(void *context, const char *packet, size_t bytes)
{
    (void)context;
    assert_true(strlen(asked) + bytes + 2 < sizeof asked);
    strncat(asked, packet, bytes);
    strcat(asked, "\n");
}

static void on_interrupt(void *context)
{
    (void)context;
    strcat(asked, "interrupt\n");
}

static void on_reset(void *context)
{
    (void)context;
    resets++;
}

static void begin(void)
{
    struct relay_owner owner = {
        .say = on_say, .ask = on_ask, .interrupt = on_interrupt, .was_reset = on_reset};

    relay_init(&relay, &owner);
    said[0] = asked[0] = '\0';
    said_bytes = resets = 0;
}

/* SCTLR is register 0xb5. */
static void begin_attached(bool guarded)
{
    struct relay_guard guard = {
        .guarded = guarded, .ram_base = 0x40000000, .ram_bytes = 0x1000, .control_register = 0xb5};

    begin();
    relay_attach(&relay, &guard);
}

static size_t send_raw(const char *bytes)
{
    said[0] = asked[0] = '\0';
    said_bytes = 0;
    return relay_feed(&relay, bytes, strlen(bytes));
}

static void send(const char *packet)
{
    char framed[256];

    framed[rsp_frame(framed, packet, strlen(packet))] = '\0';
    assert_int_equal(send_raw(framed), strlen(framed));
}

static void answer(const char *packet)
{
    said[0] = asked[0] = '\0';
    said_bytes = 0;
    relay_answer(&relay, packet, strlen(packet));
}

static void assert_said(const char *packet)
{
    char framed[256];

    framed[packet ? rsp_frame(framed, packet, strlen(packet)) : 0] = '\0';
    assert_string_equal(said, framed);
}

TEST(what_gdb_asks_goes_to_the_stub_one_at_a_time)
{
    char two[] = "$g#67$?#3f";

    begin_attached(false);
    assert_int_equal(send_raw(two), 5);
    assert_string_equal(said, "+");
    assert_string_equal(asked, "g\n");
    assert_true(relay_waits(&relay));
    assert_int_equal(send_raw(two + 5), 0);
    answer("0123");
    assert_said("0123");
    assert_false(relay_waits(&relay));
    assert_int_equal(send_raw(two + 5), 5);
    assert_string_equal(asked, "?\n");
    answer("T05thread:01;");
    assert_said("T05thread:01;");
}

TEST(damaged_packets_are_asked_for_and_answers_repeated)
{
    begin_attached(false);
    assert_int_equal(send_raw("$g#68"), 5);
    assert_string_equal(said, "-");
    assert_string_equal(asked, "");
    send("g");
    answer("0123");
    send_raw("-");
    assert_said("0123");
}

TEST(it_is_known_whether_the_node_runs)
{
    static const char *const runs[] = {"c", "C05", "vCont;c", "vCont;c:p1.-1"};
    static const char *const steps[] = {"s", "vCont;s:p1.1;c:p1.-1"};

    begin_attached(false);
    for (unsigned i = 0; i < 6; i++) {
        send(i < 4 ? runs[i] : steps[i - 4]);
        assert_int_equal(relay.state, RELAY_RUNNING);
        assert_int_equal(relay.kind, i < 4 ? RELAY_RUN : RELAY_STEP);
        assert_string_equal(said, "+");
        send_raw("\x03");
        assert_string_equal(asked, "interrupt\n");
        send("g"); /* none should come now */
        assert_string_equal(asked, "");
        assert_int_equal(relay.state, RELAY_RUNNING);
        answer("T02thread:01;");
        assert_said("T02thread:01;");
        assert_int_equal(relay.state, RELAY_HALTED);
    }
    send("vCont?");
    assert_int_equal(relay.state, RELAY_ASKED);
    answer("vCont;c;C;s;S");
    send("vCont;c");
    answer("E22");
    assert_int_equal(relay.state, RELAY_HALTED);
}

TEST(late_news_of_a_stop_do_not_come_between)
{
    begin_attached(false);
    answer("T02thread:01;");
    assert_said(NULL);
    send("g");
    answer("T02thread:01;");
    assert_said(NULL);
    answer("0123");
    assert_said("0123");
}

TEST(a_monitors_words_come_before_its_answer)
{
    begin_attached(false);
    send("qRcmd,73797374656d5f7265736574");
    answer("O4142");
    assert_said("O4142");
    assert_int_equal(resets, 0);
    answer("OK");
    assert_said("OK");
    assert_int_equal(resets, 1);
    send("qRcmd,41");
    answer("OK");
    assert_int_equal(resets, 1);
}

TEST(a_node_is_let_go_when_the_stub_has_said_so)
{
    begin_attached(false);
    send("D;1");
    answer("E22");
    assert_int_equal(relay.state, RELAY_HALTED);
    send("D;1");
    assert_string_equal(asked, "D;1\n");
    answer("OK");
    assert_said("OK");
    assert_int_equal(relay.state, RELAY_OVER);
    send("g");
    assert_string_equal(asked, "");
}

TEST(nothing_is_taken_before_the_stub_is_there)
{
    begin();
    assert_int_equal(send_raw("$g#67"), 0);
}

TEST(who_is_refused_hears_why_in_one_line)
{
    begin();
    relay_refuse(&relay, "node 5 is held by gdb (process 7)");
    assert_int_equal(send_raw("+$g#67"), 6);
    assert_non_null(strstr(said, "$E.node 5 is held by gdb (process 7)#"));
    send("qSupported:multiprocess+");
    assert_string_equal(said, "+$#00");
    send("vMustReplyEmpty");
    assert_non_null(strstr(said, "$node 5 is held by gdb (process 7)#"));
    assert_string_equal(asked, "");
}

/* Answers the question for the program counter, and if need be the one for SCTLR. */
static void run_guarded(const char *packet, const char *place, const char *control)
{
    send(packet);
    assert_string_equal(asked, "pf\n");
    answer(place);
    if (control) {
        assert_string_equal(asked, "pb5\n");
        answer(control);
    }
}

TEST(a_node_does_not_run_where_nothing_is)
{
    static const char *const runs[] = {"c", "vCont;c", "s", "vCont;s:1;c"};

    begin_attached(true);
    for (unsigned i = 0; i < 4; i++) {
        run_guarded(runs[i], "00000000", "7800c500");
        assert_string_equal(asked, "");
        assert_said(NULL);
        assert_int_equal(relay.state, RELAY_LOST);
        assert_true(relay.lost);
        send("g");
        assert_string_equal(asked, "");
        send_raw("\x03");
        assert_said("T02thread:01;");
        assert_int_equal(relay.state, RELAY_HALTED);
        assert_false(relay.lost);
    }
    run_guarded("c", "00100040", "7800c500"); /* the first byte behind the memory */
    assert_int_equal(relay.state, RELAY_LOST);
    send("D");
    assert_non_null(strstr(said, "$OK#9a"));
    assert_int_equal(relay.state, RELAY_OVER);
    assert_true(relay.lost);
}

TEST(a_detached_node_stands_where_nothing_is)
{
    begin_attached(true);
    run_guarded("D;1", "00000000", "7800c500");
    assert_said("OK");
    assert_string_equal(asked, "");
    assert_int_equal(relay.state, RELAY_OVER);
    assert_true(relay.lost);
}

TEST(a_node_runs_where_memory_is_or_may_be)
{
    begin_attached(true);
    run_guarded("vCont;c", "fc0f0040", NULL); /* the last word of the memory */
    assert_string_equal(asked, "vCont;c\n");
    assert_int_equal(relay.state, RELAY_RUNNING);
    answer("T05thread:01;");
    run_guarded("vCont;s", "00000000", "7900c500"); /* the MMU is on */
    assert_string_equal(asked, "vCont;s\n");
    assert_int_equal(relay.state, RELAY_RUNNING);
    answer("T05thread:01;");
    run_guarded("D", "00000040", NULL);
    assert_string_equal(asked, "D\n");
    answer("OK");
    assert_int_equal(relay.state, RELAY_OVER);
    assert_false(relay.lost);
}
