/*
 * crc.h - CRC-32C (reflected 0x1edc6f41) of frame headers and payloads.
 *
 * Castagnoli's polynomial finds every error of up to five bits in 655 bytes and of up to three in
 * 256 MiB, and many processors have an instruction for it; the nodes' processor has none, and goes
 * by tables.
 *
 * Worked example: the nine bytes "123456789" give 0xe3069283.
 *
 * Context  any; pure
 * Source   Castagnoli, Brauer & Herrmann 1993, IEEE Trans. Communications 41(6):883-892;
 *          Koopman 2002, Proc. DSN, table 1 (distances)
 */
#pragma once

#include <stdint.h>

#include "drivers/crc_word.h"

/* The CRC of bytes that continue those which gave `crc`; start with 0. */
uint32_t crc32_add(uint32_t crc, const void *data, uint32_t bytes);
