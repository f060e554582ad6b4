#include "host/program/errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/status.h"
#include "host/console/message.h"
#include "host/program/ranks.h"

enum {
    QUIET_US = 1000 * 1000, /* without news, what can be told is told; */
    HELD_US = 5000 * 1000,  /* ... or so long after the first of it */
    LINES_MAX = 8           /* more are counted, and told to --json alone */
};

/* What an error follows from. */
enum blame {
    BLAME_ITSELF,
    BLAME_ENDED, /* a program that has ended well, but too early */
    BLAME_TOLD,  /* something that is told already */
    BLAME_OPEN   /* something that has not been heard of */
};

bool errors_init(struct errors *errors, struct teller *teller, uint32_t nodes)
{
    *errors = (struct errors){
        .teller = teller, .nodes = nodes, .endings = calloc(nodes, sizeof *errors->endings)};
    return errors->endings != NULL;
}

void errors_free(struct errors *errors)
{
    if (errors->endings) {
        errors_begin(errors);
        free(errors->endings);
        errors->endings = NULL;
    }
}

void errors_begin(struct errors *errors)
{
    for (uint32_t rank = 0; rank < errors->nodes; rank++) {
        free(errors->endings[rank].call);
        errors->endings[rank] = (struct ending){.kind = ENDING_NONE};
    }
    json_decref(errors->failure);
    *errors = (struct errors){
        .teller = errors->teller, .nodes = errors->nodes, .endings = errors->endings};
}

static void note(struct errors *errors, uint64_t now_us)
{
    errors->first_us = errors->fresh ? errors->first_us : now_us;
    errors->last_us = now_us;
    errors->fresh = true;
    errors->collective.known = false;
}

void errors_ended(struct errors *errors, uint32_t rank, bool well, uint16_t collectives,
                  uint64_t now_us)
{
    struct ending *ending = &errors->endings[rank];

    ending->kind = well ? ENDING_WELL : ENDING_BADLY;
    ending->collectives = collectives;
    note(errors, now_us);
}

/* Without memory nothing of it is told, but the run does not end well. */
void errors_call(struct errors *errors, uint32_t rank, const struct fault_call *call,
                 uint16_t collectives, uint64_t now_us)
{
    struct fault_call *copy = malloc(sizeof *copy);

    errors_ended(errors, rank, false, collectives, now_us);
    if (copy) {
        *copy = *call;
    }
    errors->any |= !copy;
    errors->endings[rank].call = copy;
}

void errors_disagreed(struct errors *errors)
{
    errors->disagreed = true;
    errors->collective.known = false;
}

/* That a rank could not enter a collective its own error says better. */
static void tell_failure(struct errors *errors)
{
    json_t *members = errors->failure;

    if (members) {
        const struct fault_call *call = errors->endings[errors->failed_rank].call;

        errors->failure = NULL;
        if (call && call->error.status == errors->failed_status) {
            json_decref(members);
        } else {
            tell_trouble(errors->teller, members, "%s", errors->failure_text);
        }
    }
}

void errors_failed(struct errors *errors, uint32_t rank, int32_t status, json_t *members,
                   const char *text, uint64_t now_us)
{
    tell_failure(errors);
    errors->failure = members;
    snprintf(errors->failure_text, sizeof errors->failure_text, "%s", text);
    errors->failed_rank = rank;
    errors->failed_status = status;
    errors->disagreed = true;
    note(errors, now_us);
}

/* What errors follow from -------------------------------------------------------------------- */

/* Of whom the error of a message tells; UINT32_MAX: of nobody. */
static uint32_t peer_of(const struct fault_call *call)
{
    return call->error.given ? (uint32_t)call->error.called.result.peer : UINT32_MAX;
}

static bool is_collective(const struct fault_call *call)
{
    return call->error.given && call->error.called.began >= ECUBE_CALLED_COLLECTIVE &&
           call->error.called.result.status != 0;
}

/* Which collective it was, as programs count them. */
static uint16_t number_of(const struct fault_call *call)
{
    return (uint16_t)call->error.called.result.detail;
}

static bool ended_before(const struct ending *ending, uint16_t number)
{
    return ending->kind != ENDING_NONE && (int16_t)(number - ending->collectives) > 0;
}

/* All nodes take part in a collective: who has ended without it is the reason. */
static enum blame look_for_blame(const struct errors *errors, uint16_t number)
{
    enum blame blame = errors->disagreed ? BLAME_TOLD : BLAME_OPEN;

    for (uint32_t rank = 0; rank < errors->nodes; rank++) {
        if (ended_before(&errors->endings[rank], number)) {
            if (errors->endings[rank].kind == ENDING_BADLY) {
                return BLAME_TOLD;
            }
            blame = BLAME_ENDED;
        }
    }
    return blame;
}

/* Many nodes ask for the same one. */
static enum blame blame_in_collective(struct errors *errors, uint16_t number)
{
    if (!errors->collective.known || errors->collective.number != number) {
        errors->collective.known = true;
        errors->collective.number = number;
        errors->collective.blame = (uint8_t)look_for_blame(errors, number);
    }
    return (enum blame)errors->collective.blame;
}

static enum blame blame_for_peer(const struct errors *errors, uint32_t peer)
{
    if (peer >= errors->nodes || errors->endings[peer].kind == ENDING_NONE) {
        return BLAME_OPEN;
    }
    return errors->endings[peer].kind == ENDING_WELL ? BLAME_ITSELF : BLAME_TOLD;
}

static enum blame blame_of(struct errors *errors, const struct fault_call *call)
{
    enum blame blame = BLAME_ITSELF;

    if (call->error.status == E_LINK_DEAD) {
        blame = BLAME_OPEN;
    } else if (call->error.status == E_PEER_GONE) {
        blame = is_collective(call) ? blame_in_collective(errors, number_of(call))
                                    : blame_for_peer(errors, peer_of(call));
    }
    if (blame == BLAME_OPEN && errors->over) {
        blame = errors->explained ? BLAME_TOLD : BLAME_ITSELF;
    }
    return errors->all && blame == BLAME_TOLD ? BLAME_ITSELF : blame;
}

/* Lines -------------------------------------------------------------------------------------- */

/* Who ended without the collective in which these failed. */
static void tell_cause(struct errors *errors, const struct fault_call *call)
{
    uint32_t began = call->error.called.began;
    uint32_t form = began >= ECUBE_CALLED_START ? ECUBE_CALLED_START - ECUBE_CALLED_COLLECTIVE : 0;
    const char *name = ecube_called_name(began - form);
    uint16_t number = number_of(call);
    char who[RANKS_TEXT_MAX];

    if (errors->cause_told && errors->cause_number == number) {
        return;
    }
    errors->cause_told = true;
    errors->cause_number = number;
    struct ranks *ranks = ranks_make(errors->nodes);
    for (uint32_t rank = 0; rank < errors->nodes; rank++) {
        if (ended_before(&errors->endings[rank], number)) {
            ranks->rank[ranks->count++] = rank;
        }
    }
    ranks_text(ranks, who);
    tell_trouble(errors->teller, ranks_members("ended-early", ranks),
                 "%s ended without %s, which the others have called", who,
                 name ? name : "a collective");
    free(ranks);
}

/* What is said of the error of a rank beside its call and place; "": what stands above says it. */
static const char *reason_of(struct errors *errors, const struct fault_call *call,
                             char text[CALL_ERROR_TEXT_MAX])
{
    int32_t status = call->error.status;

    if (call->reason[0]) {
        return call->reason;
    }
    if (status == E_ELSEWHERE && errors->failed_status != E_OK) {
        snprintf(text, CALL_ERROR_TEXT_MAX, "rank %u could not enter it",
                 (unsigned)errors->failed_rank);
        return text;
    }
    if (status == E_FULL && is_collective(call)) {
        return "no memory for its working buffer";
    }
    return (status == E_MISMATCH && errors->disagreed) || blame_of(errors, call) == BLAME_ENDED
               ? ""
               : status_text(status);
}

/* "ecube_send: rank 99 of 4, in main (a.c:12)": what stands behind who it was. */
static void line_text(struct errors *errors, uint32_t rank, char text[FAULT_TEXT_MAX])
{
    const struct fault_call *call = errors->endings[rank].call;
    char words[CALL_ERROR_TEXT_MAX];
    const char *reason = reason_of(errors, call, words);

    snprintf(text, FAULT_TEXT_MAX, "%s%s%s%s%s", call->name, reason[0] ? ": " : "", reason,
             reason[0] && call->place[0] ? "," : "", call->place);
}

/* Whether their lines are, as far as that is seen at once. */
static bool are_different(const struct fault_call *a, const struct fault_call *b)
{
    return (a->reason[0] && b->reason[0] && strcmp(a->reason, b->reason) != 0) ||
           strcmp(a->place, b->place) != 0;
}

/* The ranks from `first` on whose errors are one line. */
static void find_equal(struct errors *errors, uint32_t first, const char *line, struct ranks *ranks)
{
    const struct fault_call *call = errors->endings[first].call;
    enum blame blame = blame_of(errors, call);
    char text[FAULT_TEXT_MAX];

    ranks->count = 0;
    for (uint32_t rank = first; rank < errors->nodes; rank++) {
        const struct fault_call *other = errors->endings[rank].call;

        if (!other || are_different(call, other) || blame_of(errors, other) != blame ||
            (blame == BLAME_ENDED && number_of(other) != number_of(call))) {
            continue;
        }
        line_text(errors, rank, text);
        if (strcmp(text, line) == 0) {
            ranks->rank[ranks->count++] = rank;
        }
    }
}

static void tell_joined(struct errors *errors, const struct ranks *ranks,
                        const struct fault_call *call, const char *line)
{
    char who[RANKS_TEXT_MAX];
    json_t *members = ranks_members("call-failed", ranks);

    ranks_text(ranks, who);
    json_object_set_new(members, "call", json_string(call->name));
    json_object_set_new(members, "error", json_integer(call->error.status));
    json_object_set_new(members, "status", json_integer(STATUS_CALL));
    if (errors->lines++ < LINES_MAX) {
        tell_trouble(errors->teller, members, "%s: %s", who, line);
    } else {
        errors->more += ranks->count;
        tell_quietly(errors->teller, members, "%s: %s", who, line);
    }
}

/* The error of a rank, and those of the ranks behind it that are equal. */
static void tell_from(struct errors *errors, uint32_t first)
{
    const struct fault_call *call = errors->endings[first].call;
    struct ranks *ranks = ranks_make(errors->nodes);
    char line[FAULT_TEXT_MAX];

    line_text(errors, first, line);
    find_equal(errors, first, line, ranks);
    if (blame_of(errors, call) == BLAME_ENDED) {
        tell_cause(errors, call);
    }
    tell_joined(errors, ranks, call, line);
    errors->any = true;
    for (uint32_t i = 0; i < ranks->count; i++) {
        struct ending *ending = &errors->endings[ranks->rank[i]];

        free(ending->call);
        ending->call = NULL;
    }
    free(ranks);
}

static void tell_all_of(struct errors *errors, enum blame blame, bool with_reason)
{
    for (uint32_t rank = 0; rank < errors->nodes; rank++) {
        const struct fault_call *call = errors->endings[rank].call;

        if (call && blame_of(errors, call) == blame && (call->reason[0] != '\0') == with_reason) {
            tell_from(errors, rank);
        }
    }
}

/* Who breaks a rule comes before those who suffer from it. */
static void tell_what_can_be(struct errors *errors)
{
    errors->fresh = false;
    tell_failure(errors);
    tell_all_of(errors, BLAME_ITSELF, true);
    tell_all_of(errors, BLAME_ITSELF, false);
    tell_all_of(errors, BLAME_ENDED, false);
}

void errors_pass(struct errors *errors, uint64_t now_us)
{
    if (errors->fresh &&
        (now_us - errors->last_us >= QUIET_US || now_us - errors->first_us >= HELD_US)) {
        tell_what_can_be(errors);
    }
}

static bool holds_any(const struct errors *errors)
{
    for (uint32_t rank = 0; rank < errors->nodes; rank++) {
        if (errors->endings[rank].call) {
            return true;
        }
    }
    return false;
}

int errors_end(struct errors *errors, bool explained, int status)
{
    errors->over = true;
    errors->explained = explained;
    tell_what_can_be(errors);
    if (!explained && status == 0 && !errors->any && holds_any(errors)) {
        errors->all = true;
        tell_what_can_be(errors);
    }
    tell_more(errors->teller, "more-calls-failed", errors->more,
              "programs that errors of calls have ended");
    errors->more = 0;
    return errors->any && status < STATUS_CALL ? STATUS_CALL : status;
}
