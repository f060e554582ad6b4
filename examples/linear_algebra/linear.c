/*
 * linear.c - numbers, systems of equations and meters of the programs of this folder.
 */
#include "examples/linear_algebra/linear.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum { ROUTES_MAX = 8, SOLUTION_PERIOD = 5 };

static const char *program;

void linear_begin(const char *name)
{
    program = name;
}

void linear_refuse(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    words_refuse_list(program, format, arguments);
}

size_t linear_number(int argc, char **argv, int index, size_t usual, size_t least, size_t most)
{
    return (size_t)words_number(program, argc, argv, index, (long)usual, (long)least, (long)most);
}

double *linear_vector(size_t count)
{
    double *vector = calloc(count ? count : 1, sizeof *vector);

    if (!vector) { /* the others may have it: this rank speaks for itself */
        fprintf(stderr, "%s: no memory for %lu numbers\n", program, (unsigned long)count);
        ecube_abort(2);
    }
    return vector;
}

size_t linear_share(const char *what, size_t order)
{
    size_t size = (size_t)ecube_size();

    if (order == 0 || order % size != 0) {
        linear_refuse("%s of order %lu does not fit %lu ranks: it wants a multiple of %lu", what,
                      (unsigned long)order, (unsigned long)size, (unsigned long)size);
    }
    return order / size;
}

double linear_element(size_t row, size_t column)
{
    uint32_t word = (uint32_t)row * UINT32_C(2654435761) ^ (uint32_t)column * UINT32_C(2246822519);

    word ^= word >> 15;
    word *= UINT32_C(2246822519);
    word ^= word >> 13;
    return (double)(word % 9) - 4;
}

/* The equations of which each rank has `numbers`: numbers = share (share ecube_size() + 1). */
static void read_equations(struct equations *equations, const double *input, size_t numbers)
{
    size_t size = (size_t)ecube_size(), share = 1;

    while (share * (share * size + 1) < numbers) {
        share++;
    }
    if (share * (share * size + 1) != numbers) {
        linear_refuse("%lu numbers for each of %lu ranks are no equations: of order N they are "
                      "N + 1 for each of N / %lu rows",
                      (unsigned long)numbers, (unsigned long)size, (unsigned long)size);
    }
    equations->share = share;
    equations->order = share * size;
    equations->rows = linear_vector(numbers);
    memcpy(equations->rows, input, numbers * sizeof *input);
}

void linear_equations(struct equations *equations, size_t order,
                      double (*matrix)(size_t row, size_t column))
{
    size_t bytes, share, width;
    const double *input = ecube_input(&bytes);

    if (input) {
        read_equations(equations, input, bytes / sizeof *input);
        return;
    }
    share = linear_share("a matrix", order);
    width = order + 1;
    *equations = (struct equations){order, share, linear_vector(share * width)};
    for (size_t i = 0; i < share; i++) {
        double *row = equations->rows + i * width;
        for (size_t column = 0; column < order; column++) {
            row[column] = matrix((size_t)ecube_rank() * share + i, column);
            row[order] += row[column] * (double)(column % SOLUTION_PERIOD + 1);
        }
    }
}

/* Rows of an augmented matrix, whose largest element of a column comes to its diagonal. Returns -1:
 * that is nothing beside the largest of the matrix. */
static int eliminate(double *rows, size_t order, double largest)
{
    size_t width = order + 1;

    for (size_t t = 0; t < order; t++) {
        size_t best = t;
        for (size_t i = t; i < order; i++) {
            best = fabs(rows[i * width + t]) > fabs(rows[best * width + t]) ? i : best;
        }
        if (fabs(rows[best * width + t]) <= largest * 1e-12) {
            return -1;
        }
        for (size_t j = 0; j < width; j++) {
            double kept = rows[t * width + j];
            rows[t * width + j] = rows[best * width + j];
            rows[best * width + j] = kept;
        }
        for (size_t i = t + 1; i < order; i++) {
            double factor = rows[i * width + t] / rows[t * width + t];
            for (size_t j = t; j < width; j++) {
                rows[i * width + j] -= factor * rows[t * width + j];
            }
        }
    }
    return 0;
}

int linear_solve(const struct equations *equations, double *solution)
{
    size_t order = equations->order, width = order + 1, numbers = equations->share * width;
    double *rows = ecube_rank() == 0 ? linear_vector(order * width) : NULL, largest = 0;
    int32_t status = 0;

    ecube_gather(equations->rows, rows, (uint32_t)(numbers * sizeof *rows), 0);
    if (ecube_rank() == 0) {
        for (size_t i = 0; i < order * width; i++) {
            largest = fmax(largest, i % width < order ? fabs(rows[i]) : 0);
        }
        status = eliminate(rows, order, largest);
        for (size_t t = order; status == 0 && t-- > 0;) {
            double sum = rows[t * width + order];
            for (size_t j = t + 1; j < order; j++) {
                sum -= rows[t * width + j] * solution[j];
            }
            solution[t] = sum / rows[t * width + t];
        }
    }
    free(rows);
    ecube_broadcast(&status, sizeof status, 0);
    ecube_broadcast(solution, (uint32_t)(order * sizeof *solution), 0);
    return status;
}

uint64_t linear_differs(const double *part, const double *solution, size_t first, size_t count,
                        size_t order, double tolerance)
{
    double largest = 0;
    uint64_t wrong = 0;

    for (size_t i = 0; i < order; i++) {
        largest = fmax(largest, fabs(solution[i]));
    }
    for (size_t i = 0; i < count; i++) {
        wrong += !(fabs(part[i] - solution[first + i]) <= tolerance * largest);
    }
    return wrong;
}

void meter_begin(struct meter *meter)
{
    ecube_align();
    meter->began_ns = ecube_model_ns();
    meter->wall_began_ns = ecube_wall_ns();
}

static void end(struct meter *meter, uint64_t bytes, uint64_t steps)
{
    ecube_align();
    meter->model_ns += ecube_model_ns() - meter->began_ns;
    meter->wall_ns += ecube_wall_ns() - meter->wall_began_ns;
    meter->steps += steps;
    meter->bytes = bytes > meter->bytes ? bytes : meter->bytes;
}

void meter_wait(struct meter *meter, struct ecube_request *request, enum ecube_operation operation,
                int root, size_t count)
{
    uint32_t bytes = (uint32_t)(count * sizeof(double));
    int combines = operation == ECUBE_REDUCE || operation == ECUBE_ALLREDUCE ||
                   operation == ECUBE_REDUCE_SCATTER;
    struct ecube_status status;

    ecube_wait(request, &status);
    end(meter, bytes, status.steps);
    if (ecube_rank() != 0) {
        return;
    }
    if (!meter->has_asked || meter->operation != operation || meter->root != root ||
        meter->asked_bytes != bytes) {
        ecube_predict(operation, root, bytes, combines ? ECUBE_DOUBLE : 0, &meter->asked);
        meter->operation = operation;
        meter->root = root;
        meter->asked_bytes = bytes;
        meter->has_asked = 1;
    }
    meter->predicted_ns += meter->asked.model_ns;
    meter->bound_ns += meter->asked.bound_ns;
}

/* Alone on the machine, over one hop. */
static uint64_t message_ns(size_t count)
{
    const struct ecube_profile *profile = ecube_profile();
    uint64_t bytes = count * sizeof(double);
    uint64_t elements = (bytes + profile->element_bytes - 1) / profile->element_bytes;

    return profile->xi_ns + profile->tau_ns + elements * profile->element_ns;
}

/* A round: the messages of `count` routes from `first` on, at once. */
static void send_at_once(struct meter *meter, const struct route *routes, unsigned first,
                         unsigned count)
{
    struct ecube_request requests[2 * ROUTES_MAX];
    uint64_t longest_ns = 0;
    size_t largest = 0;
    unsigned used = 0;

    meter_begin(meter);
    for (unsigned i = first; i < first + count; i++) {
        if (routes[i].from >= 0) {
            ecube_receive_start(routes[i].receive, (uint32_t)(routes[i].count * sizeof(double)),
                                routes[i].from, (int)i, &requests[used++]);
        }
    }
    for (unsigned i = first; i < first + count; i++) {
        if (routes[i].to >= 0) {
            ecube_send_start(routes[i].send, (uint32_t)(routes[i].count * sizeof(double)),
                             routes[i].to, (int)i, &requests[used++]);
        }
    }
    ecube_wait_all(requests, used, NULL);
    for (unsigned i = first; i < first + count; i++) {
        uint64_t takes_ns = routes[i].to == ecube_rank() ? 0 : message_ns(routes[i].count);
        meter->apart |= routes[i].to >= 0 && ecube_hops(routes[i].to) > 1;
        for (unsigned j = first; j < i; j++) {
            meter->apart |= takes_ns > 0 && routes[i].to >= 0 && routes[i].to == routes[j].to;
        }
        longest_ns = takes_ns > longest_ns ? takes_ns : longest_ns;
        largest = routes[i].count > largest ? routes[i].count : largest;
    }
    end(meter, largest * sizeof(double), 1);
    meter->predicted_ns += longest_ns;
}

void meter_messages(struct meter *meter, const struct route *routes, unsigned count)
{
    if (ecube_profile()->ports == ECUBE_PORTS_ALL) {
        send_at_once(meter, routes, 0, count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        send_at_once(meter, routes, i, 1);
    }
}

uint64_t meter_report(const struct meter *meter)
{
    uint64_t mine[2] = {meter->wrong, (uint64_t)meter->apart}, all[2];
    uint64_t late = 0;

    ecube_allreduce(mine, all, 2, ECUBE_UINT64, ECUBE_SUM);
    if (ecube_rank() == 0) {
        struct ecube_report line = {
            .name = meter->name,
            .bytes = meter->bytes,
            .steps = meter->steps,
            .model_ns = meter->model_ns,
            .predicted_ns = all[1] ? 0 : meter->predicted_ns,
            .bound_ns = all[1] ? 0 : meter->bound_ns,
            .wall_ns = meter->wall_ns,
            .wrong = all[0],
        };
        ecube_report(&line);
        late = !all[1] && meter->model_ns != meter->predicted_ns;
        if (late) {
            printf("%s takes %llu ns of model time, not the predicted %llu\n", meter->name,
                   (unsigned long long)meter->model_ns, (unsigned long long)meter->predicted_ns);
        }
    }
    return all[0] + late;
}
