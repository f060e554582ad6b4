/*
 * sink.c - the queue between who prints and the thread that writes.
 *
 * Pieces wait in one queue and are written in its order, several of one stream at once. The thread
 * holds the lock but while it writes. What has a receipt goes into a second queue when it is out,
 * where its owner fetches the receipt. `left` counts what is not written, so that an owner may
 * wait.
 */
#include "host/console/sink.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drivers/check.h"
#include "host/console/message.h"
#include "host/console/terminal.h"

enum {
    WRITE_BYTES = 16 * 1024,  /* small pieces are written together, up to this */
    STACK_BYTES = 128 * 1024, /* of the thread */
    GRACE_MS = 2000, /* after the deadline: a reader that takes nothing for so long is none */
};

struct piece {
    struct piece *next;
    int fd;
    struct line_receipt receipt;
    size_t bytes;
    char data[];
};

struct queue {
    struct piece *first, **end;
};

struct sink {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*moved)(void *context);
    void *context;
    struct queue waiting;
    struct queue written; /* whose receipts have not been fetched */
    size_t left;          /* bytes that wait, or are being written */
    int error;
    bool abandoned, over;
};

static void queue_init(struct queue *queue)
{
    *queue = (struct queue){.end = &queue->first};
}

static void queue_add(struct queue *queue, struct piece *piece)
{
    piece->next = NULL;
    *queue->end = piece;
    queue->end = &piece->next;
}

static struct piece *queue_take(struct queue *queue)
{
    struct piece *piece = queue->first;

    if (piece) {
        queue->first = piece->next;
        queue->end = piece->next ? queue->end : &queue->first;
    }
    return piece;
}

static void queue_free(struct queue *queue)
{
    struct piece *piece;

    while ((piece = queue_take(queue))) {
        free(piece);
    }
}

/* Pieces for one stream, at least one: what is written together. */
static size_t take_batch(struct sink *sink, struct queue *batch, char data[WRITE_BYTES])
{
    size_t bytes = 0;

    queue_init(batch);
    do {
        struct piece *piece = queue_take(&sink->waiting);

        if (bytes + piece->bytes <= WRITE_BYTES) {
            memcpy(data + bytes, piece->data, piece->bytes);
        }
        bytes += piece->bytes;
        queue_add(batch, piece);
    } while (sink->waiting.first && sink->waiting.first->fd == batch->first->fd &&
             bytes + sink->waiting.first->bytes <= WRITE_BYTES);
    return bytes;
}

/* The batch is out, or lost. */
static void settle(struct sink *sink, struct queue *batch, size_t bytes, int error)
{
    struct piece *piece;

    if (error && batch->first->fd == STDOUT_FILENO && !sink->error) {
        sink->error = error;
    }
    while ((piece = queue_take(batch))) {
        if (piece->receipt.bytes > 0 && !sink->abandoned) {
            queue_add(&sink->written, piece);
        } else {
            free(piece);
        }
    }
    sink->left -= bytes;
    pthread_cond_broadcast(&sink->changed);
}

static void *run(void *argument)
{
    struct sink *sink = argument;
    char data[WRITE_BYTES];
    struct queue batch;

    pthread_mutex_lock(&sink->lock);
    while (sink->waiting.first || !sink->over) {
        if (!sink->waiting.first) {
            pthread_cond_wait(&sink->changed, &sink->lock);
            continue;
        }
        size_t bytes = take_batch(sink, &batch, data);
        int fd = batch.first->fd, error = fd == STDOUT_FILENO ? sink->error : 0;
        pthread_mutex_unlock(&sink->lock);
        if (!error) {
            error = terminal_put(fd, bytes <= WRITE_BYTES ? data : batch.first->data, bytes);
        }
        pthread_mutex_lock(&sink->lock);
        settle(sink, &batch, bytes, error);
        if (sink->moved) {
            sink->moved(sink->context);
        }
    }
    pthread_mutex_unlock(&sink->lock);
    return NULL;
}

struct sink *sink_open(void (*moved)(void *context), void *context)
{
    struct sink *sink = calloc(1, sizeof *sink);
    pthread_condattr_t attributes;
    pthread_attr_t thread;
    struct message message;
    sigset_t all, before;
    int error;

    CHECK(sink);
    sink->moved = moved;
    sink->context = context;
    queue_init(&sink->waiting);
    queue_init(&sink->written);
    pthread_mutex_init(&sink->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&sink->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    /* Signals are for the loop, and a reader that is gone shows as an error. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&thread);
    pthread_attr_setstacksize(&thread, STACK_BYTES);
    error = pthread_create(&sink->thread, &thread, run, sink);
    pthread_attr_destroy(&thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        message_set(&message, "cannot start a thread for what is shown: %s", strerror(error));
        exit(message_print(&message));
    }
    return sink;
}

static bool takes_at_once(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

    return poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLOUT) != 0;
}

/* For a sink that is abandoned. */
static void put_now(int fd, const void *data, size_t bytes)
{
    sigset_t pipe, before;

    if (fd == STDERR_FILENO && bytes <= PIPE_BUF && takes_at_once(fd)) {
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe, &before);
        terminal_put(fd, data, bytes);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
}

void sink_put(struct sink *sink, int fd, const void *data, size_t bytes,
              const struct line_receipt *receipt)
{
    static const struct line_receipt none;
    struct piece *piece;

    if (sink->abandoned) {
        put_now(fd, data, bytes);
        return;
    }
    piece = malloc(sizeof *piece + bytes);
    CHECK(piece);
    *piece = (struct piece){.fd = fd, .receipt = receipt ? *receipt : none, .bytes = bytes};
    memcpy(piece->data, data, bytes);
    pthread_mutex_lock(&sink->lock);
    queue_add(&sink->waiting, piece);
    sink->left += bytes;
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
}

void sink_say(struct sink *sink, int fd, const char *text, size_t bytes)
{
    char *folded;
    size_t count;
    FILE *file = open_memstream(&folded, &count);

    CHECK(file);
    terminal_write(file, fd, text, bytes);
    CHECK(fclose(file) == 0);
    sink_put(sink, fd, folded, count, NULL);
    free(folded);
}

void sink_print(struct sink *sink, int fd, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    int bytes = vasprintf(&text, format, arguments);
    va_end(arguments);
    CHECK(bytes >= 0);
    sink_say(sink, fd, text, (size_t)bytes);
    free(text);
}

bool sink_take_receipt(struct sink *sink, struct line_receipt *receipt)
{
    pthread_mutex_lock(&sink->lock);
    struct piece *piece = queue_take(&sink->written);
    pthread_mutex_unlock(&sink->lock);
    if (piece) {
        *receipt = piece->receipt;
        free(piece);
    }
    return piece != NULL;
}

int sink_error(struct sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    int error = sink->error;
    pthread_mutex_unlock(&sink->lock);
    return error;
}

uint64_t sink_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

bool sink_wait(struct sink *sink, size_t left_max, uint64_t deadline_us)
{
    bool moves = true;

    pthread_mutex_lock(&sink->lock);
    while (moves && sink->left > left_max && !sink->abandoned) {
        size_t left = sink->left;
        uint64_t grace_us = sink_now_us() + GRACE_MS * UINT64_C(1000);
        uint64_t until_us = deadline_us > grace_us ? deadline_us : grace_us;
        struct timespec until = {.tv_sec = (time_t)(until_us / 1000000),
                                 .tv_nsec = (long)(until_us % 1000000 * 1000)};

        while (sink->left == left && moves) {
            moves = until_us == UINT64_MAX
                        ? pthread_cond_wait(&sink->changed, &sink->lock) == 0
                        : pthread_cond_timedwait(&sink->changed, &sink->lock, &until) == 0;
        }
    }
    pthread_mutex_unlock(&sink->lock);
    return moves;
}

void sink_be_still(struct sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    sink->moved = NULL;
    pthread_mutex_unlock(&sink->lock);
}

void sink_abandon(struct sink *sink)
{
    struct piece *piece;

    pthread_mutex_lock(&sink->lock);
    sink->abandoned = true;
    while ((piece = queue_take(&sink->waiting))) {
        put_now(piece->fd, piece->data, piece->bytes);
        sink->left -= piece->bytes;
        free(piece);
    }
    pthread_mutex_unlock(&sink->lock);
}

int sink_status(struct sink *sink)
{
    return sink_error(sink) == EPIPE ? 128 + SIGPIPE : STATUS_BAD_INPUT;
}

int sink_close(struct sink *sink, uint64_t deadline_us, int status)
{
    struct message message;

    if (!sink->abandoned && !sink_wait(sink, 0, deadline_us)) {
        sink_abandon(sink);
        sink_print(sink, STDERR_FILENO,
                   "ecube: nobody has read the rest of the output (--timeout bounds that, too)\n");
        status = status ? status : STATUS_TIMEOUT;
    }
    if (sink->abandoned) {
        return status; /* its thread may hang in a write: it ends with the process */
    }
    pthread_mutex_lock(&sink->lock);
    sink->over = true;
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
    pthread_join(sink->thread, NULL);
    if (sink->error) {
        status = sink_status(sink);
    }
    if (sink->error && sink->error != EPIPE) {
        message_set(&message,
                    "cannot write to standard output: it is closed, or its device is full");
        message_print(&message);
    }
    queue_free(&sink->written);
    pthread_mutex_destroy(&sink->lock);
    pthread_cond_destroy(&sink->changed);
    free(sink);
    return status;
}
