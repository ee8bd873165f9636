#include "libnbc.h"

#include <stdio.h>
#include <string.h>

#include "comm_state.h"
#include "cvars.h"
#include "dispatch.h"
#include "job.h"

enum { NAME_BYTES = 64, LABEL_BYTES = 256 };

/* The variable of a collective. */
struct variable {
    bool is_open;
    MPI_T_cvar_handle handle;
    MPI_T_enum names;
};

bool dispatch_held;

static struct variable variables[COLLECTIVES];
static bool is_open;
static bool wanted[COLLECTIVES];           /* by nonblocking form */
static const struct variable *held;        /* while a call begins */
static int before;                         /* what it held */
static const struct implementation *given; /* to the persistent one that was made last */
static int64_t given_bytes;

/* The number of an algorithm; 0: there is none of this name. */
static int number_of(MPI_T_enum names, const char *wanted)
{
    char label[LABEL_BYTES];
    int length = sizeof label, items = 0, number;
    if (names == MPI_T_ENUM_NULL || PMPI_T_enum_get_info(names, &items, label, &length) != MPI_SUCCESS)
        return 0;
    for (int i = 0; i < items; i++) {
        length = sizeof label;
        if (PMPI_T_enum_get_item(names, i, &number, label, &length) == MPI_SUCCESS && strcmp(label, wanted) == 0)
            return number;
    }
    return 0;
}

static bool open_variable(struct variable *variable, enum collective collective)
{
    char name[NAME_BYTES], ignored[LABEL_BYTES];
    int index, verbosity, bind, scope, length = sizeof ignored, count = 0;
    MPI_Datatype type;
    if (variable->is_open)
        return true;
    snprintf(name, sizeof name, "coll_libnbc_%s_algorithm", collective_names[collective]);
    variable->is_open = PMPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
                        PMPI_T_cvar_get_info(index, ignored, &length, &verbosity, &type, &variable->names, NULL, NULL,
                                             &bind, &scope) == MPI_SUCCESS &&
                        type == MPI_INT && bind == MPI_T_BIND_NO_OBJECT &&
                        PMPI_T_cvar_handle_alloc(index, NULL, &variable->handle, &count) == MPI_SUCCESS && count == 1;
    return variable->is_open;
}

/* Whether it can be written: it is, and put back. */
static bool can_hold(const struct variable *variable, int number)
{
    int now = 0, then = 0;
    return PMPI_T_cvar_read(variable->handle, &now) == MPI_SUCCESS &&
           PMPI_T_cvar_write(variable->handle, &number) == MPI_SUCCESS &&
           PMPI_T_cvar_read(variable->handle, &then) == MPI_SUCCESS &&
           PMPI_T_cvar_write(variable->handle, &now) == MPI_SUCCESS && then == number;
}

static int find(const struct implementation *one)
{
    const enum collective started = collective_started(one->collective);
    struct variable *variable = &variables[started];
    if (!is_open || !open_variable(variable, started))
        return 0;
    int number = number_of(variable->names, one->name);
    return number > 0 && can_hold(variable, number) ? number : 0;
}

bool libnbc_start(void)
{
    int mine[IMPLEMENTATIONS_MOST], least[IMPLEMENTATIONS_MOST], count = 0;
    struct implementation *one;
    bool any = false, any_works = false;
    for (; count < IMPLEMENTATIONS_MOST && (one = implementation_at(count)) != NULL; count++)
        any = any || one->kind == BY_LIBNBC;
    if (!any || job.multiple)
        return false;
    is_open = cvars_open();
    for (int i = 0; i < count; i++) {
        one = implementation_at(i);
        mine[i] = one->kind == BY_LIBNBC ? find(one) : 0;
    }
    if (PMPI_Allreduce(mine, least, count, MPI_INT, MPI_MIN, MPI_COMM_WORLD) != MPI_SUCCESS)
        return false;
    for (int i = 0; i < count; i++) {
        one = implementation_at(i);
        one->number = least[i];
        if (one->number > 0)
            any_works = wanted[collective_started(one->collective)] = true;
    }
    return any_works;
}

void libnbc_end(void)
{
    for (int i = 0; i < COLLECTIVES; i++)
        if (variables[i].is_open)
            PMPI_T_cvar_handle_free(&variables[i].handle);
    memset(variables, 0, sizeof variables);
    memset(wanted, 0, sizeof wanted);
    if (is_open)
        cvars_close();
    is_open = false;
}

/* Of any communicator, whether ours serve on it or not. NULL: between groups, of one rank, or nobody knows where its ranks are. */
static const struct comm_state *placed(MPI_Comm comm)
{
    struct comm_state *state = comm_state_any(comm);
    if (state == NULL || state->is_nowhere)
        return NULL;
    state->is_nowhere = !comm_state_find_place(state);
    return state->is_nowhere ? NULL : state;
}

/* A rule of the collective as it is named, or where there is none of the nonblocking form. */
static const struct rule *rule_of(const struct rules *rules, const struct comm_state *state, enum collective collective,
                                  int64_t bytes)
{
    const struct rule *rule = choice_rule(rules, collective, &state->place, bytes);
    return rule != NULL ? rule : choice_rule(rules, collective_started(collective), &state->place, bytes);
}

static const struct implementation *chosen_for(const struct comm_state *state, enum collective collective,
                                               int64_t bytes)
{
    const struct rule *rule = rule_of(&job.forced, state, collective, bytes);
    if (rule == NULL && job.is_on)
        rule = rule_of(&job.rules, state, collective, bytes);
    for (int i = 0; rule != NULL && i < rule->count; i++) {
        const struct implementation *one = rule->implementation[i];
        if (one->kind == BY_MPI)
            return NULL;
        if (one->kind == BY_LIBNBC && one->number > 0)
            return one;
    }
    return NULL;
}

/* Some of its algorithms combine in another order than that of the ranks, whatever the operation is: in Open MPI 5.0.11 ring and
   rabenseifner of allreduce, chain and rabenseifner of reduce. */
static bool may_reorder(MPI_Op op)
{
    int commutes = 0;
    return op != MPI_OP_NULL && PMPI_Op_commutative(op, &commutes) == MPI_SUCCESS && commutes;
}

bool libnbc_wants(enum collective collective)
{
    return wanted[collective_started(collective)];
}

const struct implementation *libnbc_hold(MPI_Comm comm, enum collective collective, int64_t bytes, MPI_Op op)
{
    /* Nobody knows in which order it sums. Of no bytes, Open MPI 5.0.11's chain of bcast divides by the size of the type. */
    if (!libnbc_wants(collective) || bytes <= 0 ||
        (collective_reduces(collective) && job.reproducible != REPRODUCIBLE_NOT))
        return NULL;
    const struct comm_state *state = placed(comm);
    const struct implementation *one = state != NULL ? chosen_for(state, collective, bytes) : NULL;
    if (one == NULL || (collective_reduces(collective) && !may_reorder(op)))
        return NULL;
    const struct variable *variable = &variables[collective_started(collective)];
    int number = one->number;
    if (PMPI_T_cvar_read(variable->handle, &before) != MPI_SUCCESS ||
        PMPI_T_cvar_write(variable->handle, &number) != MPI_SUCCESS)
        return NULL;
    held = variable;
    dispatch_held = true;
    return one;
}

/* Between groups a root may be less than 0, and nothing else need be significant. */
void dispatch_before_init(enum collective collective, int root, MPI_Count count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    MPI_Count size = 0;
    given = NULL;
    if (!libnbc_wants(collective) || root < 0 || count < 0 || PMPI_Type_size_x(type, &size) != MPI_SUCCESS)
        return;
    given_bytes = count * size;
    given = libnbc_hold(comm, collective_init(collective), given_bytes, op);
}

const struct implementation *libnbc_of_made(enum collective collective, int64_t *bytes)
{
    if (given == NULL || collective_started(given->collective) != collective_started(collective))
        return NULL;
    *bytes = given_bytes;
    return given;
}

void dispatch_release(void)
{
    PMPI_T_cvar_write(held->handle, &before);
    held = NULL;
    dispatch_held = false;
}
