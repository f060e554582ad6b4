/* formats.c - what printf and scanf know: prints lines with C99's length modifiers and with %a. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static void print_list(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    va_start(values, format);
    vfprintf(stdout, format, values);
    va_end(values);
}

int main(void)
{
    char text[80];
    size_t size = 0;
    intmax_t wide = 0;

    printf("print %zu %5zx|%-4zd| %td %jd 100%%z %" PRIu64 " %s\n", sizeof text, (size_t)255,
           (size_t)7, (ptrdiff_t)-3, (intmax_t)1 << 40, UINT64_C(1) << 41, "end");
    snprintf(text, sizeof text, "%zu %.2f %ju %%zu", (size_t)12, 2.5, (uintmax_t)34);
    printf("string %s\n", text);
    int found = sscanf("56 -78 x", "%zu %jd", &size, &wide);
    printf("scan %d: %zu %jd\n", found, size, wide);
    print_list("list %zu %d\n", (size_t)9, 10);
    printf("hexadecimal %.3a %10.1LA %% %d %zu %s\n", 1.5, 2.5L, 12, (size_t)13, "end");
    fprintf(stderr, "error %zu\n", (size_t)11);
    return 0;
}
