/*
 * notice.h - lines that the owner of a machine's debug sockets tells whoever has started it.
 *
 *     ready                                     all sockets are served
 *     node 5 running -                          nobody has it
 *     node 5 halted gdb-multiarch (process 77)
 *     node 5 lost openocd (process 123)         told to run where there is no memory: it stands
 *     reset 5                                   through a debugger
 *
 * Errors   notice_parse: false for anything else
 * Context  any; pure
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum notice_kind { NOTICE_READY, NOTICE_NODE, NOTICE_RESET };

enum notice_state { NOTICE_RUNNING, NOTICE_HALTED, NOTICE_LOST };

enum { NOTICE_HOLDER_MAX = 64, NOTICE_LINE_MAX = 128 };

struct notice {
    enum notice_kind kind;
    uint32_t node;
    enum notice_state state;
    char holder[NOTICE_HOLDER_MAX]; /* "-": nobody */
};

/* Writes one line, its end included; its length without the zero behind it. */
unsigned notice_format(const struct notice *notice, char line[NOTICE_LINE_MAX]);

/* Reads one line, with or without its end. */
bool notice_parse(struct notice *notice, const char *line);
