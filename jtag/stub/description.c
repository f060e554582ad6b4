#include "jtag/stub/description.h"

#include <stdlib.h>
#include <string.h>

enum { REGISTER_NUMBER_MAX = 4096 };

/* The text between the quotes of attribute="..."; false when there is none, or no room. */
static bool attribute(const char *element, const char *name, char *value, size_t room)
{
    size_t bytes = strlen(name);

    for (const char *p = strstr(element, name); p; p = strstr(p + 1, name)) {
        const char *end =
            p[-1] == ' ' && strncmp(p + bytes, "=\"", 2) == 0 ? strchr(p + bytes + 2, '"') : NULL;

        if (end && (size_t)(end - p) - bytes - 2 < room) {
            size_t length = (size_t)(end - p) - bytes - 2;

            memcpy(value, p + bytes + 2, length);
            value[length] = '\0';
            return true;
        }
    }
    return false;
}

static void add_register(struct description *description, const char *element)
{
    struct description_register *reg = &description->registers[description->register_count];
    char number[8];

    if (attribute(element, "regnum", number, sizeof number)) {
        description->next_number = (unsigned)strtoul(number, NULL, 10) % REGISTER_NUMBER_MAX;
    }
    if (description->register_count < DESCRIPTION_REGISTERS_MAX &&
        attribute(element, "name", reg->name, sizeof reg->name) &&
        attribute(element, "bitsize", number, sizeof number)) {
        reg->bits = (uint16_t)strtoul(number, NULL, 10);
        reg->number = (uint16_t)description->next_number;
        reg->system = strstr(element, "cp_regs") != NULL;
        description->register_count++;
    }
    description->next_number = (description->next_number + 1) % REGISTER_NUMBER_MAX;
}

static void add_file(struct description *description, const char *element)
{
    if (description->file_count < DESCRIPTION_FILES_MAX &&
        attribute(element, "href", description->files[description->file_count],
                  DESCRIPTION_FILE_NAME_MAX)) {
        description->file_count++;
    }
}

static void end_element(struct description *description)
{
    const char *element = description->element;

    description->element[description->element_bytes] = '\0';
    if (strncmp(element, "<reg ", 5) == 0) {
        add_register(description, element);
    } else if (strncmp(element, "<xi:include ", 12) == 0) {
        add_file(description, element);
    }
    description->element_bytes = 0;
}

/* Comments end with two dashes before the bracket; of what is too long only the end counts. */
static void take(struct description *description, char c)
{
    char *element = description->element;
    unsigned bytes = description->element_bytes;

    if (bytes == 0 && c != '<') {
        return;
    }
    if (bytes == DESCRIPTION_ELEMENT_MAX - 1) {
        memmove(element + 4, element + bytes - 2, 2);
        bytes = 6;
    }
    if (c == '>' && (strncmp(element, "<!--", bytes < 4 ? bytes : 4) != 0 || bytes < 4 ||
                     strncmp(element + bytes - 2, "--", 2) == 0)) {
        description->element_bytes = bytes;
        end_element(description);
        return;
    }
    element[bytes] = c;
    description->element_bytes = bytes + 1;
}

void description_feed(struct description *description, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        take(description, text[i]);
    }
}

const struct description_register *description_find(const struct description *description,
                                                    const char *name)
{
    for (unsigned i = 0; i < description->register_count; i++) {
        if (strcmp(description->registers[i].name, name) == 0) {
            return &description->registers[i];
        }
    }
    return NULL;
}
