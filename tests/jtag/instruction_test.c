/*
 * Which instructions of debug state are known, and which are kept away from the processor.
 */
#include "tests/testing.h"

#include "jtag/core/instruction.h"

static enum instruction_kind kind_of(uint32_t code)
{
    return instruction_decode(code).kind;
}

TEST(what_debuggers_use_is_known)
{
    static const struct {
        uint32_t code;
        enum instruction_kind kind;
        uint8_t rt, rn;
    } known[] = {
        {0xee100e15, INSTRUCTION_FROM_DCC, 0, 0},     {0xee10ee15, INSTRUCTION_FROM_DCC, 14, 0},
        {0xee001e15, INSTRUCTION_TO_DCC, 1, 0},       {0xe1a0000f, INSTRUCTION_MOVE, 0, 15},
        {0xe1a0f000, INSTRUCTION_MOVE, 15, 0},        {0xe12fff10, INSTRUCTION_EXCHANGE, 0, 0},
        {0xe10f0000, INSTRUCTION_READ_STATUS, 0, 0},  {0xe14f0000, INSTRUCTION_READ_STATUS, 0, 0},
        {0xe12ff000, INSTRUCTION_WRITE_STATUS, 0, 0}, {0xe16ff000, INSTRUCTION_WRITE_STATUS, 0, 0},
        {0xe4901004, INSTRUCTION_LOAD, 1, 0},         {0xe0d010b2, INSTRUCTION_LOAD, 1, 0},
        {0xe4d01001, INSTRUCTION_LOAD, 1, 0},         {0xe4801004, INSTRUCTION_STORE, 1, 0},
        {0xe0c010b2, INSTRUCTION_STORE, 1, 0},        {0xe4c01001, INSTRUCTION_STORE, 1, 0},
        {0xecb05e01, INSTRUCTION_LOAD_DCC, 0, 0},     {0xeca05e01, INSTRUCTION_STORE_DCC, 0, 0},
        {0xee110f10, INSTRUCTION_READ, 0, 0},         {0xee010f10, INSTRUCTION_WRITE, 0, 0},
        {0xee300f30, INSTRUCTION_CONSTANT, 0, 0},     {0xee070f95, INSTRUCTION_NOTHING, 0, 0},
        {0xee070f3e, INSTRUCTION_NOTHING, 0, 0},      {0xf57ff06f, INSTRUCTION_NOTHING, 0, 0},
        {0xe320f003, INSTRUCTION_NOTHING, 0, 0},      {0xeef10a10, INSTRUCTION_READ, 0, 0},
        {0xeee10a10, INSTRUCTION_WRITE, 0, 0},        {0xec510b3f, INSTRUCTION_READ_DOUBLE, 0, 1},
        {0xec410b10, INSTRUCTION_WRITE_DOUBLE, 0, 1},
    };

    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct instruction instruction = instruction_decode(known[i].code);
        assert_int_equal(instruction.kind, known[i].kind);
        if (instruction.kind != INSTRUCTION_NOTHING) {
            assert_int_equal(instruction.rt, known[i].rt);
            assert_int_equal(instruction.rn, known[i].rn);
        }
    }
}

TEST(details_of_an_instruction_are_found)
{
    assert_int_equal(instruction_decode(0xe4901004).bytes, 4);
    assert_int_equal(instruction_decode(0xe4901004).step, 4);
    assert_int_equal(instruction_decode(0xe41010ff).step, (uint32_t)-255);
    assert_int_equal(instruction_decode(0xe0d010b2).bytes, 2);
    assert_int_equal(instruction_decode(0xe0d011b2).step, 18);
    assert_int_equal(instruction_decode(0xe4d01001).bytes, 1);
    assert_int_equal(instruction_decode(0xecb05e02).step, 8);
    assert_true(instruction_decode(0xe14f0000).spsr);
    assert_false(instruction_decode(0xe10f0000).spsr);
    assert_int_equal(instruction_decode(0xe12ff000).mask, 0xffffffff);
    assert_int_equal(instruction_decode(0xe121f000).mask, 0xff);
    assert_int_equal(instruction_decode(0xec510b3f).special, REGISTER_D0 + 31);
    assert_int_equal(instruction_decode(0xee150f10).special, REGISTER_DFSR);
    assert_int_equal(instruction_decode(0xee300f30).value, 0);
    assert_int_equal(instruction_decode(0xee100fb0).value, 0x80000000);
}

TEST(what_would_lead_the_processor_away_is_refused)
{
    static const uint32_t refused[] = {0xea000000, 0xeb000000, 0xfa000000, 0xef000000, 0xe1200070,
                                       0xe1600070, 0xe1400070, 0xe160006e, 0xe8bd8000, 0xe8fd8000,
                                       0xe8d07fff, 0xe59ff000, 0xe49df004, 0xe1b0f00e, 0xe08ff001,
                                       0xf1020013, 0xf8bd0a00, 0xf96d0513, 0xe321f013, 0xe12fff30,
                                       0x012fff10, 0xee10fe15, 0xee11ff10};

    for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_int_equal(kind_of(refused[i]), INSTRUCTION_REFUSED);
    }
}

TEST(the_others_are_the_processors)
{
    static const uint32_t native[] = {0xe2800001, 0xe0010392, 0xe8b01ffe, 0xe8800006, 0xe5901004,
                                      0xe5801004, 0xee000f15, 0xee070f18, 0xee080f17, 0xee020f10,
                                      0xf2200150, 0xf4200a8f, 0xec510f04, 0xe1c020d0};

    for (unsigned i = 0; i < sizeof native / sizeof native[0]; i++) {
        assert_int_equal(kind_of(native[i]), INSTRUCTION_NATIVE);
    }
}
