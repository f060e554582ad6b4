/*
 * peer.h - words for the process at the other end of a socket: "gdb-multiarch (process 77)".
 *
 * Errors   a process that is not known is "another process"
 * Context  any; reads /proc
 */
#pragma once

#include <sys/types.h>

enum { PEER_WORDS_MAX = 48 };

void peer_describe(pid_t process, char words[PEER_WORDS_MAX]);
