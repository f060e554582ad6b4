/*
 * plan_shelf.h - the user's cache: what the planner's searches have found, a file each, so that it
 * is not searched again. It is the one thing that stays when a verb has ended.
 *
 * It lies in $ECUBE_CACHE, else in $XDG_CACHE_HOME/ecube, else in $HOME/.cache/ecube; with
 * ECUBE_CACHE=off there is none. A name says all that a table depends on, the version of the search
 * included. A file is written beside its place and takes it when it is whole, so two tools may make
 * the same one. When all are more than CACHE_BYTES_MAX, the oldest go.
 *
 *     0   magic "ecubtab1"     8   words   12   CRC-32C of them   16   words of 16 bits
 *
 * Numbers are in the byte order of the computer, which is in the magic's place for others. What is
 * read is looked at here, and proved by the planner; a file that is not right is made anew. That,
 * and a cache that cannot be written, is told in one line, once.
 *
 * Context  host
 */
#pragma once

#include "host/console/message.h"

enum { CACHE_BYTES_MAX = 1 << 28 };

/* The planner keeps its tables there from now on. Nothing is touched before one is wanted. */
void plan_shelf_begin(void);

/* Removes all tables of the cache, and what a killed tool has left of one; tells what it has done.
 * Fails: it could not. */
int plan_shelf_clear(struct message *message);
