#include "host/job/doing.h"

#include <stdio.h>

#include "collectives/operation.h"
#include "controller/waits.h"
#include "host/job/programs.h"
#include "include/ecube/abi.h"
#include "wire/frame.h"

void doing_text(const struct programs *programs, uint32_t rank, bool with_place,
                char text[DOING_TEXT_MAX])
{
    const struct program_node *node = &programs->nodes[rank];
    char what[WORDS_MAX], requests[WORDS_MAX], place[PLACE_TEXT_MAX] = "", halted[HALTED_TEXT_MAX];

    if (programs->owner.halted && programs->owner.halted(programs->owner.context, rank, halted)) {
        snprintf(text, DOING_TEXT_MAX, "is %s", halted);
        return;
    }
    words_of_state(programs->controller, rank, what);
    words_of_requests(programs->controller, rank, requests);
    if (with_place && node->state.pc != 0 && !node->dead &&
        controller_answered(programs->controller, rank)) {
        const struct fault_code code = programs_code(programs, rank);

        fault_place_text(&code, rank, node->state.pc, node->state.lr, place);
    }
    snprintf(text, DOING_TEXT_MAX, "%s%s%s", what, place, requests);
}

static json_t *number_unless_any(int32_t number)
{
    return number == ECUBE_ANY ? json_null() : json_integer(number);
}

json_t *doing_wait(const struct programs *programs, uint32_t rank)
{
    const struct controller *controller = programs->controller;
    const struct state_body *state = &programs->nodes[rank].state;
    static const char *const kinds[] = {
        [WAIT_SEND] = "send",       [WAIT_RECEIVE] = "receive", [WAIT_COLLECTIVE] = "collective",
        [WAIT_CONSOLE] = "console", [WAIT_SLEEP] = "sleep",     [WAIT_READER] = "reader",
        [WAIT_PLAN] = "plan",       [WAIT_SEVERAL] = "any",     [WAIT_PROBE] = "probe",
        [WAIT_REGION] = "region"};
    static const char *const stages[] = {"open", "known", "moves"};
    json_t *wait;

    if (state->wait == WAIT_NOTHING || state->wait >= WAIT_KINDS) {
        return json_null();
    }
    wait = json_pack("{s:s}", "kind", kinds[state->wait]);
    if (state->wait == WAIT_SEND || state->wait == WAIT_RECEIVE) {
        json_object_set_new(wait, "peer", number_unless_any(state->peer));
        json_object_set_new(wait, "tag", number_unless_any(state->tag));
        json_object_set_new(wait, "bytes", json_integer(state->bytes));
        json_object_set_new(
            wait, "stage",
            json_string(waits_for_room(controller, &controller->nodes[rank].answer)
                            ? "full"
                            : stages[state->transfer <= TRANSFER_MOVES ? state->transfer : 0]));
    }
    if (state->wait == WAIT_PROBE) {
        json_object_set_new(wait, "peer", number_unless_any(state->peer));
        json_object_set_new(wait, "tag", number_unless_any(state->tag));
    }
    if (state->wait == WAIT_REGION) {
        json_t *name = json_string(state->region);

        json_object_set_new(wait, "region", name ? name : json_null());
        json_object_set_new(wait, "bytes", json_integer(state->bytes));
    }
    if (state->wait == WAIT_SEVERAL) {
        json_object_set_new(wait, "requests", json_integer(state->bytes));
    }
    if (state->flags & STATE_POLLS) {
        json_object_set_new(wait, "polls", json_true());
    }
    if (state->wait == WAIT_SLEEP) {
        json_object_set_new(wait, "left_us", json_real((double)state->left_us));
    }
    return wait;
}

static bool is_rooted(uint32_t operation)
{
    const struct operation *row = operation_of(operation);

    return row && row->rooted;
}

json_t *doing_collective(const struct programs *programs, uint32_t rank)
{
    const struct state_body *state = &programs->nodes[rank].state;
    bool entry = state->stage == COLLECTIVE_ENTRY;

    if (state->stage == COLLECTIVE_NONE) {
        return json_null();
    }
    return json_pack(
        "{s:s, s:I, s:o, s:s, s:o, s:i, s:i}", "operation", operation_name(state->operation),
        "bytes", (json_int_t)state->collective_bytes, "root",
        is_rooted(state->operation) ? json_integer(state->root) : json_null(), "stage",
        entry ? "entry" : "steps", "peer",
        entry && state->partner == ID_HOST
            ? json_null()
            : json_integer(entry ? waits_missing(programs->controller, rank) : state->partner),
        "step", (int)state->step, "steps", (int)state->steps);
}
