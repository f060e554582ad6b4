/*
 * match.c - which of several patterns begin where in a text: each node searches a stretch of it.
 *
 * A pattern may begin at the end of a stretch, so a node has as many more characters behind its own
 * as the longest pattern has, less one: windows that overlap. The patterns are common data, a line
 * each. What comes back is a byte for every character of the text: the number of the longest
 * pattern that begins there, from 1; 0: none does.
 *
 * Argument: characters of the node's own stretch. `examples/data.sh match` cuts up a text, runs
 * this, compares and draws where the patterns are.
 *
 * Source   windows: Sharma & Wagh, Decremental scattering for data transport between host and
 *          hypercube nodes, section II
 */
#include <ecube.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/words.h"

enum { PATTERNS_MAX = 255 };

struct pattern {
    const char *text;
    size_t length;
};

/* The lines that are not empty; how many. */
static int read_patterns(const char *text, size_t bytes, struct pattern *patterns)
{
    const char *end = text + bytes;
    int count = 0;

    while (text < end && count < PATTERNS_MAX) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        line_end = line_end ? line_end : end;
        if (line_end > text) {
            patterns[count++] = (struct pattern){text, (size_t)(line_end - text)};
        }
        text = line_end + 1;
    }
    return count;
}

/* The number of the longest pattern that `text` begins with. */
static uint8_t begins(const char *text, size_t bytes, const struct pattern *patterns, int count)
{
    int best = 0;

    for (int i = 0; i < count; i++) {
        if (patterns[i].length <= bytes &&
            memcmp(text, patterns[i].text, patterns[i].length) == 0 &&
            (best == 0 || patterns[i].length > patterns[best - 1].length)) {
            best = i + 1;
        }
    }
    return (uint8_t)best;
}

int main(int argc, char **argv)
{
    static struct pattern patterns[PATTERNS_MAX];
    size_t bytes, pattern_bytes;
    const char *text = ecube_input(&bytes), *lines = ecube_common(&pattern_bytes);
    size_t own = (size_t)words_number("match", argc, argv, 1, 0, 0, INT32_MAX);
    int32_t mine = 0, all = 0;

    if (!text || !lines) {
        if (ecube_rank() == 0) {
            fprintf(
                stderr,
                "match: it wants a text: examples/data.sh match NETWORK TEXT OUT.png WORD...\n");
            return 1;
        }
        return 0;
    }
    uint8_t *found = own > 0 && own <= bytes ? malloc(own) : NULL;
    if (!found) {
        fprintf(stderr, "match: %u of %u characters: too few, or there is no memory\n",
                (unsigned)own, (unsigned)bytes);
        return 1;
    }
    int count = read_patterns(lines, pattern_bytes, patterns);
    for (size_t i = 0; i < own; i++) {
        found[i] = begins(text + i, bytes - i, patterns, count);
        mine += found[i] != 0;
    }
    ecube_reduce(&mine, &all, 1, ECUBE_INT32, ECUBE_SUM, 0);
    if (ecube_rank() == 0) {
        printf("%d places\n", (int)all);
    }
    ecube_output(found, own);
    return 0;
}
