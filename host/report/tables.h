/*
 * tables.h - tables of a page, from lists of JSON.
 *
 * Context  the tool; errors are the file's
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* What a column shows: a member of the row, which is an object, or an element of it, an array. */
struct table_column {
    const char *title, *key; /* NULL: the element `index` */
    size_t index;
};

struct table {
    const char *id, *caption;
    const struct table_column *columns;
    size_t column_count;
};

#define TABLE(id, caption, columns)                                                                \
    &(const struct table)                                                                          \
    {                                                                                              \
        id, caption, columns, sizeof columns / sizeof columns[0]                                   \
    }

/* Nothing for an empty list. */
void table_put(FILE *file, const struct table *table, const json_t *rows);
/* The text of a value: null is a dash, a real number has three decimals. */
void table_put_value(FILE *file, const json_t *value);
/* A row of two columns, what it is and its value; nothing for a value that nobody knows. */
void table_put_fact(FILE *file, const char *name, const json_t *value);
