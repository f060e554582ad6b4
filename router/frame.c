#include "router/frame.h"

#include "wire/bytes.h"

void hello_pack(uint8_t *bytes, const struct hello *hello)
{
    put16(bytes, hello->version);
    bytes[2] = hello->role;
    bytes[3] = hello->port;
    put32(bytes + 4, hello->id);
    bytes[8] = hello->network;
    bytes[9] = hello->dims;
    bytes[10] = hello->heard;
    bytes[11] = hello->all_port;
    put32(bytes + 12, hello->data_window);
    put16(bytes + 16, hello->control_window);
    put16(bytes + 18, hello->sigma_permille);
    put32(bytes + 20, hello->xi_ns);
    put32(bytes + 24, hello->tau_ns);
    put32(bytes + 28, hello->element_ns);
    put32(bytes + 32, hello->peer_id);
    put32(bytes + 36, hello->dead_after_ms);
}

void hello_unpack(const uint8_t *bytes, struct hello *hello)
{
    hello->version = get16(bytes);
    hello->role = bytes[2];
    hello->port = bytes[3];
    hello->id = get32(bytes + 4);
    hello->network = bytes[8];
    hello->dims = bytes[9];
    hello->heard = bytes[10];
    hello->all_port = bytes[11];
    hello->data_window = get32(bytes + 12);
    hello->control_window = get16(bytes + 16);
    hello->sigma_permille = get16(bytes + 18);
    hello->xi_ns = get32(bytes + 20);
    hello->tau_ns = get32(bytes + 24);
    hello->element_ns = get32(bytes + 28);
    hello->peer_id = get32(bytes + 32);
    hello->dead_after_ms = get32(bytes + 36);
}
