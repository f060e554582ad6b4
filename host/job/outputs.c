#include "host/job/outputs.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/job/digest.h"
#include "host/job/draft.h"
#include "wire/gather.h"
#include "wire/output.h"
#include "wire/run.h"

enum { STATUS_PROGRAM = 1 };

/* Places ------------------------------------------------------------------------------------ */

/* For --json; null: there is none, or it is no UTF-8. */
static json_t *path_to_json(const char *path)
{
    json_t *string = path ? json_string(path) : NULL;

    return string ? string : json_null();
}

/* The folder in which a file is to lie. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
    char copy[PATH_MAX];

    snprintf(copy, sizeof copy, "%s", path);
    snprintf(folder, PATH_MAX, "%s", dirname(copy));
}

static int cannot_write(const char *option, const char *path, int error, struct message *message)
{
    return message_set(message, "cannot write %s %.300s: %s", option, path, strerror(error));
}

static int check_output(const char *path, struct message *message)
{
    char folder[PATH_MAX];
    struct stat state;

    if (strcmp(path, "-") == 0) {
        return message_set(message,
                           "--output -: name a file, for standard output has what programs "
                           "print");
    }
    if (strlen(path) >= PATH_MAX) {
        return cannot_write("--output", path, ENAMETOOLONG, message);
    }
    if (stat(path, &state) == 0) {
        if (S_ISDIR(state.st_mode)) {
            return cannot_write("--output", path, EISDIR, message);
        }
        return access(path, W_OK) == 0 ? 0 : cannot_write("--output", path, errno, message);
    }
    folder_of(path, folder);
    return *path && access(folder, W_OK | X_OK) == 0
               ? 0
               : cannot_write("--output", path, *path ? errno : ENOENT, message);
}

static int check_files(const char *path, struct message *message)
{
    char folder[PATH_MAX];
    struct stat state;
    bool there = stat(path, &state) == 0;

    if (strlen(path) >= PATH_MAX) {
        return cannot_write("--files-to", path, ENAMETOOLONG, message);
    }
    if (there && !S_ISDIR(state.st_mode)) {
        return cannot_write("--files-to", path, ENOTDIR, message);
    }
    folder_of(path, folder);
    return *path && access(there ? path : folder, W_OK | X_OK) == 0
               ? 0
               : cannot_write("--files-to", path, *path ? errno : ENOENT, message);
}

int outputs_check(const struct outputs_request *request, struct message *message)
{
    if (request->output && check_output(request->output, message) != 0) {
        return -1;
    }
    return request->files ? check_files(request->files, message) : 0;
}

/* Memory ------------------------------------------------------------------------------------ */

int outputs_make(struct outputs *outputs, const struct outputs_request *request,
                 const struct network *network, struct message *message)
{
    *outputs = (struct outputs){
        .nodes = network->nodes, .network = network, .wrong = {.troubles = json_array()}};
    outputs->output_path = request->output ? strdup(request->output) : NULL;
    outputs->files_path = request->files ? strdup(request->files) : NULL;
    bool made = outputs->wrong.troubles && (!request->output || outputs->output_path) &&
                (!request->files || outputs->files_path);

    return made ? 0 : message_set(message, "out of memory");
}

void outputs_free(struct outputs *outputs)
{
    free(outputs->output_path);
    free(outputs->files_path);
    free(outputs->memory.table);
    free(outputs->memory.data);
    free(outputs->memory.scratch);
    json_decref(outputs->wrong.troubles);
    *outputs = (struct outputs){0};
}

bool outputs_give(struct outputs *outputs, const struct network *network, uint64_t bytes)
{
    outputs->bytes = bytes;
    outputs->memory.table = calloc(network->nodes, OUTPUT_ROW_BYTES);
    outputs->memory.data = bytes < SIZE_MAX ? malloc((size_t)bytes + 1) : NULL;
    outputs->memory.scratch = malloc(gather_scratch_bytes(network));
    return outputs->memory.table && outputs->memory.data && outputs->memory.scratch;
}

void outputs_came(struct outputs *outputs, uint64_t model_ns, uint64_t predicted_ns)
{
    outputs->here = true;
    outputs->model_ns = model_ns;
    outputs->predicted_ns = predicted_ns;
}

/* What has come ----------------------------------------------------------------------------- */

/* A rank's, as it lies in memory: in the order of nodes. */
struct part {
    uint32_t node, rank;
    const uint8_t *data;
    uint32_t bytes;
    bool left; /* it has left something, which can be read: */
    struct output output;
};

static bool is_whole(const struct outputs *outputs, const struct part *part)
{
    struct output_row row = output_row_at(outputs->memory.table, part->node);
    uint8_t digest[DIGEST_BYTES];

    (void)digest_of(part->data, part->bytes, NULL, digest);
    return memcmp(digest, row.digest, sizeof digest) == 0;
}

/* What is wrong with one rank's; 0: nothing. */
static int take_part(struct outputs *outputs, struct part *part)
{
    unsigned node = part->node, rank = part->rank;

    if (!is_whole(outputs, part)) {
        tell_quietly(&outputs->wrong, tell_node_members("outputs-damaged", node),
                     "the output of node %u (rank %u) has come damaged", node, rank);
        return STATUS_MACHINE;
    }
    part->left = part->bytes > 0 && output_open(&part->output, part->data, part->bytes);
    if (part->bytes > 0 && !part->left) {
        tell_quietly(&outputs->wrong, tell_node_members("outputs-unreadable", node),
                     "node %u (rank %u) has left an output that cannot be read: its program has "
                     "overwritten its list, or named memory that it does not have",
                     node, rank);
        return STATUS_PROGRAM;
    }
    return 0;
}

static struct part part_of(const struct outputs *outputs, uint32_t node, uint64_t at)
{
    return (struct part){.node = node,
                         .rank = network_rank(outputs->network, node),
                         .data = outputs->memory.data + at,
                         .bytes = output_row_at(outputs->memory.table, node).bytes};
}

/* Where each node's begins; to be freed. */
static uint64_t *places_of(const struct outputs *outputs)
{
    uint64_t *places = calloc(outputs->nodes, sizeof *places);

    for (uint32_t node = 0; places && node + 1 < outputs->nodes; node++) {
        places[node + 1] = places[node] + output_row_at(outputs->memory.table, node).bytes;
    }
    return places;
}

/* The first piece behind the list is what the program has named. */
static int add_named(struct draft *draft, const struct part *part)
{
    return part->left ? draft_add(draft, part->data + output_piece_bytes(&part->output, 0),
                                  output_piece_bytes(&part->output, 1))
                      : 0;
}

static int write_parts(const struct outputs *outputs)
{
    struct draft draft;
    uint64_t *places = places_of(outputs);
    int error = places ? draft_open(&draft, outputs->output_path, outputs->stop) : ENOMEM;

    if (error) {
        free(places);
        return error;
    }
    for (uint32_t rank = 0; rank < outputs->nodes && !error; rank++) {
        uint32_t node = network_node(outputs->network, rank);
        struct part part = part_of(outputs, node, places[node]);
        part.left = part.bytes > 0 && output_open(&part.output, part.data, part.bytes);
        error = add_named(&draft, &part);
    }
    free(places);
    return draft_close(&draft, error);
}

static const char *error_words(int error)
{
    return error == ECANCELED                 ? "the run was ended before"
           : error == ENXIO || error == EPIPE ? "nobody reads from it"
                                              : strerror(error);
}

static int note_unwritten(struct outputs *outputs, const char *path, int error)
{
    tell_quietly(&outputs->wrong,
                 json_pack("{s:s, s:[], s:o}", "kind", "outputs-unwritten", "nodes", "path",
                           path_to_json(path)),
                 "cannot write %.300s: %s", path, error_words(error));
    return STATUS_BAD_INPUT;
}

static int write_output(struct outputs *outputs)
{
    int error = write_parts(outputs);

    if (error) {
        return note_unwritten(outputs, outputs->output_path, error);
    }
    outputs->written = true;
    return 0;
}

/* Files ------------------------------------------------------------------------------------- */

/* Makes the folders on the way to a file; 0, or errno. Those above `from` are there. */
static int make_folders(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        int made;
        *slash = '\0';
        made = mkdir(path, 0777);
        *slash = '/';
        if (made != 0 && errno != EEXIST) {
            return errno;
        }
    }
    return 0;
}

static int write_file(struct outputs *outputs, const struct part *part, const char *name,
                      const uint8_t *data, uint32_t bytes)
{
    char path[PATH_MAX];
    struct draft draft;
    int length =
        snprintf(path, sizeof path, "%s/%u/%s", outputs->files_path, (unsigned)part->rank, name);
    int error = length >= PATH_MAX ? ENAMETOOLONG : make_folders(path, strlen(outputs->files_path));

    if (!error) {
        error = draft_open(&draft, path, outputs->stop);
    }
    if (!error) {
        error = draft_close(&draft, draft_add(&draft, data, bytes));
    }
    return error ? note_unwritten(outputs, path, error) : 0;
}

static int refuse_name(struct outputs *outputs, const struct part *part, const char *name)
{
    json_t *members = tell_node_members("outputs-name", part->node);

    tell_quietly(&outputs->wrong, members,
                 "a file of node %u (rank %u) is not written: '%.100s' leads out of its folder",
                 (unsigned)part->node, (unsigned)part->rank, name);
    return STATUS_PROGRAM;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int write_files(struct outputs *outputs, const struct part *part)
{
    const struct output *output = &part->output;
    const char *name = output->names;
    const uint8_t *data =
        part->data + output_piece_bytes(output, 0) + output_piece_bytes(output, 1);
    int status = 0;

    for (uint32_t piece = OUTPUT_FIRST_FILE; piece < output->pieces && status != STATUS_BAD_INPUT;
         piece++) {
        uint32_t bytes = output_piece_bytes(output, piece);
        int now = block_name_is_good(name) ? write_file(outputs, part, name, data, bytes)
                                           : refuse_name(outputs, part, name);
        outputs->files += now == 0;
        status = larger(status, now);
        name += strlen(name) + 1;
        data += bytes;
    }
    return status;
}

static int begin_files(struct outputs *outputs)
{
    if (mkdir(outputs->files_path, 0777) != 0 && errno != EEXIST) {
        return note_unwritten(outputs, outputs->files_path, errno);
    }
    return 0;
}

/* All ------------------------------------------------------------------------------------------ */

/* Says why there is no file of --output. */
static void note_no_output(struct outputs *outputs, const char *why)
{
    tell_quietly(&outputs->wrong,
                 json_pack("{s:s, s:[], s:o}", "kind", "no-output", "nodes", "path",
                           path_to_json(outputs->output_path)),
                 "%.300s was not written: %s", outputs->output_path, why);
}

/* One line is enough of a folder that takes nothing. */
int outputs_write(struct outputs *outputs, bool whole, const atomic_bool *stop)
{
    int status = outputs->files_path ? begin_files(outputs) : 0, parts = 0;
    bool writes_files = outputs->files_path && status == 0;
    unsigned left = 0;
    uint64_t at = 0;

    outputs->told = true;
    outputs->stop = stop;
    for (uint32_t node = 0; node < outputs->nodes; node++) {
        struct part part = part_of(outputs, node, at);
        parts = larger(parts, take_part(outputs, &part));
        at += part.bytes;
        left += part.left;
        if (part.left && writes_files) {
            status = larger(status, write_files(outputs, &part));
            writes_files = status != STATUS_BAD_INPUT;
        }
    }
    status = larger(status, parts);
    if (!outputs->output_path) {
        return status;
    }
    if (!whole) {
        note_no_output(outputs, "not all programs have ended by themselves");
    } else if (parts) {
        note_no_output(outputs, "an output is missing");
    } else if (left == 0) {
        note_no_output(outputs, "no program has left anything");
        status = larger(status, STATUS_PROGRAM);
    } else {
        status = larger(status, write_output(outputs));
    }
    return status;
}

void outputs_tell(struct outputs *outputs, struct teller *teller)
{
    tell_troubles(teller, outputs->wrong.troubles);
    json_array_clear(outputs->wrong.troubles);
}

int outputs_lost(struct outputs *outputs, struct teller *teller, bool started)
{
    const char *why = started ? "the outputs did not come" : "the programs were not started";

    if (!outputs_wanted(outputs) || outputs->told) {
        return 0;
    }
    outputs->told = true;
    if (outputs->output_path) {
        note_no_output(outputs, why);
    }
    if (outputs->files_path) {
        tell_quietly(&outputs->wrong,
                     json_pack("{s:s, s:[], s:o}", "kind", "no-files", "nodes", "path",
                               path_to_json(outputs->files_path)),
                     "no files were written to %.300s: %s", outputs->files_path, why);
    }
    outputs_tell(outputs, teller);
    return STATUS_MACHINE;
}

json_t *outputs_describe(const struct outputs *outputs)
{
    json_t *bytes = json_array();

    if (!outputs_wanted(outputs)) {
        json_decref(bytes);
        return json_null();
    }
    for (uint32_t rank = 0; outputs->here && rank < outputs->nodes; rank++) {
        json_array_append_new(bytes,
                              json_integer(output_row_at(outputs->memory.table, rank).bytes));
    }
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "bytes", bytes, "model_us",
        outputs->here ? json_real((double)outputs->model_ns / 1e3) : json_null(), "predicted_us",
        outputs->here ? json_real((double)outputs->predicted_ns / 1e3) : json_null(), "wall_ms",
        outputs->wall_us ? json_real((double)outputs->wall_us / 1e3) : json_null(), "output",
        path_to_json(outputs->written ? outputs->output_path : NULL), "files_to",
        path_to_json(outputs->files_path), "files", (int)outputs->files);
}
