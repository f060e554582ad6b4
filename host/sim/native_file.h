/*
 * native_file.h - a program that was compiled for this computer (ecube-cc --native), as its file
 * has it: the image that nodes are sent, and what the simulator maps of the file.
 *
 * Source   System V ABI, ELF; its AMD64 supplement, table 4.9 (relocations)
 */
#pragma once

#include <sys/stat.h>

#include "host/console/message.h"
#include "host/program/image.h"
#include "sim/programs/native.h"

struct native_file {
    const char *path;
    struct image image;
    struct native_program program;         /* without `download`, which is a job's */
    struct native_relocation *relocations; /* of the program */
    struct stat status;
};

/* Reads it, and keeps it open; the path stays the caller's. The message says what is wrong. */
int native_file_read(struct native_file *file, const char *path, struct message *message);
/* Whether the file is still what has been read: the simulator maps it itself. */
int native_file_check(const struct native_file *file, struct message *message);
/* The image is freed too, if it has not been given away. */
void native_file_free(struct native_file *file);
