/*
 * digest.h - the SHA-256 of data that nodes are sent, or have sent.
 *
 * Context  any thread
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/run.h"

/* False: `stop`, if there is one, became true; it is looked at after each MiB. */
bool digest_of(const uint8_t *data, size_t bytes, const atomic_bool *stop,
               uint8_t digest[DIGEST_BYTES]);
