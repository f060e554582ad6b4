#include "host/program/ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "drivers/check.h"

enum { RUNS_MAX = 6 };

struct ranks *ranks_make(uint32_t room)
{
    struct ranks *ranks = malloc(sizeof *ranks + room * sizeof ranks->rank[0]);

    CHECK(ranks);
    ranks->count = 0;
    return ranks;
}

void ranks_text(const struct ranks *ranks, char text[RANKS_TEXT_MAX])
{
    int bytes = snprintf(text, RANKS_TEXT_MAX, ranks->count == 1 ? "rank" : "ranks");
    uint32_t next = 0;

    for (unsigned runs = 0; next < ranks->count && runs < RUNS_MAX; runs++) {
        uint32_t first = next, last = next;

        while (last + 1 < ranks->count && ranks->rank[last + 1] == ranks->rank[last] + 1) {
            last++;
        }
        bytes += snprintf(text + bytes, RANKS_TEXT_MAX - (size_t)bytes, "%s %u", runs ? "," : "",
                          (unsigned)ranks->rank[first]);
        if (last > first) {
            bytes += snprintf(text + bytes, RANKS_TEXT_MAX - (size_t)bytes, "%s%u",
                              last > first + 1 ? "-" : ", ", (unsigned)ranks->rank[last]);
        }
        next = last + 1;
    }
    if (next < ranks->count) {
        snprintf(text + bytes, RANKS_TEXT_MAX - (size_t)bytes, " and %u more",
                 (unsigned)(ranks->count - next));
    }
}

json_t *ranks_members(const char *kind, const struct ranks *ranks)
{
    json_t *nodes = json_array();

    for (uint32_t i = 0; i < ranks->count; i++) {
        json_array_append_new(nodes, json_integer(ranks->rank[i]));
    }
    return json_pack("{s:s, s:o}", "kind", kind, "nodes", nodes);
}
