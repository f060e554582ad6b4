/*
 * duration.h - times as they stand on the command line: 5us, 1.5ms, 20s, 10m, 1h.
 *
 * Every option that takes a time reads it here. Where a number alone has a meaning, the option says
 * which unit it stands for.
 *
 * Units    ns
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { DURATION_NEEDS_UNIT = 0 };

static const uint64_t duration_us_ns = 1000;
static const uint64_t duration_ms_ns = 1000 * 1000;
static const uint64_t duration_s_ns = 1000 * 1000 * 1000;

/*
 * Reads a number of 0 or more with its unit (ns, us, ms, s, m, h), rounded to ns. A number alone
 * counts plain_ns each, or is none where that is DURATION_NEEDS_UNIT. False when the text is no
 * time or not within low_ns and high_ns.
 */
bool duration_parse(const char *text, uint64_t plain_ns, uint64_t low_ns, uint64_t high_ns,
                    uint64_t *ns);
