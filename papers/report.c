#include "papers/report.h"

#include <stdarg.h>
#include <string.h>

enum { WIDTH = 100, LINE_MAX_BYTES = 4096 };

static const struct {
    const char *letter, *name, *title;
} papers[] = {
    {"A", "Boppana & Raghavendra", "complete exchange on the hypercube (CENG 90-20, 1990)"},
    {"B", "Hu", "optimal all-to-some personalized communication on hypercubes"},
    {"C", "Ozveren", "communication aspects of parallel processing (LIDS-P-1721, 1987)"},
    {"D", "Sharma & Wagh", "decremental scattering"},
    {"E", "Thakur, Choudhary & Fox", "complete exchange on a wormhole routed mesh (1993)"}};

/* Writes a paragraph in lines of at most WIDTH; words are not parted. */
static void paragraph(FILE *file, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    va_list arguments;
    size_t column = 0;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *word = text; *word;) {
        size_t length = strcspn(word, " ");
        if (column && column + 1 + length > WIDTH) {
            fputc('\n', file);
            column = 0;
        }
        if (column) {
            fputc(' ', file);
            column++;
        }
        fprintf(file, "%.*s", (int)length, word);
        column += length;
        word += length + (word[length] == ' ');
    }
    fputs("\n", file);
}

/* Writes a formula behind its label, its further lines under its first. */
static void write_formula(FILE *file, const char *label, const char *text)
{
    size_t column = (size_t)fprintf(file, "    %-9s  ", label), begin = column;

    for (const char *word = text; *word;) {
        size_t length = strcspn(word, " ");
        bool first = column == begin;
        if (!first && column + 1 + length > WIDTH) {
            fprintf(file, "\n%*s", (int)begin, "");
            column = begin;
            first = true;
        }
        fprintf(file, "%s%.*s", first ? "" : " ", (int)length, word);
        column += length + !first;
        word += length + (word[length] == ' ');
    }
    fputc('\n', file);
}

static void write_finding(FILE *file, const struct claim *claim, const struct finding *finding)
{
    const char *other = claim->corrected ? "corrected" : "instead";
    const char *formula = claim->corrected ? claim->corrected : claim->instead;
    char text[LINE_MAX_BYTES] = "";
    size_t length = 0;

    if (claim->printed) {
        fputc('\n', file);
        write_formula(file, "printed", claim->printed);
    }
    if (formula) {
        fputs(claim->printed ? "" : "\n", file);
        write_formula(file, other, formula);
    }
    if (claim->cases) {
        write_formula(file, "for", claim->cases);
    }
    if (claim->where) {
        write_formula(file, "where", claim->where);
    }
    if (claim->printed || formula) {
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%llu case%s",
                             (unsigned long long)finding->cases, finding->cases == 1 ? "" : "s");
    }
    if (claim->printed) {
        length += (size_t)snprintf(text + length, sizeof text - length, ", %llu against the print",
                                   (unsigned long long)finding->against);
        if (finding->against && finding->first[0]) {
            length += (size_t)snprintf(text + length, sizeof text - length, " (first: %s)",
                                       finding->first);
        }
    }
    if (formula) {
        length += (size_t)snprintf(text + length, sizeof text - length, ", %llu against %s",
                                   (unsigned long long)finding->against_other,
                                   claim->corrected ? "the correction" : "what is true instead");
        if (finding->against_other) {
            length += (size_t)snprintf(text + length, sizeof text - length, " (first: %s)",
                                       finding->first_other);
        }
    }
    for (unsigned i = 0; i < claim->show_count; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %.10g",
                                   length ? "; " : "", claim->show_words[i], finding->shown[i]);
    }
    if (length) {
        fputc('\n', file);
        paragraph(file, "%s. (%s: `build/papers/papers build claims %s`)", text, claim->kind,
                  claim->id);
    }
}

/* Works it out, and says so if it is not as in the file. */
static bool find(const struct claim *claim, struct finding *finding)
{
    char error[FORMULA_ERROR_MAX];

    if (!claim_find(claim, finding, error)) {
        fprintf(stderr, "papers: claim %s: %s\n", claim->id, error);
        return false;
    }
    if (!claim_stands(claim, finding)) {
        fprintf(stderr,
                "papers: claim %s has turned: \"%s\" in claims.json, \"%s\" by %llu cases, "
                "%llu against what is true instead\n",
                claim->id, verdict_words(claim->verdict), verdict_words(finding->verdict),
                (unsigned long long)finding->cases, (unsigned long long)finding->against_other);
        return false;
    }
    return true;
}

static void write_claim(FILE *file, const struct claim *claim, const struct finding *finding)
{
    fprintf(file, "### %s (%s): %s\n\n", claim->id, claim->place, verdict_words(finding->verdict));
    paragraph(file, "%s", claim->claim);
    write_finding(file, claim, finding);
}

bool report_claim(FILE *file, const struct claim *claim)
{
    struct finding finding;
    bool stands = find(claim, &finding);

    write_claim(file, claim, &finding);
    fputc('\n', file);
    fflush(file);
    return stands;
}

static void write_summary(FILE *file, const struct claims *claims)
{
    fputs("| Paper | claims | hold | with correction | false | text |\n|---|---|---|---|---|---|\n",
          file);
    for (unsigned p = 0; p < sizeof papers / sizeof papers[0]; p++) {
        unsigned counts[VERDICTS] = {0}, all = 0;
        for (unsigned i = 0; i < claims->count; i++) {
            if (strcmp(claims->claim[i].paper, papers[p].letter) == 0) {
                counts[claims->claim[i].verdict]++;
                all++;
            }
        }
        fprintf(file, "| %s | %u | %u | %u | %u | %u |\n", papers[p].name, all,
                counts[VERDICT_HOLDS], counts[VERDICT_CORRECTED], counts[VERDICT_FALSE],
                counts[VERDICT_TEXT]);
    }
}

bool report_write(const struct claims *claims, const char *path)
{
    FILE *file = fopen(path, "w");
    bool stand = true;

    if (!file) {
        fprintf(stderr, "papers: cannot write %s\n", path);
        return false;
    }
    fputs("# Claims of the papers, held against what is measured\n\n", file);
    paragraph(
        file,
        "Made by `make papers`; do not edit. Each claim of papers/claims.json stands here with "
        "what "
        "the print says of a case, for which cases it was looked at, and what came out. A claim "
        "\"holds\" if no case is against it, \"holds with correction\" if none is against the "
        "corrected statement, else it is \"false\"; \"text\" are misprints that say nothing to be "
        "measured. papers/README.md says what formulae mean.");
    fputc('\n', file);
    write_summary(file, claims);
    for (unsigned p = 0; p < sizeof papers / sizeof papers[0]; p++) {
        fprintf(file, "\n## %s: %s\n", papers[p].name, papers[p].title);
        for (unsigned i = 0; i < claims->count; i++) {
            struct finding finding;
            if (strcmp(claims->claim[i].paper, papers[p].letter) == 0) {
                stand = find(&claims->claim[i], &finding) && stand;
                fputc('\n', file);
                write_claim(file, &claims->claim[i], &finding);
            }
        }
    }
    return fclose(file) == 0 && stand;
}
