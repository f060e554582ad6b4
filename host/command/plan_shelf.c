#include "host/command/plan_shelf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/check.h"
#include "host/console/terminal.h"
#include "host/job/draft.h"
#include "planner/planner.h"
#include "wire/crc.h"

enum { WORDS_MAX = 1 << 24, NAMES_GROW = 64 };

static const char ending[] = ".table"; /* a draft's has more behind it */

struct head {
    uint64_t magic;
    uint32_t words, sum;
};

static const uint64_t MAGIC = UINT64_C(0x3162617462756365);

/* What has been told, and whether a line about a search stands on the terminal. */
struct shelf {
    bool told_refused, told_unkept, searching;
};

static struct shelf shelf;

/* Places -------------------------------------------------------------------------------------- */

/* The folder of the cache; false: there is none. */
static bool find_folder(char path[PATH_MAX])
{
    const char *own = getenv("ECUBE_CACHE"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = 0;

    if (own && *own) {
        length = strcmp(own, "off") == 0 ? 0 : snprintf(path, PATH_MAX, "%s", own);
    } else if (cache && cache[0] == '/') {
        length = snprintf(path, PATH_MAX, "%s/ecube", cache);
    } else if (home && home[0] == '/') {
        length = snprintf(path, PATH_MAX, "%s/.cache/ecube", home);
    }
    return length > 0 && length < PATH_MAX;
}

static bool find_file(const char *folder, const char *name, char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s/%s%s", folder, name, ending);

    return length > 0 && length < PATH_MAX;
}

/* Makes the folder and those on the way; 0, or errno. */
static int make_folder(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int made = mkdir(path, 0700);
        *slash = '/';
        if (made != 0 && errno != EEXIST) {
            return errno;
        }
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

/* A table, or a draft of one. */
static bool is_ours(const char *name)
{
    const char *at = strstr(name, ending);

    return at && (at[sizeof ending - 1] == '\0' || at[sizeof ending - 1] == '.');
}

/* What is told ------------------------------------------------------------------------------- */

static void clear_line(void)
{
    if (shelf.searching) {
        terminal_put(STDERR_FILENO, terminal_clear, strlen(terminal_clear));
        shelf.searching = false;
    }
}

static void tell_once(bool *told, const char *path, const char *words)
{
    struct message message;

    if (!*told) {
        clear_line();
        message_set(&message, "%s: %s", path, words);
        message_print(&message);
        *told = true;
    }
}

static void tell_search(void *context, const char *words)
{
    char line[TERMINAL_LINE_MAX];

    (void)context;
    if (terminal_redraws(STDERR_FILENO)) {
        terminal_note(line, STDERR_FILENO, "plan     %s", words);
        terminal_put(STDERR_FILENO, line, strlen(line));
        shelf.searching = true;
    }
}

/* Reading ------------------------------------------------------------------------------------- */

static bool read_all(int fd, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t more = read(fd, (char *)data + done, bytes - done);
        if (more <= 0 && !(more < 0 && errno == EINTR)) {
            return false;
        }
        done += more > 0 ? (size_t)more : 0;
    }
    return true;
}

/* The words of a file; NULL: it has none that are whole. */
static uint16_t *read_words(int fd, uint32_t *count)
{
    struct head head;
    struct stat state;

    if (fstat(fd, &state) != 0 || !S_ISREG(state.st_mode) || !read_all(fd, &head, sizeof head) ||
        head.magic != MAGIC || head.words > WORDS_MAX ||
        (uint64_t)state.st_size != sizeof head + head.words * sizeof(uint16_t)) {
        return NULL;
    }
    uint32_t bytes = head.words * (uint32_t)sizeof(uint16_t);
    uint16_t *words = malloc(bytes ? bytes : 1);
    CHECK(words);
    if (!read_all(fd, words, bytes) || crc32_add(0, words, bytes) != head.sum) {
        free(words);
        return NULL;
    }
    *count = head.words;
    return words;
}

static void tell_refused(void *context, const char *name)
{
    char folder[PATH_MAX], path[PATH_MAX];

    (void)context;
    if (find_folder(folder) && find_file(folder, name, path)) {
        tell_once(&shelf.told_refused, path,
                  "it is damaged, or not of this planner; it is made anew");
    }
}

/* Waits for nobody: what is no file is refused. */
static uint16_t *read_table(void *context, const char *name, uint32_t *count)
{
    char folder[PATH_MAX], path[PATH_MAX];

    (void)context;
    if (!find_folder(folder) || !find_file(folder, name, path)) {
        return NULL;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        if (errno != ENOENT && errno != ENOTDIR) {
            tell_once(&shelf.told_refused, path, strerror(errno));
        }
        return NULL;
    }
    uint16_t *words = read_words(fd, count);
    close(fd);
    if (!words) {
        tell_refused(NULL, name);
    }
    return words;
}

/* Keeping ------------------------------------------------------------------------------------- */

struct old {
    char name[NAME_MAX + 1];
    struct timespec made;
    uint64_t bytes;
};

struct olds {
    struct old *list;
    size_t count;
    uint64_t bytes;
};

static int by_age(const void *one, const void *other)
{
    const struct old *a = one, *b = other;

    if (a->made.tv_sec != b->made.tv_sec) {
        return a->made.tv_sec < b->made.tv_sec ? -1 : 1;
    }
    if (a->made.tv_nsec != b->made.tv_nsec) {
        return a->made.tv_nsec < b->made.tv_nsec ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

/* All files of the cache, the oldest first. */
static struct olds find_olds(DIR *folder)
{
    struct olds olds = {0};
    struct dirent *entry;
    struct stat state;

    while ((entry = readdir(folder))) {
        if (!is_ours(entry->d_name) ||
            fstatat(dirfd(folder), entry->d_name, &state, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(state.st_mode)) {
            continue;
        }
        if (olds.count % NAMES_GROW == 0) {
            olds.list = realloc(olds.list, (olds.count + NAMES_GROW) * sizeof *olds.list);
            CHECK(olds.list);
        }
        struct old *old = &olds.list[olds.count++];
        *old = (struct old){.made = state.st_mtim, .bytes = (uint64_t)state.st_size};
        snprintf(old->name, sizeof old->name, "%s", entry->d_name);
        olds.bytes += old->bytes;
    }
    if (olds.count) {
        qsort(olds.list, olds.count, sizeof *olds.list, by_age);
    }
    return olds;
}

/* Removes the oldest, until so many bytes more have room. */
static void make_room(const char *path, uint64_t bytes)
{
    DIR *folder = opendir(path);

    if (!folder) {
        return;
    }
    struct olds olds = find_olds(folder);
    for (size_t i = 0; i < olds.count && olds.bytes + bytes > CACHE_BYTES_MAX; i++) {
        unlinkat(dirfd(folder), olds.list[i].name, 0);
        olds.bytes -= olds.list[i].bytes;
    }
    free(olds.list);
    closedir(folder);
}

/* 0, or errno. What is no file gives up its place. */
static int write_table(const char *path, const uint16_t *words, uint32_t count)
{
    uint32_t bytes = count * (uint32_t)sizeof *words;
    const struct head head = {MAGIC, count, crc32_add(0, words, bytes)};
    struct draft draft;
    struct stat state;

    if (lstat(path, &state) == 0 && !S_ISREG(state.st_mode) && unlink(path) != 0) {
        return errno;
    }
    int error = draft_open(&draft, path, NULL);

    if (error) {
        return error;
    }
    error = draft_add(&draft, (const uint8_t *)&head, sizeof head);
    error = error ? error : draft_add(&draft, (const uint8_t *)words, bytes);
    return draft_close(&draft, error);
}

static void keep_table(void *context, const char *name, const uint16_t *words, uint32_t count)
{
    char folder[PATH_MAX], path[PATH_MAX];

    (void)context;
    clear_line();
    if (shelf.told_unkept || !find_folder(folder) || !find_file(folder, name, path)) {
        return;
    }
    int error = make_folder(folder);
    if (!error) {
        make_room(folder, sizeof(struct head) + count * sizeof *words);
        error = write_table(path, words, count);
    }
    if (error) {
        char why[MESSAGE_MAX];
        snprintf(why, sizeof why, "%s; plans are searched for again the next time",
                 strerror(error));
        tell_once(&shelf.told_unkept, folder, why);
    }
}

/* The verb's ---------------------------------------------------------------------------------- */

void plan_shelf_begin(void)
{
    const struct plan_shelf own = {
        .read = read_table, .refuse = tell_refused, .keep = keep_table, .tell = tell_search};

    plan_use_shelf(&own);
}

int plan_shelf_clear(struct message *message)
{
    char path[PATH_MAX];

    if (!find_folder(path)) {
        return message_set(message, "there is no cache: ECUBE_CACHE is off, or HOME is not set");
    }
    DIR *folder = opendir(path);
    if (!folder && errno == ENOENT) {
        printf("%s: 0 tables removed\n", path);
        return 0;
    }
    if (!folder) {
        return message_set(message, "%s: %s", path, strerror(errno));
    }
    struct olds olds = find_olds(folder);
    int error = 0;
    for (size_t i = 0; i < olds.count; i++) {
        if (unlinkat(dirfd(folder), olds.list[i].name, 0) != 0 && errno != ENOENT) {
            error = errno;
        }
    }
    closedir(folder);
    free(olds.list);
    if (error) {
        return message_set(message, "%s: %s", path, strerror(error));
    }
    printf("%s: %zu table%s removed\n", path, olds.count, olds.count == 1 ? "" : "s");
    return 0;
}
