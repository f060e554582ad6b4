/*
 * embedding_text.h - embeddings as users write them: a word, or a file of node numbers.
 *
 *     # the nodes of ranks 0, 1, 2, ...; blanks, commas or lines between them; a # begins a remark
 *     network cube:2          (may be there: then it must be this network)
 *     as ring:4               (may be there: what the ranks form, unless --as says so)
 *     0 1 3 2
 *
 * Errors   false: nothing was made, and `error` says in one line what is wrong and what to do
 * Context  the tool; not in nodes
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network/embedding.h"
#include "network/text.h"

/* "gray", "cycle", "rows", "tree", from 0 on; NULL behind the last. */
const char *embedding_name(unsigned embedding);

/* What ranks form where nobody says: a ring for gray and cycle (a line where there is no cycle),
 * else the network itself. */
struct network embedding_guest(enum embedding embedding, const struct network *host);

/* Makes one, or says why there is none of these two, and what there is. */
bool embedding_find(enum embedding embedding, const struct network *host,
                    const struct network *guest, uint32_t *node_of, char error[NETWORK_ERROR_MAX]);

/* Reads a file's text: the node of each rank and the rank at each node, as many as the network has.
 * `guest` is what its line
 * "as" says, if it has one. `name` is the file's, for errors. */
bool embedding_read(const char *text, const char *name, const struct network *host,
                    uint32_t *node_of, uint32_t *rank_of, struct network *guest,
                    char error[NETWORK_ERROR_MAX]);
