/* Our collectives and the simulator's own, on a machine that SimGrid simulates (unisono.simulate):
 *
 *     smpirun ... simulate check RATE FLAG LATENCY[:NEAR] BANDWIDTH MESSAGE COLLECTIVE ALGORITHM[,...] BYTES...
 *     smpirun ... simulate time RATE FLAG LATENCY[:NEAR] BANDWIDTH MESSAGE COLLECTIVE ALGORITHM[,...] BYTES...
 *     smpirun ... simulate cost RATE FLAG LATENCY[:NEAR] BANDWIDTH MESSAGE COLLECTIVE ALGORITHM[,...] BYTES...
 *     smpirun ... simulate count RATE FLAG LATENCY[:NEAR] BANDWIDTH MESSAGE COLLECTIVE ALGORITHM[,...] BYTES...
 *     smpirun ... simulate copy RATE BYTES
 *
 * ALGORITHM: of ours, without the collective's name; `all`; or `smpi`, what smpirun's options chose. RATE: bytes a second
 * that a process copies; 0: at no cost. FLAG: seconds until another process of the node sees what one has stored; 0: a node
 * shares no memory, its processes send messages. LATENCY, BANDWIDTH: of the fabric, and MESSAGE: seconds for each message
 * more at once, for what algorithms choose by them.
 * Prints lines `@ COLLECTIVE ALGORITHM BYTES RESULT`: seconds, from a common start to the end of the last rank; or (`cost`) those of
 * our cost model, without running anything; or `right`, `WRONG`; or (`count`) LINK:NODE:ALL, the bytes on
 * the fullest link, those of the fullest node and of all; or `no` when the algorithm does not apply. `copy`: in what time every rank
 * copies so much. */
#include <math.h>
#include <simgrid/actor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caught.h"
#include "collectives.h"
#include "counted.h"
#include "simulated_copy.h"
#include "memory.h"
#include "reduction.h"

struct job {
    struct coll_comm *comm;
    struct call call;
    int rank, ranks;
    bool check, cost;
    char *send, *receive, *expected;
    size_t room;
    int64_t *counts; /* of alltoallv, allgatherv, gatherv, scatterv and reduce_scatter(_block) */
    int *int_counts; /* the same as int: four times `ranks` */
};

/* Whether everybody has a block of its own for everybody. */
static bool exchanges(enum collective collective)
{
    return collective == COLL_ALLTOALLV || collective == COLL_ALLTOALLW;
}

/* What `from` has for `to`; varies where the collective lets it. */
static int64_t block(const struct job *job, int64_t bytes, int from, int to)
{
    if (collective_scatters_sum(job->call.collective)) /* whole elements */
        return (job->check && job->call.collective == COLL_REDUCE_SCATTER ? to % 5 * bytes / 2 : bytes) / 8 * 8;
    if (job->check && (job->call.collective == COLL_GATHERV || job->call.collective == COLL_SCATTERV))
        return (job->call.collective == COLL_GATHERV ? from : to) * 7 % 5 * bytes / 2;
    if (!job->check || (!exchanges(job->call.collective) && job->call.collective != COLL_ALLGATHERV))
        return bytes;
    return (from * 7 + (exchanges(job->call.collective) ? to * 3 : 0)) % 5 * bytes / 2;
}

/* Element-wise sums of small whole numbers are the same in any order. */
static void fill(const struct job *job, int round)
{
    for (size_t i = 0; i < job->room; i++)
        job->send[i] = (char)(i * 7 + (unsigned)(job->rank * 31 + round) + (i >> 8));
    for (size_t i = 0; collective_reduces(job->call.collective) && i < job->room / sizeof(double); i++)
        ((double *)(void *)job->send)[i] = (double)((i * 5 + (unsigned)(job->rank + round)) % 1000);
}

static void arrange(struct job *job, int64_t bytes)
{
    struct call *call = &job->call;
    int64_t *v[4], out = job->ranks * bytes, in = out;
    for (int k = 0; k < 4; k++)
        v[k] = job->counts == NULL ? NULL : job->counts + (size_t)k * (size_t)job->ranks;
    if (job->counts != NULL)
        out = in = 0;
    for (int i = 0; job->counts != NULL && i < job->ranks; i++) {
        v[0][i] = block(job, bytes, job->rank, i);
        v[2][i] = block(job, bytes, i, job->rank);
        v[1][i] = out, v[3][i] = in;
        out += v[0][i], in += v[2][i];
        for (int k = 0; k < 4; k++)
            job->int_counts[k * job->ranks + i] = (int)(v[k][i] / (call->collective == COLL_REDUCE_SCATTER ? 8 : 1));
    }
    call->send_bytes = v[0], call->send_at = v[1], call->receive_bytes = v[2], call->receive_at = v[3];
    bool sums = collective_scatters_sum(call->collective);
    bool many = call->collective != COLL_BCAST && (sums || !collective_reduces(call->collective));
    job->room = (size_t)(many ? (out > in ? out : in) : bytes) + 64;
    call->bytes = call->collective == COLL_ALLGATHERV        ? (in + job->ranks - 1) / job->ranks
                  : call->collective == COLL_REDUCE_SCATTER  ? out
                  : collective_has_no_size(call->collective) ? 0
                                                             : bytes;
    call->own = block(job, bytes, job->rank, job->rank);
    call->count = bytes / (int64_t)sizeof(double);
}

/* Of blocks of several lengths, which SimGrid's own reduce_scatter gets wrong where ranks are a power of two. */
static void sum_own_block(const struct job *job, char *receive)
{
    const struct call *call = &job->call;
    const int64_t all = call->bytes;
    char *sums = malloc((size_t)all + 1);
    MPI_Allreduce(call->send, sums, (int)(all / (int64_t)sizeof(double)), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    memcpy(receive, sums + call->send_at[job->rank], (size_t)call->send_bytes[job->rank]);
    free(sums);
}

static void simulators_own(const struct job *job, char *receive)
{
    const struct call *call = &job->call;
    const int *v = job->int_counts;
    int bytes = (int)call->bytes, number = (int)call->count, n = job->ranks;
    const void *send = call->send;
    switch (call->collective) {
    case COLL_BCAST: MPI_Bcast(receive, bytes, MPI_BYTE, call->root, MPI_COMM_WORLD); break;
    case COLL_REDUCE: MPI_Reduce(send, receive, number, MPI_DOUBLE, MPI_SUM, call->root, MPI_COMM_WORLD); break;
    case COLL_ALLREDUCE: MPI_Allreduce(send, receive, number, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case COLL_ALLGATHER: MPI_Allgather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD); break;
    case COLL_GATHER: MPI_Gather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, call->root, MPI_COMM_WORLD); break;
    case COLL_SCATTER: MPI_Scatter(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, call->root, MPI_COMM_WORLD); break;
    case COLL_ALLTOALL: MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD); break;
    case COLL_ALLGATHERV:
        MPI_Allgatherv(send, v[0], MPI_BYTE, receive, v + 2 * n, v + 3 * n, MPI_BYTE, MPI_COMM_WORLD);
        break;
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        MPI_Alltoallv(send, v, v + n, MPI_BYTE, receive, v + 2 * n, v + 3 * n, MPI_BYTE, MPI_COMM_WORLD);
        break;
    case COLL_GATHERV:
        MPI_Gatherv(send, (int)call->own, MPI_BYTE, receive, v + 2 * n, v + 3 * n, MPI_BYTE, call->root,
                    MPI_COMM_WORLD);
        break;
    case COLL_SCATTERV:
        MPI_Scatterv(send, v, v + n, MPI_BYTE, receive, (int)call->own, MPI_BYTE, call->root, MPI_COMM_WORLD);
        break;
    case COLL_SCAN: MPI_Scan(send, receive, number, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case COLL_EXSCAN: MPI_Exscan(send, receive, number, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case COLL_REDUCE_SCATTER:
        if (job->check)
            sum_own_block(job, receive);
        else
            MPI_Reduce_scatter(send, receive, v, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case COLL_REDUCE_SCATTER_BLOCK:
        MPI_Reduce_scatter_block(send, receive, number, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    default: MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Against the simulator's own, with several roots. */
static bool is_right(struct job *job, const struct algorithm *algorithm)
{
    int good = 1, all, roots[] = {0, job->ranks - 1, job->ranks / 2, job->ranks / 3};
    for (int round = 0; round < 4; round++) {
        job->call.root = roots[round];
        fill(job, round);
        memset(job->receive, 99, job->room);
        if (job->call.collective == COLL_BCAST && job->rank == job->call.root)
            memcpy(job->receive, job->send, job->room);
        memcpy(job->expected, job->receive, job->room);
        simulators_own(job, job->expected);
        int error = algorithm_run(algorithm, job->comm, &job->call, algorithm->segment);
        bool counts = job->call.collective == COLL_REDUCE   ? job->rank == job->call.root
                      : job->call.collective == COLL_EXSCAN ? job->rank > 0
                                                            : true;
        good = good && error == MPI_SUCCESS && (!counts || memcmp(job->expected, job->receive, job->room) == 0);
    }
    PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* Of all ranks; not by the allreduce that may be what is measured. */
static double latest(double seconds)
{
    double all = seconds;
    PMPI_Reduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Bcast(&all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return all;
}

/* Seconds from a common start to the last rank's end. The second run counts: the first makes what is kept. To the last bit
   common: usleep() knows whole microseconds only, and a short message takes few of them. */
static double seconds_of(struct job *job, const struct algorithm *algorithm)
{
    double last = 0;
    for (int round = 0; round < 2; round++) {
        double now = MPI_Wtime(), start, end;
        start = latest(now);
        start += 0.01;
        sg_actor_sleep_for(start - MPI_Wtime());
        start = MPI_Wtime();
        if (algorithm == NULL)
            simulators_own(job, job->receive);
        else
            algorithm_run(algorithm, job->comm, &job->call, algorithm->segment);
        now = MPI_Wtime() - start;
        end = latest(now);
        last = end;
    }
    return last;
}

/* Of the second run, as for times. */
static struct loads loads_of(struct job *job, const struct algorithm *algorithm)
{
    for (int round = 0; round < 2; round++) {
        counted_clear();
        if (algorithm_run(algorithm, job->comm, &job->call, algorithm->segment) != MPI_SUCCESS)
            PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    PMPI_Barrier(MPI_COMM_WORLD);
    return job->rank == 0 ? counted_loads() : (struct loads){0};
}

static void try(struct job *job, const struct algorithm *algorithm, int64_t bytes)
{
    bytes = collective_reduces(job->call.collective) ? (bytes + 7) / 8 * 8 : bytes;
    arrange(job, bytes);
    if (job->cost)
        job->room = 1;
    job->send = simulated_copy_room(job->room);
    job->receive = simulated_copy_room(job->room);
    job->expected = job->check ? malloc(job->room) : NULL;
    job->call.send = job->send, job->call.receive = job->receive, job->call.root = 0;
    reduction_set(&job->call.reduction, MPI_DOUBLE, MPI_SUM);
    if (!job->check)
        job->call.reduction.combine = simulated_copy_combine;
    struct shape shape = {.bytes = job->call.bytes, .element = job->call.reduction.element, .commutative = true};
    char result[80] = "no";
    if (algorithm == NULL || algorithm_applies(algorithm, job->comm, &shape)) {
        if (job->check)
            snprintf(result, sizeof result, "%s", is_right(job, algorithm) ? "right" : "WRONG");
        else if (job->cost)
            snprintf(result, sizeof result, "%.9g", algorithm_cost(algorithm, job->comm, &shape));
        else if (counted_is_on()) {
            const struct loads loads = loads_of(job, algorithm);
            snprintf(result, sizeof result, "%.17g:%.17g:%.17g", loads.link, loads.node, loads.all);
        } else
            snprintf(result, sizeof result, "%.9g", seconds_of(job, algorithm));
    }
    if (job->rank == 0) {
        const char *name =
            algorithm == NULL ? "smpi" : algorithm->name + strlen(collective_names[algorithm->collective]) + 1;
        printf("@ %s %s %lld %s\n", collective_names[job->call.collective], name, (long long)bytes, result);
        fflush(stdout);
    }
    caught_end();
    simulated_copy_free(job->send), simulated_copy_free(job->receive), free(job->expected);
}

/* Whether a list with commas has the word. */
static bool listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

/* As an algorithm would: in pieces, all ranks at the same time. */
static int copy(int64_t bytes, int rank)
{
    enum { PIECE = 1000 };
    char *from = calloc(2, PIECE);
    double begun = MPI_Wtime();
    for (int64_t at = 0; from != NULL && at < bytes; at += PIECE)
        memcpy(from + PIECE, from, (size_t)(bytes - at < PIECE ? bytes - at : PIECE));
    double last = latest(MPI_Wtime() - begun);
    if (rank == 0)
        printf("@ copy pieces %lld %.9g\n", (long long)bytes, last);
    free(from);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    struct job job = {0};
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    enum collective collective = argc > 9 ? collective_find(argv[7]) : COLLECTIVES;
    job.check = argc > 1 && strcmp(argv[1], "check") == 0;
    job.cost = argc > 1 && strcmp(argv[1], "cost") == 0;
    if (argc > 2)
        simulated_copy_set(strtod(argv[2], NULL), job.check);
    if (argc == 4 && strcmp(argv[1], "copy") == 0)
        return copy(strtoll(argv[3], NULL, 10), job.rank);
    if (collective == COLLECTIVES || collective_is_near(collective)) {
        if (job.rank == 0)
            fprintf(
                stderr,
                "simulate check|cost|count|time RATE FLAG LATENCY[:NEAR] BANDWIDTH MESSAGE COLLECTIVE ALGORITHM[,...] BYTES...\n");
        MPI_Finalize();
        return 2;
    }
    memory_set(strtod(argv[3], NULL));
    if (strcmp(argv[1], "count") == 0)
        counted_start(job.rank, job.ranks);
    job.call.collective = collective;
    const bool is_barrier = collective == COLL_BARRIER;
    if (collective == COLL_ALLGATHERV || collective_scatters_sum(collective) ||
        (collective_has_no_size(collective) && !is_barrier)) { /* thousands of ranks have thousands each */
        job.counts = calloc(4 * (size_t)job.ranks, sizeof *job.counts);
        job.int_counts = calloc(4 * (size_t)job.ranks, sizeof *job.int_counts);
    }
    /* The simulator's own algorithms need no communicators of ours. With thousands of ranks these take far longer to
     * make by them than by cheap ones (unisono.simulate.run). */
    if (job.check || strcmp(argv[8], "smpi") != 0) {
        if (topology_start() != MPI_SUCCESS || coll_comm_create(MPI_COMM_WORLD, &job.comm) != MPI_SUCCESS)
            PMPI_Abort(MPI_COMM_WORLD, 2);
        struct costs *costs = &job.comm->costs;
        costs->node_latency = strtod(argv[3], NULL) > 0 ? strtod(argv[3], NULL) : costs->node_latency;
        costs->node_byte = strtod(argv[2], NULL) > 0 ? 1 / strtod(argv[2], NULL) : job.cost ? 0 : costs->node_byte;
        char *near = argv[4];
        costs->fabric_latency = strtod(near, &near);
        costs->fabric_near = *near == ':' ? strtod(near + 1, NULL) : 0;
        costs->fabric_byte = 1 / strtod(argv[5], NULL);
        costs->has_sharing = true; /* messages share bandwidth alone here */
        costs->fabric_message = fmax(strtod(argv[6], NULL), costs->fabric_latency / 100);
    }
    for (int k = 9; k < argc; k++) {
        if (!job.check && !job.cost && !counted_is_on() && listed(argv[8], "smpi"))
            try(&job, NULL, strtoll(argv[k], NULL, 10));
        for (int i = 0; algorithm_at(i) != NULL; i++) {
            const struct algorithm *algorithm = algorithm_at(i);
            if (algorithm->collective == collective &&
                (listed(argv[8], "all") || listed(argv[8], algorithm->name + strlen(collective_names[collective]) + 1)))
                try(&job, algorithm, strtoll(argv[k], NULL, 10));
        }
    }
    caught_end();
    /* Ranks share the static variables that these free. */
    PMPI_Barrier(MPI_COMM_WORLD);
    if (job.comm != NULL)
        coll_comm_free(job.comm);
    free(job.counts), free(job.int_counts);
    MPI_Finalize();
    return 0;
}
