/* What a program may ask of dispatch by itself (unisono.h). */
#include "unisono.h"

#include <pthread.h>
#include <string.h>

#include "dispatch.h"
#include "job.h"
#include "measure_pull.h"
#include "measure_ways.h"
#include "nonblocking.h"
#include "ordered.h"
#include "serve.h"
#include "comm_state.h"

#define SYMBOL __attribute__((visibility("default")))

static bool is_used;    /* something has been asked for */
static bool is_resting; /* and does not count for now */

/* The first call of a run finds the nodes, for which all ranks are needed. Several threads may make it at once, each on a
 * communicator of its own: one of them finds the nodes, on every rank any, and the others wait until all is measured. */
static bool start(bool is_of_all)
{
    static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
    static bool known;
    if (__atomic_load_n(&known, __ATOMIC_ACQUIRE))
        return job.started;
    pthread_mutex_lock(&starting);
    if (!job.started && is_of_all && job_prepare()) {
        measure_ways();
        measure_pull();
    }
    const bool good = job.started;
    __atomic_store_n(&known, good, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&starting);
    return good;
}

static struct comm_state *comm_state_of(MPI_Comm comm)
{
    int ranks, world, inter = 1;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return NULL;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_size(MPI_COMM_WORLD, &world);
    return start(ranks == world) ? comm_state_now(comm) : NULL;
}

/* Nonblocking collectives have memory of their own, for which all ranks are needed. */
static struct comm_state *comm_state_for(MPI_Comm comm, enum collective collective)
{
    struct comm_state *state = comm_state_of(comm);
    if (state != NULL && collective < COLLECTIVES && collective_is_nonblocking(collective))
        nonblocking_ask(state);
    return state;
}

static bool applies_somewhere(struct comm_state *state, const struct implementation *one)
{
    if (one->kind == BY_MPI)
        return true;
    if (!comm_state_equip(state) || !nonblocking_reaches(state, one->collective))
        return false;
    if (one->kind != BY_OURS) /* of whose order we know nothing */
        return !ordered_keeps(one->collective) && comm_state_duplicate(state, one) != MPI_COMM_NULL;
    for (int64_t bytes = 0; bytes <= INT64_C(1) << 30; bytes = bytes == 0 ? 8 : 2 * bytes) {
        const struct shape shape = {
            .bytes = bytes, .element = 8, .commutative = true, .ordered = ordered_keeps(one->collective)};
        if (algorithm_applies(one->algorithm, state->ours, &shape))
            return true;
    }
    return false;
}

SYMBOL int unisono_use(MPI_Comm comm, const char *collective, const char *implementation)
{
    enum collective which = collective_find(collective);
    struct comm_state *state = comm_state_for(comm, which);
    struct problem problem = {""};
    struct choice made = {0};
    if (which == COLLECTIVES || state == NULL)
        return 1;
    if (implementation[0] != '\0') {
        const struct implementation *one = implementation_find(which, implementation, strlen(implementation), &problem);
        if (one == NULL || !applies_somewhere(state, one))
            return 1;
        choice_of_one(&made, one);
    }
    comm_state_force(state, which, &made);
    is_used = true;
    dispatch_active = !is_resting;
    return 0;
}

SYMBOL void unisono_rest(int rests)
{
    static bool posts; /* before the rest, as is what follows */
    static unsigned char begins[COLLECTIVES];
    if (!job.started || job_says() || (rests != 0) == is_resting)
        return;
    is_resting = rests != 0;
    dispatch_active = is_used && !is_resting;
    if (is_resting) {
        posts = dispatch_posts;
        memcpy(begins, dispatch_begins, sizeof begins);
    }
    dispatch_posts = !is_resting && (posts || dispatch_posts);
    for (int i = 0; i < COLLECTIVES; i++)
        dispatch_begins[i] = is_resting ? BEGINS_NOT : begins[i] > dispatch_begins[i] ? begins[i] : dispatch_begins[i];
}

SYMBOL int unisono_applies(MPI_Comm comm, const char *collective, long long bytes, int element)
{
    enum collective which = collective_find(collective);
    struct comm_state *state = comm_state_for(comm, which);
    struct shape shape = {.bytes = bytes, .element = element, .commutative = true};
    if (which == COLLECTIVES || state == NULL)
        return 0;
    shape.ordered = ordered_keeps(which);
    const struct implementation *one = serve_would(state, which, &shape);
    return one != NULL && one->kind != BY_MPI;
}

/* By number: first all of the table, then those of nonblocking collectives once more, which serve the persistent forms, too. NULL at the
 * end. */
static const struct algorithm *serving_at(int index, enum collective *collective)
{
    int i = 0;
    for (; algorithm_at(i) != NULL; i++)
        if (i == index) {
            *collective = algorithm_at(i)->collective;
            return algorithm_at(i);
        }
    for (int k = 0; algorithm_at(k) != NULL; k++)
        if (collective_is_nonblocking(algorithm_at(k)->collective) && i++ == index) {
            *collective = collective_init(algorithm_at(k)->collective);
            return algorithm_at(k);
        }
    return NULL;
}

SYMBOL int unisono_algorithm(MPI_Comm comm, int index, struct unisono_algorithm *answer)
{
    enum collective collective;
    const struct algorithm *algorithm = serving_at(index, &collective);
    if (algorithm == NULL)
        return 1;
    struct comm_state *state = comm_state_for(comm, collective);
    *answer = (struct unisono_algorithm){.collective = collective_names[collective],
                                         .name = algorithm->name + strlen(collective_names[algorithm->collective]) + 1,
                                         .meaning = algorithm->meaning,
                                         .reference = algorithm->reference,
                                         .segment = algorithm->segment};
    struct implementation one = {.kind = BY_OURS, .collective = collective, .algorithm = algorithm};
    answer->applies = state != NULL && applies_somewhere(state, &one);
    return 0;
}
