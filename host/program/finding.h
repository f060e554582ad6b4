/*
 * finding.h - what the checking library has found in a program, in words.
 *
 * Units    as on the node (wire/finding.h)
 */
#pragma once

#include <stdint.h>

#include "arch/processor.h"
#include "host/program/symbols.h"
#include "wire/finding.h"
#include "wire/report.h"

enum { FINDING_TEXT_MAX = 2 * SYMBOL_TEXT_MAX + 250 };

/* The findings that the program of a fault has put on its stack; how many, 0 to FINDINGS_MAX, and
 * in *more how many there were besides. */
unsigned finding_list(const struct fault_body *fault, struct finding list[FINDINGS_MAX],
                      uint32_t *more);

/* "overrun": for programs; it never changes. */
const char *finding_name(const struct finding *finding);

/* "a block of 16 bytes, allocated in main (a.c:6), was written ..."; of a program for
 * this processor. symbols may be NULL. */
void finding_text(const struct finding *finding, const struct processor *processor,
                  struct symbols *symbols, char text[FINDING_TEXT_MAX]);
