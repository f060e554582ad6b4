#include "tests/testing.h"

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

/* The next test behind a line. */
static const struct test *next_test(int line)
{
    const struct test *next = NULL;

    for (const struct test *const *at = __start_tests; at != __stop_tests; at++) {
        if ((*at)->line > line && (!next || (*at)->line < next->line)) {
            next = *at;
        }
    }
    return next;
}

int testing_run(void)
{
    static const struct test *test; /* longjmp leaves statics alone */
    static size_t number, failed;

    semihosting_write("1..");
    write_number((uint64_t)(__stop_tests - __start_tests));
    semihosting_write("\n");
    for (test = next_test(0); test; test = next_test(test->line)) {
        bool passed = false;
        if (setjmp(after_failure) == 0) {
            void *state = NULL;
            test->function(&state);
            passed = true;
        } else {
            failed++;
        }
        semihosting_write(passed ? "ok " : "not ok ");
        write_number(++number);
        semihosting_write(" - ");
        semihosting_write(test->name);
        semihosting_write("\n");
    }
    return failed != 0;
}
