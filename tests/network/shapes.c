#include "tests/network/shapes.h"

#include "drivers/check.h"

enum { DIMS_MAX = 4 };

struct list {
    struct network *shapes;
    unsigned count;
    uint32_t nodes;
    bool twice; /* tori that are meshes, too */
};

static void add(struct list *list, enum network_kind kind, const uint32_t *sizes, unsigned count)
{
    CHECK(list->count < SHAPES_MAX);
    list->count += network_make(&list->shapes[list->count], kind, sizes, count);
}

/* All products of sizes; a size of one in the first two dimensions alone. */
static void add_products(struct list *list, uint32_t *sizes, unsigned count, uint32_t nodes)
{
    bool wraps = list->twice && count > 0;

    for (unsigned i = 0; i < count; i++) {
        wraps = wraps || sizes[i] > 2;
    }
    if (count > 0) {
        add(list, NETWORK_MESH, sizes, count);
    }
    if (wraps) {
        add(list, NETWORK_TORUS, sizes, count);
    }
    for (uint32_t size = 1; count < DIMS_MAX && nodes * size <= list->nodes; size++) {
        sizes[count] = size;
        if (size > 1 || count < 2) {
            add_products(list, sizes, count + 1, nodes * size);
        }
    }
}

static unsigned make(struct list list)
{
    uint32_t sizes[DIMS_MAX];

    for (unsigned dims = 0; UINT32_C(1) << dims <= list.nodes; dims++) {
        add(&list, NETWORK_CUBE, sizes, dims);
    }
    for (uint32_t size = 1; size <= list.nodes; size++) {
        add(&list, NETWORK_RING, &size, 1);
    }
    add_products(&list, sizes, 0, 1);
    return list.count;
}

unsigned shapes_make(struct network *shapes, uint32_t nodes)
{
    return make((struct list){.shapes = shapes, .nodes = nodes});
}

unsigned shapes_make_all(struct network *shapes, uint32_t nodes)
{
    return make((struct list){.shapes = shapes, .nodes = nodes, .twice = true});
}
