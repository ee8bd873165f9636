#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

bool parse_integer(const char *text, int64_t *result)
{
    const char *digits = text + (*text == '-');
    if (*digits < '0' || *digits > '9')
        return false;
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *result = value;
    return true;
}

static bool read_verb(struct command *command, const char *word, struct problem *problem)
{
    size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
    if (length == 0 || word[length] != '\0' || length >= sizeof command->verb)
        return problem_set(problem, "'%.40s' is not a command", word);
    memcpy(command->verb, word, length + 1);
    return true;
}

static bool read_pair(struct command *command, char *word, struct problem *problem)
{
    char *equals = strchr(word, '=');
    if (equals == NULL || equals == word)
        return problem_set(problem, "'%.40s' is not key=value", word);
    *equals = '\0';
    for (int i = 0; i < command->count; i++)
        if (strcmp(command->pairs[i].key, word) == 0)
            return problem_set(problem, "%.40s is given twice", word);
    if (command->count == COMMAND_PAIRS)
        return problem_set(problem, "more than %d keys in one command", COMMAND_PAIRS);
    command->pairs[command->count++] = (struct pair){.key = word, .value = equals + 1};
    return true;
}

bool command_parse(struct command *command, const char *line, struct problem *problem)
{
    *command = (struct command){0};
    command->storage = strdup(line);
    if (command->storage == NULL)
        return problem_set(problem, "out of memory");
    char *rest;
    char *word = strtok_r(command->storage, blanks, &rest);
    if (word == NULL)
        return problem_set(problem, "an empty line is not a command");
    if (!read_verb(command, word, problem))
        return false;
    while ((word = strtok_r(NULL, blanks, &rest)) != NULL)
        if (!read_pair(command, word, problem))
            return false;
    return true;
}

void command_free(struct command *command)
{
    free(command->storage);
    command->storage = NULL;
    command->count = 0;
}

const char *command_text(struct command *command, const char *key)
{
    for (int i = 0; i < command->count; i++) {
        if (strcmp(command->pairs[i].key, key) == 0) {
            command->pairs[i].used = true;
            return command->pairs[i].value;
        }
    }
    return NULL;
}

bool command_integer(struct command *command, const char *key, int64_t low, int64_t high, const int64_t *fallback,
                     int64_t *result, struct problem *problem)
{
    const char *text = command_text(command, key);
    if (text == NULL && fallback == NULL)
        return problem_set(problem, "%s is missing", key);
    if (text == NULL) {
        *result = *fallback;
        return true;
    }
    if (!parse_integer(text, result) || *result < low || *result > high)
        return problem_set(problem, "%s=%.40s is not a whole number from %" PRId64 " to %" PRId64, key, text, low,
                           high);
    return true;
}

size_t parse_first(const char *list, int64_t high, int64_t *value)
{
    char digits[24];
    size_t length = strcspn(list, ",");
    *value = -1;
    if (length >= sizeof digits)
        return length;
    memcpy(digits, list, length);
    digits[length] = '\0';
    if (!parse_integer(digits, value) || *value < 0 || *value > high)
        *value = -1;
    return length;
}

bool command_numbers(struct command *command, const char *key, int high, int *numbers, int room, int *count,
                     struct problem *problem)
{
    const char *text = command_text(command, key);
    if (text == NULL)
        return problem_set(problem, "%s is missing", key);
    *count = 0;
    while (true) {
        int64_t value;
        size_t length = parse_first(text, high, &value);
        if (value < 0)
            return problem_set(problem, "%s: '%.*s' is not a whole number from 0 to %d", key,
                               (int)(length < 40 ? length : 40), text, high);
        for (int i = 0; i < *count; i++)
            if (numbers[i] == value)
                return problem_set(problem, "%s: %d is given twice", key, (int)value);
        if (*count == room)
            return problem_set(problem, "%s: more than %d numbers", key, room);
        numbers[(*count)++] = (int)value;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

const struct pair *command_next(struct command *command, const char *prefix, int *position)
{
    while (*position < command->count) {
        struct pair *pair = &command->pairs[(*position)++];
        if (strncmp(pair->key, prefix, strlen(prefix)) == 0) {
            pair->used = true;
            return pair;
        }
    }
    return NULL;
}

bool command_complete(const struct command *command, struct problem *problem)
{
    for (int i = 0; i < command->count; i++)
        if (!command->pairs[i].used)
            return problem_set(problem, "%s: unknown key '%.40s'", command->verb, command->pairs[i].key);
    return true;
}
