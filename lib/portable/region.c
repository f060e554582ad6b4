/*
 * region.c - memory that the host fills and fetches while the program waits.
 *
 * The table is the program's. The kernel reads it during the call that waits, and only then.
 */
#include <string.h>

#include "include/ecube/ecube.h"
#include "lib/portable/call.h"
#include "lib/portable/data.h"

static struct ecube_abi_region regions[ECUBE_REGIONS_MAX];
static uint32_t region_count;

/* The place of a region of this name; region_count: there is none. */
static uint32_t find(const char *name)
{
    uint32_t index = 0;

    while (index < region_count && strcmp(regions[index].name, name) != 0) {
        index++;
    }
    return index;
}

static int name_region(const char *name, void *memory, uint32_t bytes)
{
    size_t length = name ? strlen(name) : 0;

    if (length == 0 || length >= ECUBE_NAME_MAX || strchr(name, '/') || bytes == 0) {
        return ECUBE_E_ARGUMENT;
    }
    if (!ecube_data_inside(memory, bytes)) {
        return ECUBE_E_FAULT;
    }
    uint32_t index = find(name);
    if (index == ECUBE_REGIONS_MAX) {
        return ECUBE_E_FULL;
    }
    regions[index] = (struct ecube_abi_region){.address = ecube_address(memory), .bytes = bytes};
    memcpy(regions[index].name, name, length);
    region_count += index == region_count;
    return ECUBE_OK;
}

int ecube_region(const char *name, void *memory, uint32_t bytes)
{
    struct ecube_called called = {.number = ECUBE_CALLED_REGION,
                                  .message = {{.data = ecube_address(memory), .bytes = bytes}}};

    return ecube_returns(&called, name_region(name, memory, bytes));
}

int ecube_region_wait(const char *name, uint32_t *bytes)
{
    struct ecube_called called = {.number = ECUBE_CALLED_REGION_WAIT};
    struct ecube_abi_rendezvous rendezvous = {.regions = ecube_address(regions),
                                              .count = region_count,
                                              .index = name ? find(name) : region_count};
    int status = ECUBE_E_ARGUMENT;

    if (name) {
        strncpy(called.region, name, sizeof called.region - 1);
    }
    if (rendezvous.index < region_count) {
        status = ecube_call(ECUBE_CALL_REGION, ecube_address(&rendezvous), 0);
    }
    if (bytes) {
        *bytes = status > 0 ? rendezvous.moved : 0;
    }
    return ecube_returns(&called, status);
}
