/*
 * tell.c - hands events to the owner of a machine, and keeps troubles for its results.
 *
 * `telling` counts how deep we are in somebody's callback. Who would begin or end a job there is
 * stopped by a CHECK in machine.c.
 */
#include "host/console/tell.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/console/message.h"

void tell_event(struct teller *teller, json_t *event)
{
    if (event) {
        teller->telling++;
        teller->emit(teller->context, event);
        teller->telling--;
    }
}

void tell_line(struct teller *teller, const struct line *line)
{
    teller->telling++;
    teller->print(teller->context, line);
    teller->telling--;
}

void tell_progress(struct teller *teller, const char *phase, unsigned done, unsigned total)
{
    tell_event(teller, json_pack("{s:s, s:s, s:i, s:i}", "event", "progress", "phase", phase,
                                 "done", (int)done, "total", (int)total));
}

/* Names of files may hold any bytes. A string for JSON; where the text is no UTF-8, its bytes above
 * 127 become question marks. */
static json_t *to_string(const char text[MESSAGE_MAX])
{
    char copy[MESSAGE_MAX];
    size_t bytes = strlen(text);
    json_t *string = json_stringn(text, bytes);

    if (string) {
        return string;
    }
    for (size_t i = 0; i < bytes; i++) {
        copy[i] = (signed char)text[i] < 0 ? '?' : text[i];
    }
    return json_stringn(copy, bytes);
}

/* Takes over the members. */
static void keep(struct teller *teller, json_t *members, const char *format, va_list arguments)
{
    char text[MESSAGE_MAX];

    vsnprintf(text, sizeof text, format, arguments);
    json_object_set_new(members, "text", to_string(text));
    json_array_append_new(teller->troubles, members);
}

void tell_quietly(struct teller *teller, json_t *members, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    keep(teller, members, format, arguments);
    va_end(arguments);
}

static void emit_trouble(struct teller *teller, json_t *members)
{
    json_t *event = json_copy(members);

    json_object_set_new(event, "event", json_string("trouble"));
    tell_event(teller, event);
}

void tell_trouble(struct teller *teller, json_t *members, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    keep(teller, json_incref(members), format, arguments);
    va_end(arguments);
    emit_trouble(teller, members);
    json_decref(members);
}

void tell_troubles(struct teller *teller, json_t *troubles)
{
    size_t i;
    json_t *members;

    json_array_foreach(troubles, i, members)
    {
        json_array_append(teller->troubles, members);
        emit_trouble(teller, members);
    }
}

json_t *tell_node_members(const char *kind, uint32_t node)
{
    return json_pack("{s:s, s:[i]}", "kind", kind, "nodes", (int)node);
}

void tell_more(struct teller *teller, const char *kind, unsigned count, const char *text)
{
    if (count > 0) {
        tell_trouble(teller,
                     json_pack("{s:s, s:[], s:i}", "kind", kind, "nodes", "count", (int)count),
                     "and %u more %s", count, text);
    }
}
