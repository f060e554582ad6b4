/*
 * mirror.c - a picture that is spread over the nodes by tiles is mirrored: left to right, upside
 * down, and both, which is half a turn.
 *
 * A reversal in some dimensions sends each tile to the node at the mirrored place, which then turns
 * the tile itself over. The nodes stand in columns and rows: the first dimensions of the network
 * count the columns, the others the rows. A mask of dimensions says which are reversed. On a mesh
 * of 3 x 4 mask 1 is along the rows of nodes and mask 2 along the columns; on a cube:3 four columns
 * are two dimensions (mask 3) and two rows one (mask 4), for to flip both bits of 0 1 2 3 gives
 * 3 2 1 0.
 *
 * The program is told nothing of the network: it finds the sizes of its dimensions by reversals.
 * Node 0 stands at the beginning of each, so what comes to it is from the end.
 *
 * Example, mesh:1x2, one letter a node:     F .   left to right:   . F
 *
 * Node 0 prints the four pictures, unless they are too wide. Exit status 1 when a point is wrong
 * or a reversal takes another model time than predicted.
 *
 * Source   Boppana & Raghavendra, CENG 90-20 (1990), 3.1 (vector reversal in subcubes)
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 36, HEIGHT = 10, WIDTH_MAX = 46, TILE_MAX = WIDTH * HEIGHT, VIEWS = 4 };

/* How the nodes stand, and how many points each has. */
struct layout {
    int columns, rows;
    uint32_t across, down; /* masks of dimensions */
    int width, height;     /* of a tile */
};

struct view {
    const char *name;
    int across, down; /* mirrored so */
    double model_us;
    char tile[TILE_MAX];
};

static void no_memory(void)
{
    fprintf(stderr, "mirror: there is no memory for it\n");
    exit(1);
}

/* The size of the dimension whose neighbours in it are `stride` ranks apart. */
static int find_size(uint32_t mask, int stride)
{
    int32_t mine = ecube_rank(), from = 0;

    ecube_reverse(&mine, &from, sizeof mine, mask);
    ecube_broadcast(&from, sizeof from, 0);
    return from / stride + 1;
}

/* Columns are taken until there are as many as rows. */
static struct layout find_layout(void)
{
    struct layout l = {.columns = 1, .rows = 1};
    int nodes = ecube_size();

    for (uint32_t mask = 1; l.columns * l.rows < nodes; mask <<= 1) {
        int size = find_size(mask, l.columns * l.rows);
        if (l.columns * l.columns < nodes) {
            l.columns *= size;
            l.across |= mask;
        } else {
            l.rows *= size;
            l.down |= mask;
        }
    }
    l.width = l.columns < WIDTH ? WIDTH / l.columns : 1;
    l.height = l.rows < HEIGHT ? HEIGHT / l.rows : 1;
    return l;
}

/* The picture: an F, which looks like none of its mirror images. x and y in thousandths. */
static char paint(int x, int y)
{
    if (x < 100 || x >= 900 || y < 100 || y >= 900) {
        return '.';
    }
    return x < 250 || y < 250 || (y >= 400 && y < 550 && x < 650) ? '#' : ' ';
}

/* The point that belongs here when the picture is mirrored so. */
static char expected(const struct layout *l, int x, int y, int across, int down)
{
    int all_x = l->columns * l->width, all_y = l->rows * l->height;
    int at_x = ecube_rank() % l->columns * l->width + x;
    int at_y = ecube_rank() / l->columns * l->height + y;

    at_x = across ? all_x - 1 - at_x : at_x;
    at_y = down ? all_y - 1 - at_y : at_y;
    return paint((2 * at_x + 1) * 500 / all_x, (2 * at_y + 1) * 500 / all_y);
}

/* The latest model time of all nodes. */
static uint64_t aligned_ns(void)
{
    ecube_align();
    return ecube_model_ns();
}

/* Tiles change places. A mask of 0 would mean all dimensions: with none there is nothing to do.
 * Returns 1 when it took another time than predicted. */
static int move_tile(const char *tile, char *came, uint32_t bytes, uint32_t mask, double *model_us)
{
    struct ecube_prediction prediction;

    if (mask == 0) {
        memcpy(came, tile, bytes);
        return 0;
    }
    uint64_t start_ns = aligned_ns();
    ecube_reverse(tile, came, bytes, mask);
    uint64_t model_ns = aligned_ns() - start_ns;
    ecube_predict(ECUBE_REVERSE, (int)mask, bytes, 0, &prediction);
    *model_us = (double)model_ns / 1e3;
    return model_ns != prediction.model_ns;
}

/* Returns how many points are wrong, and one more when the time is. */
static int mirror(const struct layout *l, const char *tile, struct view *view)
{
    uint32_t mask = (view->across ? l->across : 0) | (view->down ? l->down : 0);
    char came[TILE_MAX];
    int wrong = move_tile(tile, came, (uint32_t)(l->width * l->height), mask, &view->model_us);

    for (int y = 0; y < l->height; y++) {
        for (int x = 0; x < l->width; x++) {
            int from_x = view->across ? l->width - 1 - x : x;
            int from_y = view->down ? l->height - 1 - y : y;
            char point = came[from_y * l->width + from_x];
            wrong += point != expected(l, x, y, view->across, view->down);
            view->tile[y * l->width + x] = point;
        }
    }
    return wrong;
}

/* A line of the picture from the tiles of all nodes. */
static void take_line(const struct layout *l, const char *tiles, int y, char *line)
{
    for (int column = 0; column < l->columns; column++) {
        int node = y / l->height * l->columns + column;
        memcpy(line + column * l->width, tiles + (node * l->height + y % l->height) * l->width,
               (size_t)l->width);
    }
}

static void print_title(const struct view *view, int width, const char *end)
{
    char words[64];

    if (view->model_us > 0) {
        snprintf(words, sizeof words, "%s, %.3f us:", view->name, view->model_us);
    } else {
        snprintf(words, sizeof words, "%s:", view->name);
    }
    printf("%-*s%s", width, words, end);
}

/* Two views side by side. */
static void show(const struct layout *l, const struct view *left, const struct view *right)
{
    uint32_t bytes = (uint32_t)(l->width * l->height);
    size_t room = (size_t)ecube_size() * bytes;
    char *all = malloc(2 * room), *other = all + room;
    int width = l->columns * l->width, fits = width <= WIDTH_MAX;
    int column = fits && width > 28 ? width : 28;
    char a[WIDTH_MAX + 1] = "", b[WIDTH_MAX + 1] = "";

    if (!all) {
        no_memory();
    }
    ecube_gather(left->tile, all, bytes, 0);
    ecube_gather(right->tile, other, bytes, 0);
    if (ecube_rank() == 0) {
        print_title(left, column + 3, "");
        print_title(right, 0, "\n");
        for (int y = 0; fits && y < l->rows * l->height; y++) {
            take_line(l, all, y, a);
            take_line(l, other, y, b);
            printf("%-*s   %s\n", column, a, b);
        }
    }
    free(all);
}

int main(void)
{
    static struct view views[VIEWS] = {{.name = "as it is"},
                                       {.name = "left to right", .across = 1},
                                       {.name = "upside down", .down = 1},
                                       {.name = "half a turn", .across = 1, .down = 1}};
    struct layout layout = find_layout();
    char tile[TILE_MAX];
    int wrong = 0;

    for (int y = 0; y < layout.height; y++) {
        for (int x = 0; x < layout.width; x++) {
            tile[y * layout.width + x] = expected(&layout, x, y, 0, 0);
        }
    }
    for (int i = 0; i < VIEWS; i++) {
        wrong += mirror(&layout, tile, &views[i]);
    }
    if (ecube_rank() == 0) {
        printf("%d x %d nodes, a tile of %d x %d points at each\n", layout.columns, layout.rows,
               layout.width, layout.height);
    }
    show(&layout, &views[0], &views[1]);
    show(&layout, &views[2], &views[3]);
    if (wrong > 0) {
        printf("wrong: %d points or times\n", wrong);
    }
    return wrong > 0;
}
