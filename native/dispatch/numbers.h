/* Numbers of which the ranks of a group take one that is free on each of them, where a rank is in several groups. */
#ifndef UNISONO_NUMBERS_H
#define UNISONO_NUMBERS_H

#include <stdint.h>

/* Those that this rank has taken. */
struct numbers {
    uint64_t *taken; /* a bit for each */
    int words;
    int first_free, end; /* all below are taken; none from there on */
};

enum { NUMBERS_WORDS = 16, NUMBERS_SEEN = 64 * NUMBERS_WORDS };

/* Where ranks differ in their first_free, they look on from the greatest of these: which of the NUMBERS_SEEN from there on this rank has
 * taken, a bit for each. */
void numbers_show(const struct numbers *numbers, int from, uint64_t shown[NUMBERS_WORDS]);
/* The first that is free according to what all ranks have shown, ored; `end`, the greatest of all ranks', where none is. */
int numbers_common(int from, const uint64_t shown[NUMBERS_WORDS], int end);

void numbers_take(struct numbers *numbers, int number);
void numbers_give(struct numbers *numbers, int number);
void numbers_end(struct numbers *numbers);

#endif
