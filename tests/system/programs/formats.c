/* formats.c - what printf and scanf know: prints lines with C99's length modifiers, wide characters
 * and reals' letters. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

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

/* hh, with the neighbours of the bytes that it writes. */
static void bytes(void)
{
    unsigned char mac[4] = {9, 9, 9, 9};
    signed char count[3] = {9, 9, 9};
    int found = sscanf("fe:7 x", "%hhx:%hhu %hhd", &mac[0], &mac[1], &mac[2]);
    printf("bytes %d: %d %d %d %d\n", found, mac[0], mac[1], mac[2], mac[3]);
    printf("count%hhn\n", &count[1]);
    printf("after %d %d %d\n", count[0], count[1], count[2]);
    int large = 509;
    printf("cut %hhd|%4hhu|%-*hhx| %.1f %lld %s\n", large, large + 2, 3, large + 174, 2.5,
           1LL << 40, "end");
}

static void wide_characters(void)
{
    const wchar_t unended[] = {L'a', L'b', 0x1f600};
    printf("wide %ls|%6ls|%-3ls|%.3ls|%.*ls| %d\n", L"gr\u00fc\u00df", L"\u00e4\u20ac", L"x",
           L"\u00e4\u00e4", 2, unended, 12);
    printf("alone %lc%lc%4lc %zu\n", (wint_t)L'x', (wint_t)0x20ac, (wint_t)0xe9, (size_t)5);
}

static void reals(void)
{
    double high = 0, low = 0;
    int found = sscanf("1.5 -2e3", "%lF %la", &high, &low);
    printf("reals %.2F|%8.1F|%F|%08F %d: %.1f %.1f %d\n", 2.5, -0.25, (double)INFINITY, (double)NAN,
           found, high, low, 12);
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
    reals();
    bytes();
    wide_characters();
    fprintf(stderr, "error %zu\n", (size_t)11);
    return 0;
}
