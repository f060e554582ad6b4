/*
 * plan_verify.c - ecube plan verify: reads a plan that somebody has written, proves it, and shows
 * what it takes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/command/options.h"
#include "host/console/fold.h"
#include "host/plan/plan.h"
#include "host/plan/plan_list.h"

/* The file's profile, unless another one is named; then it must be the file's. */
static int find_profile(const struct plan_file *file, const struct machine_arguments *machine,
                        struct plan_command *command, struct message *message)
{
    const struct machine_arguments defaults = options_machine_defaults();
    bool named = machine->profile != defaults.profile;

    if (options_find_profile(machine, NULL, &command->profile, command->profile_name, message) !=
        0) {
        return -1;
    }
    if (!machine->ports.count && file->named.node_ports) {
        command->profile.ports = file->named.node_ports;
    }
    if (!file->has_profile || named) {
        return plan_file_fits(file, &file->named.network, &command->profile, message);
    }
    if (plan_file_fits(file, &file->named.network, &command->profile, message) != 0) {
        command->profile = file->profile;
        snprintf(command->profile_name, PROFILE_NAME_MAX, "the file's machine");
    }
    return 0;
}

static int make_command(const struct plan_file *file, const struct plan_verify_request *request,
                        struct plan_command *command, struct message *message)
{
    const struct named_plan *named = &file->named;

    *command = (struct plan_command){
        .network = named->network,
        .request = {.operation = named->operation, .root = named->root, .type = file->type},
        .element_bytes = plan_file_element_bytes(file)};
    network_name(&command->network, command->network_name);
    command->request.bytes = request->has_bytes || !file->has_bytes ? request->bytes : file->bytes;
    if (request->machine->network != options_machine_defaults().network) {
        struct network network;
        static const struct network_limits limits = {NETWORK_NODES_MAX, "in a plan"};
        if (options_find_network(request->machine->network, &limits, &network, message) != 0 ||
            plan_file_fits(file, &network, &file->profile, message) != 0) {
            return -1;
        }
    }
    if (command->request.bytes % command->element_bytes != 0) {
        return message_set(message, "%.60s: %u bytes are no whole elements of %u bytes", file->path,
                           (unsigned)command->request.bytes, (unsigned)command->element_bytes);
    }
    return find_profile(file, request->machine, command, message);
}

/* A plan that is what its file calls it is the planner's. */
static void give_name(const struct plan_file *file, const struct plan_command *command,
                      struct plan *plan)
{
    struct plan_request request = command->request;
    struct plan_fault fault;
    struct message message;

    request.algorithm = file->algorithm;
    request.profile = &command->profile;
    if (operation_of(request.operation)->reduces && !request.type) {
        request.type = ECUBE_INT32;
    }
    struct plan *own = plan_make(&command->network, &request, &fault);
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

int plan_verify(const char *path, const struct plan_verify_request *request,
                struct message *message)
{
    struct plan_command command;
    struct plan_file file;
    struct plan *plan = NULL;
    struct message odd;

    if (plan_file_read(&file, path, message) != 0) {
        return -1;
    }
    if (make_command(&file, request, &command, message) == 0) {
        plan = plan_file_prove(&file, command.request.bytes, command.element_bytes, message);
        odd = *message;
    }
    if (plan && plan_file_suits(&file, plan, &command.profile, message) != 0) {
        plan_free(plan);
        plan = NULL;
    }
    if (plan) {
        printf("%s is right: %s\n", path, plan_promise(plan));
        if (*odd.text) {
            printf("%codd: %s\n", FOLD_HANG, odd.text);
        }
        puts("");
        give_name(&file, &command, plan);
        plan_show(plan, &command);
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
