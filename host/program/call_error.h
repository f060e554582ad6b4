/*
 * call_error.h - an error of a call of ecube.h that has ended a program, in words: which call, and
 * which of its arguments breaks which rule.
 *
 * The node sends what the call was given (include/ecube/called.h). The rules are the kernel's, in
 * its order; rank, network and memory are known here, so a node formats nothing.
 *
 * Units    as on the link (wire/report.h)
 * Errors   none: what a program sends may be anything, and is data
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/program/image.h"
#include "include/ecube/called.h"
#include "network/network.h"
#include "wire/report.h"

enum { CALL_ERROR_TEXT_MAX = 240 };

struct call_error {
    int32_t status;
    uint32_t number; /* enum ecube_called_number; 0: it is not known */
    bool given;      /* what the call was given is known: called */
    struct ecube_called called;
};

/* What a fault of FAULT_ERROR tells. */
struct call_error call_error_of(const struct fault_body *fault);

/* "ecube_wait for ecube_send_start" */
void call_error_name(const struct call_error *error, char text[CALL_ERROR_TEXT_MAX]);

/* "rank 99 of 4"; false: what it was given breaks no rule, status_text has all there is to say. */
bool call_error_reason(const struct call_error *error, const struct network *network,
                       const struct image *image, uint32_t rank, char text[CALL_ERROR_TEXT_MAX]);
