#include "host/job/records.h"

#include <stdlib.h>
#include <string.h>

#include "network/text.h"
#include "wire/load.h"

/* Which of the request's programs each node gets; NOBODYS: none yet. */
struct choice_of_nodes {
    const struct job_request *request;
    const struct network *network;
    unsigned *program;
    struct message *message;
};

static const unsigned NOBODYS = JOB_PROGRAMS_MAX;

static int reject_words(const char *words, struct message *message)
{
    return message_set(message, "--node %.60s: use numbers and ranges of nodes, for example 3,8-15",
                       words);
}

static int give(const struct choice_of_nodes *choice, uint32_t rank, unsigned program)
{
    unsigned *its = &choice->program[rank];

    if (*its != NOBODYS) {
        return message_set(choice->message, "--node %u: the node has a program already, %.200s",
                           (unsigned)rank, choice->request->programs[*its].path);
    }
    *its = program;
    return 0;
}

/* One number or range; `at` goes on behind it. */
static int give_range(const struct choice_of_nodes *choice, unsigned program, const char **at)
{
    const char *words = choice->request->programs[program].nodes;
    char name[NETWORK_NAME_MAX], *end;
    unsigned long first, last;

    if (**at < '0' || **at > '9') {
        return reject_words(words, choice->message);
    }
    first = last = strtoul(*at, &end, 10);
    if (*end == '-') {
        *at = end + 1;
        if (**at < '0' || **at > '9') {
            return reject_words(words, choice->message);
        }
        last = strtoul(*at, &end, 10);
    }
    *at = end;
    if (last < first) {
        return reject_words(words, choice->message);
    }
    if (last >= choice->network->nodes) {
        network_name(choice->network, name);
        return message_set(choice->message, "--node %.60s: %s has nodes 0 to %u", words, name,
                           (unsigned)choice->network->nodes - 1);
    }
    for (unsigned long rank = first; rank <= last; rank++) {
        if (give(choice, (uint32_t)rank, program) != 0) {
            return -1;
        }
    }
    return 0;
}

static int give_listed(const struct choice_of_nodes *choice, unsigned program)
{
    const char *words = choice->request->programs[program].nodes, *at = words;

    for (;;) {
        if (give_range(choice, program, &at) != 0) {
            return -1;
        }
        if (*at == '\0') {
            return 0;
        }
        if (*at++ != ',') {
            return reject_words(words, choice->message);
        }
    }
}

/* The program without a list is for all that are left. */
static int give_rest(const struct choice_of_nodes *choice)
{
    const struct job_request *request = choice->request;
    unsigned rest = 0;
    bool any = false;

    while (rest < request->program_count && request->programs[rest].nodes) {
        rest++;
    }
    for (uint32_t rank = 0; rank < choice->network->nodes; rank++) {
        if (choice->program[rank] != NOBODYS) {
            continue;
        }
        if (rest == request->program_count) {
            return message_set(choice->message,
                               "node %u has no program: name one without --node, for all others",
                               (unsigned)rank);
        }
        choice->program[rank] = rest;
        any = true;
    }
    return any || rest == request->program_count
               ? 0
               : message_set(choice->message, "no node is left for %.300s: --node names all",
                             request->programs[rest].path);
}

/* The number of a path among those that there are. */
static unsigned number_of(struct records *records, const char *path)
{
    unsigned i = 0;

    while (i < records->path_count && strcmp(records->paths[i], path) != 0) {
        i++;
    }
    if (i == records->path_count) {
        records->paths[records->path_count++] = path;
    }
    return i;
}

/* The program at a node: that of its rank, by which people give programs. */
static unsigned program_at(const struct choice_of_nodes *choice, uint32_t node)
{
    return choice->program[network_rank(choice->network, node)];
}

static int collect(struct records *records, const struct choice_of_nodes *choice)
{
    uint32_t nodes = choice->network->nodes;

    for (uint32_t node = 0; node < nodes; node++) {
        unsigned program =
            number_of(records, choice->request->programs[program_at(choice, node)].path);
        struct record *last = records->count ? &records->records[records->count - 1] : NULL;

        if (last && last->program == program) {
            last->count++;
        } else if (records->count == LOAD_PROGRAMS_MAX) {
            return message_set(choice->message,
                               "--node: the programs change %d times from node to node, which is "
                               "the most that a load has room for",
                               LOAD_PROGRAMS_MAX);
        } else {
            records->records[records->count++] = (struct record){node, 1, program};
        }
    }
    return 0;
}

int records_make(struct records *records, const struct job_request *request,
                 const struct network *network, struct message *message)
{
    struct choice_of_nodes choice = {request, network,
                                     calloc(network->nodes, sizeof *choice.program), message};
    int status = 0;

    *records = (struct records){
        .records = calloc(network->nodes < LOAD_PROGRAMS_MAX ? network->nodes : LOAD_PROGRAMS_MAX,
                          sizeof *records->records)};
    if (!choice.program || !records->records) {
        status = message_set(message, "out of memory");
    }
    for (uint32_t rank = 0; rank < network->nodes && status == 0; rank++) {
        choice.program[rank] = NOBODYS;
    }
    for (unsigned i = 0; i < request->program_count && status == 0; i++) {
        status = request->programs[i].nodes ? give_listed(&choice, i) : 0;
    }
    if (status != 0 || give_rest(&choice) != 0 || collect(records, &choice) != 0) {
        records_free(records);
        status = -1;
    }
    free(choice.program);
    return status;
}

void records_free(struct records *records)
{
    free(records->records);
    *records = (struct records){0};
}

unsigned records_program(const struct records *records, uint32_t rank)
{
    unsigned i = 0;

    while (rank - records->records[i].first >= records->records[i].count) {
        i++;
    }
    return records->records[i].program;
}
