#include "serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "job.h"
#include "ordered.h"
#include "reduction.h"
#include "reserve.h"
#include "verbose.h"

/* Of Open MPI's coll/tuned some algorithms combine in another order than that of the ranks, whatever the operation is, when they are told to
 * serve; these do not (5.0.11). */
static bool keeps_order(const struct implementation *one)
{
    static const struct {
        enum collective collective;
        const char *names;
    } keeping[] = {{COLL_REDUCE, " linear in-order_binary "},
                   {COLL_ALLREDUCE, " basic_linear nonoverlapping recursive_doubling "},
                   {COLL_REDUCE_SCATTER, " non-overlapping "},
                   {COLL_REDUCE_SCATTER_BLOCK, " basic_linear recursive_doubling "},
                   {COLL_SCAN, " linear recursive_doubling "},
                   {COLL_EXSCAN, " linear recursive_doubling "}};
    char name[WORD_BYTES + 2];
    snprintf(name, sizeof name, " %s ", one->name);
    for (size_t i = 0; i < sizeof keeping / sizeof *keeping; i++)
        if (keeping[i].collective == one->collective && strstr(keeping[i].names, name) != NULL)
            return true;
    return false;
}

/* What may not serve. Because sums are to be reproducible (ordered.h): of the MPI library we do not know the order, and of the
 * component adapt that it combines what comes first. Because an operation of the program wants the ranks' order. */
static bool is_refused(const struct implementation *one, const struct shape *shape)
{
    if (!shape->commutative && one->kind == BY_TUNED && !keeps_order(one))
        return true;
    return one->kind != BY_OURS &&
           (shape->ordered || (job.reproducible != REPRODUCIBLE_NOT && one->kind == BY_COMPONENT &&
                               shape->element > 0 && strcmp(one->name, "adapt") == 0));
}

/* The first of the range that applies; a copy's communicator in *copy. */
static const struct implementation *first(struct comm_state *state, const struct range *range,
                                          const struct shape *shape, bool possible, MPI_Comm *copy)
{
    for (int i = 0; i < range->count; i++) {
        const struct implementation *one = range->implementation[i];
        if (one->kind == BY_MPI)
            return one;
        if (is_refused(one, shape))
            continue;
        if (state->ours == NULL && !comm_state_equip(state))
            return NULL;
        if (one->kind == BY_OURS) {
            if (possible && algorithm_applies(one->algorithm, state->ours, shape))
                return one;
        } else {
            MPI_Comm other = comm_state_duplicate(state, one);
            if (other != MPI_COMM_NULL) {
                *copy = other;
                return one;
            }
        }
    }
    return NULL;
}

const struct implementation *serve_would(struct comm_state *state, enum collective collective,
                                         const struct shape *shape)
{
    const struct range *range = comm_state_range(state, collective, shape->bytes);
    MPI_Comm copy;
    return range != NULL ? first(state, range, shape, true, &copy) : NULL;
}

/* Calls come in rows of the same kind, and what serves them depends on nothing else. Field by field: a struct that was put together
 * just before would be waited for. */
static inline bool is_last(const struct comm_state *state, const struct call *call)
{
    const struct shape *last = &state->last[call->collective].shape;
    if (state->last[call->collective].implementation == NULL || last->bytes != call->bytes || last->root != call->root)
        return false;
    return !collective_reduces(call->collective) ||
           (last->element == call->reduction.element && last->commutative == call->reduction.commutative);
}

static bool together(struct comm_state *state, int64_t mine, MPI_Datatype type, MPI_Op op, int64_t *all)
{
    MPI_Request request;
    int64_t *values = reserve_get(2 * sizeof *values);
    values[0] = mine;
    if (PMPI_Iallreduce(&values[0], &values[1], 1, type, op, state->ours->comm, &request) != MPI_SUCCESS ||
        fabric_await(&state->ours->fabric, &request) != MPI_SUCCESS)
        return false; /* what a reduction without an end may still write to is not freed */
    *all = values[1];
    reserve_put(values);
    return true;
}

int64_t serve_most(struct comm_state *state, int64_t mine)
{
    int64_t most = 0;
    return together(state, mine, MPI_INT64_T, MPI_MAX, &most) ? most : 0;
}

bool serve_sums_to_none(struct comm_state *state, uint64_t mine)
{
    int64_t sum = 1;
    return together(state, (int64_t)mine, MPI_UINT64_T, MPI_SUM, &sum) && sum == 0;
}

bool serve_turn(struct device_watch *watch)
{
    watch->next = watch->next == 0 ? 1 : watch->next;
    if (watch->found)
        return true;
    if (++watch->calls < watch->next)
        return false;
    if (watch->next == DEVICE_RARELY)
        watch->calls = 0;
    else
        watch->next = (uint16_t)(2 * watch->next);
    return true;
}

/* Whether this call is not ours to serve because of a device's memory (device.h). */
static inline bool is_for_device(struct comm_state *state, const struct call *call)
{
    if (call->collective == COLL_BARRIER || device_call.copied)
        return false;
    if (call->reduction.order != ORDER_FREE) { /* nobody else may serve it: with a copy it comes once more */
        device_call.wanted = device_call.here;
        return device_call.here;
    }
    struct device_watch *watch =
        &state->device[call->collective]
                      [call->bytes > 0 ? (64 - __builtin_clzll((unsigned long long)call->bytes)) / 2 : 0];
    if (__builtin_expect(watch->next == 0, false))
        watch->next = job.devices ? 1 : 16;
    if (__builtin_expect(++watch->calls == watch->next, false)) {
        watch->found = serve_most(state, device_call.here) != 0;
        if (watch->next == DEVICE_RARELY)
            watch->calls = 0;
        else
            watch->next = (uint16_t)(2 * watch->next);
    }
    device_call.wanted = !watch->found && device_call.here;
    return watch->found || device_call.here;
}

/* Of a call that is not like the last one. */
static __attribute__((noinline)) const struct implementation *choose(struct comm_state *state, const struct call *call,
                                                                     bool possible, MPI_Comm *comm)
{
    const bool reduces = collective_reduces(call->collective), sized = !collective_has_no_size(call->collective);
    const struct shape shape = {.bytes = call->bytes,
                                .element = reduces ? call->reduction.element : 0,
                                .commutative = reduces ? call->reduction.commutative : true,
                                .root = call->root,
                                .ordered = ordered_keeps(call->collective)};
    const struct range *range = NULL;
    if (!sized || (call->bytes > 0 && call->bytes <= SERVE_LONGEST))
        range = comm_state_range(state, call->collective, call->bytes);
    const struct implementation *chosen = range != NULL ? first(state, range, &shape, possible, comm) : NULL;
    if (chosen != NULL && chosen->kind == BY_OURS && is_for_device(state, call)) {
        if (device_call.wanted)
            return NULL; /* this call comes once more */
        chosen = NULL;
    }
    if (__builtin_expect(job.verbose, false))
        verbose_count(chosen != NULL ? chosen : implementation_mpi(call->collective), call->bytes);
    if (chosen == NULL)
        return NULL;
    if (possible && !job.verbose) { /* which counts every call; what is not possible says nothing of what is */
        state->last[call->collective].implementation = chosen;
        state->last[call->collective].comm = *comm;
        state->last[call->collective].shape = shape;
    }
    return chosen->kind != BY_OURS ? NULL : (state->serving = chosen);
}

const struct implementation *serve_choose(struct comm_state *state, const struct call *call, bool possible,
                                          MPI_Comm *comm)
{
    if (call->bytes < 0)
        return NULL;
    if (!possible || !is_last(state, call))
        return choose(state, call, possible, comm);
    const struct implementation *last = state->last[call->collective].implementation;
    if (last->kind != BY_OURS) {
        *comm = state->last[call->collective].comm;
        return NULL;
    }
    return is_for_device(state, call) ? NULL : (state->serving = last);
}

enum packing serve_packing(struct comm_state *state, const struct call *call, int64_t bytes, enum packing mine)
{
    if (bytes <= SERVE_WINDOW || call->bytes <= 0 || call->bytes > SERVE_LONGEST)
        return PACKS_NOTHING;
    if (device_call.copied) /* this rank comes once more: it has agreed with the others before */
        return state->packing;
    const struct shape shape = {.bytes = call->bytes, .commutative = true, .root = call->root};
    const struct implementation *ours = serve_would(state, call->collective, &shape);
    state->packing = PACKS_NOTHING;
    if (ours != NULL && ours->kind == BY_OURS)
        state->packing = (enum packing)serve_most(state, mine);
    return state->packing;
}

bool serve_reduction(struct comm_state *state, struct reduction *reduction, MPI_Datatype type, MPI_Op op,
                     const struct layout *layout)
{
    struct reduction *last = &state->reduction;
    bool kept =
        last->combine != NULL && last->type == type && last->op == op &&
        types_op(layout->kind, op) == OP_PREDEFINED; /* others may have been freed and their handles be others' */
    if (!kept && (layout->size != layout->extent || !reduction_set(last, type, op))) {
        int commutes = 1; /* which who serves instead has to know */
        if (types_op(layout->kind, op) == OP_OWN)
            PMPI_Op_commutative(op, &commutes);
        reduction->commutative = commutes;
        last->combine = NULL;
        return false;
    }
    if (!kept)
        reduction_keep(last, ordered_order());
    *reduction = *last;
    return true;
}

/* Where ranks wait for messages, nobody hears that one has left, unless the MPI library was told to go on then, or a node
 * that should share memory does not (fabric.h). */
static bool is_heard(const struct comm_state *state, const struct algorithm *algorithm)
{
    const char *name = algorithm->name + strlen(collective_names[algorithm->collective]) + 1;
    bool sends = state->ours->topology.nodes > 1 || strncmp(name, "flat", strlen("flat")) == 0;
    return !sends || failure_tolerated();
}

/* This rank has not done its part, for which others may be waiting. */
static void lacks_memory(struct comm_state *state)
{
    const struct algorithm *algorithm = state->serving->algorithm;
    failure_found(state->ours->fabric.failure, MPI_ERR_NO_MEM);
    if (is_heard(state, algorithm))
        return;
    fprintf(
        stderr,
        "unisono: rank %d has no memory left for %s, and the other ranks would wait for it: the program ends here\n",
        state->rank, algorithm->name);
    failure_end_job(EXIT_FAILURE);
    abort();
}

int serve_room(struct comm_state *state, int which, int64_t bytes, void **room)
{
    *room = coll_scratch(state->ours, which, bytes > 0 ? bytes : 1);
    if (*room != NULL)
        return MPI_SUCCESS;
    lacks_memory(state);
    comm_state_step_aside(state);
    return MPI_ERR_NO_MEM;
}

int serve_run(struct comm_state *state, const struct call *call, const struct implementation *ours)
{
    struct failure *failure = state->ours->fabric.failure;
    int error = algorithm_run(ours->algorithm, state->ours, call, ours->segment);
    if (__builtin_expect(error == MPI_ERR_NO_MEM, false))
        lacks_memory(state);
    if (__builtin_expect(failure_known(failure), false)) {
        fabric_take_back(&state->ours->fabric);
        comm_state_step_aside(state);
        error = failure_report(failure, state->user);
    }
    if (__builtin_expect(state->ours->is_short, false))
        comm_state_forget_last(state);
    return error;
}

bool serve_end(struct comm_state *state, int failed, int *error)
{
    *error = failed;
    coll_scratch_trim(state->ours);
    if (__builtin_expect(failed != MPI_SUCCESS, false))
        PMPI_Comm_call_errhandler(state->user, failed);
    return true;
}
