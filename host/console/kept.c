#include "host/console/kept.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"

void kept_add(struct kept_lines *kept, const struct line *line)
{
    if (!kept->lines) {
        kept->lines = malloc(KEPT_LINES_MAX * sizeof *kept->lines);
        kept->text = malloc(KEPT_BYTES_MAX);
        CHECK(kept->lines && kept->text);
    }
    if (kept->left_out > 0 || kept->count == KEPT_LINES_MAX ||
        line->bytes > KEPT_BYTES_MAX - kept->bytes) {
        kept->left_out++;
        return;
    }
    kept->lines[kept->count++] =
        (struct kept_line){line->rank, line->stream, kept->bytes, line->bytes};
    if (line->bytes > 0) {
        memcpy(kept->text + kept->bytes, line->text, line->bytes);
    }
    kept->bytes += line->bytes;
}

void kept_free(struct kept_lines *kept)
{
    free(kept->lines);
    free(kept->text);
    *kept = (struct kept_lines){0};
}
