/*
 * outputs.h - what programs have left (wire/output.h), from the memory that it has come to into
 * files: one with what all ranks have named, in the order of ranks (--output); and the files that
 * each rank has written, in a folder of its own (--files-to).
 *
 * A file is written beside its place and then takes it: whatever goes wrong, no file is there that
 * looks whole and is not. A pipe or a device is written as it is, as fast as it takes the bytes.
 * Names of files come from programs: one that is absolute, or leads out of its folder, is not
 * written.
 *
 * Units    bytes; model time in ns
 * Errors   exit statuses: 1 a program has left what cannot be read, or may not be written; 2 a file
 *          cannot be written; 3 bytes are damaged, or have not come
 * Context  outputs_write on any thread, while nobody else looks at the outputs; all else on that of
 *          the owner's loop
 */
#pragma once

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "controller/controller.h"
#include "host/console/message.h"
#include "host/console/tell.h"

/* Where to; NULL: it is not wanted. */
struct outputs_request {
    const char *output; /* --output */
    const char *files;  /* --files-to */
};

struct outputs {
    char *output_path, *files_path;
    uint32_t nodes;
    const struct network *network; /* with its map: the owner's */
    struct controller_outputs memory;
    uint64_t bytes;                  /* of all that has come */
    bool here;                       /* it has */
    uint64_t model_ns, predicted_ns; /* of the way */
    uint64_t wall_us;                /* 0: it was simulated */
    unsigned files;                  /* that were written */
    bool written;                    /* the file of --output was */
    bool told;                       /* what has become of them: it stands in `wrong`, or was */
    struct teller wrong;             /* troubles that are to be told */
    const atomic_bool *stop;         /* of outputs_write */
};

/* Whether files can be made there, so that this is told before anything starts. */
int outputs_check(const struct outputs_request *request, struct message *message);

/* Copies the words; false: out of memory. */
int outputs_make(struct outputs *outputs, const struct outputs_request *request,
                 const struct network *network, struct message *message);
void outputs_free(struct outputs *outputs);

static inline bool outputs_wanted(const struct outputs *outputs)
{
    return outputs->output_path || outputs->files_path;
}

/* Memory for so many bytes, which is the outputs' until outputs_free; false: there is none. */
bool outputs_give(struct outputs *outputs, const struct network *network, uint64_t bytes);

/* All of it has come to that memory. */
void outputs_came(struct outputs *outputs, uint64_t model_ns, uint64_t predicted_ns);

/* Writes what has come; `whole`: all programs have ended by themselves, else what they have named
 * is not written. Ends soon after `stop`, if there is one, has become true. Returns the exit status
 * that it makes. */
int outputs_write(struct outputs *outputs, bool whole, const atomic_bool *stop);
/* Tells what has gone wrong meanwhile. */
void outputs_tell(struct outputs *outputs, struct teller *teller);

/* Nothing has come: says so, once; and that no program was `started`, if that is why. Returns the
 * exit status that it makes. */
int outputs_lost(struct outputs *outputs, struct teller *teller, bool started);

/* The member "outputs" of --json; null: nothing was wanted. */
json_t *outputs_describe(const struct outputs *outputs);
