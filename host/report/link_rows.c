#include "host/report/link_rows.h"

#include <stdlib.h>

#include "drivers/check.h"
#include "host/report/circuits.h"

static const char *const counted[] = {"circuits", "bytes", "busy_us", "waited_us"};
static const char *const more[] = {"load", "refused", "frames", "repeats", "damaged"};

enum {
    COUNTED = sizeof counted / sizeof counted[0],
    MORE = sizeof more / sizeof more[0],
    ENDS = 2
};

/* A link of the network's, by its node and port; NETWORK_NO_NODE: it is one of the host's. */
static uint32_t far_node(const json_t *link, const struct network *network)
{
    json_int_t port = json_integer_value(json_object_get(link, "port"));

    return port < network->ports
               ? network_neighbour(network,
                                   (uint32_t)json_integer_value(json_object_get(link, "node")),
                                   (unsigned)port)
               : NETWORK_NO_NODE;
}

static bool is_count(const json_t *value, json_int_t below)
{
    return json_is_integer(value) && json_integer_value(value) >= 0 &&
           json_integer_value(value) < below;
}

static bool fits(const json_t *link, const struct network *network)
{
    const json_t *to = json_object_get(link, "to");

    if (!json_is_object(link) || !is_count(json_object_get(link, "node"), network->nodes) ||
        !is_count(json_object_get(link, "port"), network->ports + 1)) {
        return false;
    }
    uint32_t far = far_node(link, network);
    return far == NETWORK_NO_NODE ? json_is_null(to)
                                  : json_is_integer(to) && json_integer_value(to) == far;
}

bool link_rows_fit(const json_t *traffic, const struct network *network)
{
    const json_t *links = json_object_get(traffic, "links");
    size_t i;
    json_t *link;

    json_array_foreach(links, i, link)
    {
        if (!fits(link, network)) {
            return false;
        }
    }
    return json_is_array(links);
}

/* Only numbers: what else a file may say is nobody's count. */
static json_t *number_of(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_incref(value) : json_null();
}

static void take(json_t *row, const json_t *link)
{
    const json_t *host = json_object_get(link, "host");
    json_t *load = json_object_get(link, "load");

    for (size_t i = 0; i < COUNTED; i++) {
        json_array_set_new(row, ENDS + i, number_of(link, counted[i]));
        json_array_set_new(row, ENDS + COUNTED + i, number_of(host, counted[i]));
    }
    for (size_t i = 0; i < MORE; i++) {
        json_array_set_new(row, ENDS + 2 * COUNTED + i, number_of(link, more[i]));
    }
    if (json_is_number(load)) {
        json_array_set_new(row, ENDS + 2 * COUNTED, json_real(100 * json_number_value(load)));
    }
}

json_t *link_rows_make(const json_t *links, const json_t *traffic, const struct network *network)
{
    uint32_t *places = circuit_link_places(network);
    json_t *rows = json_array(), *link;
    size_t i;

    json_array_foreach(links, i, link)
    {
        json_t *row = json_copy(link);
        for (size_t j = 0; j < MORE; j++) {
            json_array_append_new(row, json_null());
        }
        json_array_append_new(rows, row);
    }
    json_array_foreach(json_object_get(traffic, "links"), i, link)
    {
        json_int_t node = json_integer_value(json_object_get(link, "node"));
        json_int_t port = json_integer_value(json_object_get(link, "port"));
        if (far_node(link, network) != NETWORK_NO_NODE) {
            take(json_array_get(rows, places[node * network->ports + port]), link);
        }
    }
    free(places);
    return rows;
}
