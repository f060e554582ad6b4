#include "examples/collectives/messages.h"

enum { OPEN_MAX = 32, DIMENSIONS = ECUBE_DIMENSIONS_MAX };

static uint32_t wanted = MESSAGES_WINDOW;

void messages_want(uint32_t count)
{
    wanted = count;
}

static uint32_t last_rank(void)
{
    return (uint32_t)ecube_size() - 1;
}

/* The other rank of this one's pair of neighbours, and whether this one sends; -1: it has none. */
static int partner(int *sends)
{
    int here[DIMENSIONS], there[DIMENSIONS];
    int rank = ecube_rank(), count = ecube_coordinates(rank, here, DIMENSIONS), dimension = 0;

    while (dimension + 1 < count && ecube_neighbour(dimension, 1) < 0 &&
           ecube_neighbour(dimension, -1) < 0) {
        dimension++;
    }
    *sends = here[dimension] % 2 == 0;
    int other = ecube_neighbour(dimension, *sends ? 1 : -1);
    if (other < 0) {
        return -1;
    }
    /* Of an odd number the last one's neighbour may be the first. */
    ecube_coordinates(other, there, DIMENSIONS);
    return there[dimension] == here[dimension] + (*sends ? 1 : -1) ? other : -1;
}

/* To whom this rank sends; -1: nobody. */
static int destination(enum pattern pattern)
{
    uint32_t rank = (uint32_t)ecube_rank(), last = last_rank();
    int sends, other;

    switch (pattern) {
    case LATENCY:
    case BOTH_WAYS: return rank == 0 ? (int)last : rank == last ? 0 : -1;
    case BANDWIDTH: return rank == 0 ? (int)last : -1;
    case MESSAGE_RATE: other = partner(&sends); return sends ? other : -1;
    case INCAST: return rank == 0 ? -1 : 0;
    default: return -1;
    }
}

/* How many messages go to one receiver behind each other. */
static uint32_t row(enum pattern pattern)
{
    return pattern == LATENCY || pattern == INCAST ? 1 : wanted;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t messages_sent(enum pattern pattern)
{
    return destination(pattern) < 0 ? 0 : row(pattern);
}

static uint32_t received(enum pattern pattern)
{
    uint32_t rank = (uint32_t)ecube_rank(), last = last_rank();
    int sends, other;

    switch (pattern) {
    case LATENCY:
    case BOTH_WAYS: return rank == 0 || rank == last ? row(pattern) : 0;
    case BANDWIDTH: return rank == last ? row(pattern) : 0;
    case MESSAGE_RATE: other = partner(&sends); return other >= 0 && !sends ? row(pattern) : 0;
    case INCAST: return rank == 0 ? last : 0;
    default: return 0;
    }
}

uint32_t messages_blocks(enum pattern pattern, int receives)
{
    uint32_t count = receives ? received(pattern) : messages_sent(pattern);

    return pattern == INCAST ? count : smaller(count, MESSAGES_WINDOW);
}

uint32_t messages_source(enum pattern pattern, uint32_t number)
{
    int sends;

    switch (pattern) {
    case INCAST: return number + 1;
    case MESSAGE_RATE: return (uint32_t)partner(&sends);
    default: return ecube_rank() == 0 ? last_rank() : 0;
    }
}

uint32_t messages_number(enum pattern pattern, uint32_t number)
{
    return pattern == INCAST ? 0 : number;
}

uint32_t messages_hops(enum pattern pattern)
{
    int to = destination(pattern);

    return to < 0 ? 0 : (uint32_t)ecube_hops(to);
}

/* Rank 0 sends first, the other one answers. */
static void go_there_and_back(const unsigned char *send, unsigned char *receive, uint32_t bytes)
{
    int to = destination(LATENCY);

    if (ecube_rank() == 0) {
        ecube_send(send, bytes, to, 0);
    }
    if (to >= 0) {
        ecube_receive(receive, bytes, to, 0, NULL);
    }
    if (to == 0) {
        ecube_send(send, bytes, to, 0);
    }
}

static void start_receive(enum pattern pattern, uint32_t number, unsigned char *receive,
                          uint32_t bytes, struct ecube_request *request)
{
    size_t block = number % messages_blocks(pattern, 1);

    ecube_receive_start(receive + block * bytes, bytes, (int)messages_source(pattern, number), 0,
                        request);
}

/* As many as may be open are begun, and for each that has ended the next one. Those of one sender
 * end in their order: who comes later finds its block free. */
void messages_run(enum pattern pattern, const unsigned char *send, unsigned char *receive,
                  uint32_t bytes)
{
    struct ecube_request in[OPEN_MAX], out[MESSAGES_WINDOW];
    uint32_t comes = received(pattern), goes = messages_sent(pattern);
    unsigned open = smaller(comes, pattern == INCAST ? OPEN_MAX : MESSAGES_WINDOW), index;

    if (pattern == LATENCY) {
        go_there_and_back(send, receive, bytes);
        return;
    }
    for (uint32_t i = 0; i < open; i++) {
        start_receive(pattern, i, receive, bytes, &in[i]);
    }
    for (uint32_t i = 0, next = open; i < goes || next < comes; i++) {
        unsigned place = i % MESSAGES_WINDOW;
        if (i < goes && i >= MESSAGES_WINDOW) {
            ecube_wait(&out[place], NULL);
        }
        if (i < goes) {
            ecube_send_start(send + (size_t)place * bytes, bytes, destination(pattern), 0,
                             &out[place]);
        }
        if (next < comes && i + 1 >= smaller(goes, MESSAGES_WINDOW)) {
            ecube_wait_any(in, open, &index, NULL);
            start_receive(pattern, next++, receive, bytes, &in[index]);
        }
    }
    ecube_wait_all(in, open, NULL);
    ecube_wait_all(out, smaller(goes, MESSAGES_WINDOW), NULL);
}

/* Over how many links this node sends, and receives, at once. */
static uint64_t ports_here(void)
{
    uint64_t links = 0, ports = ecube_profile()->ports;

    for (int rank = 0; links < ports && rank < ecube_size(); rank++) {
        links += ecube_hops(rank) == 1;
    }
    return links > 0 ? links : 1;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

void messages_predict(enum pattern pattern, uint32_t bytes, uint32_t hops_max,
                      struct ecube_prediction *prediction)
{
    const struct ecube_profile *p = ecube_profile();
    uint64_t elements = divide_up(bytes, p->element_bytes), count = row(pattern);
    uint64_t hops = hops_max,
             busiest = pattern == INCAST ? last_rank() * elements : count * elements;

    if (pattern == MESSAGE_RATE || pattern == INCAST) {
        hops = 1; /* the nearest one's */
    }
    *prediction = (struct ecube_prediction){0};
    if (pattern != INCAST && !(pattern == MESSAGE_RATE && hops_max > 1)) {
        prediction->model_ns =
            p->xi_ns + count * (hops * p->tau_ns + (hops + elements - 1) * p->element_ns);
    }
    prediction->bound_ns =
        p->xi_ns + hops * p->tau_ns + (hops + divide_up(busiest, ports_here()) - 1) * p->element_ns;
}
