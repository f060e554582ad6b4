#include "collectives/movement.h"

#include "drivers/check.h"

uint32_t movement_slots(uint32_t nodes, uint32_t root)
{
    uint32_t all = ecube_movements(nodes);

    if (root >= ECUBE_MOVEMENT_ALONE) {
        return 1;
    }
    return all > 0 && root == ECUBE_MOVEMENTS_AGAIN ? all + 2 : all;
}

uint32_t movement_of(uint32_t nodes, uint32_t root, uint32_t slot)
{
    uint32_t all = ecube_movements(nodes);

    if (root >= ECUBE_MOVEMENT_ALONE) {
        return root - ECUBE_MOVEMENT_ALONE;
    }
    return slot < all ? slot : MOVEMENT_AGAIN + (slot - all);
}

uint32_t movement_slot(uint32_t nodes, uint32_t root, uint32_t movement)
{
    uint32_t slots = movement_slots(nodes, root), slot = 0;

    while (slot < slots && movement_of(nodes, root, slot) != movement) {
        slot++;
    }
    return slot < slots ? slot : UINT32_MAX;
}

uint32_t movement_place(const struct network *guest, uint32_t rank)
{
    uint32_t place = rank;

    for (uint32_t shift = 1; guest->kind == NETWORK_CUBE && shift < 32; shift *= 2) {
        place ^= place >> shift;
    }
    return place;
}

uint32_t movement_rank_at(const struct network *guest, uint32_t place)
{
    return guest->kind == NETWORK_CUBE ? place ^ place >> 1 : place;
}

uint32_t movement_rank(const struct network *guest, uint32_t movement, uint32_t rank, bool back)
{
    uint32_t exponent = movement >= MOVEMENT_AGAIN ? 0 : movement / 2, nodes = guest->nodes;
    uint32_t length = UINT32_C(1) << exponent;

    CHECK(movement < MOVEMENTS_MAX && length < nodes);
    uint32_t by = (movement % 2 != 0) == back ? length : nodes - length;
    return movement_rank_at(guest, (movement_place(guest, rank) + by) % nodes);
}

void movement_text(uint32_t movement, char text[MOVEMENT_TEXT_MAX])
{
    uint32_t exponent = movement >= MOVEMENT_AGAIN ? 0 : movement / 2;
    char sign = movement % 2 ? '-' : '+', *at = text;

    *at++ = sign;
    if (movement >= MOVEMENT_AGAIN) {
        *at++ = sign;
    }
    if (exponent >= 10) {
        *at++ = (char)('0' + exponent / 10);
    }
    *at++ = (char)('0' + exponent % 10);
    *at = 0;
}

uint32_t movement_read(const char *text, const char **end)
{
    char wanted[MOVEMENT_TEXT_MAX];

    for (uint32_t movement = MOVEMENTS_MAX; movement-- > 0;) {
        unsigned at = 0;
        movement_text(movement, wanted);
        while (wanted[at] && text[at] == wanted[at]) {
            at++;
        }
        if (!wanted[at] && !(text[at] >= '0' && text[at] <= '9')) {
            *end = text + at;
            return movement;
        }
    }
    return MOVEMENTS_MAX;
}
