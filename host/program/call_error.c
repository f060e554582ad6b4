#include "host/program/call_error.h"

#include <stdio.h>
#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "host/computer/target.h"
#include "reduction/reduction.h"

enum { CALLED = 2 /* the register with its address */ };

struct call_error call_error_of(const struct fault_body *fault)
{
    struct call_error error = {.status = (int32_t)fault->registers[0]};
    uint32_t at = fault->registers[CALLED] - fault->line;

    if (error.status < 0 && ecube_called_name(fault->registers[1])) {
        error.number = fault->registers[1];
        error.given = fault->tail_bytes >= sizeof error.called &&
                      at <= fault->tail_bytes - sizeof error.called;
    }
    if (error.given) {
        memcpy(&error.called, fault->tail + at, sizeof error.called);
        error.given = error.called.number == error.number;
    }
    return error;
}

void call_error_name(const struct call_error *error, char text[CALL_ERROR_TEXT_MAX])
{
    const char *name = ecube_called_name(error->number), *began = NULL;

    if (error->given && error->number >= ECUBE_CALLED_WAIT &&
        error->number <= ECUBE_CALLED_WAIT_SOME) {
        began = ecube_called_name(error->called.began);
    }
    snprintf(text, CALL_ERROR_TEXT_MAX, "%s%s%s", name ? name : "a call of ecube.h",
             began ? " for " : "", began ? began : "");
}

/* Memory ------------------------------------------------------------------------------------- */

static bool lies_outside(uint32_t address, uint64_t bytes)
{
    uint32_t base = target_board()->stack_base, end = target_board()->image_end;

    return bytes > 0 && (address < base || address >= end || bytes > end - address);
}

/* Of memory that is only read `image` is NULL, else it must not be the program's code or constants.
 */
static bool outside_words(const struct image *image, const char *what, uint32_t address,
                          uint64_t bytes, char text[CALL_ERROR_TEXT_MAX])
{
    bool outside = lies_outside(address, bytes);

    if (!outside && (!image || bytes == 0 || address >= image->constants_end ||
                     address + bytes <= image->base)) {
        return false;
    }
    snprintf(text, CALL_ERROR_TEXT_MAX, "%s of %llu bytes at 0x%08x lies %s", what,
             (unsigned long long)bytes, address,
             outside                     ? "outside the program's memory"
             : address < image->code_end ? "in the program's code"
                                         : "in the program's constants");
    return true;
}

/* Messages ----------------------------------------------------------------------------------- */

static bool is_receive(const struct call_error *error)
{
    return error->called.began == ECUBE_CALLED_RECEIVE ||
           error->called.began == ECUBE_CALLED_RECEIVE_START ||
           error->number == ECUBE_CALLED_PROBE || error->number == ECUBE_CALLED_IPROBE;
}

/* The rules of new_message and message_check (node/message.c). */
static bool message_reason(const struct call_error *error, const struct network *network,
                           const struct image *image, char text[CALL_ERROR_TEXT_MAX])
{
    bool receives = is_receive(error);
    unsigned which = error->number == ECUBE_CALLED_SEND_RECEIVE && receives;
    const struct ecube_abi_message *message = &error->called.message[which];

    if (error->status == E_FAULT) {
        return outside_words(receives ? image : NULL, receives ? "receive" : "send", message->data,
                             message->bytes, text);
    }
    if (message->peer < (receives ? ECUBE_ANY : 0) ||
        (message->peer >= 0 && (uint32_t)message->peer >= network->nodes)) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "rank %d of %u", (int)message->peer,
                 (unsigned)network->nodes);
        return true;
    }
    if (message->tag < (receives ? ECUBE_ANY : 0)) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "tag %d is below 0", (int)message->tag);
        return true;
    }
    return false;
}

/* Collectives -------------------------------------------------------------------------------- */

/* The bytes that a space of the call has at this node; of one with tables, in the program's own
 * memory, they are not known: 0. */
static uint64_t space_bytes(const struct ecube_abi_collective *call, const struct network *network,
                            uint32_t rank, enum space space)
{
    const struct operation *operation = operation_of(call->operation);
    uint32_t slots = operation_slots(operation, space, network->nodes, rank, call->root, 1);

    return operation->sized ? 0
                            : operation_slot_at(operation, slots, call->block_bytes,
                                                reduction_element_bytes(call->type), 1);
}

static bool reduction_reason(const struct ecube_abi_collective *call,
                             char text[CALL_ERROR_TEXT_MAX])
{
    const char *type = reduction_type_name(call->type);
    const char *operator_ = reduction_operator_name(call->operator_);

    if (call->operation == ECUBE_ALL_TO_SOME && call->type) {
        snprintf(text, CALL_ERROR_TEXT_MAX,
                 "elements of a node must be a power of two, have bytes, and as many iterations as "
                 "ecube_iterations says at most");
        return true;
    }
    if (!operation_of(call->operation)->reduces ||
        reduction_possible(call->type, call->operator_)) {
        return false;
    }
    if (!type) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "there is no type %u", call->type);
    } else if (!operator_) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "there is no operator %u", call->operator_);
    } else {
        snprintf(text, CALL_ERROR_TEXT_MAX, "%s is not for elements of type %s", operator_, type);
    }
    return true;
}

static bool overlap_reason(const struct ecube_abi_collective *call, const struct network *network,
                           uint32_t rank, char text[CALL_ERROR_TEXT_MAX])
{
    uint64_t send_end = call->send + space_bytes(call, network, rank, SPACE_SEND);
    uint64_t receive_end = call->receive + space_bytes(call, network, rank, SPACE_RECEIVE);
    uint32_t from = call->send > call->receive ? call->send : call->receive;
    uint64_t to = send_end < receive_end ? send_end : receive_end;

    if (operation_of(call->operation)->sized) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "what is sent and what is received overlap");
        return true;
    }
    if (from < to) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "send and receive overlap from 0x%08x to 0x%08x", from,
                 (unsigned)(to - 1));
        return true;
    }
    return false;
}

static bool argument_reason(const struct ecube_abi_collective *call, const struct network *network,
                            uint32_t rank, char text[CALL_ERROR_TEXT_MAX])
{
    const struct operation *operation = operation_of(call->operation);

    if (call->root >= operation_roots(operation, network)) {
        if (operation->parameter == PARAMETER_DIMENSIONS) {
            snprintf(text, CALL_ERROR_TEXT_MAX,
                     "dimensions 0x%x name one that the network does not have", call->root);
        } else if (operation->parameter == PARAMETER_MOVEMENTS) {
            snprintf(text, CALL_ERROR_TEXT_MAX,
                     "its distance is no power of two below the %u nodes, nor - such a one",
                     (unsigned)network->nodes);
        } else {
            snprintf(text, CALL_ERROR_TEXT_MAX, "root %d of %u", (int)call->root,
                     (unsigned)network->nodes);
        }
        return true;
    }
    return reduction_reason(call, text) || overlap_reason(call, network, rank, text);
}

static bool pointer_reason(const struct ecube_abi_collective *call, const struct network *network,
                           const struct image *image, uint32_t rank, char text[CALL_ERROR_TEXT_MAX])
{
    uint32_t table_bytes = network->nodes * (uint32_t)sizeof(struct ecube_block);

    if (operation_of(call->operation)->sized) {
        if (!outside_words(NULL, "table send_blocks", call->send_blocks, table_bytes, text) &&
            !outside_words(NULL, "table receive_blocks", call->receive_blocks, table_bytes, text)) {
            snprintf(text, CALL_ERROR_TEXT_MAX,
                     "a block of send (0x%08x) or receive (0x%08x) lies outside the program's "
                     "memory",
                     call->send, call->receive);
        }
        return true;
    }
    return outside_words(NULL, "send", call->send, space_bytes(call, network, rank, SPACE_SEND),
                         text) ||
           outside_words(image, "receive", call->receive,
                         space_bytes(call, network, rank, SPACE_RECEIVE), text);
}

/* The rules of engine_check_call (collectives/engine_check.c), for the collective that `began`
 * names, which another call may have waited for. What another node cannot do fails here too, with
 * arguments that break none. */
static bool collective_reason(const struct call_error *error, const struct network *network,
                              const struct image *image, uint32_t rank,
                              char text[CALL_ERROR_TEXT_MAX])
{
    struct ecube_abi_collective call = error->called.collective;
    uint32_t began = error->called.began;

    if (began < ECUBE_CALLED_COLLECTIVE || !ecube_called_name(began)) {
        return false;
    }
    call.operation = began - (uint32_t)(began >= ECUBE_CALLED_START ? ECUBE_CALLED_START
                                                                    : ECUBE_CALLED_COLLECTIVE);
    if (error->status == E_ARGUMENT) {
        return argument_reason(&call, network, rank, text);
    }
    return error->status == E_FAULT && pointer_reason(&call, network, image, rank, text);
}

/* What requests end with --------------------------------------------------------------------- */

/* What a transfer that has ended by an error had to do with another rank, or with memory. */
static bool result_reason(const struct call_error *error, char text[CALL_ERROR_TEXT_MAX])
{
    const struct ecube_abi_result *result = &error->called.result;

    switch (error->status) {
    case E_TRUNCATED:
        snprintf(text, CALL_ERROR_TEXT_MAX,
                 "message of %u bytes from rank %d (tag %d), the buffer has %u",
                 (unsigned)result->detail, (int)result->peer, (int)result->tag,
                 (unsigned)result->bytes);
        return true;
    case E_PEER_GONE:
    case E_LINK_DEAD:
        if (result->peer < 0) {
            return false;
        }
        snprintf(text, CALL_ERROR_TEXT_MAX,
                 error->status == E_PEER_GONE ? "the program of rank %d has ended"
                                              : "a link on the way to rank %d is dead",
                 (int)result->peer);
        return true;
    default: return false;
    }
}

static bool request_reason(const struct call_error *error, char text[CALL_ERROR_TEXT_MAX])
{
    unsigned index = error->called.wait.index, count = error->called.wait.count;

    if (error->status != E_ARGUMENT) {
        return false;
    }
    if (error->number == ECUBE_CALLED_CANCEL && error->called.began != 0) {
        const char *began = ecube_called_name(error->called.began);

        snprintf(text, CALL_ERROR_TEXT_MAX, "what %s began is no receive",
                 began ? began : "another call");
    } else if (count > 1) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "request %u of %u is not open", index, count);
    } else {
        snprintf(text, CALL_ERROR_TEXT_MAX, "the request is not open");
    }
    return true;
}

/* The rules of name_output (lib/portable/output.c). */
static bool output_reason(const struct call_error *error, char text[CALL_ERROR_TEXT_MAX])
{
    const struct ecube_abi_message *output = &error->called.message[0];

    if (error->status == E_FULL) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "there is no memory for its table");
        return true;
    }
    return error->status == E_FAULT &&
           outside_words(NULL, "output", output->data, output->bytes, text);
}

/* The rules of name_region (lib/portable/region.c). */
static bool region_reason(const struct call_error *error, char text[CALL_ERROR_TEXT_MAX])
{
    const struct ecube_abi_message *region = &error->called.message[0];

    switch (error->status) {
    case E_FULL:
        snprintf(text, CALL_ERROR_TEXT_MAX, "there are %d regions", (int)ECUBE_REGIONS_MAX);
        return true;
    case E_ARGUMENT:
        snprintf(text, CALL_ERROR_TEXT_MAX,
                 region->bytes == 0 ? "it has no bytes"
                                    : "its name has 1 to %d characters, and no '/'",
                 ECUBE_NAME_MAX - 1);
        return true;
    case E_FAULT: return outside_words(NULL, "region", region->data, region->bytes, text);
    default: return false;
    }
}

/* Those of ecube_region_wait, and of region_wait (node/region.c). */
static bool region_wait_reason(const struct call_error *error, char text[CALL_ERROR_TEXT_MAX])
{
    const char *name = error->called.region;

    if (error->status == E_ARGUMENT) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "there is no region '%.*s'", ECUBE_NAME_MAX - 1, name);
    } else if (error->status == E_FAULT) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "region '%.*s' is no memory that may be written",
                 ECUBE_NAME_MAX - 1, name);
    } else {
        return false;
    }
    return true;
}

bool call_error_reason(const struct call_error *error, const struct network *network,
                       const struct image *image, uint32_t rank, char text[CALL_ERROR_TEXT_MAX])
{
    if (!error->given) {
        return false;
    }
    if (error->called.result.status != 0 && result_reason(error, text)) {
        return true;
    }
    switch (error->number) {
    case ECUBE_CALLED_OUTPUT: return output_reason(error, text);
    case ECUBE_CALLED_REGION: return region_reason(error, text);
    case ECUBE_CALLED_REGION_WAIT: return region_wait_reason(error, text);
    default: break;
    }
    if (error->status == E_FULL && error->called.result.status == 0) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "%d transfers are open", (int)ECUBE_REQUESTS_MAX);
        return true;
    }
    switch (error->number) {
    case ECUBE_CALLED_WAIT:
    case ECUBE_CALLED_TEST:
    case ECUBE_CALLED_WAIT_ALL:
    case ECUBE_CALLED_WAIT_ANY:
    case ECUBE_CALLED_WAIT_SOME:
    case ECUBE_CALLED_CANCEL:
        return error->called.result.status == 0
                   ? request_reason(error, text)
                   : collective_reason(error, network, image, rank, text);
    case ECUBE_CALLED_COMPUTE:
        snprintf(text, CALL_ERROR_TEXT_MAX, "the model clock would pass 2^63 - 1 ns");
        return true;
    case ECUBE_CALLED_REPORT: return false;
    default:
        return error->number >= ECUBE_CALLED_COLLECTIVE
                   ? collective_reason(error, network, image, rank, text)
                   : message_reason(error, network, image, text);
    }
}
