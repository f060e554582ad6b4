/*
 * state.h - everything a controller knows; for those who give it a place, and for those who look.
 *
 * A node takes at most CONTROLLER_NODE_BYTES, whatever the machine's size.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "router/state.h"

enum controller_phase { PHASE_BOOT, PHASE_READY, PHASE_DOWNLOAD, PHASE_LOADED, PHASE_RUN };
enum { CONTROLLER_NODE_BYTES = 128, FAILURE_COLLECT_MS = 300 };
