#include "cvars.h"

#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "number.h"
#include "threads.h"

bool cvars_open(void)
{
    int started = 0, provided;
    /* Open MPI 5 takes what is asked for here for the whole process: with less than the program has, it locks no more. */
    const bool known = PMPI_Initialized(&started) == MPI_SUCCESS && started;
    return PMPI_T_init_thread(known ? threads_level() : MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
}

void cvars_close(void)
{
    PMPI_T_finalize();
}

static bool from_boolean(const char *text, int64_t *value)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (int i = 0; i < 6; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *value = i % 2;
            return true;
        }
    }
    return false;
}

static bool from_name(MPI_T_enum names, const char *text, int64_t *value)
{
    char name[256];
    int length = sizeof name;
    int items;
    if (names == MPI_T_ENUM_NULL || PMPI_T_enum_get_info(names, &items, name, &length) != MPI_SUCCESS)
        return false;
    for (int i = 0; i < items; i++) {
        int number;
        length = sizeof name;
        if (PMPI_T_enum_get_item(names, i, &number, name, &length) == MPI_SUCCESS && strcmp(name, text) == 0) {
            *value = number;
            return true;
        }
    }
    return false;
}

static bool from_number(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = text[0] == '-' ? strtoll(text, &end, 0) : (int64_t)strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0';
}

/* The bytes MPI_T wants for a value. Integers of any width are written into eight zeroed or sign-extended bytes: their
   low end comes first on every processor this runs on, and libraries disagree about how wide a bool is. */
static bool encode(MPI_Datatype type, MPI_T_enum names, const char *text, char *bytes, struct problem *problem)
{
    memset(bytes, 0, CVAR_TEXT);
    if (type == MPI_CHAR) {
        if (strlen(text) >= CVAR_TEXT)
            return problem_set(problem, "the value is too long");
        strcpy(bytes, text);
        return true;
    }
    if (type == MPI_DOUBLE) {
        double number = 0;
        bool good = number_read(text, &number);
        memcpy(bytes, &number, sizeof number);
        return good || problem_set(problem, "'%.40s' is not a number", text);
    }
    int64_t value;
    if (!from_number(text, &value) && !from_name(names, text, &value) && !from_boolean(text, &value))
        return problem_set(problem, "'%.40s' is not one of its values", text);
    memcpy(bytes, &value, sizeof value);
    return true;
}

static bool explain(int error, const char *name, struct problem *problem)
{
    switch (error) {
    case MPI_SUCCESS: return true;
    case MPI_T_ERR_CVAR_SET_NEVER: return problem_set(problem, "%.100s cannot be written after start-up", name);
    case MPI_T_ERR_CVAR_SET_NOT_NOW: return problem_set(problem, "%.100s cannot be written now", name);
    default: return problem_set(problem, "%.100s cannot be written (MPI_T error %d)", name, error);
    }
}

static int access_cvar(int index, char *bytes, bool write)
{
    MPI_T_cvar_handle handle;
    int count;
    int error = PMPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    if (error != MPI_SUCCESS)
        return error;
    error = write ? PMPI_T_cvar_write(handle, bytes) : PMPI_T_cvar_read(handle, bytes);
    PMPI_T_cvar_handle_free(&handle);
    return error;
}

bool cvars_known(const char *name)
{
    int index;
    return PMPI_T_cvar_get_index(name, &index) == MPI_SUCCESS;
}

bool cvars_write(struct cvars *cvars, const char *name, const char *value, struct problem *problem)
{
    char ignored[256], bytes[CVAR_TEXT];
    int name_length = sizeof ignored, index, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum names;
    if (PMPI_T_cvar_get_index(name, &index) != MPI_SUCCESS)
        return problem_set(problem, "this MPI library has no variable %.100s", name);
    if (PMPI_T_cvar_get_info(index, ignored, &name_length, &verbosity, &type, &names, NULL, NULL, &bind, &scope) !=
        MPI_SUCCESS)
        return problem_set(problem, "%.100s cannot be described by the MPI library", name);
    if (bind != MPI_T_BIND_NO_OBJECT)
        return problem_set(problem, "%.100s belongs to an object, not to the library", name);
    if (cvars->count == CVARS_MAX)
        return problem_set(problem, "more than %d variables at once", CVARS_MAX);
    struct problem detail = {""};
    if (!encode(type, names, value, bytes, &detail))
        return problem_set(problem, "%.100s: %.120s", name, detail.text);
    struct cvar *change = &cvars->changed[cvars->count];
    change->index = index;
    memset(change->before, 0, sizeof change->before);
    if (!explain(access_cvar(index, change->before, false), name, problem))
        return false;
    if (memcmp(change->before, bytes, CVAR_TEXT) == 0)
        return true;
    if (scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY)
        return explain(MPI_T_ERR_CVAR_SET_NEVER, name, problem);
    if (!explain(access_cvar(index, bytes, true), name, problem))
        return false;
    cvars->count++;
    return true;
}

bool cvars_holds(const char *name, const char *value, struct problem *problem)
{
    char ignored[256], wanted[CVAR_TEXT], found[CVAR_TEXT] = "";
    int name_length = sizeof ignored, index, verbosity, bind, scope, size;
    MPI_Datatype type;
    MPI_T_enum names;
    if (PMPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        PMPI_T_cvar_get_info(index, ignored, &name_length, &verbosity, &type, &names, NULL, NULL, &bind, &scope) !=
            MPI_SUCCESS ||
        !encode(type, names, value, wanted, problem))
        return problem_set(problem, "%.100s cannot be read back", name);
    if (!explain(access_cvar(index, found, false), name, problem))
        return false;
    PMPI_Type_size(type, &size);
    if (type == MPI_CHAR ? strcmp(wanted, found) == 0 : memcmp(wanted, found, (size_t)size) == 0)
        return true;
    return problem_set(problem, "%.100s does not keep the value %.40s", name, value);
}

bool cvars_restore(struct cvars *cvars, struct problem *problem)
{
    while (cvars->count > 0) {
        struct cvar *change = &cvars->changed[--cvars->count];
        int error = access_cvar(change->index, change->before, true);
        if (error != MPI_SUCCESS)
            problem_set(problem, "a variable could not be put back (MPI_T error %d)", error);
    }
    return !problem_any(problem);
}
