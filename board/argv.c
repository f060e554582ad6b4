#include "board/argv.h"

#include <stdarg.h>
#include <stdio.h>

#include "drivers/check.h"

void argv_add(struct argv *argv, const char *format, ...)
{
    va_list arguments;
    unsigned room = (unsigned)sizeof argv->text - argv->text_bytes;

    va_start(arguments, format);
    int bytes = vsnprintf(argv->text + argv->text_bytes, room, format, arguments);
    va_end(arguments);
    CHECK(bytes >= 0 && (unsigned)bytes < room && argv->count + 1 < ARGV_WORDS_MAX);
    argv->words[argv->count++] = argv->text + argv->text_bytes;
    argv->words[argv->count] = NULL;
    argv->text_bytes += (unsigned)bytes + 1;
}
