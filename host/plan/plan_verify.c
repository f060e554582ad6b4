/*
 * plan_verify.c - ecube plan verify: reads a plan that somebody has written, proves it, and shows
 * what it takes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/command/options.h"
#include "host/plan/plan.h"
#include "host/plan/plan_list.h"

/* The file's profile, unless another one is named; then it must be the file's. */
static int find_profile(const struct plan_file *file, const struct machine_arguments *machine,
                        struct plan_request *request, struct message *message)
{
    const struct machine_arguments defaults = options_machine_defaults();
    bool named = machine->profile != defaults.profile;

    if (options_find_profile(machine, &request->profile, message) != 0) {
        return -1;
    }
    request->profile_name = machine->profile;
    if (!file->has_profile || named) {
        return plan_file_fits(file, &file->named.network, &request->profile, message);
    }
    if (plan_file_fits(file, &file->named.network, &request->profile, message) != 0) {
        request->profile = file->profile;
        request->profile_name = "the file's machine";
    }
    return 0;
}

static int make_request(const struct plan_file *file, const struct plan_verify_wish *wish,
                        struct plan_request *request, struct message *message)
{
    const struct named_plan *named = &file->named;

    *request = (struct plan_request){
        .network = named->network,
        .wish = {.operation = named->operation, .root = named->root, .type = file->type},
        .element_bytes = plan_file_element_bytes(file)};
    network_name(&request->network, request->network_name);
    request->wish.bytes = wish->has_bytes || !file->has_bytes ? wish->bytes : file->bytes;
    if (wish->machine->network != options_machine_defaults().network) {
        struct network network;
        static const struct network_limits limits = {NETWORK_NODES_MAX, "in a plan"};
        if (options_find_network(wish->machine->network, &limits, &network, message) != 0 ||
            plan_file_fits(file, &network, &file->profile, message) != 0) {
            return -1;
        }
    }
    if (request->wish.bytes % request->element_bytes != 0) {
        return message_set(message, "%.60s: %u bytes are no whole elements of %u bytes", file->path,
                           (unsigned)request->wish.bytes, (unsigned)request->element_bytes);
    }
    return find_profile(file, wish->machine, request, message);
}

/* A plan that is what its file calls it is the planner's. */
static void give_name(const struct plan_file *file, const struct plan_request *request,
                      struct plan *plan)
{
    struct plan_wish wish = request->wish;
    struct plan_fault fault;
    struct message message;

    wish.algorithm = file->algorithm;
    wish.profile = &request->profile;
    if (operation_of(wish.operation)->reduces && !wish.type) {
        wish.type = ECUBE_INT32;
    }
    struct plan *own = plan_make(&request->network, &wish, &fault);
    if (own && plan_export_check(own, &message) == 0) {
        struct plan *all = own->invariant ? plan_expand(own) : NULL;
        if (plan_exports_alike(plan, all ? all : own)) {
            plan->algorithm = own->algorithm;
            plan->variant = own->variant;
            free(plan->written);
            free(plan->written_source);
            plan->written = plan->written_source = NULL;
        }
        plan_free(all);
    }
    plan_free(own);
}

int plan_verify(const char *path, const struct plan_verify_wish *wish, struct message *message)
{
    struct plan_request request;
    struct plan_file file;
    struct plan *plan = NULL;

    if (plan_file_read(&file, path, message) != 0) {
        return -1;
    }
    if (make_request(&file, wish, &request, message) == 0) {
        plan = plan_file_prove(&file, request.wish.bytes, request.element_bytes, message);
    }
    if (plan && plan_file_suits(&file, plan, &request.profile, message) != 0) {
        plan_free(plan);
        plan = NULL;
    }
    if (plan) {
        give_name(&file, &request, plan);
        printf("%s is right: %s\n\n", path, plan_promise(plan));
        plan_show(plan, &request);
        printf("digest        %08x\n", (unsigned)plan->digest);
        plan_free(plan);
    }
    plan_file_free(&file);
    return plan ? 0 : -1;
}

const char *plan_promise(const struct plan *plan)
{
    const struct operation *operation = operation_of(plan->operation);

    if (operation->span[SPACE_RECEIVE] == SPAN_NONE) {
        return "nobody leaves before all have entered";
    }
    return operation->reduces ? "every result has each contribution once, and nobody waits for ever"
                              : "every block comes where it belongs, and nobody waits for ever";
}
