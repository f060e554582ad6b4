/*
 * report.h - what has come out of claims, for people: on a terminal, as doc/papers.md; and tables
 * and figures.
 *
 * Context  host
 */
#pragma once

#include <stdio.h>

#include "papers/claims.h"

/* Works a claim out and writes what has come out; false: its verdict has turned, or a formula is
 * wrong, which is said on standard error. */
bool report_claim(FILE *file, const struct claim *claim);

/* All of them as a document; false: a verdict has turned. */
bool report_write(const struct claims *claims, const char *path);

/* Tables as FOLDER/NAME.txt, figures as FOLDER/NAME.dat and NAME.gp, which draws NAME.svg; false:
 * the file is wrong. */
bool figures_write(const char *path, const char *folder);
