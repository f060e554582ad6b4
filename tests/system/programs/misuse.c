/*
 * misuse.c - misuse WHAT [STATUS | all]: node 0, or all nodes, do what no program may do with its
 * memory and its transfers, for the checks of ecube-cc --check to find; others end at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecube.h>

enum { BYTES = 3000, BLOCK = 20, TAG = 4, MESSAGES = 3 };

static char from[BYTES], to[BYTES];
static struct ecube_request requests[2];

__attribute__((noinline)) static char *get(size_t bytes)
{
    char *block = malloc(bytes);

    memset(block, 1, bytes);
    return block;
}

static void free_twice(void)
{
    char *block = get(BLOCK);

    free(block);
    free(block);
}

static void free_inside(void)
{
    free(get(BLOCK) + 4);
}

static void free_stranger(void)
{
    free(from + 16);
}

/* Found when it is freed, in the next call, or at the end. */
static void write_past(const char *then)
{
    volatile char *block = get(BLOCK);

    block[BLOCK + 1] = 0;
    if (strcmp(then, "free") == 0) {
        free((void *)block);
    }
    if (strcmp(then, "call") == 0) {
        ecube_barrier();
    }
}

/* Into the next block, which is freed first. */
static void write_far(void)
{
    char *volatile block = get(BLOCK), *next = get(BLOCK);

    memset(block, 0, 4 * BLOCK);
    free(next);
}

static void write_before(void)
{
    volatile char *block = get(BLOCK);

    block[-1] = 0;
    free((void *)block);
}

static void write_freed(void)
{
    volatile char *block = get(BLOCK);

    free((void *)block);
    block[7] = 0;
    ecube_barrier();
}

static void write_moved(void)
{
    volatile char *block = get(BLOCK);
    char *moved = realloc((void *)block, BYTES);

    block[0] = 0;
    ecube_barrier();
    free(moved);
}

static void write_copy(void)
{
    volatile char *copy = strdup("twelve bytes");

    copy[13] = 0;
    free((void *)copy);
}

static void write_aligned(void)
{
    char *volatile block = aligned_alloc(256, 256);

    block[256] = 0;
    free((void *)block);
}

__attribute__((noinline)) static void begin_receive(void *data, struct ecube_request *request)
{
    ecube_receive_start(data, BYTES, 0, TAG, request);
}

__attribute__((noinline)) static void begin_send(const void *data, struct ecube_request *request)
{
    ecube_send_start(data, BYTES, 0, TAG, request);
}

static void change_send(void)
{
    begin_receive(to, &requests[0]);
    begin_send(from, &requests[1]);
    from[BYTES - 1]++;
    ecube_wait_all(requests, 2, NULL);
}

static void change_vector(void)
{
    static int mine[BLOCK], sum[BLOCK];

    ecube_allreduce_start(mine, sum, BLOCK, ECUBE_INT32, ECUBE_SUM, requests);
    mine[0] = 1;
    while (ecube_test(requests, NULL) == 0) {
    }
}

static void change_table(void)
{
    struct ecube_block send = {0, BLOCK}, receive = {0, BLOCK};
    unsigned which;

    ecube_exchangev_start(from, &send, to, &receive, requests);
    receive.bytes = 0;
    ecube_wait_any(requests, 1, &which, NULL);
}

static void receive_twice(void)
{
    begin_receive(to, &requests[0]);
    begin_receive(to + BYTES / 2, &requests[1]);
}

static void receive_over_send(void)
{
    begin_send(from, &requests[0]);
    begin_receive(from + BYTES - 1, &requests[1]);
}

static void free_receive(void)
{
    char *block = get(BYTES);

    begin_receive(block, &requests[0]);
    free(block);
}

static void move_receive(void)
{
    char *block = get(BYTES);

    begin_receive(block, &requests[0]);
    free(realloc(block, BYTES * 2));
}

__attribute__((noinline)) static void receive_here(void)
{
    char local[BYTES];

    begin_receive(local, &requests[0]);
}

static void leave_frame(void)
{
    receive_here();
    begin_send(from, &requests[1]);
    ecube_wait_all(requests, 2, NULL);
}

static void leave_open(void)
{
    begin_receive(to, &requests[0]);
    ecube_barrier_start(&requests[1]);
}

/* Short ones, and a long one that has not come. */
static void leave_messages(void)
{
    struct ecube_status status;

    for (int i = 0; i < MESSAGES; i++) {
        ecube_send(from, BLOCK, 0, TAG + i);
    }
    begin_send(from, &requests[0]);
    ecube_receive(to, BLOCK, 0, TAG + 1, &status);
}

/* More than one report can list. */
static void spoil_many(void)
{
    for (int i = 0; i < 40; i++) {
        volatile char *block = get(BLOCK);
        block[BLOCK] = 0;
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*do_it)(void);
    } deeds[] = {
        {"twice", free_twice},        {"inside", free_inside},     {"stranger", free_stranger},
        {"far", write_far},           {"before", write_before},    {"freed", write_freed},
        {"moved", write_moved},       {"copy", write_copy},        {"aligned", write_aligned},
        {"send", change_send},        {"vector", change_vector},   {"table", change_table},
        {"receives", receive_twice},  {"over", receive_over_send}, {"gone", free_receive},
        {"went", move_receive},       {"frame", leave_frame},      {"open", leave_open},
        {"messages", leave_messages}, {"many", spoil_many}};
    const char *what = argc > 1 ? argv[1] : "";

    if (ecube_rank() != 0 && !(argc > 2 && strcmp(argv[2], "all") == 0)) {
        return 0;
    }
    if (strncmp(what, "past-", 5) == 0) {
        write_past(what + 5);
        return 0;
    }
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        if (strcmp(deeds[i].name, what) == 0) {
            deeds[i].do_it();
            return argc > 2 ? atoi(argv[2]) : 0;
        }
    }
    printf("unknown: %s\n", what);
    return 1;
}
