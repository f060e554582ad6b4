/*
 * mem_ap.h - an access port (MEM-AP): registers through which a debugger reads and writes a bus.
 *
 *     CSW   size of a transfer, what it adds to TAR         0x00
 *     TAR   address                                         0x04
 *     DRW   one transfer at TAR (or up to four, packed)     0x0c
 *     BD0-3 one word in the 16 bytes around TAR             0x10-0x1c
 *     CFG, BASE, IDR: constants                             0xf4, 0xf8, 0xfc
 *
 * A transfer of less than a word lies in DRW where its bytes lie in their word of memory; an access
 * holds it right-aligned:
 *
 *     one byte at TAR 0x1002       DRW  .. bb .. ..      access.value  00 00 00 bb
 *     packed halfwords at 0x1002   DRW  first, second in the upper, then the lower half
 *
 * TAR counts within 1 KiB and wraps there: no debugger may rely on more. A transfer that fails
 * leaves it where it was. A transfer that is not aligned to its size fails.
 *
 * Errors   MEM_AP_FAILED: the debug port's sticky error
 * Context  any; pure
 * Source   ARM IHI 0031C, chapters 7 (MEM-AP) and 8 (its registers); ARM DDI 0314H (AHB-AP, APB-AP)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jtag/core/access.h"

enum mem_ap_bus {
    MEM_AP_AHB, /* memory and devices: bytes, halfwords, words, packed or not */
    MEM_AP_APB  /* ROM table and debug unit: words */
};

enum mem_ap_register {
    MEM_AP_CSW = 0x00,
    MEM_AP_TAR = 0x04,
    MEM_AP_DRW = 0x0c,
    MEM_AP_BD0 = 0x10,
    MEM_AP_BD3 = 0x1c,
    MEM_AP_CFG = 0xf4,
    MEM_AP_BASE = 0xf8,
    MEM_AP_IDR = 0xfc
};

enum { MEM_AP_WRAP_BYTES = 1024 };

enum mem_ap_answer {
    MEM_AP_DONE,
    MEM_AP_FAILED,
    MEM_AP_BUSY /* mem_ap.access is to be done, and then mem_ap_complete called */
};

struct mem_ap {
    enum mem_ap_bus bus;
    uint32_t csw, tar;
    struct access access; /* the transfer under way */
    uint32_t data;        /* DRW of it: what remains to be written, or what has been read */
    uint8_t transfers;    /* how many remain, with the one under way */
    bool counts;          /* whether TAR goes on after each */
};

void mem_ap_init(struct mem_ap *ap, enum mem_ap_bus bus);

/* Reads a register (0 to 0xfc); *value is right when the answer is MEM_AP_DONE. */
enum mem_ap_answer mem_ap_read(struct mem_ap *ap, uint8_t number, uint32_t *value);

enum mem_ap_answer mem_ap_write(struct mem_ap *ap, uint8_t number, uint32_t value);

/* The access was done or has failed; MEM_AP_BUSY: there is a next one. *value as in mem_ap_read. */
enum mem_ap_answer mem_ap_complete(struct mem_ap *ap, uint32_t *value);
