/*
 * escape.h - text that may hold anything, in a page.
 *
 * What is no UTF-8, and characters that XML has no place for, become U+FFFD.
 *
 * Source   XML 1.0 (fifth edition), 2.2 Characters; RFC 3629 (UTF-8)
 * Context  any; errors are the file's
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* As text between tags, or between the quotes of an attribute. */
void escape_text(FILE *file, const char *text, size_t bytes);
/* As JSON in which no '<', '>' or '&' stands, so that nothing in it ends the script around it. */
void escape_json(FILE *file, const json_t *value);
