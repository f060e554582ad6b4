#include "host/plan/plan_list.h"

#include <stdio.h>

#include "planner/choose/ranks.h"

void plan_list_add(const struct option_row *option, char *path, void *target)
{
    struct plan_list *list = target;

    (void)option;
    if (list->count == PLAN_LIST_MAX) {
        command_line_reject("--plan %.200s: at most %d plans", path, PLAN_LIST_MAX);
    }
    list->paths[list->count++] = path;
}

int plan_file_fits(const struct plan_file *file, const struct network *network,
                   const struct profile *profile, struct message *message)
{
    char name[NETWORK_NAME_MAX];

    network_name(network, name);
    if (network_digest(network) != network_digest(&file->named.network)) {
        return message_set(message, "%.60s is a plan for %s, and the machine is %s", file->path,
                           file->network_name, name);
    }
    if (file->has_profile &&
        (file->profile.xi_ns != profile->xi_ns || file->profile.tau_ns != profile->tau_ns ||
         file->profile.element_ns != profile->element_ns)) {
        return message_set(message,
                           "%.60s is a plan for another profile: %u, %u and %u ns, and the machine "
                           "has %u, %u and %u",
                           file->path, (unsigned)file->profile.xi_ns,
                           (unsigned)file->profile.tau_ns, (unsigned)file->profile.element_ns,
                           (unsigned)profile->xi_ns, (unsigned)profile->tau_ns,
                           (unsigned)profile->element_ns);
    }
    uint32_t said = clock_element_bytes(&file->profile), here = clock_element_bytes(profile);
    if (file->has_profile && said != here) {
        return message_set(message,
                           "%.60s is a plan for another profile: its elements have %u bytes, and "
                           "the machine's %u",
                           file->path, (unsigned)said, (unsigned)here);
    }
    return 0;
}

int plan_file_suits(const struct plan_file *file, struct plan *plan, const struct profile *profile,
                    struct message *message)
{
    return plan_suit(plan, profile)
               ? 0
               : message_set(message, "%.60s is for nodes with %u ports, and the machine's have %u",
                             file->path, (unsigned)plan->node_ports, clock_ports(profile));
}

/* A file counts nodes: its blocks are given to those whose ranks programs know. */
static bool take_map(struct plan *plan, const char *path, const struct network *network,
                     struct message *message)
{
    struct plan_fault fault = {.words = ""};

    if (ranks_take(plan, network->map, &fault)) {
        ranks_follow(plan);
        return true;
    }
    message_set(message, "%.60s counts nodes, and is no %s of the ranks of this map: %.200s", path,
                operation_name(plan->operation), fault.words);
    return false;
}

static struct plan *read_one(const char *path, const struct network *network,
                             const struct profile *profile, struct message *message)
{
    struct plan_file file;
    struct plan *plan = NULL;

    if (plan_file_read(&file, path, message) != 0) {
        return NULL;
    }
    if (plan_file_fits(&file, network, profile, message) == 0) {
        plan = plan_file_prove(&file, file.bytes, plan_file_element_bytes(&file), message);
    }
    if (plan && plan_file_suits(&file, plan, profile, message) != 0) {
        plan_free(plan);
        plan = NULL;
    }
    if (plan && file.has_bytes) {
        plan->bytes_min = plan->bytes_max = file.bytes;
    }
    if (plan && network->map && !take_map(plan, path, network, message)) {
        plan_free(plan);
        plan = NULL;
    }
    plan_file_free(&file);
    return plan;
}

/* Whether there are sizes for which both would be used. */
static bool are_rivals(const struct plan *a, const struct plan *b)
{
    return a->operation == b->operation && a->root == b->root && a->bytes_min <= b->bytes_max &&
           b->bytes_min <= a->bytes_max;
}

int plan_list_read(struct plan_list *list, const struct network *network,
                   const struct profile *profile, struct message *message)
{
    char purpose[PLAN_PURPOSE_MAX];

    for (unsigned i = 0; i < list->count; i++) {
        list->plans[i] = read_one(list->paths[i], network, profile, message);
        if (!list->plans[i]) {
            plan_list_free(list);
            return -1;
        }
        for (unsigned j = 0; j < i; j++) {
            if (are_rivals(list->plans[j], list->plans[i])) {
                plan_purpose(list->plans[i], purpose);
                plan_list_free(list);
                return message_set(message, "%.60s and %.60s are both plans of %s", list->paths[j],
                                   list->paths[i], purpose);
            }
        }
    }
    return 0;
}

void plan_list_free(struct plan_list *list)
{
    for (unsigned i = 0; i < list->count; i++) {
        plan_free(list->plans[i]);
        list->plans[i] = NULL;
    }
}

void plan_purpose(const struct plan *plan, char text[PLAN_PURPOSE_MAX])
{
    const struct operation *operation = operation_of(plan->operation);
    char root[24] = "", bytes[60] = "";

    if (operation->rooted) {
        snprintf(root, sizeof root, " with root %u", (unsigned)plan->root);
    }
    if (plan->bytes_min == plan->bytes_max && operation->span[SPACE_RECEIVE] != SPAN_NONE) {
        snprintf(bytes, sizeof bytes, " of %s %u bytes",
                 operation->vector ? "a vector of" : "blocks of", (unsigned)plan->bytes_min);
    }
    snprintf(text, PLAN_PURPOSE_MAX, "%s%s%s", operation->name, bytes, root);
}

void plan_list_unused_text(const struct plan_list *list, unsigned i, char text[MESSAGE_MAX])
{
    char purpose[PLAN_PURPOSE_MAX];

    plan_purpose(list->plans[i], purpose);
    snprintf(text, MESSAGE_MAX, "--plan %.200s was not used: no %s was called for", list->paths[i],
             purpose);
}
