/*
 * functions.h - what formulae may call, by subject. Each says of its file which errors it knows:
 * an argument that makes no sense (a network's name, a place outside) ends the program with one
 * line and status 2, for such a formula is a mistake in claims.json.
 *
 * Context  host
 */
#pragma once

#include "network/network.h"
#include "papers/formula.h"

enum { PAPERS_NODES_MAX = 1024 };

/* Each ends with a function without a name. */
extern const struct formula_function arithmetic_functions[], network_functions[], mesh_functions[],
    apart_functions[], cube_functions[], scatter_functions[], measured_functions[],
    program_functions[], delta_functions[];

/* Ends the program: "papers: WHAT: `text`". */
_Noreturn void papers_refuse(const char *what, const char *text);

/* The network of an argument; the last one is kept. */
const struct network *papers_network(const struct formula_value *argument);

/* Where `ecube` and the rest lie: build/. */
extern const char *papers_build;
