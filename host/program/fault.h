/*
 * fault.h - a node's fault report in words: kind, address, place in the source, registers.
 *
 * Units    as on the link (wire/report.h)
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/program/call_error.h"
#include "host/program/finding.h"
#include "host/program/image.h"
#include "host/console/message.h"
#include "host/program/symbols.h"
#include "network/network.h"
#include "wire/report.h"

enum {
    PLACE_TEXT_MAX = 5 * (SYMBOL_TEXT_MAX + 20), /* five calls */
    FAULT_TEXT_MAX = PLACE_TEXT_MAX + 2 * CALL_ERROR_TEXT_MAX + FINDING_TEXT_MAX + 40,
    FAULT_REGISTER_LINES = 5
};

/* The symbols of a program that stay open between questions: to read them takes long. */
struct fault_symbols {
    struct symbols *symbols;
    bool opened; /* ... or it was tried in vain */
};

void fault_symbols_close(struct fault_symbols *symbols);

/* What a node runs. */
struct fault_code {
    const struct image *image; /* of the program */
    const char *program;       /* ELF files; NULL: there is no program */
    const char *kernel;
    uint32_t data_start, data_end; /* what was loaded for the program to read; equal: nothing */
    const struct network *network;
    struct fault_symbols *symbols; /* of `program`; NULL: they are read for each question */
    /* Where the program of a rank is that was interrupted or ended, and who called it there,
     * innermost first; how many. NULL: what is known is in its report. */
    unsigned (*calls)(void *context, uint32_t rank, uint32_t *addresses, unsigned room);
    void *context;
};

/* What the tool exits with for it. */
int fault_status(const struct fault_code *code, const struct fault_body *fault);

/* An error of a call of ecube.h that has ended a program. */
struct fault_call {
    struct call_error error;
    char name[CALL_ERROR_TEXT_MAX];   /* of the call */
    char reason[CALL_ERROR_TEXT_MAX]; /* "": there is no more to say than the status does */
    char place[PLACE_TEXT_MAX];       /* " in f (a.c:3), called from g (b.c:4)" */
};

/* Of a fault of FAULT_ERROR. */
void fault_of_call(const struct fault_code *code, uint32_t rank, const struct fault_body *fault,
                   struct fault_call *told);

/* The trouble's members, and its text. */
json_t *fault_describe(const struct fault_code *code, uint32_t rank, const struct fault_body *fault,
                       char text[FAULT_TEXT_MAX]);

/* One of what the checking library has found, and where the program was then. */
void fault_finding_text(const struct fault_code *code, uint32_t rank,
                        const struct fault_body *fault, const struct finding *finding,
                        char text[FAULT_TEXT_MAX]);

/* One of FAULT_REGISTER_LINES lines of registers; false: the report has none of them. */
bool fault_registers_text(const struct fault_code *code, uint32_t rank,
                          const struct fault_body *fault, unsigned line, char text[FAULT_TEXT_MAX]);

/* " in f (a.c:3), called from g (b.c:4)", as far as that is known of where a program was
 * interrupted: by its pc and lr, when its calls are not known. */
void fault_place_text(const struct fault_code *code, uint32_t rank, uint32_t pc, uint32_t lr,
                      char text[PLACE_TEXT_MAX]);
