/*
 * places.c - where ranks lie: node 0 sends a byte to each other node by itself, and the model time
 * that this takes says how many hops it went. Neighbours and coordinates are held against that.
 */
#include <stdio.h>

#include <ecube.h>

enum { TAG = 3 };

/* The hops from node 0 to a rank, by the clocks. */
static int measured(int to)
{
    const struct ecube_profile *profile = ecube_profile();
    char byte = 0;

    ecube_align();
    uint64_t began = ecube_model_ns();
    if (ecube_rank() == 0) {
        ecube_send(&byte, 1, to, TAG);
    } else if (ecube_rank() == to) {
        ecube_receive(&byte, 1, 0, TAG, NULL);
    }
    ecube_align();
    uint64_t took = ecube_model_ns() - began - profile->xi_ns - profile->element_ns;
    return (int)(took / profile->tau_ns);
}

/* Both ends of a link are each other's neighbours, a step apart in one coordinate. */
static int wrong_neighbours(int rank, int dimensions, const int here[ECUBE_DIMENSIONS_MAX])
{
    int wrong = 0;

    for (int i = 0; i < dimensions; i++) {
        for (int direction = -1; direction <= 1; direction += 2) {
            int neighbour = ecube_neighbour(i, direction), there[ECUBE_DIMENSIONS_MAX];
            if (neighbour == ECUBE_E_NETWORK) {
                continue;
            }
            wrong += ecube_hops(neighbour) != 1 || neighbour == rank;
            wrong += ecube_coordinates(neighbour, there, dimensions) != dimensions;
            for (int k = 0; k < dimensions; k++) {
                wrong += (here[k] != there[k]) != (k == i);
            }
        }
    }
    return wrong;
}

int main(void)
{
    int rank = ecube_rank(), here[ECUBE_DIMENSIONS_MAX] = {0}, wrong = 0;
    int dimensions = ecube_coordinates(rank, here, ECUBE_DIMENSIONS_MAX), hops = ecube_hops(0);

    wrong += wrong_neighbours(rank, dimensions, here);
    for (int to = 1; to < ecube_size(); to++) {
        int went = measured(to);
        wrong += rank == 0 && ecube_hops(to) != went;
        wrong += rank == to && hops != went;
    }
    wrong += ecube_hops(ecube_size()) != ECUBE_E_ARGUMENT || ecube_hops(-1) != ECUBE_E_ARGUMENT;
    wrong += ecube_coordinates(-1, here, 0) != ECUBE_E_ARGUMENT;
    wrong += ecube_neighbour(dimensions, 1) != ECUBE_E_NETWORK;
    wrong += ecube_neighbour(0, 0) != ECUBE_E_ARGUMENT;
    printf("at");
    for (int i = dimensions - 1; i >= 0; i--) {
        printf(" %d", here[i]);
    }
    printf(", %d hops, neighbours", hops);
    for (int i = 0; i < dimensions; i++) {
        printf(" %d %d", ecube_neighbour(i, -1), ecube_neighbour(i, 1));
    }
    printf(", %d wrong\n", wrong);
    return wrong != 0;
}
