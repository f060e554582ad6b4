/*
 * papers.c - papers BUILD claims [ID ...]     holds claims of the papers against all their cases
 *            papers BUILD report FILE         the same of all, as doc/papers.md
 *            papers BUILD figures             tables and figures, as BUILD/papers/NAME.{txt,dat,gp}
 *
 * Exit status 0; 1: a verdict has turned; 2: bad input.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "papers/claims.h"
#include "papers/functions.h"
#include "papers/report.h"

enum { PATH_MAX_BYTES = 512, STATUS_TURNED = 1, STATUS_BAD_INPUT = 2 };

static const char claims_path[] = "papers/claims.json", figures_path[] = "papers/figures.json";

static int usage(void)
{
    fprintf(stderr, "papers: BUILD claims [ID ...], BUILD report FILE or BUILD figures\n");
    return STATUS_BAD_INPUT;
}

static int show_claims(const struct claims *claims, char **ids, int count)
{
    int status = 0;

    for (int i = 0; i < count; i++) {
        if (!claims_find(claims, ids[i])) {
            fprintf(stderr, "papers: there is no claim %s\n", ids[i]);
            return STATUS_BAD_INPUT;
        }
    }
    for (unsigned i = 0; i < claims->count; i++) {
        bool wanted = count == 0;
        for (int k = 0; k < count; k++) {
            wanted = wanted || strcmp(ids[k], claims->claim[i].id) == 0;
        }
        if (wanted && !report_claim(stdout, &claims->claim[i])) {
            status = STATUS_TURNED;
        }
    }
    return status;
}

int main(int count, char **words)
{
    struct claims claims;
    char error[CLAIM_ERROR_MAX], folder[PATH_MAX_BYTES];
    int status;

    if (count < 3) {
        return usage();
    }
    papers_build = words[1];
    snprintf(folder, sizeof folder, "%s/papers", papers_build);
    mkdir(folder, 0777);
    if (!claims_read(&claims, claims_path, error)) {
        fprintf(stderr, "papers: %s\n", error);
        claims_free(&claims);
        return STATUS_BAD_INPUT;
    }
    if (strcmp(words[2], "claims") == 0) {
        status = show_claims(&claims, words + 3, count - 3);
    } else if (strcmp(words[2], "report") == 0 && count == 4) {
        status = report_write(&claims, words[3]) ? 0 : STATUS_TURNED;
    } else if (strcmp(words[2], "figures") == 0 && count == 3) {
        status = figures_write(figures_path, folder) ? 0 : STATUS_BAD_INPUT;
    } else {
        status = usage();
    }
    claims_free(&claims);
    return status;
}
