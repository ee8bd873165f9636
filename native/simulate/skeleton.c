/* What unisono-solver does in an iteration, without its numbers: the messages it sends and the time its computing takes by
 * the byte model, on a machine that SimGrid simulates (unisono.simulate.layouts):
 *
 *     smpirun ... skeleton solver|allreduce5|halo26 KEY=VALUE...
 *
 * and Nakajima's two microbenchmarks. Every KEY of `struct machine` and of `struct job` must be given, seconds and
 * bytes. Prints `@ SECONDS OPERATIONS computing packing exchange allreduce`: of an iteration (of one allreduce for
 * allreduce5), until the last process is through; its floating-point operations together; and where the mean process
 * spends it.
 *
 * SimGrid runs the processes and brings every message over its route, which takes the route's latency. A node's network
 * adapter is a queue of ours: messages go out, and come in, one after the other, first come, first served, each for
 * `message` seconds and its bytes. So a message only carries when it is there. (With links of SimGrid's that messages share
 * for adapters, an iteration is 1 to 3 % shorter.) */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh.h"

struct machine {
    double bandwidth;       /* of memory, of one process */
    double cache;           /* bytes that a process keeps from one use of a vector to the next */
    double region, barrier; /* of OpenMP: a parallel region, a barrier inside one */
    double loop;            /* a parallel loop over a part of a buffer */
    double pack;            /* a node of the mesh into a buffer or out of it, by one thread */
    double message;         /* what the adapter needs for a message besides its bytes */
    double stripe;          /* the same, more, for a message that goes over several links */
    double link;            /* bytes a second of one link */
    double whole;           /* messages below this go over one link */
    double latency;         /* beyond the route's */
    double inside;          /* bytes a second from process to process of a node */
};

struct job {
    struct machine machine;
    double nodes, processes, threads, links, iterations, length;
    bool solver, allreduce5, threaded;
    int rank, ranks;
    struct mesh mesh;
    double blocks_inside, blocks_outside, gather, vectors; /* shares of the cache: 1, all fits */
    double computing, packing, exchange, allreduce;
};

/* Ranks share static variables. When each node's adapter is free again, out and in; and the division of the cube. */
static double *free_out, *free_in;
static int parts[3];
static struct {
    int through;
    double seconds, operations, part[4];
} all;

enum { COLOURS = 10, DOUBLES = 3 * (int)sizeof(double) };
/* Of the model's 656 bytes a node beside blocks: what the solver's parts move, and how much of it are vectors. */
enum { OF_SWEEPS = 216, OF_PRODUCT = 128, OF_DOT = 48, OF_DIRECTION = 72, OF_STEP = 144, VECTORS = 440, ALL = 656 };

static double value(int argc, char **argv, const char *key)
{
    size_t length = strlen(key);
    for (int k = 2; k < argc; k++)
        if (strncmp(argv[k], key, length) == 0 && argv[k][length] == '=')
            return strtod(argv[k] + length + 1, NULL);
    fprintf(stderr, "skeleton: %s=VALUE is missing\n", key);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 0;
}

static struct job read_job(int argc, char **argv)
{
    struct job job = {0};
#define KEY(name) value(argc, argv, #name)
    job.machine = (struct machine){KEY(bandwidth), KEY(cache),  KEY(region), KEY(barrier), KEY(loop),    KEY(pack),
                                   KEY(message),   KEY(stripe), KEY(link),   KEY(whole),   KEY(latency), KEY(inside)};
    job.nodes = KEY(nodes), job.processes = KEY(processes), job.threads = KEY(threads), job.links = KEY(links);
    job.iterations = KEY(iterations), job.length = KEY(length), job.threaded = KEY(threaded) != 0;
#undef KEY
    job.solver = strcmp(argv[1], "solver") == 0;
    job.allreduce5 = strcmp(argv[1], "allreduce5") == 0;
    return job;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* When a message that is sent now will be there, but for its route's latency. */
static double there(const struct job *job, int to, double bytes)
{
    const struct machine *machine = &job->machine;
    int processes = (int)job->processes, from_node = job->rank / processes, to_node = to / processes;
    double now = MPI_Wtime();
    if (to_node == from_node)
        return now + bytes / machine->inside;
    bool striped = job->links > 1 && bytes >= machine->whole;
    double busy =
        machine->message + (striped ? machine->stripe : 0) + bytes / (machine->link * (striped ? job->links : 1));
    double leaves = later(now, free_out[from_node]), comes = later(leaves, free_in[to_node]);
    free_out[from_node] = leaves + busy;
    free_in[to_node] = comes + busy;
    return comes + busy + machine->latency;
}

static void until(double time)
{
    double now = MPI_Wtime();
    if (time > now)
        smpi_execute_flops((time - now) * 1e9);
}

static void send_one(const struct job *job, int to)
{
    double ready = there(job, to, sizeof(double));
    MPI_Send(&ready, 1, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
}

static void receive_one(int from)
{
    double ready;
    MPI_Recv(&ready, 1, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    until(ready);
}

/* The platform's processors do 1 Gflop/s, so that a second is a billion. (smpi_execute would count by the speed of another
 * machine.) */
static void spend(double seconds, double *part)
{
    if (seconds > 0)
        smpi_execute_flops(seconds * 1e9);
    *part += seconds;
}

/* `streamed` bytes a node of matrix and vectors, `gathered` of them again for each colour unless they are still there. */
static void compute(struct job *job, double blocks, double streamed, double gathered, int regions, int barriers)
{
    const struct machine *machine = &job->machine;
    double owned = job->mesh.owned, kept = streamed * VECTORS / ALL * job->vectors;
    double bytes = 76 * blocks + owned * (streamed - kept + gathered * (1 - job->gather));
    bool threads = job->threads > 1;
    spend(bytes / machine->bandwidth + (threads ? regions * machine->region + barriers * machine->barrier : 0),
          &job->computing);
}

/* As MPI libraries do it for one number: recursive doubling. Sends of one number do not wait for their receivers. */
static void allreduce(struct job *job)
{
    double begun = MPI_Wtime();
    int whole = 1, rank = job->rank;
    while (whole * 2 <= job->ranks)
        whole *= 2;
    int rest = job->ranks - whole;
    bool paired = rank < 2 * rest, aside = paired && rank % 2 == 0;
    int place = aside ? -1 : paired ? rank / 2 : rank - rest;
    if (aside)
        send_one(job, rank + 1);
    else if (paired)
        receive_one(rank - 1);
    for (int far = 1; !aside && far < whole; far *= 2) {
        int other = place ^ far;
        other = other < rest ? 2 * other + 1 : other + rest;
        send_one(job, other);
        receive_one(other);
    }
    if (aside)
        receive_one(rank + 1);
    else if (paired)
        send_one(job, rank - 1);
    job->allreduce += MPI_Wtime() - begun;
}

/* Into the buffers or out of them, neighbour by neighbour: with threads, each is a region of its own. */
static void pack(struct job *job)
{
    const struct machine *machine = &job->machine;
    double nodes = job->mesh.total - job->mesh.owned;
    if (job->threaded && job->threads > 1)
        spend(job->mesh.neighbours * machine->loop + nodes * machine->pack / job->threads, &job->packing);
    else
        spend(nodes * machine->pack, &job->packing);
}

static void exchange(struct job *job)
{
    MPI_Request requests[2 * DIRECTIONS];
    double sent[DIRECTIONS], received[DIRECTIONS], last = 0;
    const struct mesh *mesh = &job->mesh;
    if (job->solver)
        pack(job);
    double begun = MPI_Wtime();
    for (int k = 0; k < mesh->neighbours; k++)
        MPI_Irecv(&received[k], 1, MPI_DOUBLE, mesh->neighbour[k].rank, 0, MPI_COMM_WORLD, &requests[k]);
    for (int k = 0; k < mesh->neighbours; k++) {
        const struct neighbour *neighbour = &mesh->neighbour[k];
        double nodes = job->solver ? neighbour->count : job->length * job->length;
        sent[k] = there(job, neighbour->rank, nodes * DOUBLES);
        MPI_Isend(&sent[k], 1, MPI_DOUBLE, neighbour->rank, 0, MPI_COMM_WORLD, &requests[mesh->neighbours + k]);
    }
    MPI_Waitall(2 * mesh->neighbours, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < mesh->neighbours; k++)
        last = later(last, received[k]);
    until(last);
    job->exchange += MPI_Wtime() - begun;
    if (job->solver)
        pack(job);
}

/* native/solver/cg.c, part by part. */
static void iterate(struct job *job)
{
    double inside = job->blocks_inside, outside = job->blocks_outside;
    double again =
        (COLOURS - 1) * DOUBLES; /* a sweep forward and one backward read half of the vector for each colour */
    compute(job, inside, OF_SWEEPS, again, 1, 2 * COLOURS - 1);
    compute(job, 0, OF_DOT, 0, 1, 0);
    allreduce(job);
    compute(job, 0, OF_DIRECTION, 0, 1, 0);
    exchange(job);
    compute(job, inside + outside, OF_PRODUCT, again, 1, 0);
    compute(job, 0, OF_DOT, 0, 1, 0);
    allreduce(job);
    compute(job, 0, OF_STEP, 0, 1, 0);
    allreduce(job);
}

static double fits(double cache, double bytes)
{
    return cache < bytes ? cache / bytes : 1;
}

static void settle(struct job *job)
{
    int64_t cube[3] = {(int64_t)job->nodes, (int64_t)job->nodes, (int64_t)job->nodes};
    if ((parts[0] == 0 && !mesh_divide(cube, job->ranks, parts)) || !mesh_create(&job->mesh, cube, parts, job->rank)) {
        fprintf(stderr, "skeleton: %lld nodes a side cannot be divided among %d processes\n", (long long)cube[0],
                job->ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const struct mesh *mesh = &job->mesh;
    double inside = 1, every = 1;
    for (int d = 0; d < 3; d++) {
        int beyond = (mesh->low[d] > 0) + (mesh->low[d] + mesh->size[d] < cube[d]);
        inside *= 3.0 * mesh->size[d] - 2;
        every *= 3.0 * mesh->size[d] - 2 + beyond;
    }
    job->blocks_inside = inside - mesh->owned;
    job->blocks_outside = every - inside;
    job->gather = fits(job->machine.cache, (double)mesh->total * DOUBLES);
    job->vectors = fits(job->machine.cache, (double)mesh->total * DOUBLES * 5);
    size_t nodes = (size_t)job->ranks / (size_t)job->processes + 1;
    if (free_out == NULL && (free_out = calloc(2 * nodes, sizeof *free_out)) != NULL)
        free_in = free_out + nodes;
    if (free_out == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct job job = read_job(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    settle(&job);
    double begun = MPI_Wtime(); /* nobody has said anything yet: the same everywhere */
    int calls = job.allreduce5 ? 5 * (int)job.iterations : (int)job.iterations;
    for (int k = 0; k < calls; k++)
        if (job.solver)
            iterate(&job);
        else if (job.allreduce5)
            allreduce(&job);
        else
            exchange(&job);
    all.seconds = later(all.seconds, (MPI_Wtime() - begun) / calls);
    all.operations += 36 * job.blocks_inside + 18 * job.blocks_outside + 90.0 * job.mesh.owned;
    const double part[] = {job.computing, job.packing, job.exchange, job.allreduce};
    for (int k = 0; k < 4; k++)
        all.part[k] += part[k] / job.ranks / calls;
    if (++all.through == job.ranks)
        printf("@ %.9g %.9g %.9g %.9g %.9g %.9g\n", all.seconds, all.operations, all.part[0], all.part[1], all.part[2],
               all.part[3]);
    mesh_free(&job.mesh);
    MPI_Finalize();
    return 0;
}
