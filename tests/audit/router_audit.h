/*
 * router_audit.h - whether a router's masks and flags have missed anything that could move.
 *
 * The checked builds ask after every step (tests/audit/hook.c); the kernel and the tool do not have
 * it. Everything is worked out anew from the states, by a full scan: a flag that is set in vain is
 * fine, one that is missing is a stall.
 *
 * Errors   what is missing, its port and circuit fail as a CHECK
 * Context  between two steps
 */
#pragma once

#include <stdint.h>

struct router;

void audit_router(const struct router *router);

/* Fails with a flag's name, and what it should have been set for; UINT32_MAX: of no port, of no
 * circuit. For those who audit what is built on a router. */
_Noreturn void audit_missing(uint32_t node, const char *flag, const char *why, uint32_t port,
                             uint32_t circuit);
