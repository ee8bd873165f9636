/* Algorithms against the MPI library underneath, on MPI_COMM_WORLD: are they right, and how fast?
 *
 *     mpirun -n 2 collectives_try bcast pull 8 4096 1048576
 *
 * `all` for the collective: every one; for the algorithm: every one that applies, those with segments also with
 * some of a fourth and an eighth; `none`: the library alone; `chain:4096` is with such segments. Prints, for each size,
 * microseconds of the slowest rank (median): ours, the library's, the library's over ours; all of one size are measured
 * in turn. TRY_SECONDS in the environment: how long, for each algorithm (0: only whether it is right, with two roots).
 * TRY_PAUSE: microseconds of rest before each call, for links that let a burst through after a rest, so that all begin
 * alike. TRY_COSTS: "NODE_LATENCY NODE_BYTE FABRIC_LATENCY FABRIC_BYTE [FABRIC_MESSAGE]", seconds, for the model.
 * Status 1: one was wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives.h"
#include "node/copy.h"
#include "reduction.h"

enum { MOST_ROUNDS = 2000, LEAST_ROUNDS = 15, MOST_CANDIDATES = 80 };

static int rank, ranks;
static double seconds_each = 0.5;
static int pause_before;                    /* microseconds */
static const int64_t most_checked = 100000; /* of longer messages, fewer rounds */

static struct neighbours everybody; /* in order of the ranks: all with all */

struct data {
    char *send, *receive, *expected;
    int64_t *counts, *at; /* allgatherv: of the blocks; alltoallv: of what is sent and of what is received */
    int *int_counts;
    size_t room;
};

/* What a nonblocking one does: all forms are in the same order. */
static enum collective form(enum collective collective)
{
    return collective_is_nonblocking(collective) ? collective - COLLECTIVES_BLOCKING : collective;
}

/* The same for all, of a length of each rank's own. */
static int gathers(enum collective collective)
{
    return collective == COLL_ALLGATHERV || collective == COLL_NEIGHBOR_ALLGATHER ||
           collective == COLL_NEIGHBOR_ALLGATHERV;
}

static int exchanges(enum collective collective)
{
    return collective == COLL_ALLTOALLV || collective == COLL_ALLTOALLW || collective == COLL_NEIGHBOR_ALLTOALL ||
           collective == COLL_NEIGHBOR_ALLTOALLV || collective == COLL_NEIGHBOR_ALLTOALLW;
}

static int64_t block(enum collective collective, int64_t bytes, int from, int to)
{
    collective = form(collective);
    int64_t varied = bytes / 2 + bytes * ((from + 2 * to) % ranks) / ranks;
    if (collective == COLL_GATHERV || collective == COLL_SCATTERV) /* of the rank that is not the root */
        return bytes / 2 + bytes * (collective == COLL_GATHERV ? from : to) / ranks;
    if (collective == COLL_REDUCE_SCATTER)
        return (bytes / 2 + bytes * to / ranks) / 8 * 8;
    return exchanges(collective) ? varied : gathers(collective) ? bytes / 2 + bytes * from / ranks : bytes;
}

static void fill(char *memory, size_t bytes, unsigned seed, int is_number)
{
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (char)(i * 7 + seed * 31 + (i >> 8));
    for (size_t i = 0; is_number && i < bytes / sizeof(double); i++)
        ((double *)(void *)memory)[i] = (double)((i * 5 + seed) % 1000);
}

/* Fills in the v's of this rank; what its buffers need. */
static void arrange(struct data *data, struct call *call, int64_t bytes)
{
    const enum collective collective = form(call->collective);
    int64_t *v[4];
    for (int k = 0; k < 4; k++)
        v[k] = data->counts + (size_t)k * (size_t)ranks;
    int64_t out = 0, in = 0;
    for (int i = 0; i < ranks; i++) {
        v[0][i] = block(collective, bytes, rank, i);
        v[2][i] = block(collective, bytes, i, rank);
        v[1][i] = collective_is_near(collective) && gathers(collective) ? 0 : out, v[3][i] = in;
        out += v[0][i], in += v[2][i];
        for (int k = 0; k < 4; k++)
            data->int_counts[k * ranks + i] = (int)(v[k][i] / (collective == COLL_REDUCE_SCATTER ? 8 : 1));
    }
    call->send_bytes = v[0], call->send_at = v[1], call->receive_bytes = v[2], call->receive_at = v[3];
    call->own = block(collective, bytes, rank, rank);
    call->bytes = collective == COLL_ALLGATHERV        ? (in + ranks - 1) / ranks
                  : collective == COLL_REDUCE_SCATTER  ? out
                  : collective_has_no_size(collective) ? 0
                                                       : bytes;
}

static void library(const struct data *data, const struct call *call, char *receive)
{
    const int *v = data->int_counts;
    int bytes = (int)call->bytes, number = (int)call->count;
    switch (form(call->collective)) {
    case COLL_BCAST: PMPI_Bcast(receive, bytes, MPI_BYTE, call->root, MPI_COMM_WORLD); break;
    case COLL_REDUCE: PMPI_Reduce(call->send, receive, number, MPI_DOUBLE, MPI_SUM, call->root, MPI_COMM_WORLD); break;
    case COLL_ALLREDUCE: PMPI_Allreduce(call->send, receive, number, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case COLL_SCAN: PMPI_Scan(call->send, receive, number, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case COLL_EXSCAN: PMPI_Exscan(call->send, receive, number, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case COLL_ALLGATHER: PMPI_Allgather(call->send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD); break;
    case COLL_GATHER:
        PMPI_Gather(call->send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, call->root, MPI_COMM_WORLD);
        break;
    case COLL_SCATTER:
        PMPI_Scatter(call->send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, call->root, MPI_COMM_WORLD);
        break;
    case COLL_ALLTOALL: PMPI_Alltoall(call->send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD); break;
    case COLL_ALLGATHERV:
    case COLL_NEIGHBOR_ALLGATHER:
    case COLL_NEIGHBOR_ALLGATHERV:
        PMPI_Allgatherv(call->send, v[0], MPI_BYTE, receive, v + 2 * ranks, v + 3 * ranks, MPI_BYTE, MPI_COMM_WORLD);
        break;
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
    case COLL_NEIGHBOR_ALLTOALL:
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        PMPI_Alltoallv(call->send, v, v + ranks, MPI_BYTE, receive, v + 2 * ranks, v + 3 * ranks, MPI_BYTE,
                       MPI_COMM_WORLD);
        break;
    case COLL_GATHERV:
        PMPI_Gatherv(call->send, (int)call->own, MPI_BYTE, receive, v + 2 * ranks, v + 3 * ranks, MPI_BYTE, call->root,
                     MPI_COMM_WORLD);
        break;
    case COLL_SCATTERV:
        PMPI_Scatterv(call->send, v, v + ranks, MPI_BYTE, receive, (int)call->own, MPI_BYTE, call->root,
                      MPI_COMM_WORLD);
        break;
    case COLL_REDUCE_SCATTER: PMPI_Reduce_scatter(call->send, receive, v, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case COLL_REDUCE_SCATTER_BLOCK:
        PMPI_Reduce_scatter_block(call->send, receive, number, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    default: PMPI_Barrier(MPI_COMM_WORLD);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Every rank's median, the slowest of them; in microseconds. */
static double slowest(double *seconds, int count)
{
    double median, worst;
    qsort(seconds, (size_t)count, sizeof *seconds, compare);
    median = seconds[count / 2] * 1e6;
    PMPI_Allreduce(&median, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

/* An algorithm with a segment size. */
struct candidate {
    const struct algorithm *algorithm;
    int64_t segment;
};

/* Where the data is of a call with this root: nonblocking ones have two buffers, only the root of a reduction receives, and the
 * first rank of an iexscan does not. */
static void aim(struct call *call, struct data *data)
{
    const int is_root = rank == call->root;
    call->send = call->collective == COLL_IBCAST ? data->receive : data->send;
    call->receive = (call->collective == COLL_IBCAST && is_root) || (call->collective == COLL_IREDUCE && !is_root) ||
                            (call->collective == COLL_IEXSCAN && rank == 0)
                        ? NULL
                        : data->receive;
}

static int is_right(struct coll_comm *comm, const struct candidate *candidate, struct data *data, struct call *call)
{
    int good = 1, all;
    int rounds = call->bytes > most_checked || seconds_each <= 0 ? 2 : 6;
    for (int round = 0; round < rounds; round++) {
        int is_number = collective_reduces(call->collective);
        call->root = ((round % 2 ? -1 - round / 2 : round / 2) + 6 * ranks) % ranks; /* first, last, second ... */
        fill(data->send, data->room, (unsigned)(rank * 3 + round), is_number);
        fill(data->receive, data->room, (unsigned)(rank + 100 + round), 0);
        memcpy(data->expected, data->receive, data->room);
        aim(call, data);
        library(data, call, data->expected);
        int error = algorithm_run(candidate->algorithm, comm, call, candidate->segment);
        good = good && error == MPI_SUCCESS &&
               (memcmp(data->expected, data->receive, data->room) == 0 ||
                (form(call->collective) == COLL_REDUCE && rank != call->root) ||
                (form(call->collective) == COLL_EXSCAN && rank == 0));
    }
    call->root = 0;
    aim(call, data);
    PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

static double timed(struct coll_comm *comm, const struct candidate *candidate, struct data *data, struct call *call)
{
    if (pause_before > 0)
        usleep((useconds_t)pause_before);
    PMPI_Barrier(MPI_COMM_WORLD);
    double start = PMPI_Wtime();
    if (candidate != NULL)
        algorithm_run(candidate->algorithm, comm, call, candidate->segment);
    else
        library(data, call, data->expected);
    return PMPI_Wtime() - start;
}

/* The library last. Microseconds of each. */
static void measure(struct coll_comm *comm, const struct candidate *candidates, int count, struct data *data,
                    struct call *call, double *microseconds)
{
    double *times = malloc((size_t)(count + 1) * MOST_ROUNDS * sizeof *times), begun = PMPI_Wtime(), spent = 0;
    int rounds = 0, least = seconds_each < 0.5 ? LEAST_ROUNDS / 3 : LEAST_ROUNDS;
    for (; rounds < MOST_ROUNDS && (rounds < least || spent < seconds_each * (count + 1)); rounds++) {
        for (int i = 0; i <= count; i++)
            times[i * MOST_ROUNDS + rounds] = timed(comm, i < count ? &candidates[i] : NULL, data, call);
        spent = PMPI_Wtime() - begun;
        PMPI_Bcast(&spent, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i <= count; i++)
        microseconds[i] = slowest(times + i * MOST_ROUNDS, rounds);
    free(times);
}

static void report(struct coll_comm *comm, const struct candidate *candidate, const struct shape *shape, int64_t bytes,
                   double ours, double theirs, int right)
{
    const struct algorithm *algorithm = candidate->algorithm;
    char name[80];
    snprintf(name, sizeof name, candidate->segment == algorithm->segment ? "%s" : "%s:%lld", algorithm->name,
             (long long)candidate->segment);
    if (rank != 0)
        return;
    printf("%-28s %9lld B  ours %10.2f us  library %10.2f us  ratio %5.2f  model %10.2f us  %s\n", name,
           (long long)bytes, ours, theirs, ours > 0 ? theirs / ours : 0, algorithm->cost(comm, shape) * 1e6,
           right ? "right" : "WRONG");
    fflush(stdout);
}

/* All of `candidates` with one size; how many were wrong. */
static int try(struct coll_comm *comm, enum collective collective, const struct candidate *candidates, int count,
               int64_t bytes)
{
    struct data data = {0};
    struct call call = {.collective = collective, .around = &everybody};
    data.counts = calloc(4 * (size_t)ranks, sizeof *data.counts);
    data.int_counts = calloc(4 * (size_t)ranks, sizeof *data.int_counts);
    bytes = collective_reduces(collective) ? (bytes + 7) / 8 * 8 : bytes;
    arrange(&data, &call, bytes);
    data.room = ((size_t)(2 * bytes) * (size_t)ranks + 4096) / 4096 * 4096;
    data.send = aligned_alloc(4096, data.room);
    data.receive = aligned_alloc(4096, data.room);
    data.expected = aligned_alloc(4096, data.room);
    call.send = data.send;
    call.receive = data.receive;
    call.count = bytes / 8;
    reduction_set(&call.reduction, MPI_DOUBLE, MPI_SUM);
    struct shape shape = {.bytes = call.bytes, .element = call.reduction.element, .commutative = true};
    struct candidate apply[MOST_CANDIDATES];
    double microseconds[MOST_CANDIDATES + 1] = {0};
    int right[MOST_CANDIDATES], applied = 0, wrong = 0;
    for (int i = 0; i < count; i++) {
        if (!algorithm_applies(candidates[i].algorithm, comm, &shape)) {
            if (rank == 0)
                printf("%-28s %9lld B  does not apply\n", candidates[i].algorithm->name, (long long)bytes);
            continue;
        }
        right[applied] = is_right(comm, &candidates[i], &data, &call);
        wrong += !right[applied];
        apply[applied++] = candidates[i];
    }
    if (seconds_each > 0)
        measure(comm, apply, applied, &data, &call, microseconds);
    for (int i = 0; i < applied; i++)
        report(comm, &apply[i], &shape, bytes, microseconds[i], microseconds[applied], right[i]);
    if (count == 0 && rank == 0)
        printf("%-28s %9lld B  library %10.2f us\n", collective_names[collective], (long long)bytes, microseconds[0]);
    fflush(stdout);
    free(data.send), free(data.receive), free(data.expected), free(data.counts), free(data.int_counts);
    return wrong;
}

/* Those of the collective with this name. */
static int choose(enum collective collective, const char *name, struct candidate *candidates)
{
    bool all = strcmp(name, "all") == 0;
    size_t length = strcspn(name, ":"), skip = strlen(collective_names[collective]) + 1;
    int64_t segment = name[length] == ':' ? strtoll(name + length + 1, NULL, 10) : 0;
    int count = 0;
    for (int i = 0; algorithm_at(i) != NULL && count + 2 < MOST_CANDIDATES; i++) {
        const struct algorithm *algorithm = algorithm_at(i);
        if (algorithm->collective != collective)
            continue;
        if (!all && (strncmp(algorithm->name + skip, name, length) != 0 || algorithm->name[skip + length] != '\0'))
            continue;
        candidates[count++] = (struct candidate){algorithm, segment > 0 ? segment : algorithm->segment};
        for (int part = seconds_each > 0 ? 4 : 8; all && part <= 8 && algorithm->segment > 0; part *= 2)
            candidates[count++] = (struct candidate){algorithm, algorithm->segment / part};
    }
    return count;
}

int main(int argc, char **argv)
{
    struct coll_comm *comm;
    int wrong = 0;
    PMPI_Init(&argc, &argv);
    copy_agree_on_cache(copy_last_cache());
    copy_agree_on_own_cache(copy_own_cache_here());
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bool every = argc > 3 && strcmp(argv[1], "all") == 0;
    enum collective collective = argc > 3 && !every ? collective_find(argv[1]) : COLLECTIVES;
    if ((collective == COLLECTIVES && !every) || topology_start() != MPI_SUCCESS ||
        coll_comm_create(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) {
        fprintf(stderr, "collectives_try COLLECTIVE|all ALGORITHM|all|none BYTES...\n");
        PMPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    if (getenv("TRY_SECONDS") != NULL)
        seconds_each = atof(getenv("TRY_SECONDS"));
    if (getenv("TRY_PAUSE") != NULL)
        pause_before = atoi(getenv("TRY_PAUSE"));
    if (getenv("TRY_COSTS") != NULL)
        sscanf(getenv("TRY_COSTS"), "%lf %lf %lf %lf %lf", &comm->costs.node_latency, &comm->costs.node_byte,
               &comm->costs.fabric_latency, &comm->costs.fabric_byte, &comm->costs.fabric_message);
    int *numbers = malloc((size_t)ranks * sizeof *numbers);
    for (int i = 0; i < ranks; i++)
        numbers[i] = i;
    everybody = (struct neighbours){ranks, ranks, numbers, numbers};
    for (enum collective which = 0; which < COLLECTIVES; which++) {
        struct candidate candidates[MOST_CANDIDATES];
        int count = choose(which, argv[2], candidates);
        for (int k = 3; k < argc && (which == collective || every); k++)
            wrong += try(comm, which, candidates, count, strtoll(argv[k], NULL, 10));
    }
    free(numbers);
    coll_comm_free(comm);
    topology_end();
    PMPI_Finalize();
    return wrong > 0;
}
