#include "host/job/data.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MAX_BYTES = 4096, SLICE_BYTES = 16 << 20, STREAM_BYTES_FIRST = 64 * 1024 };

/* More does not fit into a node, and no sum of such numbers wraps. */
static const uint64_t bytes_max = UINT64_C(1) << 31;

/* Files. ------------------------------------------------------------------------------------- */

static int cannot_read(const char *path, struct message *message)
{
    return message_set(message, "cannot read %.300s: %s", path, strerror(errno));
}

/* A pipe without a writer must not hold the tool up. */
int data_open_path(const char *path, uint64_t *bytes, struct message *message)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) != 0) {
        cannot_read(path, message);
    } else if (S_ISDIR(status.st_mode)) {
        message_set(message, "%.300s is a directory: name a file", path);
    } else if (!S_ISREG(status.st_mode)) {
        message_set(message, "%.300s is no regular file: write what it gives to one", path);
    } else if (status.st_size == 0) {
        message_set(message, "%.300s is empty: nodes would get nothing", path);
    } else {
        *bytes = (uint64_t)status.st_size;
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static int size_of(const char *path, uint64_t *bytes, struct message *message)
{
    int fd = data_open_path(path, bytes, message);

    if (fd < 0) {
        return -1;
    }
    close(fd);
    return 0;
}

static int changed(const char *path, struct message *message)
{
    return message_set(message, "%.300s has changed while it was read: try again", path);
}

/* Reads `bytes` from an offset on; the file, which is at `path`, has them. */
static int read_at(const struct data_file *file, int fd, const char *path, uint8_t *to,
                   uint64_t bytes, uint64_t offset, struct message *message)
{
    while (bytes > 0) {
        if (file->stop && atomic_load(file->stop)) {
            return message_set(message, "%.300s is not wanted any more", path);
        }
        ssize_t got = pread(fd, to, bytes < SLICE_BYTES ? bytes : SLICE_BYTES, (off_t)offset);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return cannot_read(path, message);
        }
        if (got == 0) {
            return changed(path, message);
        }
        to += got;
        offset += (uint64_t)got;
        bytes -= (uint64_t)got;
    }
    return 0;
}

/* A piece of a file, and what the file was. */
struct reading {
    int fd;
    const char *path;
    struct stat status;
};

static int begin_reading(struct reading *reading, const char *path, uint64_t bytes,
                         struct message *message)
{
    uint64_t now;

    *reading = (struct reading){.fd = data_open_path(path, &now, message), .path = path};
    if (reading->fd < 0) {
        return -1;
    }
    if (now != bytes || fstat(reading->fd, &reading->status) != 0) {
        close(reading->fd);
        return changed(path, message);
    }
    return 0;
}

/* Closes it; -1: somebody has written to it meanwhile. */
static int end_reading(const struct reading *reading, struct message *message)
{
    const struct stat *before = &reading->status;
    struct stat now;
    bool same = fstat(reading->fd, &now) == 0 && now.st_size == before->st_size &&
                now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
                now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;

    close(reading->fd);
    return same ? 0 : changed(reading->path, message);
}

/* Private files. ----------------------------------------------------------------------------- */

/* The path of a rank: %r is the rank, %% a percent sign. */
static int rank_path(const char *pattern, uint32_t rank, char path[PATH_MAX_BYTES],
                     struct message *message)
{
    size_t used = 0;
    bool ranked = false;

    for (const char *at = pattern; *at; at++) {
        char one[12] = {*at};

        if (at[0] == '%' && at[1] == 'r') {
            snprintf(one, sizeof one, "%u", (unsigned)rank);
            ranked = true;
            at++;
        } else if (at[0] == '%' && at[1] == '%') {
            at++;
        } else if (at[0] == '%') {
            return message_set(message, "--private %.300s: use %%r for the rank, %%%% for %%",
                               pattern);
        }
        size_t length = strlen(one);
        if (used + length >= PATH_MAX_BYTES) {
            return message_set(message, "--private %.100s...: the path is too long", pattern);
        }
        memcpy(path + used, one, length);
        used += length;
    }
    path[used] = '\0';
    return ranked ? 0
                  : message_set(message,
                                "--private %.300s: %%r must stand in it for the rank, for example "
                                "part%%r.bin",
                                pattern);
}

static int open_private(struct data_file *file, uint32_t nodes, struct message *message)
{
    char path[PATH_MAX_BYTES];

    file->starts = calloc(nodes + 1, sizeof *file->starts);
    if (!file->starts) {
        return message_set(message, "out of memory");
    }
    for (uint32_t rank = 0; rank < nodes; rank++) {
        uint64_t bytes;

        if (rank_path(file->path, rank, path, message) != 0 ||
            size_of(path, &bytes, message) != 0) {
            return -1;
        }
        if (bytes > bytes_max) {
            return message_set(message, "%.300s is too large for a node: %" PRIu64 " bytes", path,
                               bytes);
        }
        file->starts[rank + 1] = file->starts[rank] + bytes;
    }
    file->bytes = file->file_bytes = file->starts[nodes];
    return 0;
}

static int read_private(struct data_file *file, uint32_t nodes, struct message *message)
{
    char path[PATH_MAX_BYTES];

    for (uint32_t rank = 0; rank < nodes; rank++) {
        uint32_t bytes = data_bytes(file, rank);
        struct reading reading;

        if (rank_path(file->path, rank, path, message) != 0 ||
            begin_reading(&reading, path, bytes, message) != 0) {
            return -1;
        }
        int got = read_at(file, reading.fd, path, file->string + data_from(file, rank), bytes, 0,
                          message);
        if (got != 0) {
            close(reading.fd);
            return -1;
        }
        if (end_reading(&reading, message) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Inputs. ------------------------------------------------------------------------------------ */

/* Without a window each node gets an equal part. */
static int choose_window(struct data_file *file, const struct job_data *data, uint32_t nodes,
                         uint64_t *window, struct message *message)
{
    *window = data->window;
    if (*window == 0 && file->file_bytes % nodes != 0 && !data->pad) {
        return message_set(message,
                           "--input %.300s: %" PRIu64 " bytes are no equal parts for %u nodes: "
                           "give --window, or --pad for zeros at the end",
                           data->name, file->file_bytes, (unsigned)nodes);
    }
    if (*window == 0) {
        *window = (file->file_bytes + nodes - 1) / nodes;
    }
    return *window <= bytes_max
               ? 0
               : message_set(message, "--window %" PRIu64 ": no node has so much memory", *window);
}

/* The first node whose window ends behind the file is told. */
static int check_end(const struct data_file *file, const char *name, uint64_t window,
                     uint32_t nodes, struct message *message)
{
    uint64_t bytes = file->file_bytes;
    uint64_t rank =
        window > bytes || file->stride == 0 ? 0 : (bytes - window + file->stride) / file->stride;
    uint64_t end = rank * file->stride + window;

    if (rank >= nodes || end <= bytes) {
        return 0;
    }
    return message_set(message,
                       "--input %.300s has %" PRIu64 " bytes, and the window of node %" PRIu64
                       " ends at %" PRIu64 ": --pad goes on with zeros",
                       name, bytes, rank, end);
}

/* The bytes of the file that are in a window. */
static uint64_t used_bytes(const struct data_file *file, uint32_t nodes)
{
    uint64_t used = 0, covered = 0;

    for (uint32_t rank = 0; rank < nodes; rank++) {
        uint64_t from = rank * file->stride, end = from + file->window;

        from = from > covered ? from : covered;
        end = end < file->file_bytes ? end : file->file_bytes;
        used += end > from ? end - from : 0;
        covered = end > covered ? end : covered;
    }
    return used;
}

static int open_input(struct data_file *file, const struct job_data *data, uint32_t nodes,
                      struct message *message)
{
    uint64_t window;

    if (choose_window(file, data, nodes, &window, message) != 0) {
        return -1;
    }
    file->stride = data->stride ? data->stride : window;
    if (file->stride > bytes_max) {
        return message_set(message, "--stride %" PRIu64 ": it is larger than any file",
                           file->stride);
    }
    if (!data->pad && check_end(file, data->name, window, nodes, message) != 0) {
        return -1;
    }
    file->window = (uint32_t)window;
    file->step = (uint32_t)(file->stride < window ? file->stride : window);
    file->bytes = (uint64_t)(nodes - 1) * file->step + window;
    file->unused_bytes = file->file_bytes - used_bytes(file, nodes);
    return 0;
}

/* What there is of a window; the rest stays zero. Windows that lie apart are read one by one. */
static int read_window(const struct data_file *file, int fd, uint64_t from, uint8_t *to,
                       uint64_t bytes, struct message *message)
{
    if (from >= file->file_bytes) {
        return 0;
    }
    uint64_t there = file->file_bytes - from;

    return read_at(file, fd, file->path, to, bytes < there ? bytes : there, from, message);
}

static int read_input(struct data_file *file, int fd, uint32_t nodes, struct message *message)
{
    if (file->stride == file->step) {
        return read_window(file, fd, 0, file->string, file->bytes, message);
    }
    for (uint32_t rank = 0; rank < nodes; rank++) {
        if (read_window(file, fd, rank * file->stride, file->string + data_from(file, rank),
                        file->window, message) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Standard input. ---------------------------------------------------------------------------- */

/* To its end. A file whose string is not there yet has no bytes. */
static int read_stream(struct data_file *file, struct message *message)
{
    uint64_t room = 0;
    ssize_t got = 1;

    while (got != 0) {
        if (file->bytes == room) {
            room = room ? 2 * room : STREAM_BYTES_FIRST;
            uint8_t *more = room <= bytes_max ? realloc(file->string, room) : NULL;
            if (!more) {
                return message_set(message,
                                   "standard input has more than %" PRIu64
                                   " MiB: no node, or not this computer, has so much room",
                                   file->bytes >> 20);
            }
            file->string = more;
        }
        got = read(STDIN_FILENO, file->string + file->bytes, room - file->bytes);
        if (got < 0 && errno != EINTR) {
            return message_set(message, "cannot read standard input: %s", strerror(errno));
        }
        file->bytes += got > 0 ? (uint64_t)got : 0;
    }
    return 0;
}

int data_read_stream(struct data_file *file, uint32_t nodes, struct message *message)
{
    if (read_stream(file, message) != 0) {
        return -1;
    }
    file->file_bytes = file->bytes;
    file->window = (uint32_t)file->bytes;
    for (uint32_t rank = 1; file->starts && rank <= nodes; rank++) {
        file->starts[rank] = file->bytes;
    }
    return 0;
}

/* Rank 0 has all of it and the others nothing, or all have all. */
static int open_stream(struct data_file *file, const struct job_data *data, uint32_t nodes,
                       struct message *message)
{
    if (strcmp(data->name, "all") == 0) {
        return 0;
    }
    file->starts = calloc(nodes + 1, sizeof *file->starts);
    return file->starts ? 0 : message_set(message, "out of memory");
}

/* All kinds. --------------------------------------------------------------------------------- */

static int open_one(struct data_file *file, const struct job_data *data, uint32_t nodes,
                    struct message *message)
{
    if (data->kind == BLOCK_PRIVATE) {
        return open_private(file, nodes, message);
    }
    if (data->kind == BLOCK_STDIN) {
        return open_stream(file, data, nodes, message);
    }
    if (size_of(file->path, &file->file_bytes, message) != 0) {
        return -1;
    }
    if (data->kind == BLOCK_INPUT) {
        return open_input(file, data, nodes, message);
    }
    if (file->file_bytes > bytes_max) {
        return message_set(message, "%.300s is too large for a node: %" PRIu64 " bytes", file->path,
                           file->file_bytes);
    }
    file->bytes = file->file_bytes;
    file->window = (uint32_t)file->bytes;
    return 0;
}

int data_open(struct data_file *file, const struct job_data *data, uint32_t nodes,
              struct message *message)
{
    *file = (struct data_file){
        .kind = data->kind, .path = strdup(data->path), .name = strdup(data->name)};
    if (!file->path || !file->name) {
        data_close(file);
        return message_set(message, "out of memory");
    }
    if (open_one(file, data, nodes, message) != 0) {
        data_close(file);
        return -1;
    }
    return 0;
}

int data_read(struct data_file *file, uint32_t nodes, const atomic_bool *stop,
              struct message *message)
{
    struct reading reading;

    file->stop = stop;
    if (file->kind == BLOCK_STDIN) {
        return 0;
    }
    file->string = calloc(1, file->bytes);
    if (!file->string) {
        return message_set(message, "out of memory");
    }
    if (file->kind == BLOCK_PRIVATE) {
        return read_private(file, nodes, message);
    }
    if (begin_reading(&reading, file->path, file->file_bytes, message) != 0) {
        return -1;
    }
    if ((file->kind == BLOCK_INPUT
             ? read_input(file, reading.fd, nodes, message)
             : read_at(file, reading.fd, file->path, file->string, file->bytes, 0, message)) != 0) {
        close(reading.fd);
        return -1;
    }
    return end_reading(&reading, message);
}

void data_close(struct data_file *file)
{
    free(file->path);
    free(file->name);
    free(file->starts);
    free(file->string);
    *file = (struct data_file){0};
}

uint64_t data_from(const struct data_file *file, uint32_t rank)
{
    return file->starts ? file->starts[rank] : (uint64_t)rank * file->step;
}

uint32_t data_bytes(const struct data_file *file, uint32_t rank)
{
    return file->starts ? (uint32_t)(file->starts[rank + 1] - file->starts[rank]) : file->window;
}
