/*
 * Operations of a debug unit as packets of QEMU's gdbstub.
 */
#include "tests/testing.h"

#include <string.h>

#include "jtag/stub/stub.h"

static struct stub stub;

static const char core_xml[] = "<?xml version=\"1.0\"?><!-- a <reg name=\"no\" bitsize=\"32\"/> -->"
                               "<feature name=\"core\"><reg name=\"r0\" bitsize=\"32\"/>"
                               "<reg name=\"pc\" bitsize=\"32\" regnum=\"15\"/>"
                               "<reg name=\"cpsr\" bitsize=\"32\" regnum=\"25\"/></feature>";
static const char more_xml[] =
    "<reg name=\"d0\" bitsize=\"64\"/>"
    "<reg name=\"SCTLR\" bitsize=\"32\" regnum=\"181\" group=\"cp_regs\"/>"
    "<reg name=\"SCTLR\" bitsize=\"64\"/>";

/* What was sent, framed; it counts as sent. */
static void assert_sent(const char *packet)
{
    char framed[256];
    size_t bytes = packet ? rsp_frame(framed, packet, strlen(packet)) : 0;

    assert_int_equal(stub.out_bytes, bytes);
    assert_memory_equal(stub.out, framed, bytes);
    stub.out_bytes = 0;
}

static enum stub_event answer(const char *packet)
{
    char framed[1024] = "+";
    size_t bytes = 1 + rsp_frame(framed + 1, packet, strlen(packet));
    enum stub_event event;

    assert_int_equal(stub_feed(&stub, framed, bytes, &event), bytes);
    return event;
}

static void answer_file(const char *request, char kind, const char *text)
{
    char packet[1024] = {kind};

    assert_sent(request);
    strcat(packet, text);
    assert_int_equal(answer(packet), STUB_NOTHING);
}

static void end_greeting(void)
{
    assert_sent("Qqemu.PhyMemMode:0");
    assert_int_equal(answer("OK"), STUB_NOTHING);
    assert_sent("Qqemu.sstep=7");
    assert_int_equal(answer("OK"), STUB_NOTHING);
    assert_sent("?");
    assert_int_equal(answer("T05thread:01;"), STUB_READY);
    assert_int_equal(stub.state, STUB_HALTED);
}

static void greet(void)
{
    memset(&stub, 0, sizeof stub);
    stub_open(&stub);
    assert_int_equal(answer("T02thread:01;"), STUB_NOTHING); /* it ran */
    assert_sent("qSupported");
    assert_int_equal(answer("PacketSize=1000"), STUB_NOTHING);
    answer_file("qXfer:features:read:target.xml:0,7f0", 'm',
                "<target><xi:include href=\"a.xml\"/>");
    answer_file("qXfer:features:read:target.xml:22,7f0", 'l', "<xi:include href=\"b.xml\"/></t>");
    answer_file("qXfer:features:read:a.xml:0,7f0", 'l', core_xml);
    answer_file("qXfer:features:read:b.xml:0,7f0", 'l', more_xml);
    end_greeting();
}

static struct core_op op_of(enum core_op_kind kind)
{
    return (struct core_op){.kind = kind};
}

/* An operation that is one packet, and its answer. */
static void assert_done(struct core_op *op, const char *packet, const char *reply)
{
    assert_false(stub_begin(&stub, op));
    assert_sent(packet);
    assert_int_equal(answer(reply), STUB_DONE);
}

TEST(the_description_is_read_once)
{
    greet();
    assert_int_equal(description_find(&stub.description, "r0")->number, 0);
    assert_int_equal(description_find(&stub.description, "cpsr")->number, 25);
    assert_int_equal(description_find(&stub.description, "d0")->number, 26);
    assert_int_equal(description_find(&stub.description, "SCTLR")->number, 181);
    assert_int_equal(description_find(&stub.description, "SCTLR")->bits, 32);
    assert_true(description_find(&stub.description, "SCTLR")->system);
    assert_null(description_find(&stub.description, "no"));
    stub_close(&stub);
    stub_open(&stub);
    assert_sent("qSupported");
    answer("PacketSize=1000");
    answer_file("qXfer:features:read:target.xml:0,1", 'm', "<");
    end_greeting();
}

TEST(registers_are_asked_for_by_name)
{
    struct core_op op = op_of(CORE_READ_REGISTER);

    greet();
    op.name = "SCTLR";
    assert_done(&op, "pb5", "7d18c520");
    assert_false(op.failed);
    assert_int_equal(op.value, 0x20c5187d);
    op.name = "d0";
    assert_done(&op, "p1a", "0807060504030201");
    assert_true(op.value == 0x0102030405060708);
    op.name = "d99";
    assert_true(stub_begin(&stub, &op));
    assert_true(op.failed);
    op = op_of(CORE_WRITE_REGISTER);
    op.name = "cpsr";
    op.value = 0x600001f3;
    assert_done(&op, "P19=f3010060", "OK");
    assert_false(op.failed);
    op.name = "SCTLR"; /* would be answered with OK, and ignored */
    assert_true(stub_begin(&stub, &op));
    assert_true(op.failed);
    assert_sent(NULL);
}

TEST(a_frame_is_the_general_registers_and_cpsr)
{
    struct core_op op = op_of(CORE_READ_FRAME);
    char frame[2 * sizeof op.frame + 1];
    uint32_t values[CORE_FRAME_REGISTERS];

    greet();
    for (unsigned i = 0; i < CORE_FRAME_REGISTERS; i++) {
        values[i] = 0x01020300 + i;
    }
    rsp_to_hex(frame, values, sizeof values);
    assert_done(&op, "g", frame);
    assert_false(op.failed);
    assert_memory_equal(op.frame, values, sizeof values);
    frame[sizeof frame - 3] = '\0';
    assert_done(&op, "g", frame);
    assert_true(op.failed);
}

TEST(memory_and_points)
{
    struct core_op op = op_of(CORE_READ_MEMORY);

    greet();
    op.address = 0xfffffffe;
    op.bytes = 2;
    assert_done(&op, "mfffffffe,2", "3412");
    assert_int_equal(op.value, 0x1234);
    assert_done(&op, "mfffffffe,2", "34");
    assert_true(op.failed);
    assert_done(&op, "mfffffffe,2", "E14");
    assert_true(op.failed);
    op.kind = CORE_WRITE_MEMORY;
    op.value = 0xabcd;
    assert_done(&op, "Mfffffffe,2:cdab", "OK");
    assert_false(op.failed);
    op = (struct core_op){
        .kind = CORE_ADD_POINT, .point = CORE_POINT_WRITE, .address = 0x40000000, .bytes = 4};
    assert_done(&op, "Z2,40000000,4", "OK");
    assert_false(op.failed);
    op.kind = CORE_REMOVE_POINT;
    assert_done(&op, "z2,40000000,4", "E22");
    assert_true(op.failed);
}

TEST(a_node_runs_and_is_halted)
{
    struct core_op op = op_of(CORE_RESUME);
    struct core_op other = op_of(CORE_READ_FRAME);

    greet();
    op.keep = true;
    assert_true(stub_begin(&stub, &op));
    assert_sent("c");
    assert_int_equal(stub.state, STUB_RUNNING);
    assert_true(stub_begin(&stub, &other)); /* a packet would stop it */
    assert_true(other.failed);
    op = op_of(CORE_HALT);
    assert_false(stub_begin(&stub, &op));
    assert_int_equal(stub.out_bytes, 1);
    assert_int_equal(stub.out[0], RSP_BREAK_BYTE);
    stub.out_bytes = 0;
    assert_int_equal(answer("T02thread:01;"), STUB_DONE);
    assert_int_equal(stub.state, STUB_HALTED);
    assert_true(stub_begin(&stub, &op));
    op = op_of(CORE_RESUME); /* for good: QEMU may want the process's number by now */
    assert_done(&op, "D;1", "OK");
    assert_false(op.failed);
}

TEST(why_it_stopped_is_told)
{
    static const struct {
        const char *packet;
        enum core_stop stop;
        uint32_t address;
    } stops[] = {{"T05thread:01;", CORE_STOP_CODE, 0},
                 {"T05thread:01;watch:40000010;", CORE_STOP_DATA, 0x40000010},
                 {"T05thread:p01.01;rwatch:00000000fffffffc;", CORE_STOP_DATA, 0xfffffffc},
                 {"T05thread:01;awatch:4;", CORE_STOP_DATA, 4},
                 {"T02thread:01;", CORE_STOP_OTHER, 0}};

    greet();
    for (unsigned i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        struct core_op op = {.kind = CORE_RESUME, .keep = true};

        assert_true(stub_begin(&stub, &op));
        stub.out_bytes = 0;
        assert_int_equal(answer(stops[i].packet), STUB_STOPPED);
        assert_int_equal(stub.stop, stops[i].stop);
        assert_int_equal(stub.stop_address, stops[i].address);
        assert_int_equal(answer(stops[i].packet), STUB_NOTHING);
    }
}

TEST(steps_and_resets_end_when_they_are_over)
{
    struct core_op op = op_of(CORE_STEP);

    greet();
    assert_done(&op, "s", "T05thread:01;");
    assert_int_equal(stub.state, STUB_HALTED);
    op = op_of(CORE_RESET);
    assert_false(stub_begin(&stub, &op));
    assert_sent("qRcmd,73797374656d5f7265736574");
    assert_int_equal(answer("O0a"), STUB_NOTHING);
    assert_int_equal(answer("T02thread:01;"), STUB_NOTHING);
    assert_int_equal(answer("OK"), STUB_DONE);
    assert_false(op.failed);
}

TEST(packets_are_passed_on_whole)
{
    greet();
    stub.passes = true;
    stub_pass(&stub, "X0,1:}]", 7);
    assert_sent("X0,1:}]");
    assert_int_equal(answer("T05"), STUB_PACKET);
    assert_string_equal(stub.reader.packet, "T05");
}

TEST(nonsense_ends_the_connection)
{
    enum stub_event event;

    greet();
    stub_feed(&stub, "$OK#00", 6, &event);
    assert_int_equal(event, STUB_BROKEN);
    greet();
    assert_int_equal(answer("W00"), STUB_BROKEN);
    greet();
    assert_int_equal(answer("OK"), STUB_NOTHING);
}
