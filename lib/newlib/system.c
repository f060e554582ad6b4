/*
 * system.c - what the C library asks of the system below it.
 *
 * Standard output and error go to the host's console, standard input reads what came for it with
 * the program, or is at its end. The streams count as terminals, so the library keeps standard
 * output until the end of a line; standard error, which it does not buffer, is kept here, so that a
 * line arrives whole. Files are in files.c.
 *
 * Source   newlib, libc manual, chapter "System Calls"
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

#include "include/ecube/ecube.h"
#include "lib/newlib/files.h"
#include "lib/newlib/refuse.h"
#include "lib/portable/call.h"
#include "lib/portable/data.h"
#include "wire/run.h"

enum { PROCESS_ID = 1, LINE_BYTES = 1024 };

_Noreturn void _exit(int status);
int _read(int file, void *data, size_t bytes);
int _write(int file, const void *data, size_t bytes);
int _close(int file);
int _isatty(int file);
int _fstat(int file, struct stat *status);
off_t _lseek(int file, off_t offset, int from);
void *_sbrk(ptrdiff_t bytes);
int _kill(int process, int signal);
int _getpid(void);
int _gettimeofday(struct timeval *now, void *zone);
clock_t _times(struct tms *times);

/* Hands text to the kernel, which takes as much at a time as it has room for. */
static int console_write(enum ecube_stream stream, const char *text, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        size_t left = bytes - done;
        int32_t taken = ecube_call_three(ECUBE_CALL_WRITE, ecube_address(text + done),
                                         left < INT32_MAX ? (uint32_t)left : INT32_MAX, stream);
        if (taken <= 0) {
            return refuse(EIO);
        }
        done += (size_t)taken;
    }
    return (int)bytes;
}

/* What standard error has said since the last end of a line: the library writes it word by word. */
static struct {
    size_t bytes;
    char text[LINE_BYTES];
} error_line;

static int error_line_flush(void)
{
    size_t bytes = error_line.bytes;
    error_line.bytes = 0;
    return console_write(ECUBE_STREAM_ERROR, error_line.text, bytes);
}

void ecube_error_line_flush(void)
{
    error_line_flush();
}

static int error_write(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        error_line.text[error_line.bytes++] = text[i];
        if ((text[i] == '\n' || error_line.bytes == LINE_BYTES) && error_line_flush() < 0) {
            return -1;
        }
    }
    return (int)bytes;
}

void _exit(int status)
{
    error_line_flush();
    for (;;) {
        ecube_call(ECUBE_CALL_EXIT, (uint32_t)status, 0);
    }
}

/* What was printed, and written to files, comes first, as at exit; nothing else is run, for a part
 * of the program may be in any state. */
void ecube_abort(int status)
{
    fflush(NULL);
    error_line_flush();
    for (;;) {
        ecube_call(ECUBE_CALL_ABORT, (uint32_t)status, 0);
    }
}

static int read_input(void *data, size_t bytes)
{
    static uint32_t taken;
    struct data_entry input;

    if (!ecube_data_find(BLOCK_STDIN, &input)) {
        return 0;
    }
    uint32_t left = input.bytes - taken;
    uint32_t count = bytes < left ? (uint32_t)bytes : left;
    memcpy(data, (const char *)input.data + taken, count);
    taken += count;
    return (int)count;
}

static bool is_stream(int file)
{
    return file >= STDIN_FILENO && file <= STDERR_FILENO;
}

int _read(int file, void *data, size_t bytes)
{
    if (file == STDIN_FILENO) {
        return read_input(data, bytes);
    }
    return is_stream(file) || !ecube_file_read ? refuse(EBADF) : ecube_file_read(file, data, bytes);
}

int _write(int file, const void *data, size_t bytes)
{
    switch (file) {
    case STDIN_FILENO: return refuse(EBADF);
    case STDOUT_FILENO: return console_write(ECUBE_STREAM_OUTPUT, data, bytes);
    case STDERR_FILENO: return error_write(data, bytes);
    default: return ecube_file_write ? ecube_file_write(file, data, bytes) : refuse(EBADF);
    }
}

int _close(int file)
{
    if (is_stream(file)) {
        return 0;
    }
    return ecube_file_close ? ecube_file_close(file) : refuse(EBADF);
}

int _fstat(int file, struct stat *status)
{
    if (is_stream(file)) {
        *status = (struct stat){.st_mode = S_IFCHR, .st_blksize = LINE_BYTES};
        return 0;
    }
    return ecube_file_status ? ecube_file_status(file, status) : refuse(EBADF);
}

int _isatty(int file)
{
    return is_stream(file);
}

off_t _lseek(int file, off_t offset, int from)
{
    if (is_stream(file)) {
        return refuse(ESPIPE);
    }
    return ecube_file_seek ? ecube_file_seek(file, offset, from) : refuse(EBADF);
}

/* The heap lies between the image and the end of the program's memory; the kernel says where. */
void *_sbrk(ptrdiff_t bytes)
{
    static uint32_t end;
    const struct ecube_abi_info *info = ecube_program_info();
    if (end == 0) {
        end = (info->heap_start + UINT32_C(7)) & ~UINT32_C(7);
    }
    uint32_t old = end;
    if (bytes > 0 ? (size_t)bytes > info->heap_end - end
                  : 0 - (size_t)bytes > end - info->heap_start) {
        errno = ENOMEM;
        return (void *)-1;
    }
    end += (uint32_t)bytes;
    return ecube_pointer(old);
}

/* abort and failed assertions come here: the report says where, as that of a fault. */
int _kill(int process, int signal)
{
    if (process != PROCESS_ID) {
        return refuse(ESRCH);
    }
    if (signal == 0) {
        return 0; /* asks only whether the process is there */
    }
    error_line_flush();
    ecube_signal(signal);
}

int _getpid(void)
{
    return PROCESS_ID;
}

int _gettimeofday(struct timeval *now, void *zone)
{
    (void)zone;
    uint64_t us = ecube_wall_ns() / 1000;
    *now =
        (struct timeval){.tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000)};
    return 0;
}

clock_t _times(struct tms *times)
{
    clock_t ticks = (clock_t)(ecube_wall_ns() / (1000000000 / CLOCKS_PER_SEC));
    *times = (struct tms){.tms_utime = ticks};
    return ticks;
}
