#include "host/console/message.h"

#include <stdarg.h>
#include <stdio.h>

int message_set(struct message *message, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message->text, sizeof message->text, format, arguments);
    va_end(arguments);
    return -1;
}

int message_print(const struct message *message)
{
    fflush(stdout);
    fprintf(stderr, "ecube: %s\n", message->text);
    return STATUS_BAD_INPUT;
}
