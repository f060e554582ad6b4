#include "host/program/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/program/finding.h"
#include "host/program/ranks.h"

enum { QUIET_US = 1000 * 1000 };

void findings_forget(struct findings *findings)
{
    for (unsigned i = 0; i < findings->count; i++) {
        free(findings->held[i]);
    }
    findings->count = findings->more = 0;
}

void findings_begin(struct findings *findings, struct teller *teller, uint32_t nodes)
{
    findings_forget(findings);
    findings->teller = teller;
    findings->nodes = nodes;
}

/* The one with this text, or a new one; NULL: there is no room. */
static struct held_finding *hold(struct findings *findings, const char *text)
{
    struct held_finding *held = NULL;

    for (unsigned i = 0; i < findings->count; i++) {
        if (strcmp(findings->held[i]->text, text) == 0) {
            return findings->held[i];
        }
    }
    if (findings->count < FINDINGS_HELD_MAX &&
        (held = calloc(1, sizeof *held + findings->nodes * sizeof held->of[0]))) {
        snprintf(held->text, sizeof held->text, "%s", text);
        findings->held[findings->count++] = held;
    }
    return held;
}

bool findings_add(struct findings *findings, const struct fault_code *code, uint32_t rank,
                  const struct fault_body *fault, uint64_t now_us)
{
    struct finding list[FINDINGS_MAX];
    char text[FAULT_TEXT_MAX];
    uint32_t more;
    unsigned count = finding_list(fault, list, &more);

    findings->more += more;
    findings->last_us = now_us;
    for (unsigned i = 0; i < count; i++) {
        fault_finding_text(code, rank, fault, &list[i], text);
        struct held_finding *held = hold(findings, text);
        if (!held) {
            findings->more++;
            continue;
        }
        held->name = finding_name(&list[i]);
        held->of[rank] = true;
        held->times++;
    }
    return count > 0;
}

static void tell_one(struct findings *findings, const struct held_finding *held)
{
    struct ranks *ranks = ranks_make(findings->nodes);
    char who[RANKS_TEXT_MAX], times[40] = "";

    for (uint32_t rank = 0; rank < findings->nodes; rank++) {
        if (held->of[rank]) {
            ranks->rank[ranks->count++] = rank;
        }
    }
    ranks_text(ranks, who);
    if (held->times > ranks->count) {
        snprintf(times, sizeof times, "%u times: ", held->times);
    }
    json_t *members = ranks_members("finding", ranks);
    json_object_set_new(members, "finding", json_string(held->name));
    json_object_set_new(members, "times", json_integer(held->times));
    json_object_set_new(members, "status", json_integer(STATUS_FINDING));
    tell_trouble(findings->teller, members, "%s: %s%s", who, times, held->text);
    free(ranks);
}

void findings_tell(struct findings *findings)
{
    for (unsigned i = 0; i < findings->count; i++) {
        tell_one(findings, findings->held[i]);
    }
    tell_more(findings->teller, "more-findings", findings->more, "findings");
    findings_forget(findings);
}

void findings_pass(struct findings *findings, uint64_t now_us)
{
    if ((findings->count || findings->more) && now_us - findings->last_us >= QUIET_US) {
        findings_tell(findings);
    }
}
