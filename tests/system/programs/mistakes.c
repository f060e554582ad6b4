/*
 * mistakes.c - mistakes NAME [RANK]: a program that makes one mistake, at all ranks or at RANK
 * alone, and looks at no result. What the tool must say of it, errors_test.sh knows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecube.h>

static char bytes[4096], more[4096];
static int rank, size, here;

static void bad_peer(void)
{
    if (here) {
        ecube_send(bytes, 4, size, 0);
    }
    ecube_barrier();
}

static void bad_tag(void)
{
    ecube_send_receive(bytes, 4, (rank + 1) % size, 0, more, 4, (rank + size - 1) % size, -5, NULL);
}

static void bad_pointer(void)
{
    ecube_gather(bytes, here ? (void *)4 : more, 4, 2);
}

static void overlap(void)
{
    ecube_allreduce(bytes, bytes + 4, 2, ECUBE_INT32, ECUBE_SUM);
}

static void bad_output(void)
{
    ecube_output((void *)4, 8);
}

static void bad_region(void)
{
    ecube_region("in", (void *)4, 8);
}

static void no_region(void)
{
    ecube_region("in", bytes, sizeof bytes);
    ecube_region_wait("out", NULL);
}

static void bad_operator(void)
{
    ecube_reduce(bytes, more, 1, ECUBE_DOUBLE, ECUBE_BITWISE_XOR, 0);
}

static void bad_root(void)
{
    struct ecube_request request;

    ecube_broadcast_start(bytes, 4, -1, &request);
    memset(more, 1, sizeof more); /* it is fatal at the wait */
    if (rank == 0) {
        printf("begun\n");
    }
    ecube_wait(&request, NULL);
}

static void cut(void)
{
    if (rank == 0) {
        ecube_send(bytes, 100, 1, 7);
    }
    if (rank == 1) {
        ecube_receive(more, 10, 0, ECUBE_ANY, NULL);
    }
}

static void cut_later(void)
{
    struct ecube_request requests[2];
    unsigned index[2];
    struct ecube_status statuses[2];

    if (rank == 0) {
        ecube_send(bytes, 2000, 1, 7);
    }
    if (rank == 1) {
        ecube_receive_start(more, 10, 0, 7, &requests[0]);
        ecube_receive_start(more, 10, 0, 8, &requests[1]);
        ecube_wait_some(requests, 2, index, statuses);
    }
}

static void twice(void)
{
    struct ecube_request request;

    ecube_barrier_start(&request);
    ecube_wait(&request, NULL);
    ecube_wait(&request, NULL);
}

static void too_many(void)
{
    struct ecube_request request;

    for (int i = 0; i < 100; i++) {
        ecube_receive_start(bytes, 1, ECUBE_ANY, i, &request);
    }
}

static void missing(void)
{
    if (!here) {
        ecube_barrier();
    }
}

static void missing_later(void)
{
    struct ecube_request request;

    ecube_barrier();
    if (here) {
        return;
    }
    ecube_exchange_start(bytes, more, 8, &request);
    while (ecube_test(&request, NULL) == 0) {
        ;
    }
}

static void gone(void)
{
    if (!here) {
        ecube_send(bytes, 4000, 1, 0);
    }
}

static void crash(void)
{
    if (here) {
        *(volatile char *)NULL = 1;
    }
    missing();
}

static void leave(void)
{
    if (here) {
        exit(5);
    }
    ecube_barrier();
}

static void give_up(void)
{
    if (here) {
        ecube_abort(0);
    }
    ecube_barrier();
}

static void differ(void)
{
    if (here) {
        ecube_barrier();
    } else {
        ecube_broadcast(bytes, 4, 0);
    }
}

/* None of these is an error. */
static void right(void)
{
    struct ecube_request request = {.number = -1};
    struct ecube_status statuses[1];
    struct ecube_prediction prediction;
    unsigned index;
    int wrong = ecube_predict((enum ecube_operation)99, 0, 1, 0, &prediction) != ECUBE_E_ARGUMENT;

    wrong += ecube_algorithm(ECUBE_EXCHANGE, "none such") != ECUBE_E_ARGUMENT;
    wrong += ecube_wait_any(&request, 1, &index, NULL) != ECUBE_E_ARGUMENT || index != 1;
    wrong += ecube_wait_some(&request, 1, &index, statuses) != ECUBE_E_ARGUMENT;
    ecube_receive_start(bytes, 1, rank, 0, &request);
    wrong += ecube_test(&request, NULL) != 0;
    wrong += ecube_cancel(&request) != ECUBE_OK;
    wrong += ecube_wait(&request, NULL) != ECUBE_E_CANCELLED;
    ecube_receive_start(bytes, 1, rank, 0, &request);
    ecube_cancel(&request);
    wrong += ecube_wait_all(&request, 1, NULL) != ECUBE_E_CANCELLED;
    wrong += ecube_dims() != ECUBE_E_NETWORK;
    if (wrong) {
        exit(wrong);
    }
}

/* What is asked for comes back, and what is asked for no longer does not. */
static void asks(void)
{
    struct ecube_request request;
    int wrong = ecube_errors(ECUBE_ERRORS_RETURN) != ECUBE_ERRORS_FATAL;

    wrong += ecube_send(bytes, 4, size, 0) != ECUBE_E_ARGUMENT;
    wrong += ecube_broadcast_start(bytes, 4, size, &request) != ECUBE_OK;
    wrong += ecube_errors(ECUBE_ERRORS_FATAL) != ECUBE_ERRORS_RETURN;
    printf("%d wrong\n", wrong);
    ecube_wait(&request, NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} mistakes[] = {{"bad-peer", bad_peer},
                {"bad-tag", bad_tag},
                {"bad-pointer", bad_pointer},
                {"overlap", overlap},
                {"bad-operator", bad_operator},
                {"bad-output", bad_output},
                {"bad-region", bad_region},
                {"no-region", no_region},
                {"bad-root", bad_root},
                {"cut", cut},
                {"cut-later", cut_later},
                {"twice", twice},
                {"too-many", too_many},
                {"missing", missing},
                {"missing-later", missing_later},
                {"gone", gone},
                {"crash", crash},
                {"leave", leave},
                {"give-up", give_up},
                {"differ", differ},
                {"right", right},
                {"asks", asks}};

int main(int argc, char **argv)
{
    rank = ecube_rank();
    size = ecube_size();
    here = argc < 3 || rank == atoi(argv[2]);
    for (unsigned i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        if (argc > 1 && strcmp(mistakes[i].name, argv[1]) == 0) {
            mistakes[i].run();
        }
    }
    return 0;
}
