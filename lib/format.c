/*
 * format.c - printf and scanf with the length modifiers of C99, z, t and j, and with %a.
 *
 * The C library is built without them: it prints "zu" and takes wrong arguments from there on. The
 * linker puts these functions in front of the library's own (--wrap in ecube-cc); they hand it a
 * format that it knows. size_t and ptrdiff_t are as wide as int here, intmax_t as long long:
 *
 *   "%5zu of %jd\n"  becomes  "%5u of %lld\n"
 *
 * %a, a double in hexadecimal, is printed like %e: the value in decimal, and those after it right.
 *
 * Source   C11, 7.21.6.1 and 7.21.6.2, length modifiers; ld manual, --wrap
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(size_t) == sizeof(int) && sizeof(ptrdiff_t) == sizeof(int),
               "z and t are left out");
_Static_assert(sizeof(intmax_t) == sizeof(long long), "j becomes ll");

/* The library's printf is _vfprintf_r on a file and _svfprintf_r on a string, and with an i where
 * the compiler or the program asks for one without floating point; scanf likewise. */
typedef int format_function(struct _reent *library, FILE *file, const char *format, va_list values);

format_function __real__vfprintf_r, __wrap__vfprintf_r;
format_function __real__vfiprintf_r, __wrap__vfiprintf_r;
format_function __real__svfprintf_r, __wrap__svfprintf_r;
format_function __real__svfiprintf_r, __wrap__svfiprintf_r;
format_function __real___svfscanf_r, __wrap___svfscanf_r;
format_function __real___ssvfscanf_r, __wrap___ssvfscanf_r;
int __wrap_vfprintf(FILE *file, const char *format, va_list values);

/* The first z, t or j that modifies a conversion, or a that is one; NULL when there is none. */
static const char *find_unknown(const char *format)
{
    const char *at = format;

    while ((at = strchr(at, '%')) != NULL) {
        at++;
        at += strspn(at, "-+ #0'123456789.*$");
        if (*at == 'z' || *at == 't' || *at == 'j')
            return at;
        at += strspn(at, "lL");
        if (*at == 'a' || *at == 'A')
            return at;
        if (*at == '%')
            at++; /* a percent sign to print */
    }
    return NULL;
}

/* A copy of the format in the library's words, to be freed; NULL when there is no memory. */
static char *translate(const char *format)
{
    char *plain = malloc(2 * strlen(format) + 1);
    size_t bytes = 0;
    const char *unknown;

    if (!plain)
        return NULL;
    while ((unknown = find_unknown(format)) != NULL) {
        size_t before = (size_t)(unknown - format);
        memcpy(plain + bytes, format, before);
        bytes += before;
        if (*unknown == 'j') {
            memcpy(plain + bytes, "ll", 2);
            bytes += 2;
        } else if (*unknown == 'a' || *unknown == 'A') {
            plain[bytes++] = (char)(*unknown + 'e' - 'a');
        }
        format = unknown + 1;
    }
    strcpy(plain + bytes, format);
    return plain;
}

static int translated(format_function *real, struct _reent *library, FILE *file, const char *format,
                      va_list values)
{
    if (!find_unknown(format))
        return real(library, file, format, values);
    char *plain = translate(format);
    if (!plain) {
        errno = ENOMEM;
        return EOF;
    }
    int done = real(library, file, plain, values);
    free(plain);
    return done;
}

int __wrap__vfprintf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real__vfprintf_r, library, file, format, values);
}

int __wrap__vfiprintf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real__vfiprintf_r, library, file, format, values);
}

int __wrap__svfprintf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real__svfprintf_r, library, file, format, values);
}

int __wrap__svfiprintf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real__svfiprintf_r, library, file, format, values);
}

int __wrap___svfscanf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real___svfscanf_r, library, file, format, values);
}

int __wrap___ssvfscanf_r(struct _reent *library, FILE *file, const char *format, va_list values)
{
    return translated(__real___ssvfscanf_r, library, file, format, values);
}

/* The library's own calls _vfprintf_r inside its object, where nothing can be put in front. */
int __wrap_vfprintf(FILE *file, const char *format, va_list values)
{
    return __wrap__vfprintf_r(_REENT, file, format, values);
}
