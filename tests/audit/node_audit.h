/*
 * node_audit.h - whether a node's flags have missed anything that could move, as router_audit.h.
 *
 * Errors   what is missing fails as a CHECK
 * Context  between two steps
 */
#pragma once

#include <stdbool.h>

struct node;

/* What a node's owner asks once and then forgets can only be audited by what a step has changed. */
struct audit_before {
    bool ready, running, start_due;
};

struct audit_before audit_before_step(const struct node *node);

/* After a step, or a call. */
void audit_node(const struct node *node, const struct audit_before *before);
