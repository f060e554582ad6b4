/*
 * farm.c - a task farm that draws the Mandelbrot set: node 0 hands out rows, the others work.
 *
 *   farm [rows [limit]]     default: 24 rows, 1000 iterations at most
 *
 * Rows cost very different times, so nobody knows beforehand who is free when. The master keeps a
 * few receives open from any worker and takes with wait_any the result that is complete first;
 * whoever sent it gets the next rows, many at first and few in the end, so that all end at about
 * the same time. A worker does not know how much comes next, or whether it is the end: it probes.
 * One more receive of the master is for news: a worker tells of a row that lies in the set with
 * more than half of its points. Nobody knows how many there are, so in the end it is cancelled.
 *
 * The picture is the same on every network. Who does what depends on who is free first. A worker
 * that gets what it cannot do aborts the whole run.
 *
 * Source   A. K. Dewdney, Computer Recreations, Scientific American 253(2), 1985 (the picture);
 *          C. D. Polychronopoulos and D. J. Kuck, Guided self-scheduling, IEEE Transactions on
 *          Computers C-36(12), 1987 (how many rows at a time)
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum {
    COLUMNS = 72,
    ROWS_MAX = 200,
    LIMIT_MAX = 1000000,
    WORKERS_MAX = 128,
    OPEN = 8, /* results that may come at a time */
    NEWS = OPEN,
    ITERATION_NS = 500, /* of the machine's model: what one iteration takes */
    TAG_ROWS = 1,
    TAG_END = 2,
    TAG_RESULT = 3,
    TAG_NEWS = 4
};

/* What a worker sends back: which row, what it took, and the row itself. */
struct result {
    int32_t row;
    uint32_t iterations, inside;
    char text[COLUMNS];
};

struct picture {
    int rows, limit;
    int handed, done; /* rows */
    char text[ROWS_MAX][COLUMNS + 1];
    uint32_t worker_rows[WORKERS_MAX], worker_iterations[WORKERS_MAX];
};

/* How often z = z z + c is taken before z escapes; limit: it does not. */
static int escape(double x, double y, int limit)
{
    double re = 0, im = 0;
    int count = 0;

    while (count < limit && re * re + im * im <= 4) {
        double next = re * re - im * im + x;
        im = 2 * re * im + y;
        re = next;
        count++;
    }
    return count;
}

static void draw_row(struct result *result, int row, const struct picture *picture)
{
    static const char shades[] = " .,:;+ox";
    double y = 1.2 - 2.4 * row / (picture->rows > 1 ? picture->rows - 1 : 1);

    result->row = row;
    result->iterations = result->inside = 0;
    for (int i = 0; i < COLUMNS; i++) {
        int count = escape(-2.1 + 2.9 * i / (COLUMNS - 1), y, picture->limit);
        int shade = 0;
        result->iterations += (uint32_t)count;
        result->inside += count == picture->limit;
        for (int left = count; left > 1 && shade < (int)sizeof shades - 2; left /= 2) {
            shade++;
        }
        result->text[i] = count == picture->limit ? '#' : shades[shade];
    }
    ecube_compute((uint64_t)result->iterations * ITERATION_NS);
}

static void keep_row(struct picture *picture, const struct result *result, int worker)
{
    if (result->row < 0 || result->row >= picture->rows || picture->text[result->row][0]) {
        fprintf(stderr, "farm: row %ld came from %d, unasked\n", (long)result->row, worker);
        ecube_abort(1);
    }
    memcpy(picture->text[result->row], result->text, COLUMNS);
    picture->worker_rows[worker]++;
    picture->worker_iterations[worker] += result->iterations;
    picture->done++;
}

/* Half of what an equal share of the rest would be. */
static int next_rows(const struct picture *picture, int workers)
{
    int rows = (picture->rows - picture->handed) / (2 * workers);

    return rows > 0 ? rows : picture->handed < picture->rows;
}

/* The numbers of the next rows, or the end. */
static void hand_out(struct picture *picture, int worker, int workers)
{
    int32_t rows[ROWS_MAX];
    int count = next_rows(picture, workers);

    for (int i = 0; i < count; i++) {
        rows[i] = picture->handed++;
    }
    ecube_send(rows, (uint32_t)count * sizeof rows[0], worker, count ? TAG_ROWS : TAG_END);
}

/* Each worker answers with as many results as it got rows; the last of them says `row` of the last
 * one handed to it, and only then it is free. */
static int is_free(const int32_t *last, const struct result *result, int worker)
{
    return last[worker] == result->row;
}

static void open_receive(struct result *result, int tag, struct ecube_request *request)
{
    ecube_receive_start(result, sizeof *result, ECUBE_ANY, tag, request);
}

static void tell_news(const struct result *news, int worker)
{
    printf("worker %d: %lu of the %d points of row %ld lie in the set\n", worker,
           (unsigned long)news->inside, COLUMNS, (long)news->row);
}

/* All results have come, so the receives that are open for them stay empty. News has come before
 * its result, but may lie here untaken: a receive that is given up says which it was. */
static void give_up(struct result *results, struct ecube_request *requests)
{
    struct ecube_status status;

    for (unsigned i = 0; i <= OPEN; i++) {
        ecube_cancel(&requests[i]);
        ecube_wait(&requests[i], &status);
        while (status.error == ECUBE_OK && i == NEWS) {
            tell_news(&results[NEWS], status.source);
            open_receive(&results[NEWS], TAG_NEWS, &requests[NEWS]);
            ecube_cancel(&requests[NEWS]);
            ecube_wait(&requests[NEWS], &status);
        }
        if (status.error != ECUBE_E_CANCELLED) {
            fprintf(stderr, "farm: %d sent a result too many\n", status.source);
            ecube_abort(1);
        }
    }
}

static void master(struct picture *picture, int workers)
{
    static struct result results[OPEN + 1];
    struct ecube_request requests[OPEN + 1];
    struct ecube_status status;
    int32_t last[WORKERS_MAX];
    unsigned index;

    for (unsigned i = 0; i <= OPEN; i++) {
        open_receive(&results[i], i == NEWS ? TAG_NEWS : TAG_RESULT, &requests[i]);
    }
    for (int worker = 1; worker <= workers; worker++) {
        hand_out(picture, worker, workers);
        last[worker] = picture->handed - 1;
    }
    while (picture->done < picture->rows) {
        ecube_wait_any(requests, OPEN + 1, &index, &status);
        if (index == NEWS) {
            tell_news(&results[NEWS], status.source);
        } else {
            keep_row(picture, &results[index], status.source);
            if (is_free(last, &results[index], status.source)) {
                hand_out(picture, status.source, workers);
                last[status.source] = picture->handed - 1;
            }
        }
        open_receive(&results[index], status.tag, &requests[index]);
    }
    give_up(results, requests);
}

static void worker(struct picture *picture)
{
    int32_t rows[ROWS_MAX];
    struct ecube_status next;
    struct result result;

    for (;;) {
        ecube_probe(0, ECUBE_ANY, &next);
        if (next.bytes > sizeof rows || (next.tag != TAG_ROWS && next.tag != TAG_END)) {
            fprintf(stderr, "farm: %lu bytes with tag %d are no work\n", (unsigned long)next.bytes,
                    next.tag);
            ecube_abort(1);
        }
        ecube_receive(rows, next.bytes, 0, next.tag, NULL);
        if (next.tag == TAG_END) {
            return;
        }
        for (uint32_t i = 0; i < next.bytes / sizeof rows[0]; i++) {
            draw_row(&result, rows[i], picture);
            if (result.inside > COLUMNS / 2) {
                ecube_send(&result, sizeof result, 0, TAG_NEWS);
            }
            ecube_send(&result, sizeof result, 0, TAG_RESULT);
        }
    }
}

/* Without workers the master draws. */
static void draw_alone(struct picture *picture)
{
    struct result result;

    for (int row = 0; row < picture->rows; row++) {
        draw_row(&result, row, picture);
        keep_row(picture, &result, 0);
    }
}

static void show(const struct picture *picture, int size, uint64_t model_ns)
{
    uint64_t all = 0, most = 0;

    for (int row = 0; row < picture->rows; row++) {
        printf("%s\n", picture->text[row]);
    }
    printf("\nworker  rows  iterations\n");
    for (int worker = size > 1; worker < size; worker++) {
        printf("%6d %5lu %11lu\n", worker, (unsigned long)picture->worker_rows[worker],
               (unsigned long)picture->worker_iterations[worker]);
        all += picture->worker_iterations[worker];
        if (picture->worker_iterations[worker] > most) {
            most = picture->worker_iterations[worker];
        }
    }
    printf("%d rows, %llu iterations by %d worker%s in %.3f ms of model time; the most by one: "
           "%llu\n",
           picture->done, (unsigned long long)all, size > 1 ? size - 1 : 1, size > 2 ? "s" : "",
           (double)model_ns / 1e6, (unsigned long long)most);
}

int main(int argc, char **argv)
{
    static struct picture picture;
    int size = ecube_size();

    picture.rows = (int)words_number("farm", argc, argv, 1, 24, 1, ROWS_MAX);
    picture.limit = (int)words_number("farm", argc, argv, 2, 1000, 1, LIMIT_MAX);
    if (size > WORKERS_MAX) {
        words_refuse("farm", "there is work for up to %d ranks", WORKERS_MAX);
    }
    ecube_align();
    uint64_t start_ns = ecube_model_ns();
    if (ecube_rank() > 0) {
        worker(&picture);
        return 0;
    }
    if (size > 1) {
        master(&picture, size - 1);
    } else {
        draw_alone(&picture);
    }
    show(&picture, size, ecube_model_ns() - start_ns);
    return 0;
}
