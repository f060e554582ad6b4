/*
 * access.h - what a debugger asks of one node through an access port: one read or write of a bus.
 *
 * The chain (chain.h) makes accesses; whoever owns the chain has them done and hands them back.
 *
 * Units    bytes; a value lies right-aligned, whatever the address
 * Source   ARM IHI 0031, chapter C2 (MEM-AP)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum access_space {
    ACCESS_BUS,  /* AP 0: memory and devices, by physical address, whether the node runs or not */
    ACCESS_DEBUG /* AP 1: the debug unit's registers, address 0 to 0xfff */
};

struct access {
    enum access_space space;
    bool write;
    bool failed;   /* by who has done it: the debug port's sticky error */
    uint8_t bytes; /* 1, 2 or 4 */
    uint32_t address;
    uint32_t value;
};
