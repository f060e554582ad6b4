#include "jtag/socket/peer.h"

#include <stdio.h>
#include <string.h>

enum { COMM_BYTES = 17, PATH_BYTES = 32 };

/* A process may call itself anything; the words stand in lines. */
static void make_plain(char *name)
{
    for (char *p = name; *p; p++) {
        if (*p <= ' ' || *p > '~') {
            *p = '?';
        }
    }
}

void peer_describe(pid_t process, char words[PEER_WORDS_MAX])
{
    char path[PATH_BYTES], name[COMM_BYTES] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/comm", (int)process);
    file = process > 0 ? fopen(path, "re") : NULL;
    if (file) {
        if (!fgets(name, sizeof name, file)) {
            name[0] = '\0';
        }
        fclose(file);
    }
    name[strcspn(name, "\n")] = '\0';
    make_plain(name);
    if (name[0]) {
        snprintf(words, PEER_WORDS_MAX, "%s (process %d)", name, (int)process);
    } else {
        snprintf(words, PEER_WORDS_MAX, "another process");
    }
}
