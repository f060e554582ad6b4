/*
 * unwind_test.c - the way back from a fault to main: with frames that are described and others that
 * are not, and with registers and stacks that lie.
 *
 * The program: main at 0x1000 calls f at 0x1100, f calls g at 0x1200, g runs. A function that is
 * described pushes lr and three words behind it; g may be described or not.
 */
#include <string.h>

#include "host/program/unwind.h"
#include "tests/testing.h"
#include "wire/bytes.h"

enum {
    BASE = 0x1000,
    MAIN = 0x1000,
    F = 0x1100,
    G = 0x1200,
    END = 0x1300,
    IN_MAIN = MAIN + 0x20, /* return addresses, without the bit that says Thumb */
    IN_F = F + 0x30,
    IN_G = G + 8,
    STACK = 0x8000,
    FRAME_BYTES = 16,
    WORDS = 64,
    ROOM = 8
};

struct program {
    uint8_t code[END - BASE], stack[4 * WORDS];
    uint32_t registers[PROCESSOR_REGISTERS], addresses[ROOM];
    struct image image;
    struct unwind unwind;
};

static bool g_is_described;

uint32_t symbols_function(struct symbols *symbols, uint32_t address)
{
    (void)symbols;
    return address >= BASE && address < END ? (address & ~0xffU) | 1 : 0;
}

bool symbols_frame(struct symbols *symbols, uint32_t address, struct symbol_frame *frame)
{
    (void)symbols;
    memset(frame, 0, sizeof *frame);
    frame->cfa_register = 13;
    frame->cfa_offset = FRAME_BYTES;
    frame->registers[14].kept = REGISTER_SAVED;
    frame->registers[14].offset = -4;
    return address < G || g_is_described;
}

/* g is of the library. */
unsigned symbols_places(struct symbols *symbols, uint32_t address, struct symbol_place *places,
                        unsigned room)
{
    (void)symbols;
    assert_true(room > 0);
    *places = (struct symbol_place){.library = address >= G};
    return address >= BASE && address < END;
}

/* BL, encoding T1, before a return address. */
static void put_call(struct program *p, uint32_t after, uint32_t target)
{
    uint32_t distance = target - after, sign = distance >> 31; /* less than 4 MiB: J1 = J2 = 1 */
    uint8_t *at = p->code + after - 4 - BASE;

    put16(at, (uint16_t)(0xf000 | sign << 10 | (distance >> 12 & 0x3ff)));
    put16(at + 2, (uint16_t)(0xf800 | (distance >> 1 & 0x7ff)));
}

static void put_word(struct program *p, unsigned number, uint32_t word)
{
    put32(p->stack + 4 * number, word);
}

/* g has just begun, or has pushed `pushed` words of no use; f's frame lies above, then main's. */
static void begin(struct program *p, bool described, unsigned pushed)
{
    memset(p, 0, sizeof *p);
    g_is_described = described;
    put_call(p, IN_MAIN, F);
    put_call(p, IN_F, G);
    p->image = (struct image){.base = BASE, .bytes = sizeof p->code, .data = p->code};
    p->registers[13] = STACK;
    p->registers[14] = IN_F | 1;
    p->registers[15] = IN_G;
    put_word(p, pushed + FRAME_BYTES / 4 - 1, IN_MAIN | 1);
    p->unwind = (struct unwind){.image = &p->image,
                                .registers = p->registers,
                                .stack_start = STACK,
                                .stack_bytes = sizeof p->stack,
                                .stack = p->stack};
}

static void expect(struct program *p, const uint32_t *addresses, unsigned count)
{
    assert_int_equal(unwind(&p->unwind, p->addresses, ROOM), count);
    assert_memory_equal(p->addresses, addresses, count * sizeof *addresses);
}

static const uint32_t all[] = {IN_G, IN_F - 2, IN_MAIN - 2};

TEST(a_described_function_keeps_its_return_address_in_its_frame)
{
    struct program p;

    begin(&p, true, FRAME_BYTES / 4);
    put_word(&p, FRAME_BYTES / 4 - 1, IN_F | 1);
    p.registers[14] = 0;
    expect(&p, all, 3);
}

TEST(of_another_lr_tells_who_called_it_whatever_it_has_pushed)
{
    struct program p;

    for (unsigned pushed = 0; pushed <= 16; pushed++) {
        begin(&p, false, pushed);
        expect(&p, all, 3);
        put32(p.code + IN_MAIN - 4 - BASE, 0x47800000); /* main calls by pointer: BLX r0 */
        expect(&p, all, 3);
    }
}

TEST(where_lr_has_been_used_the_stack_tells)
{
    struct program p;

    begin(&p, false, 5);
    p.registers[14] = 1234;
    put_word(&p, 4, IN_F | 1);
    expect(&p, all, 3);
}

TEST(where_the_stack_has_run_over_lr_tells)
{
    struct program p;

    begin(&p, true, 0);
    p.registers[13] = STACK - 4096;
    expect(&p, all, 2);
    p.unwind.stack_bytes = 0;
    expect(&p, all, 2);
}

TEST(a_call_of_nothing_is_told_by_lr)
{
    struct program p;

    begin(&p, true, 0);
    p.registers[15] = 0;
    const uint32_t addresses[] = {0, IN_F - 2, IN_MAIN - 2};
    expect(&p, addresses, 3);
}

/* f's return address was overwritten, and it has returned; g, which it had called, had called on.
 * What g had pushed lies below the stack pointer, and below that what was there before. */
TEST(a_return_to_nothing_is_told_by_what_had_been_called)
{
    enum { POPPED = 20 };
    struct program p;

    begin(&p, true, 0);
    put_call(&p, IN_G, G + 0x40);
    p.registers[13] = STACK + 4 * POPPED;
    p.registers[14] = IN_G | 1;
    p.registers[15] = 0x41414140;
    put_word(&p, FRAME_BYTES / 4 - 1, IN_MAIN | 1);
    put_word(&p, POPPED - 6, IN_F | 1);
    put_word(&p, POPPED - 3, IN_G | 1); /* of the library: on */
    put_word(&p, POPPED - 1, 0x41414141);
    put_word(&p, POPPED, IN_MAIN | 1);
    const uint32_t addresses[] = {0x41414140, IN_F - 2};
    expect(&p, addresses, 2);
    put_word(&p, POPPED - 6, 0);
    put_word(&p, FRAME_BYTES / 4 - 1, 0);
    const uint32_t by_lr[] = {0x41414140, IN_G - 2}; /* nothing else is known */
    assert_true(unwind(&p.unwind, p.addresses, ROOM) >= 2);
    assert_memory_equal(p.addresses, by_lr, sizeof by_lr);
}

TEST(a_return_address_without_a_call_before_it_counts_for_nothing)
{
    struct program p;

    begin(&p, true, FRAME_BYTES / 4);
    put_word(&p, FRAME_BYTES / 4 - 1, (F + 0x40) | 1);
    p.registers[14] = (F + 0x50) | 1;
    expect(&p, all, 1);
    put_word(&p, FRAME_BYTES / 4 - 1, 0xfffffffe); /* nor one outside of the program */
    p.registers[14] = BASE | 1;
    expect(&p, all, 1);
}

/* f's return address says that f called it, for ever. */
TEST(a_stack_that_never_ends_gives_as_many_as_there_is_room_for)
{
    struct program p;

    begin(&p, true, 0);
    put_call(&p, IN_F, F);
    for (unsigned i = 0; i < WORDS; i++) {
        put_word(&p, i, IN_F | 1);
    }
    assert_int_equal(unwind(&p.unwind, p.addresses, ROOM), ROOM);
    assert_int_equal(p.addresses[ROOM - 1], IN_F - 2);
}
