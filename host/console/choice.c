/*
 * choice.c - compares a word with names as they are offered, and remembers the nearest.
 *
 * Names come one by one because they lie in tables of many shapes. The distance is computed in full
 * (at most 40 by 40): a choice has a hundred names, and is made once.
 */
#include "host/console/choice.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 40, SHORT = 3, MIDDLE = 7 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static char small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool same(char a, char b)
{
    return small(a) == small(b);
}

/* How many letters must be put in, left out, changed or exchanged; of words up to WORD_MAX. */
static unsigned distance_of(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    unsigned cost[WORD_MAX + 1][WORD_MAX + 1];

    if (rows > WORD_MAX || columns > WORD_MAX) {
        return WORD_MAX;
    }
    for (unsigned i = 0; i <= rows; i++) {
        cost[i][0] = i;
    }
    for (unsigned j = 0; j <= columns; j++) {
        cost[0][j] = j;
    }
    for (unsigned i = 1; i <= rows; i++) {
        for (unsigned j = 1; j <= columns; j++) {
            cost[i][j] = least(least(cost[i - 1][j], cost[i][j - 1]) + 1,
                               cost[i - 1][j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
            }
        }
    }
    return cost[rows][columns];
}

static bool begins(const char *name, const char *word)
{
    size_t i = 0;

    while (word[i] && same(name[i], word[i])) {
        i++;
    }
    return word[i] == '\0' && i >= SHORT;
}

static void consider(struct choice *choice, const char *name)
{
    size_t length = strlen(choice->word);
    unsigned most = length < SHORT ? 0 : length == SHORT ? 1 : length <= MIDDLE ? 2 : 3;
    unsigned distance = begins(name, choice->word) ? 1 : distance_of(choice->word, name);

    if (distance <= most && (!choice->near || distance < choice->distance)) {
        choice->near = name;
        choice->distance = distance;
    }
}

static bool take(struct choice *choice, const char *before, const char *name, const char *behind)
{
    size_t room = sizeof choice->names - choice->used;
    int bytes = snprintf(choice->names + choice->used, room, "%s%s%s", before, name, behind);

    choice->used += (size_t)bytes < room ? (size_t)bytes : 0;
    choice->names[choice->used] = '\0';
    consider(choice, name);
    return strcmp(choice->word, name) == 0;
}

void choice_begin(struct choice *choice, const char *word)
{
    *choice = (struct choice){.word = word};
}

bool choice_offer(struct choice *choice, const char *name)
{
    return take(choice, choice->used > 0 ? ", " : "", name, "");
}

bool choice_offer_alias(struct choice *choice, const char *name)
{
    return take(choice, " (", name, ")");
}

int choice_refuse(const struct choice *choice, const char *what, struct message *message)
{
    return choice->near
               ? message_set(message, "%s '%.40s': did you mean %s?", what, choice->word,
                             choice->near)
               : message_set(message, "%s '%.40s': use %s", what, choice->word, choice->names);
}
