/*
 * monitor.h - the tool's own line to a QEMU: it cuts carriers to other computers there, and asks
 * which have none.
 *
 * A socketpair that the QEMU inherits: nK.qmp takes one client at a time, and may have one. The
 * first words are written before the QEMU starts, which reads them when it does. Nothing waits for
 * an answer but monitor_disconnected.
 *
 * Source   QEMU 7.2, docs/interop/qmp-spec.txt; qapi/yank.json, yank; qapi/char.json, query-chardev
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/console/message.h"

/* *fd is the tool's end, *qemu_fd what the QEMU inherits. */
int monitor_open(int *fd, int *qemu_fd, struct message *message);

/* Ends the connection of the character device cP at once. False: the QEMU cannot be told. */
bool monitor_yank(int fd, unsigned port);

/* Asks for the state of all character devices. */
bool monitor_ask(int fd);

/* Waits for what was asked until end_ms (CLOCK_MONOTONIC). *ports has bit p for each device cP that
 * is not connected. False: the QEMU has not answered. */
bool monitor_disconnected(int fd, int64_t end_ms, uint32_t *ports);
