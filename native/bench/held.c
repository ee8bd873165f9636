#include "held.h"

#include <stdio.h>
#include <string.h>

#include "cvars.h"

static struct cvars held;
static char error_text[MPI_MAX_ERROR_STRING];

bool held_begin(const char *words, struct problem *problem)
{
    char pair[256];
    held.count = 0;
    while (words != NULL && *words != '\0') {
        size_t length = strcspn(words, " ");
        if (length >= sizeof pair)
            return problem_set(problem, "not applied: a variable and its value are too long");
        snprintf(pair, sizeof pair, "%.*s", (int)length, words);
        words += length + (words[length] == ' ');
        char *value = strchr(pair, '=');
        if (value == NULL)
            return problem_set(problem, "not applied: %.100s is no NAME=VALUE", pair);
        *value++ = '\0';
        struct problem detail = {""};
        if (!cvars_write(&held, pair, value, &detail) || !cvars_holds(pair, value, &detail))
            return problem_set(problem, "not applied: %.200s", detail.text);
    }
    return true;
}

bool held_end(struct problem *problem)
{
    return cvars_restore(&held, problem);
}

static void keep(MPI_Comm *comm, int *code, ...)
{
    int length;
    (void)comm;
    if (error_text[0] == '\0' && MPI_Error_string(*code, error_text, &length) != MPI_SUCCESS)
        snprintf(error_text, sizeof error_text, "MPI error %d", *code);
}

void held_watch(MPI_Comm comm)
{
    static MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (handler == MPI_ERRHANDLER_NULL)
        MPI_Comm_create_errhandler(keep, &handler);
    MPI_Comm_set_errhandler(comm, handler);
}

/* MPICH's text names the functions the call went through, one a line as "NAME(123)....: WHY", and only the last says why;
   a text that had no room for that line says in the first what failed. */
static const char *reason_in(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    char *last = strrchr(text, '\n');
    const char *why = strstr(last != NULL ? last : text, ": ");
    if (last != NULL && why != NULL && why[2] != '\0')
        return why + 2;
    text[strcspn(text, "\n")] = '\0';
    return text;
}

bool held_failed(struct problem *problem)
{
    if (error_text[0] == '\0')
        return false;
    problem_set(problem, "%.200s", reason_in(error_text));
    error_text[0] = '\0';
    return true;
}
