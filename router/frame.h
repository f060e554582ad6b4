/*
 * frame.h - frame headers and HELLO payloads to and from bytes (layout: frame_wire.h).
 *
 * Context  any; pure
 */
#pragma once

#include <stdbool.h>

#include "router/frame_wire.h"

/* Writes the 24 bytes of a header, check included. */
void frame_pack(uint8_t *bytes, const struct frame *frame);

/* Reads a header; false when sync or check is wrong: the bytes are not a header. */
bool frame_unpack(const uint8_t *bytes, struct frame *frame);

void hello_pack(uint8_t *bytes, const struct hello *hello);
void hello_unpack(const uint8_t *bytes, struct hello *hello);
