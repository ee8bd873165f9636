#include "ours.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../include/unisono.h"
#include "grid.h"

enum { NAME_BYTES = 32, WORD_BYTES = 96 };

/* The next "COLLECTIVE:IMPLEMENTATION" of `words`; false at the end. A bad one has an empty word. */
static bool next_word(const char **words, char collective[NAME_BYTES], char word[WORD_BYTES])
{
    size_t length = strcspn(*words, ","), colon = strcspn(*words, ":");
    collective[0] = word[0] = '\0';
    if (length == 0)
        return false;
    if (colon < length && colon < NAME_BYTES && length - colon - 1 < WORD_BYTES) {
        snprintf(collective, NAME_BYTES, "%.*s", (int)colon, *words);
        snprintf(word, WORD_BYTES, "%.*s", (int)(length - colon - 1), *words + colon + 1);
    }
    *words += length + ((*words)[length] == ',');
    return true;
}

static void *symbol(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

bool ours_use(MPI_Comm comm, const char *words, struct problem *problem)
{
    char collective[NAME_BYTES], word[WORD_BYTES];
    int (*use)(MPI_Comm, const char *, const char *);
    *(void **)&use = symbol("unisono_use");
    if (use == NULL)
        return problem_set(problem, "use: libunisono.so is not preloaded");
    while (next_word(&words, collective, word)) {
        if (word[0] == '\0')
            return problem_set(problem, "use: write COLLECTIVE:IMPLEMENTATION");
        if (use(grid_is_for(collective) ? grid_of(comm) : comm, collective, word) != 0)
            return problem_set(problem, "use: %s cannot serve %s on these ranks", word, collective);
    }
    return true;
}

bool ours_apply(MPI_Comm comm, const char *words, const char *collective, int64_t bytes, struct problem *problem)
{
    char named[NAME_BYTES], word[WORD_BYTES];
    int (*applies)(MPI_Comm, const char *, long long, int);
    *(void **)&applies = symbol("unisono_applies");
    while (next_word(&words, named, word))
        if (strcmp(named, collective) == 0 && strcmp(word, "mpi") != 0 &&
            !applies(grid_is_for(collective) ? grid_of(comm) : comm, collective, bytes, bytes % 4 == 0 ? 4 : 1))
            return problem_set(problem, "use: %s does not apply to this size", word);
    return true;
}

void ours_rest(bool rests)
{
    static void (*rest)(int);
    static bool looked;
    if (!looked)
        *(void **)&rest = symbol("unisono_rest");
    looked = true;
    if (rest != NULL)
        rest(rests);
}

static void add_text(struct text *answer, const char *key, const char *value)
{
    text_add(answer, ",\"%s\":", key);
    text_quote(answer, value);
}

void ours_list(int rank, struct text *answer)
{
    struct unisono_algorithm one;
    int (*algorithm)(MPI_Comm, int, struct unisono_algorithm *);
    *(void **)&algorithm = symbol("unisono_algorithm");
    for (int i = 0; algorithm != NULL && algorithm(MPI_COMM_WORLD, i, &one) == 0; i++) {
        if (!one.applies || rank != 0)
            continue;
        text_add(answer, "{\"algorithm\":");
        text_quote(answer, one.name);
        add_text(answer, "coll", one.collective);
        text_add(answer, ",\"segment\":%lld", one.segment);
        add_text(answer, "meaning", one.meaning);
        add_text(answer, "reference", one.reference);
        text_add(answer, "}");
        text_send(answer);
    }
}
