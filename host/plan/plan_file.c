#include "host/plan/plan_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "reduction/reduction.h"

void plan_file_free(struct plan_file *file)
{
    free(file->named.circuits);
    free(file->named.names);
    free(file->named.ports);
    free(file->named.sets);
    free(file->circuit_bytes);
    free(file->lines);
    *file = (struct plan_file){.path = NULL};
}

uint32_t plan_file_element_bytes(const struct plan_file *file)
{
    if (!operation_of(file->named.operation)->reduces) {
        return 1;
    }
    return reduction_element_bytes(file->type ? file->type : (uint32_t)ECUBE_INT32);
}

/* What is wrong, with file, and line and number of the circuit. */
static int tell(const struct plan_file *file, const struct named_fault *fault,
                struct message *message)
{
    if (fault->circuit == NAMED_NONE) {
        return message_set(message, "%.60s: %s", file->path, fault->words);
    }
    return message_set(message, "%.60s, line %" PRIu64 ", circuit %u: %s", file->path,
                       file->lines[fault->circuit], (unsigned)fault->circuit, fault->words);
}

/* Circuits claim how many bytes they carry. */
static int check_bytes(const struct plan_file *file, const struct plan *plan,
                       const uint32_t *sorted, uint32_t bytes, uint32_t element_bytes,
                       struct message *message)
{
    struct named_fault fault;
    uint32_t next = 0;

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        if (is_copy(circuit)) {
            continue;
        }
        uint64_t said = file->circuit_bytes[sorted[next]];
        uint64_t carried = plan_circuit_bytes(plan, circuit, bytes, element_bytes);
        if (said != PLAN_FILE_UNSAID && said != carried) {
            (void)named_fails(&fault, sorted[next],
                              "step %u, %u to %u: it carries %" PRIu64 " bytes, not %" PRIu64,
                              circuit->step, circuit->from, circuit->to, carried, said);
            return tell(file, &fault, message);
        }
        next++;
    }
    return 0;
}

static int check_time(const struct plan_file *file, const struct plan *plan, uint32_t bytes,
                      uint32_t element_bytes, struct message *message)
{
    if (file->predicted_ns == PLAN_FILE_UNSAID || !file->has_profile) {
        return 0;
    }
    uint64_t ns = plan_time(plan, bytes, element_bytes, &file->profile).model_ns;
    return ns == file->predicted_ns
               ? 0
               : message_set(message,
                             "%.60s: it takes %" PRIu64 ".%03u us, not %" PRIu64 ".%03u as "
                             "\"predicted_us\" says",
                             file->path, ns / 1000, (unsigned)(ns % 1000),
                             file->predicted_ns / 1000, (unsigned)(file->predicted_ns % 1000));
}

/* Names go to terminals and into JSON. */
static char *plain(const char *format, const char *text)
{
    char words[400];

    snprintf(words, sizeof words, format, text);
    for (char *c = words; *c; c++) {
        *c = *c < ' ' || *c > '~' || *c == '"' || *c == '\\' ? '?' : *c;
    }
    char *copy = strdup(words);
    return copy ? copy : planner_memory(1, 1);
}

struct plan *plan_file_prove(const struct plan_file *file, uint32_t bytes, uint32_t element_bytes,
                             struct message *message)
{
    struct named_fault fault;
    uint32_t *sorted = planner_memory(file->named.circuit_count, sizeof *sorted);
    struct plan *plan = named_plan_lay(&file->named, sorted, &fault);
    int status = -1;

    if (!plan) {
        tell(file, &fault, message);
    } else if (!file->has_bytes || file->bytes == bytes) {
        status = check_bytes(file, plan, sorted, bytes, element_bytes, message);
        status = status ? status : check_time(file, plan, bytes, element_bytes, message);
    } else {
        status = 0;
    }
    free(sorted);
    if (status != 0) {
        plan_free(plan);
        return NULL;
    }
    if (*fault.words) {
        tell(file, &fault, message);
    } else {
        message_set(message, "%s", "");
    }
    plan->algorithm = UINT8_MAX;
    plan->written = plain("of the file %.300s", file->path);
    plan->written_source =
        plain(*file->algorithm ? "its file calls it %.99s" : "its file%s", file->algorithm);
    return plan;
}
