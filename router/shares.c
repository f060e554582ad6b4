#include "router/shares.h"

#include "wire/circuit.h"

/* What a share over so many hops takes beside its elements. */
static uint64_t set_up(const struct profile *profile, uint32_t hops)
{
    return profile->xi_ns + (uint64_t)hops * profile->tau_ns +
           (uint64_t)(hops - 1) * profile->element_ns;
}

/* The elements that a path carries until then. */
static uint64_t carried(const struct profile *profile, uint32_t hops, uint64_t time_ns)
{
    uint64_t begin_ns = set_up(profile, hops);

    return time_ns < begin_ns ? 0 : (time_ns - begin_ns) / profile->element_ns;
}

static uint64_t all_carried(const struct profile *profile, const uint32_t *hops, unsigned count,
                            uint64_t time_ns)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < count; i++) {
        all += carried(profile, hops[i], time_ns);
    }
    return all;
}

/* The first at which all elements are there; over the first path alone they are at `most_ns`. */
static uint64_t least_time(const struct profile *profile, const uint32_t *hops, unsigned count,
                           uint64_t elements, uint64_t most_ns)
{
    uint64_t least_ns = set_up(profile, hops[0]);

    while (least_ns < most_ns) {
        uint64_t middle_ns = least_ns + (most_ns - least_ns) / 2;
        if (all_carried(profile, hops, count, middle_ns) >= elements) {
            most_ns = middle_ns;
        } else {
            least_ns = middle_ns + 1;
        }
    }
    return most_ns;
}

/* Until the least time the paths may carry more than there is. Then those whose last element ends
 * at that very time carry one less, the longest first: they are more than the surplus, or an
 * earlier time would do. The last element, maybe filled in part, is the last share's. */
unsigned shares_split(const struct profile *profile, const uint32_t *hops, unsigned count,
                      uint32_t bytes, uint32_t *share, uint64_t *time_ns)
{
    uint64_t elements = clock_elements(profile->element_bytes, bytes);
    uint64_t one_ns = set_up(profile, hops[0]) + elements * profile->element_ns;
    uint32_t left = bytes;
    unsigned used = 0;

    share[0] = bytes;
    *time_ns = one_ns;
    if (count < 2 || elements < 2 || profile->element_ns == 0) {
        return 1;
    }
    *time_ns = least_time(profile, hops, count, elements, one_ns);
    uint64_t surplus = all_carried(profile, hops, count, *time_ns) - elements;
    for (unsigned i = count; i-- > 0;) {
        uint64_t carries = carried(profile, hops[i], *time_ns);
        if (surplus > 0 && carries > 0 &&
            set_up(profile, hops[i]) + carries * profile->element_ns == *time_ns) {
            carries--;
            surplus--;
        }
        share[i] = (uint32_t)carries;
        used += carries > 0;
    }
    for (unsigned i = 0; i < used; i++) {
        share[i] = i + 1 < used ? share[i] * clock_element_bytes(profile) : left;
        left -= share[i];
    }
    return used;
}

void shares_make(const struct network *network, const struct profile *profile, uint32_t from,
                 uint32_t to, uint32_t bytes, unsigned most, struct shares *shares)
{
    struct shares other;

    shares->count = 0;
    shares->time_ns = 0;
    for (unsigned kind = NETWORK_PATHS_SHORT; kind <= NETWORK_PATHS_EVEN; kind++) {
        struct shares *made = kind == NETWORK_PATHS_SHORT ? shares : &other;
        uint32_t hops[NETWORK_PATHS_MAX];
        unsigned count =
            network_paths(network, from, to, (enum network_paths_kind)kind, most, made->path);
        while (count > 1 && made->path[count - 1].hops > OPEN_HOPS_MAX) {
            count--;
        }
        if (count == 0) {
            return;
        }
        for (unsigned i = 0; i < count; i++) {
            hops[i] = made->path[i].hops;
        }
        made->count = shares_split(profile, hops, count, bytes, made->bytes, &made->time_ns);
    }
    if (other.time_ns < shares->time_ns) {
        *shares = other;
    }
}
