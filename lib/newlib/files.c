/*
 * files.c - what the C library asks of a system's files.
 *
 * Source   POSIX.1-2017: open, read, write, lseek, close, fstat, stat, unlink, rename, ftruncate;
 *          newlib, libc manual, chapter "System Calls"
 */
#define _DEFAULT_SOURCE 1

#include "lib/newlib/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/newlib/refuse.h"
#include "lib/newlib/store.h"

enum {
    FILES_OPEN = 32,                  /* at a time */
    FIRST_NUMBER = STDERR_FILENO + 1, /* behind the streams */
    BUFFER_BYTES = 1024               /* that the library gives a stream */
};

int _open(const char *name, int flags, int mode);
int _stat(const char *name, struct stat *status);
int _unlink(const char *name);
int _link(const char *from, const char *to);

/* What is open; `file` is NULL: nothing. */
static struct open_file {
    struct file *file;
    int flags;
    uint32_t at;
} open_files[FILES_OPEN];

/* A count, or a negative errno. */
static int answer(int count)
{
    return count < 0 ? refuse(-count) : count;
}

/* NULL, and EBADF: nothing is open there. */
static struct open_file *open_at(int number)
{
    int index = number - FIRST_NUMBER;

    if (index < 0 || index >= FILES_OPEN || !open_files[index].file) {
        errno = EBADF;
        return NULL;
    }
    return &open_files[index];
}

/* The same, if its access is another than `not_access`: O_WRONLY where it is to be read, O_RDONLY
 * where it is to be written. EBADF otherwise. */
static struct open_file *open_for(int number, int not_access)
{
    struct open_file *open = open_at(number);

    if (open && (open->flags & O_ACCMODE) == not_access) {
        errno = EBADF;
        return NULL;
    }
    return open;
}

/* A file that there is. */
static int open_found(struct file *file, int flags)
{
    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
        return -EEXIST;
    }
    return flags & O_TRUNC && (flags & O_ACCMODE) != O_RDONLY ? ecube_store_cut(file, 0) : 0;
}

static int open_name(const char *given, int flags, struct file **file)
{
    char name[STORE_NAME_BYTES];
    int error = ecube_store_find(given, name, file);

    if (error < 0) {
        return error;
    }
    if (*file) {
        return open_found(*file, flags);
    }
    return flags & O_CREAT ? ecube_store_make(name, file) : -ENOENT;
}

int _open(const char *name, int flags, int mode)
{
    int index = 0;
    struct file *file;

    (void)mode;
    while (index < FILES_OPEN && open_files[index].file) {
        index++;
    }
    if (index == FILES_OPEN) {
        return refuse(EMFILE);
    }
    int error = open_name(name, flags, &file);
    if (error < 0) {
        return refuse(-error);
    }
    file->users++;
    open_files[index] = (struct open_file){.file = file, .flags = flags};
    return FIRST_NUMBER + index;
}

int ecube_file_close(int number)
{
    struct open_file *open = open_at(number);

    if (!open) {
        return -1;
    }
    ecube_store_leave(open->file);
    open->file = NULL;
    return 0;
}

int ecube_file_read(int number, void *data, size_t bytes)
{
    struct open_file *open = open_for(number, O_WRONLY);

    if (!open) {
        return -1;
    }
    const struct output_file *file = &open->file->output;
    uint32_t left = open->at < file->bytes ? file->bytes - open->at : 0;
    uint32_t count = bytes < left ? (uint32_t)bytes : left;
    if (count > 0) {
        memcpy(data, file->data + open->at, count);
    }
    open->at += count;
    return (int)count;
}

int ecube_file_write(int number, const void *data, size_t bytes)
{
    struct open_file *open = open_for(number, O_RDONLY);

    if (!open || bytes == 0) {
        return open ? 0 : -1;
    }
    if (open->flags & O_APPEND) {
        open->at = open->file->output.bytes;
    }
    int count = ecube_store_write(open->file, open->at, data,
                                  bytes < STORE_FILE_BYTES ? (uint32_t)bytes : STORE_FILE_BYTES);
    if (count > 0) {
        open->at += (uint32_t)count;
    }
    return answer(count);
}

/* From where a seek counts; -1: there is no such place. */
static int64_t seek_base(const struct open_file *open, int from)
{
    switch (from) {
    case SEEK_SET: return 0;
    case SEEK_CUR: return open->at;
    case SEEK_END: return open->file->output.bytes;
    default: return -1;
    }
}

off_t ecube_file_seek(int number, off_t offset, int from)
{
    struct open_file *open = open_at(number);

    if (!open) {
        return -1;
    }
    int64_t base = seek_base(open, from);
    if (base < 0 || offset < -base) {
        return refuse(EINVAL);
    }
    if (offset > STORE_FILE_BYTES - base) {
        return refuse(EOVERFLOW);
    }
    open->at = (uint32_t)(base + offset);
    return (off_t)open->at;
}

static void describe(const struct file *file, struct stat *status)
{
    *status = (struct stat){.st_mode = S_IFREG | S_IRUSR | S_IWUSR,
                            .st_nlink = file->output.name != NULL,
                            .st_size = (off_t)file->output.bytes,
                            .st_blksize = BUFFER_BYTES};
}

int ecube_file_status(int number, struct stat *status)
{
    const struct open_file *open = open_at(number);

    if (!open) {
        return -1;
    }
    describe(open->file, status);
    return 0;
}

/* NULL, and errno: there is none. */
static struct file *find(const char *given, char name[STORE_NAME_BYTES])
{
    struct file *file = NULL;
    int error = ecube_store_find(given, name, &file);

    if (!file) {
        errno = error < 0 ? -error : ENOENT;
    }
    return file;
}

int _stat(const char *name, struct stat *status)
{
    char kept[STORE_NAME_BYTES];
    const struct file *file = find(name, kept);

    if (!file) {
        return -1;
    }
    describe(file, status);
    return 0;
}

int _unlink(const char *name)
{
    char kept[STORE_NAME_BYTES];
    struct file *file = find(name, kept);

    return file ? answer(ecube_store_remove(file)) : -1;
}

/* A file has one name. */
int _link(const char *from, const char *to)
{
    (void)from;
    (void)to;
    return refuse(EMLINK);
}

/* Of what programs call without the library in between, errno is the library's. */
static int direct(int result)
{
    if (result < 0) {
        *__errno() = errno;
    }
    return result;
}

static int change_name(const char *from, const char *to)
{
    char name[STORE_NAME_BYTES];
    struct file *file = find(from, name), *replaced = NULL;

    if (!file) {
        return -1;
    }
    int error = ecube_store_find(to, name, &replaced);
    if (error < 0 || replaced == file) {
        return answer(error);
    }
    return answer(ecube_store_rename(file, name, replaced));
}

/* In place of newlib's, which makes a second name first. */
int rename(const char *from, const char *to)
{
    return direct(change_name(from, to));
}

static int change_length(int number, off_t bytes)
{
    struct open_file *open = open_for(number, O_RDONLY);

    if (!open) {
        return -1;
    }
    if (bytes < 0 || bytes > STORE_FILE_BYTES) {
        return refuse(bytes < 0 ? EINVAL : EFBIG);
    }
    return answer(ecube_store_cut(open->file, (uint32_t)bytes));
}

/* newlib declares it and has none. */
int ftruncate(int number, off_t bytes)
{
    return direct(change_length(number, bytes));
}
