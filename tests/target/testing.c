#include "tests/target/testing.h"

#include <setjmp.h>

#include "drivers/check.h"
#include "drivers/semihosting.h"

enum { DIGITS_MAX = 20 };

static jmp_buf after_failure;

static void write_number(uint64_t number)
{
    char text[DIGITS_MAX + 1];
    char *first = text + DIGITS_MAX;
    *first = 0;
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    semihosting_write(first);
}

void testing_note_number(const char *text, uint64_t number)
{
    semihosting_write("# ");
    semihosting_write(text);
    write_number(number);
    semihosting_write("\n");
}

static void write_place(const char *file, int line, const char *what)
{
    semihosting_write("# ");
    semihosting_write(file);
    semihosting_write(":");
    write_number((uint64_t)line);
    semihosting_write(": ");
    semihosting_write(what);
    semihosting_write("\n");
}

_Noreturn void testing_fail(const char *file, int line, const char *what)
{
    write_place(file, line, what);
    longjmp(after_failure, 1);
}

_Noreturn void testing_differ(const char *file, int line, const char *what, uint64_t a, uint64_t b)
{
    write_place(file, line, what);
    semihosting_write("# ");
    write_number(a);
    semihosting_write(" is not ");
    write_number(b);
    semihosting_write("\n");
    longjmp(after_failure, 1);
}

_Noreturn void check_failed(const char *file, int line, const char *what)
{
    testing_fail(file, line, what);
}

int testing_run(const struct CMUnitTest *tests, size_t count)
{
    static size_t index, failed; /* longjmp leaves statics alone */
    semihosting_write("1..");
    write_number(count);
    semihosting_write("\n");
    for (index = 0, failed = 0; index < count; index++) {
        bool passed = false;
        if (setjmp(after_failure) == 0) {
            void *state = NULL;
            tests[index].function(&state);
            passed = true;
        } else {
            failed++;
        }
        semihosting_write(passed ? "ok " : "not ok ");
        write_number(index + 1);
        semihosting_write(" - ");
        semihosting_write(tests[index].name);
        semihosting_write("\n");
    }
    return failed == 0 ? 0 : 1;
}
