#include "choose.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "patience.h"

enum { LEAST_ROUNDS = 2, FIRST_ROUNDS = 4 };             /* of turns of all ways */
enum { FINALISTS = 5, LAST_ROUNDS = 24 };                /* the best of them, besides plain; of their turns */
enum { SLICE = 4 << 20 };                                /* bytes a thread reads in a turn */
enum { SHARE = 16 };                                     /* a turn reads no more than this part of a matrix */
static const double LIMIT = 0.15;                        /* seconds; the first round of turns is played in any case */
static const double GAIN = 0.98;                         /* of plain's time: what is not quicker by this is not taken */
static const int distances[] = {3072, 1536, 4608, 9216}; /* bytes; the first where it is not measured */
enum { DISTANCES = sizeof distances / sizeof *distances };

struct trial {
    const struct system *system;
    double slice; /* bytes a thread reads in a turn */
    double *x, *product;
    int *next;    /* of each thread: the run (order.h) that its next turn begins with */
    double begun; /* when turns began, on this process's clock */
    double took;  /* seconds so far, of the slowest process */
    int turns;    /* so far */
};

bool choose_is_possible(const struct wish *wish)
{
    return wish->form < 0 || kernels_available((enum form)wish->form);
}

static void add(struct choice *choice, int form, int hint, int ahead)
{
    if (choice->ways < WAYS_MOST)
        choice->way[choice->ways++] = (struct way){(enum form)form, (enum hint)hint, ahead, 0};
}

/* Forms that round alike, so that a result does not depend on what is measured: without a wish those with fused
 * multiplications where all processes have them, else the portable one. */
static void list_ways(MPI_Comm comm, const struct wish *wish, struct choice *choice)
{
    int has[FORMS], all[FORMS];
    for (int form = 0; form < FORMS; form++)
        has[form] = kernels_available((enum form)form);
    MPI_Allreduce(has, all, FORMS, MPI_INT, MPI_MIN, comm);
    all[FORM_PORTABLE] = !all[FORM_AVX2];
    for (int form = 0; form < FORMS; form++) {
        if (wish->form >= 0 ? wish->form != form : !all[form])
            continue;
        for (int hint = 0; hint < HINTS; hint++) {
            if (wish->hint >= 0 && wish->hint != hint)
                continue;
            if (hint == HINT_NONE || wish->ahead > 0)
                add(choice, form, hint, hint == HINT_NONE ? 0 : wish->ahead);
            else
                for (int k = 0; k < DISTANCES; k++)
                    add(choice, form, hint, distances[k]);
        }
    }
}

/* Bytes of some rows' blocks, of the columns that go with them, and of two vectors. */
static double bytes_of(const struct matrix *matrix, const struct range *rows)
{
    const struct part *parts[] = {&matrix->lower, &matrix->upper, &matrix->outer};
    int64_t blocks = rows->to - rows->from;
    for (int k = 0; k < 3; k++)
        blocks += parts[k]->start[rows->to] - parts[k]->start[rows->from];
    return 76.0 * (double)blocks + 48.0 * (rows->to - rows->from);
}

/* One turn of a way: each thread goes on with the product where it was. Seconds a byte. */
static double turn(struct trial *trial, const struct kernels *kernels)
{
    const struct order *order = trial->system->order;
    const struct matrix *matrix = trial->system->matrix;
    const double begun = MPI_Wtime();
    double bytes = 0;
#pragma omp parallel num_threads(order->threads) reduction(+ : bytes)
    {
        const int thread = omp_get_thread_num(), first = order->runs[thread], end = order->runs[thread + 1];
        int next = trial->next[thread];
        while (first < end && bytes < trial->slice) {
            const struct range rows = {order->run[next].from, order->run[next].to};
            kernels->product(matrix, trial->x, trial->product, rows.from, rows.to, kernels->ahead);
            bytes += bytes_of(matrix, &rows);
            next = next + 1 < end ? next + 1 : first;
        }
        trial->next[thread] = next;
    }
    return bytes > 0 ? (MPI_Wtime() - begun) / bytes : 0;
}

static int by_size(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Rounds of turns of the listed ways, while there is time; how many. The slowest process's seconds a byte of each are
 * then in `slowest`: the lower quartile of its turns, since others on the machine only ever take time. */
static int play(struct trial *trial, MPI_Comm node, const struct choice *choice, const int *list, int count, int most,
                double *slowest)
{
    double cost[WAYS_MOST][LAST_ROUNDS], own[WAYS_MOST], all[WAYS_MOST];
    int rounds = 0;
    while (rounds < most && (trial->turns == 0 || trial->took * (1 + (double)count / trial->turns) < LIMIT)) {
        for (int k = 0; k < count; k++) { /* another one begins each round: places are not the same for all */
            const int at = (k + rounds) % count;
            const struct way *way = &choice->way[list[at]];
            const struct kernels kernels = kernels_get(way->form, way->hint, way->ahead);
            cost[at][rounds] = turn(trial, &kernels);
        }
        rounds++;
        trial->turns += count;
        const double now = MPI_Wtime() - trial->begun;
        MPI_Allreduce(&now, &trial->took, 1, MPI_DOUBLE, MPI_MAX, node);
    }
    if (rounds == 0)
        return 0;
    for (int at = 0; at < count; at++) {
        qsort(cost[at], (size_t)rounds, sizeof **cost, by_size);
        own[at] = cost[at][rounds / 4];
    }
    MPI_Allreduce(own, all, count, MPI_DOUBLE, MPI_MAX, node);
    for (int at = 0; at < count; at++)
        slowest[list[at]] = all[at];
    return rounds;
}

/* All ways have a few turns, then plain and the quickest of the others many. The best of those; 0 if it hardly gains on
 * plain. -1: there was no time for that. */
static int measure(struct trial *trial, MPI_Comm node, struct choice *choice, double *slowest)
{
    int list[WAYS_MOST];
    for (int k = 0; k < choice->ways; k++)
        list[k] = k;
    trial->begun = MPI_Wtime();
    choice->rounds = play(trial, node, choice, list, choice->ways, FIRST_ROUNDS, slowest);
    if (choice->rounds < LEAST_ROUNDS)
        return -1;
    for (int k = 1; k < choice->ways; k++) /* by insertion: plain stays in front */
        for (int at = k; at > 1 && slowest[list[at]] < slowest[list[at - 1]]; at--) {
            const int quicker = list[at];
            list[at] = list[at - 1];
            list[at - 1] = quicker;
        }
    const int finalists = choice->ways < 1 + FINALISTS ? choice->ways : 1 + FINALISTS;
    choice->rounds += play(trial, node, choice, list, finalists, LAST_ROUNDS, slowest);
    int best = 0;
    for (int k = 1; k < finalists; k++)
        best = slowest[list[k]] < slowest[best] ? list[k] : best;
    return slowest[best] < GAIN * slowest[0] ? best : 0;
}

/* Bytes of the matrix that a thread has. */
static double share_of(const struct system *system)
{
    const struct matrix *matrix = system->matrix;
    return 76.0 * ((double)matrix->blocks_inside + (double)matrix->blocks_outside + matrix->rows) /
           system->order->threads;
}

static bool prepare(struct trial *trial, const struct system *system, bool first_touch)
{
    const struct order *order = system->order;
    *trial = (struct trial){system,
                            fmin(SLICE, share_of(system) / SHARE),
                            vector_create(system, first_touch),
                            vector_create(system, first_touch),
                            malloc((size_t)order->threads * sizeof *trial->next),
                            0,
                            0,
                            0};
    if (trial->x == NULL || trial->product == NULL || trial->next == NULL)
        return false;
    memcpy(trial->next, order->runs, (size_t)order->threads * sizeof *trial->next);
    return true;
}

/* Why it is not measured on this node; NULL: it was, and `best` is the way. */
static const char *try_ways(const struct system *system, MPI_Comm node, bool first_touch, struct choice *choice,
                            int *best)
{
    struct trial trial;
    double own = share_of(system), most, slowest[WAYS_MOST];
    MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, node);
    if (most < SLICE)
        return "not measured: the matrix is small";
    int good = prepare(&trial, system, first_touch), all, found = 0;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, node);
    if (all)
        found = measure(&trial, node, choice, slowest);
    free(trial.x), free(trial.product), free(trial.next);
    if (!all)
        return "not measured: no memory to do it in";
    for (int way = 0; way < choice->ways; way++)
        choice->way[way].rate = slowest[way] > 0 ? 1 / slowest[way] : 0;
    if (found < 0)
        return "not measured: it would take too long";
    *best = found;
    return NULL;
}

void choose_kernels(const struct system *system, const struct wish *wish, bool first_touch, struct choice *choice)
{
    const double begun = MPI_Wtime();
    int best = 0;
    *choice = (struct choice){.how = "given"};
    list_ways(system->comm, wish, choice);
    if (choice->ways > 1) {
        MPI_Comm node;
        MPI_Comm_split_type(system->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        const char *obstacle = patience_is_needed() ? "not measured: cores are shared"
                                                    : try_ways(system, node, first_touch, choice, &best);
        best = obstacle == NULL ? best : 0;
        MPI_Bcast(&best, 1, MPI_INT, 0, node); /* one decides, whatever the others' arithmetic says */
        MPI_Comm_free(&node);
        choice->how = obstacle == NULL ? "measured" : obstacle;
    }
    const int own[2] = {best, -best};
    int least[2];
    MPI_Allreduce(own, least, 2, MPI_INT, MPI_MIN, system->comm);
    choice->is_same = least[0] == -least[1];
    const struct way *way = &choice->way[best];
    choice->kernels = kernels_get(way->form, way->hint, way->ahead);
    choice->seconds = MPI_Wtime() - begun;
}
