/*
 * fuzz.h - the entry of libFuzzer, and what every target shares.
 *
 * A property that does not hold is a CHECK that fails: it prints its place and aborts, and
 * libFuzzer keeps the input.
 *
 * Source   LLVM 14, docs/LibFuzzer.rst
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { FUZZ_INPUT_MAX = 4096 }; /* longer inputs are slower and find nothing else */

/* Runs one input; 0 always. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
