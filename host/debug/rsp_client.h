/*
 * rsp_client.h - asks the GDB server of a node: registers by name, physical memory.
 *
 * To connect stops the node. rsp_client_leave lets it go on, or leaves it halted.
 *
 * Units    bytes
 * Errors   message: what the server says when it refuses; that it does not answer, has closed the
 *          connection, or answers otherwise than it should
 * Context  blocks
 * Source   GDB manual, appendix E; QEMU 7.2 gdbstub.c: Qqemu.PhyMemMode
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/console/message.h"
#include "jtag/stub/rsp.h"

enum { RSP_REGISTERS_MAX = 512, RSP_NAME_MAX = 32 };

struct rsp_register {
    char name[RSP_NAME_MAX];
    unsigned number;
};

struct rsp_client {
    int fd;
    unsigned packet_bytes; /* that the server takes, and sends */
    struct rsp_reader reader;
    struct rsp_register registers[RSP_REGISTERS_MAX];
    unsigned register_count, register_next;
    char answer[RSP_PACKET_MAX + 1];
};

/* Connects to a socket. After that memory is read by physical address. */
int rsp_client_open(struct rsp_client *client, const char *path, struct message *message);

/* Reads a register of up to `room` bytes, least significant first; the number of bytes, or -1. */
int rsp_client_register(struct rsp_client *client, const char *name, void *bytes, unsigned room,
                        struct message *message);

/* Reads physical memory. */
int rsp_client_memory(struct rsp_client *client, uint32_t address, void *bytes, uint32_t count,
                      struct message *message);

/* Disconnects; go_on: the node does. */
void rsp_client_leave(struct rsp_client *client, bool go_on);

/* Takes note of the registers that a target description names: an XML text. Pure. */
void rsp_client_describe(struct rsp_client *client, const char *xml);
