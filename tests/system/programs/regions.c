/*
 * regions.c - regions BYTES [late SECONDS | ends | aborts | crashes | circle]: waits at region
 * "data", of so many bytes. What is scattered there it makes capitals of, in place, and waits
 * again, as it does when it was gathered; one byte alone ends it. It has another region, "spare".
 *
 * late: rank 1 sleeps before it waits for the first time. ends, aborts, crashes: rank 1 sleeps two
 * seconds, and then does that. circle: rank 1 waits for a message of rank 0, which waits at "data".
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ecube.h>

static void misbehave(const char *how, const char *seconds)
{
    volatile int *null = NULL;

    sleep(seconds ? (unsigned)atoi(seconds) : 2);
    if (strcmp(how, "ends") == 0) {
        exit(0);
    }
    if (strcmp(how, "aborts") == 0) {
        ecube_abort(7);
    }
    if (strcmp(how, "crashes") == 0) {
        *null = 1;
    }
    if (strcmp(how, "circle") == 0) {
        ecube_receive(NULL, 0, 0, 5, NULL);
    }
}

int main(int argc, char **argv)
{
    uint32_t bytes = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000, came, way;
    char *data = malloc(bytes), spare[16];
    unsigned scattered = 0, gathered = 0;

    if (!data) {
        return 1;
    }
    memset(data, '.', bytes);
    ecube_region("data", spare, sizeof spare);
    ecube_region("data", data, bytes); /* in its place */
    ecube_region("spare", spare, sizeof spare);
    if (argc > 2 && ecube_rank() == 1) {
        misbehave(argv[2], argc > 3 ? argv[3] : NULL);
    }
    while ((way = (uint32_t)ecube_region_wait("data", &came)) != ECUBE_SCATTERED || came != 1) {
        scattered += way == ECUBE_SCATTERED;
        gathered += way == ECUBE_GATHERED;
        for (uint32_t i = 0; way == ECUBE_SCATTERED && i < came; i++) {
            data[i] = (char)toupper((unsigned char)data[i]);
        }
    }
    printf("scattered %u, gathered %u\n", scattered, gathered);
    return 0;
}
