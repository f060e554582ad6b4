/*
 * store.h - the files of a program: those that came with it, and those that it has written.
 *
 * A file lies in one piece in the node's memory. One that came with the program is read where it
 * lies, and copied when it is first written. What the program has written, cut or renamed comes
 * back to the host, but for names in /tmp.
 *
 * Units    bytes
 * Errors   0 or a count, else a negative errno
 * Context  node programs
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/portable/output.h"
#include "wire/run.h"

enum {
    STORE_NAME_BYTES = BLOCK_NAME_BYTES,
    STORE_FILE_BYTES = INT32_MAX, /* of a file */
};

struct file {
    struct output_file output; /* the first: the list is of these */
    char *own_name;            /* of the heap; NULL: the name is the block's, or it has none more */
    uint8_t *own;   /* its memory, of the heap; NULL: it lies where it came, or nowhere */
    uint32_t room;  /* of `own` */
    uint32_t users; /* what is open of it */
    bool came;      /* with the program */
};

/* Finds a file, and writes the name that files are kept by: without "." and empty components.
 * *found is NULL when there is none. EACCES: the name leads out of the files of the program, by
 * ".." or from "/" (but into /tmp); ENOENT: it is empty; EISDIR: it is no file's; ENAMETOOLONG;
 * ENOMEM. */
int ecube_store_find(const char *given, char name[STORE_NAME_BYTES], struct file **found);

/* An empty one, where none was found. ENOSPC: no memory, or as many come back as can; ENOTDIR: the
 * name is in a file as in a directory; EISDIR: a file is in it; ENOSYS: the kernel takes none. */
int ecube_store_make(const char *name, struct file **made);

/* Writes at an offset, which may be beyond the end: how many bytes; ENOSPC, EFBIG: none. */
int ecube_store_write(struct file *file, uint32_t at, const void *data, uint32_t bytes);

/* Gives it a length; what is new is 0. */
int ecube_store_cut(struct file *file, uint32_t bytes);

/* Takes its name away; it is gone when nobody has it open. */
int ecube_store_remove(struct file *file);

/* Another name; `replaced`, if not NULL, has had it and is removed. */
int ecube_store_rename(struct file *file, const char *name, struct file *replaced);

/* One who had it open is done with it. */
void ecube_store_leave(struct file *file);
