/*
 * refuse.h - how what the C library asks of a system fails: -1, and the errno from which the
 * library takes it for the program's.
 *
 * Source   newlib, libc manual, chapter "System Calls"
 * Context  node programs
 */
#pragma once

#include <errno.h>

#undef errno
extern int errno;

static inline int refuse(int error)
{
    errno = error;
    return -1;
}
