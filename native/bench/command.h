/* One command of the driver: `verb key=value key=value ...`, values without spaces. Pure: no MPI in here. */
#ifndef UNISONO_COMMAND_H
#define UNISONO_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problem.h"

enum { COMMAND_PAIRS = 128, COMMAND_VERB_BYTES = 32 };

struct pair {
    const char *key;
    const char *value;
    bool used;
};

struct command {
    char verb[COMMAND_VERB_BYTES];
    struct pair pairs[COMMAND_PAIRS];
    int count;
    char *storage;
};

/* Splits a line. False with a sentence when it is not a command; the verb is then "" or what could be read of it.
   In either case command_free() afterwards. */
bool command_parse(struct command *command, const char *line, struct problem *problem);
void command_free(struct command *command);

/* The value of a key, or NULL. Keys asked for count as known. */
const char *command_text(struct command *command, const char *key);

/* A whole number within low..high; required when the key is absent and no fallback is given. */
bool command_integer(struct command *command, const char *key, int64_t low, int64_t high, const int64_t *fallback,
                     int64_t *result, struct problem *problem);

/* Comma-separated distinct whole numbers 0..high; at least one. */
bool command_numbers(struct command *command, const char *key, int high, int *numbers, int room, int *count,
                     struct problem *problem);

/* The next pair whose key starts with `prefix` from *position on, or NULL. */
const struct pair *command_next(struct command *command, const char *prefix, int *position);

/* False, naming the key, when a pair was never asked for: a misspelled word must not pass in silence. */
bool command_complete(const struct command *command, struct problem *problem);

/* The first whole number 0..high of a list with commas: how long it is, and its value, -1 where it is none. */
size_t parse_first(const char *list, int64_t high, int64_t *value);

/* A whole number in decimal, nothing before or after it. */
bool parse_integer(const char *text, int64_t *result);

#endif
