/*
 * store.c - the files of a program, in the memory of its node.
 *
 * Invariant
 * - What comes back is whole wherever the program is stopped (lib/portable/output.h): data are
 *   written before the length says so, and moved before their old place is free.
 */
#define _DEFAULT_SOURCE 1

#include "lib/newlib/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/ecube/error.h"
#include "lib/portable/data.h"
#include "wire/run.h"

static const char scratch_folder[] = "/tmp";

/* Names ---------------------------------------------------------------------------------------- */

static bool is_part(const char *part, size_t bytes, const char *text)
{
    return bytes == strlen(text) && memcmp(part, text, bytes) == 0;
}

/* Adds a component. */
static int add_part(char name[STORE_NAME_BYTES], size_t *length, const char *part, size_t bytes)
{
    if (is_part(part, bytes, "..")) {
        return -EACCES;
    }
    if (bytes == 0 || is_part(part, bytes, ".")) {
        return 0;
    }
    if (*length + (*length > 0) + bytes >= STORE_NAME_BYTES) {
        return -ENAMETOOLONG;
    }
    if (*length > 0) {
        name[(*length)++] = '/';
    }
    memcpy(name + *length, part, bytes);
    *length += bytes;
    return 0;
}

static int make_name(const char *given, char name[STORE_NAME_BYTES])
{
    size_t folder = 0, length = 0, bytes = 0;

    if (*given == '\0') {
        return -ENOENT;
    }
    if (*given == '/') {
        folder = length = strlen(scratch_folder);
        if (strncmp(given, scratch_folder, folder) != 0 || given[folder] != '/') {
            return -EACCES;
        }
        memcpy(name, scratch_folder, folder);
        given += folder;
    }
    for (; *given != '\0'; given += bytes + (given[bytes] == '/')) {
        bytes = strcspn(given, "/");
        int error = add_part(name, &length, given, bytes);
        if (error < 0) {
            return error;
        }
    }
    name[length] = '\0';
    return length == folder || given[-1] == '/' ? -EISDIR : 0;
}

/* Whether a name lies in the other as in a directory. */
static bool lies_in(const char *name, const char *directory)
{
    size_t bytes = strlen(directory);

    return strncmp(name, directory, bytes) == 0 && name[bytes] == '/';
}

static int check_directories(const char *name)
{
    for (const struct output_file *file = ecube_output_files; file; file = file->next) {
        if (lies_in(name, file->name)) {
            return -ENOTDIR;
        }
        if (lies_in(file->name, name)) {
            return -EISDIR;
        }
    }
    return 0;
}

static bool comes_back(const char *name)
{
    return *name != '/';
}

/* The list ------------------------------------------------------------------------------------- */

static void put_first(struct file *file)
{
    file->output.next = ecube_output_files;
    ecube_output_files = &file->output;
}

/* Out of the list. Returns where it was. */
static struct output_file **take_out(struct file *file)
{
    struct output_file **at = &ecube_output_files;

    while (*at != &file->output) {
        at = &(*at)->next;
    }
    *at = file->output.next;
    return at;
}

static uint32_t count_came(void)
{
    struct data_entry entry = {0};
    uint32_t count = 0;

    while (ecube_data_next(&entry)) {
        count += entry.kind == BLOCK_FILE;
    }
    return count;
}

/* The files that came, once. Of two with one name the first is found. */
static bool list_came(void)
{
    static bool listed;
    struct data_entry entry = {0};
    uint32_t count = listed ? 0 : count_came();
    struct file *files = count > 0 ? calloc(count, sizeof *files) : NULL;

    if (count > 0 && !files) {
        return false;
    }
    listed = true;
    for (uint32_t left = count; left > 0 && ecube_data_next(&entry);) {
        if (entry.kind == BLOCK_FILE) {
            struct output_file output = {
                .name = entry.name, .data = entry.data, .bytes = entry.bytes};
            files[--left] = (struct file){.output = output, .came = true};
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        put_first(&files[i]);
    }
    return true;
}

int ecube_store_find(const char *given, char name[STORE_NAME_BYTES], struct file **found)
{
    int error = make_name(given, name);

    if (error < 0 || !list_came()) {
        return error < 0 ? error : -ENOMEM;
    }
    struct output_file *file = ecube_output_files;
    while (file && strcmp(file->name, name) != 0) {
        file = file->next;
    }
    *found = (struct file *)file;
    return 0;
}

/* What comes back ------------------------------------------------------------------------------ */

/* The table as the list is now. */
static int tell_output(void)
{
    switch (ecube_output_rebuild()) {
    case ECUBE_OK: return 0;
    case ECUBE_E_FULL: return -ENOSPC;
    case ECUBE_E_SYSCALL: return -ENOSYS;
    default: return -EIO;
    }
}

/* A file is to be changed: from now on it comes back. */
static int bring_back(struct file *file)
{
    if (file->output.leaves || !file->output.name || !comes_back(file->output.name)) {
        return 0;
    }
    file->output.leaves = true;
    int error = tell_output();
    if (error < 0) {
        file->output.leaves = false;
    }
    return error;
}

/* Memory --------------------------------------------------------------------------------------- */

static void move(struct file *file, uint8_t *to, uint32_t room)
{
    uint8_t *before = file->own;

    if (file->output.bytes > 0) {
        memcpy(to, file->output.data, file->output.bytes);
    }
    file->own = to;
    file->room = room;
    file->output.data = to;
    ecube_output_update(&file->output);
    free(before);
}

/* Memory of its own, for so many bytes: half as many more if there is so much, else what there
 * is. */
static bool give_room(struct file *file, uint32_t bytes)
{
    if (file->own && bytes <= file->room) {
        return true;
    }
    for (uint32_t more = bytes / 2;; more /= 2) {
        uint8_t *to = malloc((size_t)bytes + more);
        if (to) {
            move(file, to, bytes + more);
            return true;
        }
        if (more == 0) {
            return false;
        }
    }
}

static void set_bytes(struct file *file, uint32_t bytes)
{
    file->output.bytes = bytes;
    ecube_output_update(&file->output);
}

/* Its memory goes back; the length first. */
static void empty(struct file *file)
{
    uint8_t *before = file->own;

    set_bytes(file, 0);
    file->own = NULL;
    file->room = 0;
    file->output.data = NULL;
    ecube_output_update(&file->output);
    free(before);
}

/* Up to the new end, which is beyond the old one. */
static bool lengthen(struct file *file, uint32_t bytes)
{
    if (!give_room(file, bytes)) {
        return false;
    }
    memset(file->own + file->output.bytes, 0, bytes - file->output.bytes);
    set_bytes(file, bytes);
    return true;
}

int ecube_store_cut(struct file *file, uint32_t bytes)
{
    int error = bring_back(file);

    if (error < 0 || bytes == file->output.bytes) {
        return error;
    }
    if (bytes == 0) {
        empty(file);
    } else if (bytes < file->output.bytes) {
        set_bytes(file, bytes);
    } else if (!lengthen(file, bytes)) {
        return -ENOSPC;
    }
    return 0;
}

/* How many of the bytes there is room for, in memory of its own. */
static uint32_t room_for(struct file *file, uint32_t at, uint32_t bytes)
{
    uint32_t end = at + bytes;

    if (give_room(file, end > file->output.bytes ? end : file->output.bytes)) {
        return bytes;
    }
    return file->own && at < file->room ? file->room - at : 0;
}

int ecube_store_write(struct file *file, uint32_t at, const void *data, uint32_t bytes)
{
    if (at >= STORE_FILE_BYTES) {
        return -EFBIG;
    }
    bytes = bytes < STORE_FILE_BYTES - at ? bytes : STORE_FILE_BYTES - at;
    bytes = room_for(file, at, bytes);
    int error = bytes > 0 ? bring_back(file) : -ENOSPC;
    if (error < 0) {
        return error;
    }
    if (at > file->output.bytes) {
        memset(file->own + file->output.bytes, 0, at - file->output.bytes);
    }
    memcpy(file->own + at, data, bytes);
    if (at + bytes > file->output.bytes) {
        set_bytes(file, at + bytes);
    }
    return (int)bytes;
}

/* From the first name to the end --------------------------------------------------------------- */

/* Nobody knows it any more. What came with the program lies in one piece of memory with others. */
static void release(struct file *file)
{
    free(file->own_name);
    free(file->own);
    file->own_name = NULL;
    file->own = NULL;
    if (!file->came) {
        free(file);
    }
}

int ecube_store_make(const char *name, struct file **made)
{
    int error = check_directories(name);
    struct file *file = error < 0 ? NULL : calloc(1, sizeof *file);

    if (!file) {
        return error < 0 ? error : -ENOSPC;
    }
    file->output.name = file->own_name = strdup(name);
    if (!file->own_name) {
        release(file);
        return -ENOSPC;
    }
    put_first(file);
    error = bring_back(file);
    if (error < 0) {
        take_out(file);
        release(file);
        return error;
    }
    *made = file;
    return 0;
}

/* It is in the list no more. */
static void forget(struct file *file)
{
    file->output.name = NULL;
    file->output.leaves = false;
    file->output.piece = 0;
    if (file->users == 0) {
        release(file);
    }
}

int ecube_store_remove(struct file *file)
{
    struct output_file **at = take_out(file);
    int error = file->output.leaves ? tell_output() : 0;

    if (error < 0) {
        *at = &file->output;
    } else {
        forget(file);
    }
    return error;
}

/* The new name, as far as the list and the table know; or back again. */
static int change_name(struct file *file, const char *name)
{
    struct output_file before = file->output;

    file->output.name = name;
    file->output.leaves = comes_back(name);
    int error = before.leaves || file->output.leaves ? tell_output() : 0;
    if (error < 0) {
        file->output.name = before.name;
        file->output.leaves = before.leaves;
    }
    return error;
}

int ecube_store_rename(struct file *file, const char *name, struct file *replaced)
{
    int error = check_directories(name);
    char *copy = error < 0 ? NULL : strdup(name);

    if (!copy) {
        return error < 0 ? error : -ENOSPC;
    }
    struct output_file **at = replaced ? take_out(replaced) : NULL;
    error = change_name(file, copy);
    if (error < 0) {
        free(copy);
        if (replaced) {
            *at = &replaced->output;
        }
        return error;
    }
    free(file->own_name);
    file->own_name = copy;
    if (replaced) {
        forget(replaced);
    }
    return 0;
}

void ecube_store_leave(struct file *file)
{
    file->users--;
    if (file->users == 0 && !file->output.name) {
        release(file);
    }
}
