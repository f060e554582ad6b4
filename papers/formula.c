#include "papers/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 64, TEXT_MAX = 256, WORD_MAX = FORMULA_NAME_MAX, PARTS_MAX = 16 };

enum kind { NUMBER, NAME, TEXT, CALL, CHOICE, LET, OVER, OPERATOR };

enum over { SUM, PRODUCT, COUNT, ALL, ANY, LEAST, MOST, OVERS };

static const char *const over_names[OVERS] = {"sum", "product", "count", "all",
                                              "any", "least",   "most"};

/* Binary operators by how tightly they bind, the loosest first; of two characters before one. */
static const struct {
    const char *word;
    unsigned binds;
} operators[] = {{"or", 1}, {"and", 2}, {"==", 3}, {"!=", 3}, {"<=", 3}, {">=", 3},
                 {"<", 3},  {">", 3},   {"+", 4},  {"-", 4},  {"*", 5},  {"/", 5}};

enum operator_ {
    OR,
    AND,
    EQUAL,
    UNEQUAL,
    AT_MOST,
    AT_LEAST,
    BELOW,
    ABOVE,
    PLUS,
    MINUS,
    TIMES,
    OVER_BY,
    OPERATORS,
    POWER = OPERATORS,
    NEGATE,
    NOT
};

struct formula {
    enum kind kind;
    unsigned which; /* of enum over, of enum operator_; the place of a name */
    double number;
    char *text; /* pieces of a string that are no formulae, each ended by a zero */
    const struct formula_function *function;
    unsigned count;
    struct formula *part[PARTS_MAX];
};

struct parser {
    const char *begin, *at;
    struct formula_names *names;
    char *error;
};

/* Two measured times of whole nanoseconds may differ in their last digits as doubles. */
static bool same(double a, double b)
{
    return a == b || (isfinite(a - b) && fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b))));
}

static struct formula *parse_binary(struct parser *parser, unsigned binds);

static struct formula *fail(struct parser *parser, const char *what)
{
    if (!parser->error[0]) {
        snprintf(parser->error, FORMULA_ERROR_MAX, "%s at \"%.40s\"", what, parser->at);
    }
    return NULL;
}

static struct formula *make(enum kind kind)
{
    struct formula *made = calloc(1, sizeof *made);

    if (!made) {
        abort();
    }
    made->kind = kind;
    return made;
}

void formula_free(struct formula *formula)
{
    if (formula) {
        for (unsigned i = 0; i < formula->count; i++) {
            formula_free(formula->part[i]);
        }
        free(formula->text);
        free(formula);
    }
}

static void skip(struct parser *parser)
{
    while (isspace((unsigned char)*parser->at)) {
        parser->at++;
    }
}

/* Takes a sign or word if it comes next. */
static bool take(struct parser *parser, const char *word)
{
    size_t length = strlen(word);

    skip(parser);
    if (strncmp(parser->at, word, length) != 0 ||
        (isalpha((unsigned char)word[0]) &&
         (isalnum((unsigned char)parser->at[length]) || parser->at[length] == '_'))) {
        return false;
    }
    parser->at += length;
    return true;
}

static bool take_word(struct parser *parser, char word[WORD_MAX])
{
    unsigned length = 0;

    skip(parser);
    if (!isalpha((unsigned char)*parser->at)) {
        return false;
    }
    while ((isalnum((unsigned char)*parser->at) || *parser->at == '_') && length + 1 < WORD_MAX) {
        word[length++] = *parser->at++;
    }
    word[length] = '\0';
    return true;
}

unsigned formula_name(struct formula_names *names, const char *name)
{
    if (names->count == FORMULA_NAMES_MAX) {
        fprintf(stderr, "papers: more than %d names in a formula\n", FORMULA_NAMES_MAX);
        abort();
    }
    snprintf(names->name[names->count], FORMULA_NAME_MAX, "%s", name);
    names->value[names->count] = (struct formula_value){0};
    return names->count++;
}

/* The arguments of a call up to its closing bracket; false: they are wrong. */
static bool parse_arguments(struct parser *parser, struct formula *call, unsigned most)
{
    if (take(parser, ")")) {
        return true;
    }
    do {
        struct formula *part =
            call->count < most ? parse_binary(parser, 1) : fail(parser, "too many arguments");
        if (!part) {
            return false;
        }
        call->part[call->count++] = part;
    } while (take(parser, ","));
    if (!take(parser, ")")) {
        fail(parser, "',' or ')' should come");
        return false;
    }
    return true;
}

/* What binds a name: name, then as many formulae outside of it, then the one inside. */
static struct formula *parse_bound(struct parser *parser, struct formula *made, unsigned outside)
{
    char word[WORD_MAX];
    bool right = take_word(parser, word) && take(parser, ",");

    for (unsigned i = 0; right && i < outside; i++) {
        struct formula *part = parse_binary(parser, 1);
        right = part != NULL;
        if (part) {
            made->part[made->count++] = part;
        }
        right = right && take(parser, ",");
    }
    if (right) {
        made->which |= formula_name(parser->names, word) << 8;
        struct formula *inside = parse_binary(parser, 1);
        /* the place stays taken, the name does not */
        parser->names->name[made->which >> 8][0] = '\0';
        if (inside) {
            made->part[made->count++] = inside;
        }
        right = inside && take(parser, ")");
    }
    if (!right) {
        fail(parser, "a name, its range and a formula should come");
        formula_free(made);
        return NULL;
    }
    return made;
}

static struct formula *parse_call(struct parser *parser, const char *word)
{
    struct formula *made = make(CALL);

    for (unsigned i = 0; i < OVERS; i++) {
        if (strcmp(word, over_names[i]) == 0) {
            made->kind = OVER;
            made->which = i;
            return parse_bound(parser, made, 2);
        }
    }
    if (strcmp(word, "let") == 0) {
        made->kind = LET;
        return parse_bound(parser, made, 1);
    }
    if (strcmp(word, "if") == 0) {
        made->kind = CHOICE;
        if (parse_arguments(parser, made, 3) && made->count == 3) {
            return made;
        }
        fail(parser, "if takes three arguments");
    } else if ((made->function = formula_function(word)) == NULL) {
        fail(parser, "there is no such function before this");
    } else if (parse_arguments(parser, made, made->function->most)) {
        if (made->count >= made->function->least) {
            return made;
        }
        fail(parser, "too few arguments before this");
    }
    formula_free(made);
    return NULL;
}

/* A string: pieces of text and, between them, formulae in braces. */
static struct formula *parse_text(struct parser *parser)
{
    struct formula *made = make(TEXT);
    unsigned length = 0;

    made->text = calloc(1, strlen(parser->at) + 1);
    while (made->text && *parser->at && *parser->at != '\'') {
        if (*parser->at != '{') {
            made->text[length++] = *parser->at++;
            continue;
        }
        parser->at++;
        made->text[length++] = '\0';
        struct formula *part = made->count < PARTS_MAX ? parse_binary(parser, 1) : NULL;
        if (!part || !take(parser, "}")) {
            formula_free(part);
            fail(parser, "'}' should come");
            formula_free(made);
            return NULL;
        }
        made->part[made->count++] = part;
    }
    if (*parser->at != '\'') {
        fail(parser, "a string without its end");
        formula_free(made);
        return NULL;
    }
    parser->at++;
    return made;
}

static struct formula *parse_name(struct parser *parser, const char *word)
{
    for (unsigned i = parser->names->count; i-- > 0;) {
        if (strcmp(parser->names->name[i], word) == 0) {
            struct formula *made = make(NAME);
            made->which = i;
            return made;
        }
    }
    return fail(parser, "a name that nothing has bound before this");
}

static struct formula *parse_atom(struct parser *parser)
{
    char word[WORD_MAX], *end;

    skip(parser);
    if (take(parser, "(")) {
        struct formula *made = parse_binary(parser, 1);
        if (made && !take(parser, ")")) {
            formula_free(made);
            return fail(parser, "')' should come");
        }
        return made;
    }
    if (*parser->at == '\'') {
        parser->at++;
        return parse_text(parser);
    }
    if (isdigit((unsigned char)*parser->at)) {
        struct formula *made = make(NUMBER);
        made->number = strtod(parser->at, &end);
        parser->at = end;
        return made;
    }
    if (take_word(parser, word)) {
        return take(parser, "(") ? parse_call(parser, word) : parse_name(parser, word);
    }
    return fail(parser, "a number, a name or '(' should come");
}

static struct formula *join(unsigned operator_, struct formula *left, struct formula *right)
{
    struct formula *made = make(OPERATOR);

    made->which = operator_;
    made->part[made->count++] = left;
    if (right) {
        made->part[made->count++] = right;
    }
    return made;
}

/* Powers bind to the right, and tighter than a sign before them: -2^n is -(2^n). */
static struct formula *parse_unary(struct parser *parser)
{
    bool negated = take(parser, "-"), inverted = !negated && take(parser, "not");
    struct formula *made = negated || inverted ? parse_unary(parser) : parse_atom(parser);

    if (made && (negated || inverted)) {
        return join(negated ? NEGATE : NOT, made, NULL);
    }
    if (made && take(parser, "^")) {
        struct formula *power = parse_unary(parser);
        if (!power) {
            formula_free(made);
            return NULL;
        }
        return join(POWER, made, power);
    }
    return made;
}

static struct formula *parse_binary(struct parser *parser, unsigned binds)
{
    struct formula *left = binds > 5 ? parse_unary(parser) : parse_binary(parser, binds + 1);

    for (bool found = binds <= 5; left && found;) {
        found = false;
        for (unsigned i = 0; i < OPERATORS && !found && left; i++) {
            if (operators[i].binds == binds && take(parser, operators[i].word)) {
                struct formula *right = parse_binary(parser, binds + 1);
                found = true;
                if (!right) {
                    formula_free(left);
                    return NULL;
                }
                left = join(i, left, right);
            }
        }
    }
    return left;
}

struct formula *formula_parse(const char *text, struct formula_names *names,
                              char error[FORMULA_ERROR_MAX])
{
    struct parser parser = {text, text, names, error};
    struct formula *made;

    error[0] = '\0';
    made = parse_binary(&parser, 1);
    skip(&parser);
    if (made && *parser.at) {
        formula_free(made);
        return fail(&parser, "the formula should end");
    }
    return made;
}

static double over(const struct formula *formula, struct formula_names *names)
{
    struct formula_value *bound = &names->value[formula->which >> 8];
    double from = formula_number(formula->part[0], names);
    double to = formula_number(formula->part[1], names);
    enum over which = formula->which & 0xff;
    double value = which == PRODUCT || which == ALL ? 1
                   : which == LEAST                 ? INFINITY
                   : which == MOST                  ? -INFINITY
                                                    : 0;

    for (double x = from; x <= to; x++) {
        *bound = (struct formula_value){.number = x};
        double one = formula_number(formula->part[2], names);
        switch (which) {
        case SUM: value += one; break;
        case PRODUCT: value *= one; break;
        case COUNT: value += one != 0; break;
        case LEAST: value = fmin(value, one); break;
        case MOST: value = fmax(value, one); break;
        case ALL:
            if (one == 0) {
                return 0;
            }
            break;
        default:
            if (one != 0) {
                return 1;
            }
            break;
        }
    }
    return value;
}

static double operate(const struct formula *formula, struct formula_names *names)
{
    struct formula_value left = formula_value(formula->part[0], names), right;
    double a = left.number, b;

    switch (formula->which) {
    case NEGATE: return -a;
    case NOT: return a == 0;
    case AND: return a != 0 && formula_number(formula->part[1], names) != 0;
    case OR: return a != 0 || formula_number(formula->part[1], names) != 0;
    default: break;
    }
    right = formula_value(formula->part[1], names);
    b = right.number;
    if (left.text && right.text) {
        return (strcmp(left.text, right.text) == 0) == (formula->which == EQUAL);
    }
    switch (formula->which) {
    case EQUAL: return same(a, b);
    case UNEQUAL: return !same(a, b);
    case AT_MOST: return a < b || same(a, b);
    case AT_LEAST: return a > b || same(a, b);
    case BELOW: return a < b && !same(a, b);
    case ABOVE: return a > b && !same(a, b);
    case PLUS: return a + b;
    case MINUS: return a - b;
    case TIMES: return a * b;
    case OVER_BY: return a / b;
    default: return pow(a, b);
    }
}

static struct formula_value text_of(const struct formula *formula, struct formula_names *names)
{
    static char texts[TEXTS][TEXT_MAX];
    static unsigned next;
    char made[TEXT_MAX] = "";
    const char *piece = formula->text;
    size_t length = 0;

    for (unsigned i = 0; i <= formula->count && length < sizeof made; i++) {
        length += (size_t)snprintf(made + length, sizeof made - length, "%s", piece);
        piece += strlen(piece) + 1;
        if (i < formula->count && length < sizeof made) {
            struct formula_value value = formula_value(formula->part[i], names);
            length += (size_t)(value.text
                                   ? snprintf(made + length, sizeof made - length, "%s", value.text)
                                   : snprintf(made + length, sizeof made - length, "%.12g",
                                              value.number));
        }
    }
    char *text = texts[next++ % TEXTS];
    memcpy(text, made, sizeof made);
    return (struct formula_value){.text = text};
}

struct formula_value formula_value(const struct formula *formula, struct formula_names *names)
{
    struct formula_value arguments[FORMULA_ARGS];

    switch (formula->kind) {
    case NUMBER: return (struct formula_value){.number = formula->number};
    case NAME: return names->value[formula->which];
    case TEXT:
        return formula->count ? text_of(formula, names)
                              : (struct formula_value){.text = formula->text};
    case CHOICE:
        return formula_value(formula->part[formula_number(formula->part[0], names) != 0 ? 1 : 2],
                             names);
    case LET:
        names->value[formula->which >> 8] = formula_value(formula->part[0], names);
        return formula_value(formula->part[1], names);
    case OVER: return (struct formula_value){.number = over(formula, names)};
    case OPERATOR: return (struct formula_value){.number = operate(formula, names)};
    default: break;
    }
    for (unsigned i = 0; i < formula->count; i++) {
        arguments[i] = formula_value(formula->part[i], names);
    }
    return (struct formula_value){.number = formula->function->call(arguments, formula->count)};
}

double formula_number(const struct formula *formula, struct formula_names *names)
{
    return formula_value(formula, names).number;
}
