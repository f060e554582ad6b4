/*
 * leaver.c - leaver begun|absent|crash|never: after some exchanges, nodes 0 and 5 end while the
 * others are in the next one: they have begun it, or not, or crash in it. Each of the others tells
 * what it hears of it. Nobody ends with `never`.
 */
#include <stdio.h>
#include <string.h>

#include <ecube.h>

enum { BYTES = 10000, NODES = 128, BEFORE = 20 };

static char blocks[2][NODES * BYTES];

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "never";
    int leaves = ecube_rank() == 0 || ecube_rank() == 5, status = ECUBE_OK;
    struct ecube_request request;

    ecube_errors(ECUBE_ERRORS_RETURN);
    for (int i = 0; i < BEFORE || !strcmp(how, "never"); i++) {
        ecube_exchange(blocks[0], blocks[1], BYTES);
    }
    if (leaves && !strcmp(how, "absent")) {
        return 0;
    }
    status = ecube_exchange_start(blocks[0], blocks[1], BYTES, &request);
    if (leaves && status == ECUBE_OK && !strcmp(how, "crash")) {
        *(volatile char *)NULL = 1;
    }
    if (leaves) {
        return status < 0;
    }
    status = ecube_wait(&request, NULL);
    printf("heard %s\n", status < 0 ? ecube_error_text(status) : "no error");
    return 0;
}
