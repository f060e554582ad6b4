/*
 * hook.c - after every step of a router or a node the checked builds audit its flags.
 *
 * The linker gives the calls of these functions to what stands here (--wrap in the Makefile), so no
 * test and no simulation can go without, and what is shipped knows nothing of it.
 */
#include "node/node.h"
#include "router/router.h"
#include "tests/audit/node_audit.h"
#include "tests/audit/router_audit.h"

void __real_router_flush(struct router *router);
bool __real_router_step(struct router *router, uint64_t now_us);
bool __real_node_step(struct node *node, uint64_t now_us);
enum node_verdict __real_node_call(struct node *node, uint64_t now_us, uint32_t number,
                                   const uint32_t arguments[4], int32_t *result);

void __wrap_router_flush(struct router *router);
bool __wrap_router_step(struct router *router, uint64_t now_us);
bool __wrap_node_step(struct node *node, uint64_t now_us);
enum node_verdict __wrap_node_call(struct node *node, uint64_t now_us, uint32_t number,
                                   const uint32_t arguments[4], int32_t *result);

void __wrap_router_flush(struct router *router)
{
    __real_router_flush(router);
    audit_router(router);
}

bool __wrap_router_step(struct router *router, uint64_t now_us)
{
    bool more = __real_router_step(router, now_us);

    audit_router(router);
    return more;
}

bool __wrap_node_step(struct node *node, uint64_t now_us)
{
    struct audit_before before = audit_before_step(node);
    bool more = __real_node_step(node, now_us);

    audit_node(node, &before);
    return more;
}

/* The program knows that it goes on or is over. */
enum node_verdict __wrap_node_call(struct node *node, uint64_t now_us, uint32_t number,
                                   const uint32_t arguments[4], int32_t *result)
{
    enum node_verdict verdict = __real_node_call(node, now_us, number, arguments, result);
    struct audit_before now = audit_before_step(node);

    audit_node(node, &now);
    return verdict;
}
