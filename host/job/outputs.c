#include "host/job/outputs.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/job/draft.h"
#include "wire/gather.h"
#include "wire/output.h"

enum { STATUS_PROGRAM = 1, ERROR_TEXT_MAX = 200 };

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

int outputs_make(struct outputs *outputs, const struct outputs_request *request, uint32_t nodes,
                 struct message *message)
{
    *outputs = (struct outputs){.nodes = nodes};
    outputs->output_path = request->output ? strdup(request->output) : NULL;
    outputs->files_path = request->files ? strdup(request->files) : NULL;
    bool made =
        (!request->output || outputs->output_path) && (!request->files || outputs->files_path);

    return made ? 0 : message_set(message, "out of memory");
}

void outputs_free(struct outputs *outputs)
{
    free(outputs->output_path);
    free(outputs->files_path);
    free(outputs->memory.table);
    free(outputs->memory.data);
    free(outputs->memory.scratch);
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

/* A rank's, as it lies in memory. */
struct part {
    uint32_t rank;
    const uint8_t *data;
    uint32_t bytes;
    bool left; /* it has left something, which can be read: */
    struct output output;
};

static bool is_whole(const struct outputs *outputs, const struct part *part)
{
    struct output_row row = output_row_at(outputs->memory.table, part->rank);
    struct sha256_ctx sha;
    uint8_t digest[DIGEST_BYTES];

    sha256_init(&sha);
    sha256_update(&sha, part->bytes, part->data);
    sha256_digest(&sha, sizeof digest, digest);
    return memcmp(digest, row.digest, sizeof digest) == 0;
}

/* What is wrong with one rank's; 0: nothing. */
static int take_part(const struct outputs *outputs, struct part *part, struct teller *teller)
{
    unsigned rank = part->rank;

    if (!is_whole(outputs, part)) {
        tell_trouble(teller, tell_node_members("outputs-damaged", rank),
                     "the output of node %u (rank %u) has come damaged", rank, rank);
        return STATUS_MACHINE;
    }
    part->left = part->bytes > 0 && output_open(&part->output, part->data, part->bytes);
    if (part->bytes > 0 && !part->left) {
        tell_trouble(teller, tell_node_members("outputs-unreadable", rank),
                     "node %u (rank %u) has left an output that cannot be read: its program has "
                     "overwritten its list, or named memory that it does not have",
                     rank, rank);
        return STATUS_PROGRAM;
    }
    return 0;
}

static struct part part_of(const struct outputs *outputs, uint32_t rank, uint64_t at)
{
    return (struct part){.rank = rank,
                         .data = outputs->memory.data + at,
                         .bytes = output_row_at(outputs->memory.table, rank).bytes};
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
    int error = draft_open(&draft, outputs->output_path);
    uint64_t at = 0;

    if (error) {
        return error;
    }
    for (uint32_t rank = 0; rank < outputs->nodes && !error; rank++) {
        struct part part = part_of(outputs, rank, at);
        part.left = part.bytes > 0 && output_open(&part.output, part.data, part.bytes);
        error = add_named(&draft, &part);
        at += part.bytes;
    }
    return draft_close(&draft, error);
}

static int tell_unwritten(struct teller *teller, const char *path, int error)
{
    tell_trouble(teller,
                 json_pack("{s:s, s:[], s:o}", "kind", "outputs-unwritten", "nodes", "path",
                           path_to_json(path)),
                 "cannot write %.300s: %s", path, strerror(error));
    return STATUS_BAD_INPUT;
}

static int write_output(struct outputs *outputs, struct teller *teller)
{
    int error = write_parts(outputs);

    if (error) {
        return tell_unwritten(teller, outputs->output_path, error);
    }
    outputs->written = true;
    return 0;
}

/* Files ------------------------------------------------------------------------------------- */

/* Whether a file of this name lies in its folder, whatever is there: no part of it leads up. */
static bool may_be_written(const char *name)
{
    for (;;) {
        size_t length = strcspn(name, "/");
        if (length == 0 || (length == 1 && name[0] == '.') ||
            (length == 2 && name[0] == '.' && name[1] == '.')) {
            return false;
        }
        if (name[length] == '\0') {
            return true;
        }
        name += length + 1;
    }
}

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

static int write_file(const struct outputs *outputs, const struct part *part, const char *name,
                      const uint8_t *data, uint32_t bytes, struct teller *teller)
{
    char path[PATH_MAX];
    struct draft draft;
    int length =
        snprintf(path, sizeof path, "%s/%u/%s", outputs->files_path, (unsigned)part->rank, name);
    int error = length >= PATH_MAX ? ENAMETOOLONG : make_folders(path, strlen(outputs->files_path));

    if (!error) {
        error = draft_open(&draft, path);
    }
    if (!error) {
        error = draft_close(&draft, draft_add(&draft, data, bytes));
    }
    return error ? tell_unwritten(teller, path, error) : 0;
}

static int refuse_name(const struct part *part, const char *name, struct teller *teller)
{
    json_t *members = tell_node_members("outputs-name", part->rank);

    tell_trouble(teller, members,
                 "a file of node %u (rank %u) is not written: '%.100s' leads out of its folder",
                 (unsigned)part->rank, (unsigned)part->rank, name);
    return STATUS_PROGRAM;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int write_files(struct outputs *outputs, const struct part *part, struct teller *teller)
{
    const struct output *output = &part->output;
    const char *name = output->names;
    const uint8_t *data =
        part->data + output_piece_bytes(output, 0) + output_piece_bytes(output, 1);
    int status = 0;

    for (uint32_t piece = OUTPUT_FIRST_FILE; piece < output->pieces && status != STATUS_BAD_INPUT;
         piece++) {
        uint32_t bytes = output_piece_bytes(output, piece);
        int now = may_be_written(name) ? write_file(outputs, part, name, data, bytes, teller)
                                       : refuse_name(part, name, teller);
        outputs->files += now == 0;
        status = larger(status, now);
        name += strlen(name) + 1;
        data += bytes;
    }
    return status;
}

static int begin_files(const struct outputs *outputs, struct teller *teller)
{
    if (mkdir(outputs->files_path, 0777) != 0 && errno != EEXIST) {
        return tell_unwritten(teller, outputs->files_path, errno);
    }
    return 0;
}

/* All ------------------------------------------------------------------------------------------ */

/* Says why there is no file of --output. */
static void tell_no_output(const struct outputs *outputs, struct teller *teller, const char *why)
{
    tell_trouble(teller,
                 json_pack("{s:s, s:[], s:o}", "kind", "no-output", "nodes", "path",
                           path_to_json(outputs->output_path)),
                 "%.300s was not written: %s", outputs->output_path, why);
}

/* One line is enough of a folder that takes nothing. */
int outputs_write(struct outputs *outputs, struct teller *teller, bool whole)
{
    int status = outputs->files_path ? begin_files(outputs, teller) : 0, parts = 0;
    bool writes_files = outputs->files_path && status == 0;
    unsigned left = 0;
    uint64_t at = 0;

    outputs->told = true;
    for (uint32_t rank = 0; rank < outputs->nodes; rank++) {
        struct part part = part_of(outputs, rank, at);
        parts = larger(parts, take_part(outputs, &part, teller));
        at += part.bytes;
        left += part.left;
        if (part.left && writes_files) {
            status = larger(status, write_files(outputs, &part, teller));
            writes_files = status != STATUS_BAD_INPUT;
        }
    }
    status = larger(status, parts);
    if (!outputs->output_path) {
        return status;
    }
    if (!whole) {
        tell_no_output(outputs, teller, "not all programs have ended by themselves");
    } else if (parts) {
        tell_no_output(outputs, teller, "an output is missing");
    } else if (left == 0) {
        tell_no_output(outputs, teller, "no program has left anything");
        status = larger(status, STATUS_PROGRAM);
    } else {
        status = larger(status, write_output(outputs, teller));
    }
    return status;
}

int outputs_lost(struct outputs *outputs, struct teller *teller)
{
    if (!outputs_wanted(outputs) || outputs->told) {
        return 0;
    }
    outputs->told = true;
    if (outputs->output_path) {
        tell_no_output(outputs, teller, "the outputs did not come");
    }
    if (outputs->files_path) {
        tell_trouble(teller,
                     json_pack("{s:s, s:[], s:o}", "kind", "no-files", "nodes", "path",
                               path_to_json(outputs->files_path)),
                     "no files were written to %.300s: they did not come", outputs->files_path);
    }
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
