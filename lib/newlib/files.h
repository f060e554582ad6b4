/*
 * files.h - reading and writing files that are open, for system.c.
 *
 * Only _open and what else takes a name bring files.c into a program. In one that has none of them
 * these functions are NULL: it opens no file, and its image has no code for files.
 *
 * Errors   -1 and errno, as those of POSIX of this name
 * Context  node programs
 */
#pragma once

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

__attribute__((weak)) int ecube_file_read(int file, void *data, size_t bytes);
__attribute__((weak)) int ecube_file_write(int file, const void *data, size_t bytes);
__attribute__((weak)) int ecube_file_close(int file);
__attribute__((weak)) int ecube_file_status(int file, struct stat *status);
__attribute__((weak)) off_t ecube_file_seek(int file, off_t offset, int from);
