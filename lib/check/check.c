/*
 * check.c - stands between the library and the kernel: every call of a program passes here (--wrap
 * of ecube_call), so no call of ecube.h is left out.
 *
 *     INFO                        the heap becomes the checked one
 *     SEND RECEIVE COLLECTIVE     the transfer's memory must not clash with that of open ones
 *     WAIT TEST WAIT_ANY          of one that is complete: what it sent is what it was
 *     OUTPUT                      the memory of the program's output must not be freed
 *     EXIT                        all blocks; if the program says that all is well, open transfers
 *                                 and messages that were not received
 *     all but TEST in vain        some of the blocks
 *
 * Invariants
 * - A call that is right reaches the kernel as it was, and no other call is made before EXIT: so
 *   model time is what it is without the checks.
 */
#include "lib/check/check.h"

#include <stddef.h>
#include <string.h>

#include "include/ecube/ecube.h"
#include "lib/portable/call.h"
#include "lib/check/transfers.h"

enum { SHORT_BYTES = 1024 }; /* a message that lies at its receiver, whether it has asked or not */

int32_t __real_ecube_call(uint32_t number, uint32_t first, uint32_t second);
int32_t __wrap_ecube_call(uint32_t number, uint32_t first, uint32_t second);

static struct transfers transfers;
static uintptr_t stack_end, memory_end; /* of what programs may name */
static struct ecube_abi_piece output;   /* what ecube_output has named last */
static uint32_t output_place;           /* ... and where */

void ecube_check_tell(const struct finding *found)
{
    uint8_t list[FINDING_BYTES];

    finding_pack(list, found);
    ecube_check_trap(list, 1, 1, 0);
}

/* What the host is to fetch; the memory of files is the library's own. */
static void spare_output(uint32_t address, uint32_t bytes)
{
    if (bytes > 0 && output.bytes > 0 && address < output.address + output.bytes &&
        output.address < address + bytes) {
        ecube_check_tell(&(struct finding){.kind = FINDING_OUTPUT_FREED,
                                           .address = output.address,
                                           .bytes = output.bytes,
                                           .place = output_place});
    }
}

void ecube_check_spare(const void *memory, uint32_t bytes)
{
    struct finding found;

    if (!ecube_transfers_spare(&transfers, (struct stretch){(uintptr_t)memory, bytes}, &found)) {
        ecube_check_tell(&found);
    }
    spare_output(ecube_address(memory), bytes);
}

/* The stack ends a little above this frame, for nothing but the start of the program is there. */
static int32_t begin_program(uint32_t first, uint32_t second)
{
    int32_t status = __real_ecube_call(ECUBE_CALL_INFO, first, second);
    struct ecube_abi_info *info = ecube_pointer(first);

    stack_end = (uintptr_t)__builtin_frame_address(0);
    memory_end = (uintptr_t)ecube_pointer(info->heap_end);
    ecube_check_heap_begin(info->heap_start, info->heap_end);
    info->heap_start = info->heap_end; /* nobody else takes of it */
    return status;
}

/* Blocks, and transfers whose memory has gone with a function. */
static void look(void)
{
    struct finding found;

    if (!ecube_blocks_look(ecube_check_heap(), &found) ||
        !ecube_transfers_in_frames(&transfers, (uintptr_t)__builtin_frame_address(0), stack_end,
                                   &found)) {
        ecube_check_tell(&found);
    }
}

/* From the stack's lowest live byte on; of a program that has stacks of its own, what is no
 * stack. */
static struct stretch program_memory(void)
{
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0), low = sp < stack_end ? sp : stack_end;

    return (struct stretch){low, (uint32_t)(memory_end - low)};
}

static struct transfer make_transfer(uint32_t number, uint32_t first)
{
    if (number == ECUBE_CALL_COLLECTIVE) {
        return ecube_transfer_collective(ecube_pointer(first), (uint32_t)ecube_rank(),
                                         (uint32_t)ecube_size(), program_memory(),
                                         ecube_check_place);
    }
    return ecube_transfer_message(number, ecube_pointer(first), program_memory(),
                                  ecube_check_place);
}

static int32_t begin_transfer(uint32_t number, uint32_t first, uint32_t second)
{
    struct transfer transfer = make_transfer(number, first);
    struct finding found;

    if (!ecube_transfers_fit(&transfers, &transfer, &found)) {
        ecube_check_tell(&found);
    }
    int32_t request = __real_ecube_call(number, first, second);
    if (request >= 0) {
        ecube_transfers_begin(&transfers, (uint32_t)request, &transfer);
    }
    return request;
}

static void end_transfer(uint32_t request)
{
    struct finding found;

    look();
    if (!ecube_transfers_end(&transfers, request, &found)) {
        ecube_check_tell(&found);
    }
}

static int32_t wait_any(uint32_t first, uint32_t second)
{
    const struct ecube_abi_set *set = ecube_pointer(first);
    int32_t called = __real_ecube_call(ECUBE_CALL_WAIT_ANY, first, second);

    if (called > 0) {
        end_transfer(((const uint32_t *)ecube_pointer(set->requests))[set->index]);
    }
    return called;
}

/* A message that no receive has asked for; false: there is none. */
static bool find_message(int32_t source, struct ecube_abi_result *result)
{
    struct ecube_abi_probe probe = {.peer = source, .tag = ECUBE_ANY, .poll = 1};
    int32_t found = __real_ecube_call(ECUBE_CALL_PROBE, ecube_address(&probe), 0);

    *result = probe.result;
    return found > 0;
}

/* Out of the way, to see the one behind it. False: it stays. */
static bool take_message(const struct ecube_abi_result *message)
{
    static uint8_t text[SHORT_BYTES];
    struct ecube_abi_message receive = {.data = ecube_address(text),
                                        .bytes = sizeof text,
                                        .peer = message->peer,
                                        .tag = message->tag};
    struct ecube_abi_result result;

    if (message->bytes > sizeof text) {
        return false;
    }
    int32_t request = __real_ecube_call(ECUBE_CALL_RECEIVE, ecube_address(&receive), 0);
    return request >= 0 &&
           __real_ecube_call(ECUBE_CALL_WAIT, (uint32_t)request, ecube_address(&result)) >= 0;
}

/* Of each sender those up to the first long one: that has not come, and its sender is to hear that
 * it will not be received. */
static uint32_t find_messages(struct finding *found, uint32_t room)
{
    struct ecube_abi_result message;
    uint32_t count = 0;

    if (!find_message(ECUBE_ANY, &message)) {
        return 0;
    }
    for (int source = 0; source < ecube_size(); source++) {
        bool taken = true;
        while (taken && find_message(source, &message)) {
            if (count < room) {
                found[count] = (struct finding){.kind = FINDING_NOT_RECEIVED,
                                                .call = ECUBE_CALL_RECEIVE,
                                                .bytes = message.bytes,
                                                .peer = message.peer,
                                                .tag = message.tag};
            }
            count++;
            taken = take_message(&message);
        }
    }
    return count;
}

/* Returns when nothing was found. */
static void tell_all(const struct finding *found, uint32_t all)
{
    uint8_t list[FINDINGS_MAX * FINDING_BYTES];
    uint32_t count = all < FINDINGS_MAX ? all : FINDINGS_MAX;

    for (uint32_t i = 0; i < count; i++) {
        finding_pack(list + i * FINDING_BYTES, &found[i]);
    }
    if (count > 0) {
        ecube_check_trap(list, count, all, 1);
    }
}

static uint32_t room_behind(uint32_t count)
{
    return count < FINDINGS_MAX ? FINDINGS_MAX - count : 0;
}

/* A program that tells of a failure itself may have left what it had begun. */
static void end_program(int32_t status)
{
    struct finding found[FINDINGS_MAX + 1]; /* so that there is a place behind the last */
    uint32_t count = ecube_blocks_look_at_all(ecube_check_heap(), found, FINDINGS_MAX);

    if (status == 0) {
        uint32_t listed = count < FINDINGS_MAX ? count : FINDINGS_MAX;
        count += ecube_transfers_open(&transfers, found + listed, room_behind(count));
        listed = count < FINDINGS_MAX ? count : FINDINGS_MAX;
        count += find_messages(found + listed, room_behind(count));
    }
    tell_all(found, count);
}

/* The table changes with files, too, and then names the same output (wire/output.h). */
static int32_t name_output(uint32_t first, uint32_t second)
{
    const struct ecube_abi_piece *pieces = ecube_pointer(first);
    int32_t status = __real_ecube_call(ECUBE_CALL_OUTPUT, first, second);

    if (status >= 0 && (pieces[1].address != output.address || pieces[1].bytes != output.bytes)) {
        output = pieces[1];
        output_place = ecube_check_place;
    }
    return status;
}

int32_t __wrap_ecube_call(uint32_t number, uint32_t first, uint32_t second)
{
    int32_t result;

    switch (number) {
    case ECUBE_CALL_INFO: return begin_program(first, second);
    case ECUBE_CALL_SEND:
    case ECUBE_CALL_RECEIVE:
    case ECUBE_CALL_COLLECTIVE: look(); return begin_transfer(number, first, second);
    case ECUBE_CALL_WAIT:
        result = __real_ecube_call(number, first, second);
        if (result >= 0) {
            end_transfer(first);
        }
        return result;
    case ECUBE_CALL_TEST:
        result = __real_ecube_call(number, first, second);
        if (result > 0) {
            end_transfer(first);
        }
        return result;
    case ECUBE_CALL_WAIT_ANY: return wait_any(first, second);
    case ECUBE_CALL_OUTPUT: look(); return name_output(first, second);
    case ECUBE_CALL_EXIT: end_program((int32_t)first); break;
    case ECUBE_CALL_ABORT: break;
    default: look();
    }
    return __real_ecube_call(number, first, second);
}
