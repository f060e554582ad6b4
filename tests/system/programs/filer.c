/*
 * filer.c - filer [abort]: uses files, standard input and data as any program would: copies the
 * file "given/text" and its standard input to files of its own, numbers the lines of the one,
 * appends, removes, renames, and names its common and private data, one behind the other, as its
 * output. With `abort` rank 1 ends the run with status 5 when all are that far.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ecube.h>

enum { LINE_BYTES = 200 };

static int failures;

static void expect(int good, const char *what)
{
    if (!good) {
        printf("%s: %s\n", what, strerror(errno));
        failures++;
    }
}

/* The lines of one stream, numbered, to a file. */
static void copy(FILE *from, const char *to)
{
    FILE *file = fopen(to, "w");
    char line[LINE_BYTES];

    expect(from && file, to);
    for (int number = 1; from && file && fgets(line, sizeof line, from); number++) {
        fprintf(file, "%d %s", number, line);
    }
    expect(file && fclose(file) == 0, to);
}

static void append(const char *name)
{
    FILE *file = fopen(name, "a");

    expect(file && fprintf(file, "of rank %d\n", ecube_rank()) > 0 && fclose(file) == 0, name);
}

/* What was brought along is changed in a copy, which comes back. */
static void change_given(void)
{
    FILE *file = fopen("given/text", "r+");

    expect(file && fseek(file, 0, SEEK_END) == 0 && fputs("the end\n", file) >= 0 &&
               fclose(file) == 0,
           "given/text");
}

static void name_output(void)
{
    size_t common_bytes, private_bytes;
    const char *common = ecube_common(&common_bytes);
    char *own = ecube_private(&private_bytes), *output = malloc(common_bytes + private_bytes + 1);

    if (!common || !own || !output) {
        return;
    }
    own[0] = '*';
    memcpy(output, common, common_bytes);
    memcpy(output + common_bytes, own, private_bytes);
    expect(ecube_output(output, common_bytes + private_bytes) == 0, "output");
}

int main(int argc, char **argv)
{
    FILE *given = fopen("given/text", "r");

    copy(given, "out/numbered");
    expect(given && fclose(given) == 0, "given/text");
    copy(stdin, "input");
    append("out/numbered");
    append("other");
    expect(rename("other", "named") == 0, "named");
    append("gone");
    expect(unlink("gone") == 0, "gone");
    expect(!fopen("nowhere", "r") && errno == ENOENT, "nowhere");
    expect(!fopen("../up", "w") && errno == EACCES, "../up");
    expect(isatty(0) && isatty(1), "a terminal");
    change_given();
    name_output();
    if (argc > 1 && strcmp(argv[1], "abort") == 0) {
        FILE *open = fopen("open", "w");
        expect(open && fputs("not yet written\n", open) >= 0, "open");
        ecube_barrier();
        if (ecube_rank() == 1) {
            ecube_abort(5);
        }
        ecube_receive(&failures, 1, (ecube_rank() + 1) % ecube_size(), 9, NULL);
    }
    return failures;
}
