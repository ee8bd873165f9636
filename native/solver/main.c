/* unisono-solver: see options.c for its command line, cg.h for the method. */
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bandwidth.h"
#include "memory.h"
#include "patience.h"
#include "report.h"

static MPI_Comm comm;
static int rank, ranks;

/* Ends the whole program with status 2 and one line from the first rank that has a problem. Collective. */
static void stop_if_any(const struct problem *problem)
{
    int first = problem_any(problem) ? rank : ranks, lowest;
    MPI_Allreduce(&first, &lowest, 1, MPI_INT, MPI_MIN, comm);
    if (lowest == ranks)
        return;
    if (rank == lowest)
        fprintf(stderr, "unisono-solver: %s\n", problem->text);
    MPI_Finalize();
    exit(2);
}

static void stop_if(bool is_bad, const char *sentence)
{
    struct problem problem = {""};
    if (is_bad)
        problem_set(&problem, "%s", sentence);
    stop_if_any(&problem);
}

static void check_parts(struct options *options)
{
    struct problem problem = {""};
    const int64_t *nodes = options->nodes;
    int *parts = options->parts;
    if (parts[0] == 0 && !mesh_divide(nodes, ranks, parts))
        problem_set(&problem, "%lld x %lld x %lld nodes cannot be cut into %d boxes: use fewer processes or more nodes",
                    (long long)nodes[0], (long long)nodes[1], (long long)nodes[2], ranks);
    else if ((int64_t)parts[0] * parts[1] * parts[2] != ranks)
        problem_set(&problem, "--parts %dx%dx%d: that is %lld boxes, there are %d processes", parts[0], parts[1],
                    parts[2], (long long)parts[0] * parts[1] * parts[2], ranks);
    for (int d = 0; d < 3; d++)
        if (parts[d] > nodes[d])
            problem_set(&problem, "--parts %dx%dx%d: more boxes than nodes in direction %c", parts[0], parts[1],
                        parts[2], 'x' + d);
    stop_if_any(&problem);
}

/* The orderings give every thread its share, so there have to be as many as asked for. */
static void check_threads(int threads)
{
    struct problem problem = {""};
    int given = 0;
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
#pragma omp parallel
#pragma omp master
    given = omp_get_num_threads();
    if (given != threads)
        problem_set(&problem, "OpenMP gives %d of %d threads: raise OMP_THREAD_LIMIT or ask for fewer", given, threads);
    stop_if_any(&problem);
}

/* The node's processes together against the node's memory, before anything large is allocated. Bytes a process may take
 * besides. */
static double check_memory(const struct mesh *mesh, int *locals)
{
    const double little = 16 << 20; /* is always there */
    MPI_Comm node;
    struct problem problem = {""};
    double own = (double)matrix_bytes(mesh), needed, available = (double)memory_available(), least;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, locals);
    MPI_Allreduce(&own, &needed, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Allreduce(&available, &least, 1, MPI_DOUBLE, MPI_MIN, node);
    MPI_Comm_free(&node);
    if (needed > fmax(least, little))
        problem_set(&problem,
                    "this takes %.1f GB on a node that has %.1f GB left: use fewer nodes of the mesh, or more of the "
                    "cluster",
                    needed / 1e9, least / 1e9);
    stop_if_any(&problem);
    return fmax(least - needed, little) / *locals;
}

/* Uniform tension: u = stress / young * (-poisson x, -poisson y, z), which linear elements can express exactly. */
static double error_of(const struct system *system, const struct options *options, const double *x)
{
    const struct mesh *mesh = system->mesh;
    double worst[2] = {0, 0}, all[2];
    for (int32_t i = 0; i < mesh->owned; i++) {
        int32_t place[3];
        mesh_place(mesh, system->order->node[i], place);
        for (int d = 0; d < 3; d++) {
            double at = (double)(mesh->low[d] + place[d]) * options->stress / options->young;
            double exact = d < 2 ? -options->poisson * at : at;
            worst[0] = fmax(worst[0], fabs(x[3 * (int64_t)i + d] - exact));
            worst[1] = fmax(worst[1], fabs(exact));
        }
    }
    MPI_Allreduce(worst, all, 2, MPI_DOUBLE, MPI_MAX, comm);
    return all[1] > 0 ? all[0] / all[1] : all[0];
}

static int solve(struct options *options)
{
    struct mesh mesh;
    struct order order;
    struct matrix matrix = {0};
    struct halo halo;
    struct result result = {.threads = options->threads > 0 ? options->threads : omp_get_max_threads()};
    struct system system = {&mesh, &order, &matrix, NULL, &halo, comm, NULL, 0};
    const struct material material = {options->young, options->poisson};
    int locals;
    check_threads(result.threads);
    patience_learn(comm, result.threads);
    stop_if(!choose_is_possible(&options->wish),
            "--kernels: a processor does not have what is asked for; give auto, or portable");
    check_parts(options);
    stop_if(!mesh_create(&mesh, options->nodes, options->parts, rank),
            "a process has too many nodes: use more processes");
    double spare = check_memory(&mesh, &locals);
    const double wanted = 256e6 / locals, triad = options->bandwidth ? fmin(wanted, spare / 6) : 0;
    struct bandwidth bandwidth;
    bandwidth_create(&bandwidth, comm, result.threads, triad);
    result.bandwidth[0] = bandwidth_best(&bandwidth);
    system.beside = options->beside > 0 && bandwidth.count > 0 ? &bandwidth : NULL;
    system.every = options->beside;
    if (system.beside == NULL)
        bandwidth_free(&bandwidth);
    MPI_Barrier(comm);
    double begun = MPI_Wtime();
    bool good = order_create(&order, &mesh, options->ordering, options->colours, result.threads, options->contiguous) &&
                matrix_create(&matrix, &mesh, &order, &material, options->first_touch) &&
                halo_create(&halo, &mesh, &order, options->threaded_packing, comm);
    double *load = good ? vector_create(&system, options->first_touch) : NULL;
    double *x = good ? vector_create(&system, options->first_touch) : NULL;
    double *history = calloc((size_t)options->limit, sizeof *history);
    stop_if(load == NULL || x == NULL || history == NULL, "no memory");
    matrix_load(&mesh, &order, options->stress, load);
    result.setup_seconds = MPI_Wtime() - begun;
    result.history = history;
    choose_kernels(&system, &options->wish, options->first_touch, &result.choice);
    system.kernels = &result.choice.kernels;
    result.outcome = cg_solve(&system, load, x, options->tolerance, options->limit, options->first_touch, history);
    stop_if(result.outcome.end == CG_NO_MEMORY, "no memory");
    result.error = error_of(&system, options, x);
    if (system.beside == NULL)
        bandwidth_create(&bandwidth, comm, result.threads, triad);
    result.bandwidth[1] = bandwidth_best(&bandwidth);
    bandwidth_free(&bandwidth);
    report_print(options, &system, &result);
    free(result.outcome.block);
    free(load), free(x), free(history);
    halo_free(&halo);
    matrix_free(&matrix);
    order_free(&order);
    mesh_free(&mesh);
    return result.outcome.end == CG_CONVERGED ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct options options;
    struct problem problem = {""};
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    options_read(&options, argc, argv, &problem);
    stop_if_any(&problem);
    int status = 0;
    if (!options.help)
        status = solve(&options);
    else if (rank == 0)
        fputs(options_help, stdout);
    MPI_Finalize();
    return status;
}
