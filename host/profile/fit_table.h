/*
 * fit_table.h - a table of measured messages, as text:
 *
 *     # ping, half of there and back
 *     bytes,hops,us
 *     0,1,75.0
 *     1000,3,520
 *
 * A row has bytes, hops and time, with commas, semicolons, blanks or tabs in between. The line of
 * names may be left out, or names another unit of time: ns, us (as without it), ms or s. What
 * stands behind '#' is left out.
 *
 * Units    as fit.h
 * Errors   -1 and one line, which names the file and the line
 * Context  the tool
 */
#pragma once

#include "host/console/message.h"
#include "host/profile/fit.h"

struct fit_table {
    struct fit_row *rows;
    unsigned count;
};

int fit_table_read(const char *path, struct fit_table *table, struct message *message);
void fit_table_free(struct fit_table *table);
