/* native_data.c - what tests/lib/native_data_test.c runs: its first argument says what to do. It
 * prints what calls return, and errno where they fail. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ecube.h>

enum { MANY = 32, LEFT_MAX = 318, FULL_HEAP_BYTES = 1 << 18, LETTERS = 26 };

static const char *error_name(void)
{
    switch (errno) {
    case 0: return "none";
    case EACCES: return "EACCES";
    case EBADF: return "EBADF";
    case EEXIST: return "EEXIST";
    case EFBIG: return "EFBIG";
    case EINVAL: return "EINVAL";
    case EISDIR: return "EISDIR";
    case EMFILE: return "EMFILE";
    case EMLINK: return "EMLINK";
    case ENAMETOOLONG: return "ENAMETOOLONG";
    case ENOENT: return "ENOENT";
    case ENOSPC: return "ENOSPC";
    case ENOSYS: return "ENOSYS";
    case ENOTDIR: return "ENOTDIR";
    case EOVERFLOW: return "EOVERFLOW";
    case ESPIPE: return "ESPIPE";
    default: return strerror(errno);
    }
}

/* What a call has returned, with errno where that is negative. */
static void say(const char *what, long returned)
{
    printf("%s %ld%s%s\n", what, returned, returned < 0 ? " " : "",
           returned < 0 ? error_name() : "");
}

static FILE *must_open(const char *name, const char *how)
{
    FILE *file = fopen(name, how);

    if (!file) {
        printf("fopen %s %s: %s\n", name, how, error_name());
        exit(1);
    }
    return file;
}

static void put(const char *name, const char *how, const char *text)
{
    FILE *file = must_open(name, how);

    fputs(text, file);
    fclose(file);
}

static void show(const char *name)
{
    FILE *file = must_open(name, "r");
    char text[100];
    size_t bytes = fread(text, 1, sizeof text, file);

    printf("%s: %.*s\n", name, (int)bytes, text);
    fclose(file);
}

static int given(void)
{
    size_t input_bytes = 1, common_bytes = 1, private_bytes = 1;
    const char *input = ecube_input(&input_bytes), *common = ecube_common(&common_bytes);
    char *private = ecube_private(&private_bytes);

    printf("%d input %.*s\n", input != NULL, (int)input_bytes, input ? input : "");
    printf("%d common %.*s\n", common != NULL, (int)common_bytes, common ? common : "");
    if (private) {
        private[0] = 'P';
    }
    printf("%d private %.*s\n", private != NULL, (int)private_bytes, private ? private : "");
    printf("same %d\n", ecube_input(NULL) == input && ecube_private(NULL) == private);
    return 0;
}

static int input(void)
{
    char line[20];
    int count = 0;

    while (fgets(line, sizeof line, stdin)) {
        printf("%d %s", ++count, line);
    }
    printf("end %d %d\n", feof(stdin) != 0, getchar() == EOF);
    say("read", read(STDIN_FILENO, line, sizeof line));
    say("seek", lseek(STDIN_FILENO, 0, SEEK_SET));
    printf("terminal %d\n", isatty(STDIN_FILENO));
    return 0;
}

static int reads(void)
{
    FILE *file = must_open("in/lines", "r");
    char text[20];
    struct stat status;

    printf("line %s", fgets(text, sizeof text, file));
    printf("at %ld\n", ftell(file));
    fseek(file, -4, SEEK_END);
    say("fread", (long)fread(text, 1, sizeof text, file));
    printf("text %.3s, end %d\n", text, feof(file) != 0);
    rewind(file);
    say("getc", getc(file));
    say("fstat", fstat(fileno(file), &status));
    printf("size %ld, file %d\n", (long)status.st_size, S_ISREG(status.st_mode));
    say("stat", stat("./in//lines", &status));
    printf("size %ld\n", (long)status.st_size);
    printf("terminal %d\n", isatty(fileno(file)));
    say("write", write(fileno(file), "x", 1));
    say("seek", lseek(fileno(file), -1, SEEK_SET));
    say("seek", lseek(fileno(file), 1000, SEEK_CUR) > 0);
    say("read", read(fileno(file), text, 1));
    say("far", lseek(fileno(file), 0x7fffffff, SEEK_CUR));
    fclose(file);
    say("close", close(3));
    say("open", open("in/words", O_RDONLY));
    say("stat", stat("in", &status));
    return 0;
}

static int writes(void)
{
    FILE *file = must_open("out/one.txt", "w");

    for (int i = 0; i < 1000; i++) {
        fprintf(file, "%d\n", i);
    }
    put("empty", "w", "");
    put("two", "w", "second");
    fclose(file);
    file = must_open("open", "w");
    fputs("left open", file);
    return ecube_output("result", 6);
}

static int changes(void)
{
    FILE *file;
    int one, other;
    char text[20] = "";

    put("new", "a", "one ");
    put("new", "a", "two");
    put("more", "a", "+");
    file = must_open("some", "r+");
    fseek(file, 4, SEEK_SET);
    fputs("5", file);
    rewind(file);
    printf("read back %s\n", fgets(text, sizeof text, file));
    fclose(file);
    file = must_open("both", "w+");
    fputs("written", file);
    rewind(file);
    printf("read back %s\n", fgets(text, sizeof text, file));
    one = open("shared", O_RDWR | O_CREAT, 0666);
    other = open("shared", O_RDWR | O_APPEND);
    write(one, "abc", 3);
    write(other, "de", 2);
    write(one, "X", 1);
    say("read", read(other, text, sizeof text));
    say("read", read(one, text, sizeof text));
    say("seek", lseek(one, 0, SEEK_SET));
    printf("shared %.*s\n", (int)read(one, text, sizeof text), text);
    say("exclusive", open("shared", O_RDWR | O_CREAT | O_EXCL, 0666));
    say("write", write(open("shared", O_WRONLY), "", 0));
    say("read", read(open("shared", O_WRONLY), text, 1));
    return 0;
}

static int lengths(void)
{
    int file;

    put("short", "w", "a longer text");
    put("short", "w", "text");
    put("some", "w", "");
    file = open("cut", O_RDWR | O_CREAT, 0666);
    write(file, "0123456789", 10);
    say("shorter", ftruncate(file, 4));
    say("longer", ftruncate(file, 6));
    say("seek", lseek(file, 8, SEEK_SET));
    say("write", write(file, "8", 1));
    say("seek", lseek(file, 0, SEEK_END));
    say("negative", ftruncate(file, -1));
    say("negative", lseek(file, -10, SEEK_END));
    say("came", ftruncate(open("more", O_RDWR), 2));
    say("nothing", ftruncate(open("none", O_RDWR | O_CREAT, 0666), 0));
    say("read only", ftruncate(open("none", O_RDONLY), 0));
    return 0;
}

static int many(void)
{
    char name[20];
    int files[MANY + 1];

    for (int i = 0; i <= MANY; i++) {
        snprintf(name, sizeof name, "file%d", i % 3);
        files[i] = open(name, O_RDWR | O_CREAT, 0666);
    }
    say("the last", files[MANY - 1]);
    say("one more", files[MANY]);
    close(files[5]);
    say("again", open("file1", O_RDONLY));
    return 0;
}

static int names(void)
{
    static char longest[256], longer[257];
    static const char *const tried[] = {
        "",    "/",       "/etc/passwd", "/tmp", "/tmp/",    "/tmp/..", "/tmpfile",
        "..",  "../x",    "a/../b",      ".",    "dir/",     "./ok",    "a//b/./c",
        "a/b", "a/b/c/d", "a/b/c",       "..x",  "/tmp/x/y", longest,   longer};

    memset(longest, 'n', sizeof longest - 1);
    memset(longer, 'n', sizeof longer - 1);
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        int file = open(tried[i], O_WRONLY | O_CREAT, 0666);
        printf("%.20s %s\n", tried[i], file < 0 ? error_name() : "made");
        close(file);
    }
    return 0;
}

/* Fills the heap with files; what is in them stays what it is. */
static int full(void)
{
    static char text[FULL_HEAP_BYTES] = "full";
    void *volatile rest;
    int file = open("big", O_RDWR | O_CREAT, 0666), other = open("other", O_RDWR | O_CREAT, 0666);
    long bytes = 0, more = 0, count;

    write(other, "other", 5);
    while ((count = write(file, text, 1000)) > 0) {
        bytes += count;
    }
    say("big", count);
    while ((count = write(other, text, 1)) > 0) {
        more += count;
    }
    say("other", count);
    printf("sizes %d %d\n", bytes == lseek(file, 0, SEEK_END),
           5 + more == lseek(other, 0, SEEK_END));
    printf("a third at least %d\n", bytes > FULL_HEAP_BYTES / 3);
    while ((rest = malloc(16)) != NULL) {
    }
    lseek(file, 0, SEEK_SET);
    say("a part", write(file, text, sizeof text) >= bytes);
    say("new", open("new", O_RDWR | O_CREAT, 0666));
    say("some", write(open("some", O_RDWR), "x", 1));
    say("stays", open("stays", O_RDONLY) > 0);
    say("output", ecube_output(text, 4));
    say("remove", remove("big"));
    close(file);
    say("remove", remove("other"));
    close(other);
    say("new", open("new", O_RDWR | O_CREAT, 0666) > 0);
    return 0;
}

static int limit(void)
{
    char name[20];

    for (int i = 0; i <= LEFT_MAX; i++) {
        snprintf(name, sizeof name, "n%d", i);
        int file = open(name, O_WRONLY | O_CREAT, 0666);
        if (file < 0) {
            printf("%s %s\n", name, error_name());
        }
        close(file);
    }
    say("came", write(open("some", O_RDWR), "x", 1));
    show("some");
    say("rename", rename("some", "other"));
    show("some");
    say("remove", remove("n7"));
    put("n7", "w", "back");
    return 0;
}

static int renames(void)
{
    int file;
    char text[10] = "";

    put("a", "w", "a");
    put("b", "w", "b");
    put("c", "w", "c");
    say("over", rename("a", "b"));
    say("itself", rename("c", "./c"));
    say("none", rename("a", "d"));
    say("came", rename("some", "dir/some"));
    say("into a file", rename("c", "b/c"));
    say("over a directory", rename("c", "dir"));
    say("refused", rename("c", "../c"));
    say("over what came", rename("c", "more"));
    say("link", link("b", "e"));
    put("gone", "w", "gone");
    file = open("gone", O_RDWR);
    say("remove", remove("gone"));
    say("remove", remove("gone"));
    say("still", read(file, text, sizeof text));
    put("gone", "w", "new");
    write(file, " on", 3);
    lseek(file, 0, SEEK_SET);
    printf("%.*s\n", (int)read(file, text, sizeof text), text);
    close(file);
    show("b");
    show("more");
    return 0;
}

static long size_of(const char *name)
{
    struct stat status = {0};

    return stat(name, &status) < 0 ? -1 : (long)status.st_size;
}

static int scratch(void)
{
    FILE *file = tmpfile(), *other = tmpfile();
    char text[20] = "", name[L_tmpnam];

    fputs("scratch", file);
    fputs("other", other);
    rewind(file);
    printf("tmpfile %s\n", fgets(text, sizeof text, file));
    printf("tmpnam %d\n", strncmp(tmpnam(name), "/tmp/", 5) == 0);
    put(name, "w", "named");
    say("named", size_of(name));
    put("/tmp/here", "w", "here");
    say("out", rename("/tmp/here", "there"));
    put("back", "w", "back");
    say("in", rename("back", "/tmp/back"));
    show("/tmp/back");
    return 0;
}

static int output(void)
{
    static char data[] = "first";
    static char *volatile outside = (char *)16;
    static volatile size_t too_many = (size_t)-1;

    ecube_errors(ECUBE_ERRORS_RETURN);
    say("none", ecube_output(NULL, 0));
    say("first", ecube_output(data, 5));
    say("outside", ecube_output(outside, 1));
    say("too many", ecube_output(data, too_many));
    say("nothing", ecube_output(outside, 0));
    say("second", ecube_output(data + 1, 3));
    memcpy(data, "later", 5);
    ecube_errors(ECUBE_ERRORS_FATAL);
    return 0;
}

static int region(void)
{
    static char data[16];
    static char *volatile outside = (char *)16;
    char name[8] = "r0";
    uint32_t bytes = 77;

    ecube_errors(ECUBE_ERRORS_RETURN);
    say("longest", ecube_region("twenty-three-characters", data, sizeof data));
    say("too long", ecube_region("twenty-four-characters--", data, sizeof data));
    say("no name", ecube_region("", data, sizeof data));
    say("NULL", ecube_region(NULL, data, sizeof data));
    say("path", ecube_region("a/b", data, sizeof data));
    say("no bytes", ecube_region("a", data, 0));
    say("outside", ecube_region("a", outside, 1));
    for (; name[1] < '7'; name[1]++) {
        say(name, ecube_region(name, data, 1));
    }
    say("too many", ecube_region("a", data, 1));
    say("again", ecube_region("r3", data, 2));
    say("wait", ecube_region_wait("a", &bytes));
    say("bytes", (int)bytes);
    say("nobody", ecube_region_wait("r3", NULL));
    return 0;
}

static int outside(void)
{
    static char *volatile nowhere = (char *)16;

    return ecube_output(nowhere, 100);
}

static int freed(void)
{
    char *data = calloc(1, 100), *other = calloc(1, 100);

    ecube_output(data, 10);
    put("file", "w", "a file");
    free(other);
    free(data);
    return 0;
}

static int unfinished(void)
{
    FILE *file = must_open("log", "w");

    fputs("flushed,", file);
    fflush(file);
    fputs(" kept", file);
    return 0;
}

/* Letters in the order of their places, as many as are there. */
static void put_letters(int file, int from, int count)
{
    char letters[100];

    for (int i = 0; i < count; i++) {
        letters[i] = (char)('a' + (from + i) % LETTERS);
    }
    lseek(file, from, SEEK_SET);
    write(file, letters, (size_t)count);
}

static int steps(void)
{
    int one = open("one", O_RDWR | O_CREAT, 0666), came = open("letters", O_RDWR), file = 0;

    for (int i = 0; i < 300; i += 60) {
        put_letters(one, i, 60);
    }
    put_letters(came, 20, 20);
    ecube_output(&file, sizeof file);
    for (int i = 0; i < 5; i++) {
        char name[20] = "a/name/of/some/0";
        name[15] = (char)('a' + i);
        file = open(name, O_RDWR | O_CREAT, 0666);
        put_letters(file, 0, 10 * i);
        close(file);
    }
    ftruncate(one, 200);
    rename("one", "two");
    rename("a/name/of/some/b", "a/name/of/some/c");
    remove("a/name/of/some/a");
    put_letters(open("two", O_RDWR | O_TRUNC), 0, 30);
    return ecube_output(NULL, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } all[] = {{"given", given},     {"input", input},
               {"reads", reads},     {"writes", writes},
               {"changes", changes}, {"lengths", lengths},
               {"many", many},       {"names", names},
               {"full", full},       {"limit", limit},
               {"renames", renames}, {"scratch", scratch},
               {"output", output},   {"outside", outside},
               {"freed", freed},     {"unfinished", unfinished},
               {"steps", steps},     {"region", region}};
    const char *what = argc > 1 ? argv[1] : "", *end = argc > 2 ? argv[2] : "";

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(what, all[i].name) == 0) {
            int status = all[i].run();
            if (strcmp(end, "abort") == 0) {
                ecube_abort(3);
            }
            if (strcmp(end, "crash") == 0) {
                abort();
            }
            return status;
        }
    }
    return 1;
}
