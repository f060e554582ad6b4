#include "jtag/daemon/notice.h"

#include <stdio.h>
#include <string.h>

static const char *const states[] = {"running", "halted", "lost"};

unsigned notice_format(const struct notice *notice, char line[NOTICE_LINE_MAX])
{
    int bytes = 0;

    switch (notice->kind) {
    case NOTICE_READY: bytes = snprintf(line, NOTICE_LINE_MAX, "ready\n"); break;
    case NOTICE_RESET:
        bytes = snprintf(line, NOTICE_LINE_MAX, "reset %u\n", (unsigned)notice->node);
        break;
    case NOTICE_NODE:
        bytes = snprintf(line, NOTICE_LINE_MAX, "node %u %s %s\n", (unsigned)notice->node,
                         states[notice->state], notice->holder);
        break;
    }
    return (unsigned)bytes;
}

/* Digits up to the character `end`; what stands behind it, or NULL. */
static const char *parse_number(const char *text, char end, uint32_t *number)
{
    uint64_t value = 0;
    const char *p = text;

    while (*p >= '0' && *p <= '9' && value <= UINT32_MAX) {
        value = 10 * value + (uint64_t)(*p++ - '0');
    }
    if (p == text || *p != end || value > UINT32_MAX) {
        return NULL;
    }
    *number = (uint32_t)value;
    return end ? p + 1 : p;
}

static const char *parse_state(const char *text, enum notice_state *state)
{
    for (unsigned i = 0; i < sizeof states / sizeof states[0]; i++) {
        size_t bytes = strlen(states[i]);

        if (strncmp(text, states[i], bytes) == 0 && text[bytes] == ' ') {
            *state = (enum notice_state)i;
            return text + bytes + 1;
        }
    }
    return NULL;
}

static bool parse_node(struct notice *notice, const char *text)
{
    const char *rest = parse_number(text, ' ', &notice->node);

    rest = rest ? parse_state(rest, &notice->state) : NULL;
    if (!rest || !*rest || strlen(rest) >= NOTICE_HOLDER_MAX) {
        return false;
    }
    memcpy(notice->holder, rest, strlen(rest) + 1);
    return true;
}

bool notice_parse(struct notice *notice, const char *line)
{
    char text[NOTICE_LINE_MAX];
    size_t bytes = strcspn(line, "\n");

    if (bytes >= sizeof text || (line[bytes] == '\n' && line[bytes + 1])) {
        return false;
    }
    memcpy(text, line, bytes);
    text[bytes] = '\0';
    *notice = (struct notice){.kind = NOTICE_READY, .holder = "-"};
    if (strcmp(text, "ready") == 0) {
        return true;
    }
    if (strncmp(text, "reset ", 6) == 0) {
        notice->kind = NOTICE_RESET;
        return parse_number(text + 6, '\0', &notice->node) != NULL;
    }
    notice->kind = NOTICE_NODE;
    return strncmp(text, "node ", 5) == 0 && parse_node(notice, text + 5);
}
