/* What the trial says of an algorithm at a size, also between those that were tried. */
#include "trial_found.h"

#include <math.h>
#include <string.h>

#include "trial_task.h"

const int64_t trial_sizes[TRIAL_SIZES] = {8, 64, 512, 4 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20};

struct trial trial_found;

bool trial_has_rival(enum collective collective)
{
    return task_is_rooted(collective) || collective_scatters_sum(collective) || collective_scans(collective) ||
           task_is_typed(collective) || collective_is_nonblocking(collective);
}

/* Both have places in the same table. */
#define ALGORITHM(name) +1
#define MESSAGES(name) ALGORITHM(name)
enum {
    ROWS = 0
#include "algorithms.def"
};
#undef ALGORITHM
#undef MESSAGES
_Static_assert(ROWS + COLLECTIVES_AT_ONCE <= TRIAL_ALGORITHMS, "no algorithm has the place of a rival");

int trial_rival_of(enum collective collective)
{
    return TRIAL_ALGORITHMS - COLLECTIVES_AT_ONCE + (int)collective;
}

float trial_bounded(double factor)
{
    const double most = 1e4;
    return (float)fmin(fmax(factor, 1 / most), most);
}

static void take_less(float *known, const float *more, int count)
{
    for (int i = 0; i < count; i++)
        if (more[i] > 0 && (known[i] == 0 || more[i] < known[i]))
            known[i] = more[i];
}

void trial_merge(const struct trial *latest)
{
    take_less(*trial_found.ours, *latest->ours, TRIAL_SIZES * COLLECTIVES_AT_ONCE);
    take_less(*trial_found.mpis, *latest->mpis, TRIAL_SIZES * COLLECTIVES_AT_ONCE);
    take_less(*trial_found.factor, *latest->factor, TRIAL_SIZES * TRIAL_ALGORITHMS);
    for (int size = 0; size < TRIAL_SIZES; size++)
        for (enum collective one = 0; one < COLLECTIVES_AT_ONCE; one++) {
            const double ours = (double)trial_found.ours[size][one], mpis = (double)trial_found.mpis[size][one];
            if (ours > 0 && mpis > 0)
                trial_found.factor[size][trial_rival_of(one)] = trial_bounded(mpis / ours);
        }
}

/* The nearest size from `size` on, in steps of `step`, at which something is known; -1: none. */
static int known(int index, int size, int step)
{
    while (size >= 0 && size < TRIAL_SIZES && trial_found.factor[size][index] == 0)
        size += step;
    return size >= 0 && size < TRIAL_SIZES ? size : -1;
}

/* What was found, or what lies between: 1 where nothing is known. */
static double between(int index, int64_t bytes)
{
    int above = 0;
    while (above < TRIAL_SIZES && trial_sizes[above] < bytes)
        above++;
    int next = known(index, above, 1), before = known(index, above - 1, -1);
    if (next < 0 || before < 0)
        return next >= 0     ? (double)trial_found.factor[next][index]
               : before >= 0 ? (double)trial_found.factor[before][index]
                             : 1;
    double low = (double)trial_found.factor[before][index], high = (double)trial_found.factor[next][index];
    double share = log2((double)bytes / (double)trial_sizes[before]) /
                   log2((double)trial_sizes[next] / (double)trial_sizes[before]);
    return low * pow(high / low, share);
}

/* Of the five of neighbourhoods one is tried, and of the nonblocking ones those of which the others are like. */
static enum collective tried_for(enum collective collective)
{
    switch (collective) {
    case COLL_NEIGHBOR_ALLGATHER:
    case COLL_NEIGHBOR_ALLGATHERV:
    case COLL_NEIGHBOR_ALLTOALL:
    case COLL_NEIGHBOR_ALLTOALLW: return COLL_NEIGHBOR_ALLTOALLV;
    case COLL_IALLGATHER:
    case COLL_IALLGATHERV:
    case COLL_IALLTOALLV:
    case COLL_IALLTOALLW:
    case COLL_INEIGHBOR_ALLGATHER:
    case COLL_INEIGHBOR_ALLGATHERV:
    case COLL_INEIGHBOR_ALLTOALL:
    case COLL_INEIGHBOR_ALLTOALLV:
    case COLL_INEIGHBOR_ALLTOALLW: return COLL_IALLTOALL;
    case COLL_IBARRIER:
    case COLL_IEXSCAN:
    case COLL_IREDUCE_SCATTER:
    case COLL_IREDUCE_SCATTER_BLOCK:
    case COLL_ISCAN: return COLL_IALLREDUCE;
    case COLL_IGATHER: return COLL_IREDUCE;
    case COLL_ISCATTER: return COLL_IBCAST;
    default: return collective;
    }
}

/* It speaks for those of the same name. */
static int speaker(int index)
{
    const struct algorithm *one = algorithm_at(index), *other = one;
    const enum collective collective = tried_for(one->collective);
    if (collective != one->collective)
        other = algorithm_find(collective, one->name + strlen(collective_names[one->collective]) + 1);
    for (int i = 0; other != one && algorithm_at(i) != NULL; i++)
        if (algorithm_at(i) == other)
            return i;
    return index;
}

/* What knows no size is chosen by the longest blocks. */
double trial_factor(const struct coll_comm *comm, int index, int64_t bytes)
{
    if (comm->topology.nodes != 1 || comm->crowded || index >= TRIAL_ALGORITHMS)
        return 1;
    index = speaker(index);
    const int last = known(index, TRIAL_SIZES - 1, -1);
    if (task_is_typed(algorithm_at(index)->collective) && last >= 0)
        return (double)trial_found.factor[last][index];
    return between(index, bytes);
}

/* Of a size: the time of one of ours, and the least of all of them. */
static double seconds_of(const struct coll_comm *comm, enum collective collective, int size, int one, double *least)
{
    const struct shape shape = {.commutative = true};
    double seconds = 0;
    *least = HUGE_VAL;
    for (int i = 0; i < TRIAL_ALGORITHMS && algorithm_at(i) != NULL; i++) {
        if (algorithm_at(i)->collective != collective || trial_found.factor[size][i] == 0 ||
            !algorithm_applies(algorithm_at(i), comm, &shape))
            continue;
        double its = algorithm_at(i)->cost(comm, &shape) * (double)trial_found.factor[size][i];
        *least = fmin(*least, its);
        seconds = i == one ? its : seconds;
    }
    return seconds;
}

/* Whether what would be chosen of ours was quicker than the MPI library's own at all sizes that are to be tried. */
static bool typed_prefers_ours(const struct coll_comm *comm, enum collective collective)
{
    const struct shape shape = {.commutative = true};
    const int rival = trial_rival_of(collective);
    int chosen = -1, asked = 0;
    double least = HUGE_VAL, all;
    for (int i = 0; i < TRIAL_ALGORITHMS && algorithm_at(i) != NULL; i++) {
        if (algorithm_at(i)->collective != collective || !algorithm_applies(algorithm_at(i), comm, &shape))
            continue;
        double cost = algorithm_at(i)->cost(comm, &shape) * trial_factor(comm, i, 0);
        if (cost < least)
            least = cost, chosen = i;
    }
    for (int size = 0; size < TRIAL_SIZES && chosen >= 0; size++)
        if (trial_found.factor[size][rival] != 0) {
            double seconds = seconds_of(comm, collective, size, chosen, &all);
            if (seconds == 0 || seconds >= all * (double)trial_found.factor[size][rival])
                return false;
            asked++;
        }
    return asked == TYPED;
}

bool trial_prefers_ours(const struct coll_comm *comm, enum collective collective, int64_t bytes)
{
    if (collective == COLL_IGATHERV || collective == COLL_ISCATTERV)
        return false; /* none that is tried is like them: with the shortest blocks the MPI library's may be quicker */
    collective = tried_for(collective);
    const int64_t is_long = 512 << 10; /* from here on it takes as long as it has bytes */
    const int rival = trial_rival_of(collective), last = known(rival, TRIAL_SIZES - 1, -1);
    if (!trial_has_rival(collective))
        return true;
    if (comm->topology.nodes != 1 || comm->crowded || last < 0)
        return false;
    if (task_is_typed(collective))
        return typed_prefers_ours(comm, collective);
    return (bytes <= trial_sizes[last] || trial_sizes[last] >= is_long) && between(rival, bytes) > 1;
}
