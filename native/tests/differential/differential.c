/* Random calls through libunisono and through the MPI library underneath: the memory afterwards must be the same.
 *
 *     mpirun -n 3 -x LD_PRELOAD=.../libunisono.so differential SEED FIRST CASES [COLLECTIVE [IMPLEMENTATION]]
 *
 * Every case draws a communicator, one of its implementations, datatypes (other ones on each rank), counts and so on from
 * the seed and its own number, so that one case can be run again alone. On failure it is named with the seed, in words;
 * status 1. With UNISONO_SAY in the environment every call is named before it is made. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../intercept/unisono.h"
#include "calls.h"
#include "data.h"

enum { SHAPES = 8, BLOCK = 256, IMPLEMENTATIONS = 64, FAILURES_MOST = 10 };

static int world_rank, world_ranks;
static uint64_t seed;
static const char *only_collective, *only_implementation;
static int (*use)(MPI_Comm, const char *, const char *);
static int (*algorithm)(MPI_Comm, int, struct unisono_algorithm *);

static const char *const shape_names[SHAPES] = {"world",     "copy of world", "odd or even", "reversed",
                                                "shuffled",  "single",        "random part", "all but the last"};

/* Of one block of cases; MPI_COMM_NULL where this rank is not in it. */
static void make_shapes(MPI_Comm shapes[SHAPES], uint64_t block)
{
    struct random random = random_of(seed, block, 77);
    uint64_t key = random_next(&random);
    struct random own = random_of(key, (uint64_t)world_rank, 1);
    int part = random_below(&own, 3) > 0, order = random_below(&own, 1000);
    shapes[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &shapes[1]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &shapes[2]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &shapes[3]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, order, &shapes[4]);
    MPI_Comm_dup(MPI_COMM_SELF, &shapes[5]);
    MPI_Comm_split(MPI_COMM_WORLD, part, world_rank, &shapes[6]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < world_ranks - 1 ? 0 : MPI_UNDEFINED, world_rank, &shapes[7]);
}

static void free_shapes(MPI_Comm shapes[SHAPES])
{
    for (int i = 1; i < SHAPES; i++)
        if (shapes[i] != MPI_COMM_NULL)
            MPI_Comm_free(&shapes[i]);
}

/* One of ours, with a segment sometimes; "" where none applies, which the library serves by itself then. */
static void draw_implementation(struct trial *trial, char word[96])
{
    struct unisono_algorithm all[IMPLEMENTATIONS], one;
    int count = 0;
    word[0] = '\0';
    for (int i = 0; algorithm(trial->comm, i, &one) == 0; i++)
        if (one.applies && strcmp(one.collective, call_names[trial->which]) == 0 && count < IMPLEMENTATIONS)
            all[count++] = one;
    int drawn = random_below(&trial->shared, 1 << 20), segment = 8 << random_below(&trial->shared, 14);
    int says_segment = random_one_in(&trial->shared, 2);
    if (only_implementation != NULL)
        snprintf(word, 96, "%s", only_implementation);
    else if (count > 0 && says_segment && all[drawn % count].segment > 0)
        snprintf(word, 96, "unisono/%s:%d", all[drawn % count].name, segment);
    else if (count > 0)
        snprintf(word, 96, "unisono/%s", all[drawn % count].name);
}

/* A message that is under way while the collective waits. */
static void start_message(const struct trial *trial, int *in, const int *out, MPI_Request requests[2])
{
    int to = (trial->rank + 1) % trial->ranks, from = (trial->rank + trial->ranks - 1) % trial->ranks;
    MPI_Irecv(in, 20000, MPI_INT, from, 5, trial->comm, &requests[0]);
    MPI_Isend(out, 20000, MPI_INT, to, 5, trial->comm, &requests[1]);
}

static bool run(struct trial *trial, bool with_message)
{
    static int in[20000], out[20000];
    MPI_Request requests[2];
    if (with_message) {
        out[19999] = trial->rank;
        start_message(trial, in, out, requests);
    }
    bool good = trial_run(trial);
    if (with_message) {
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        good = good && in[19999] == (trial->rank + trial->ranks - 1) % trial->ranks;
    }
    return good;
}

static bool run_case(const MPI_Comm shapes[SHAPES], uint64_t number)
{
    struct trial trial = {.shared = random_of(seed, number, 0), .own = random_of(seed, number, (uint64_t)world_rank + 1)};
    char word[96];
    int shape = random_below(&trial.shared, SHAPES);
    trial.which = random_below(&trial.shared, NAMES);
    for (int i = 0; only_collective != NULL && i < NAMES; i++)
        trial.which = strcmp(call_names[i], only_collective) == 0 ? i : trial.which;
    trial.most = random_one_in(&trial.shared, 40) ? 40000 : 600;
    trial.large = random_one_in(&trial.shared, 4);
    bool with_message = random_one_in(&trial.shared, 8);
    trial.comm = shapes[shape];
    if (trial.comm == MPI_COMM_NULL)
        return true;
    PMPI_Comm_rank(trial.comm, &trial.rank);
    PMPI_Comm_size(trial.comm, &trial.ranks);
    draw_implementation(&trial, word);
    use(trial.comm, call_names[trial.which], word);
    bool good = run(&trial, with_message);
    if (!good)
        fprintf(stderr, "WRONG: seed %llu case %llu: %s by %s, rank %d of %d (%s): %s%s\n", (unsigned long long)seed,
                (unsigned long long)number, call_names[trial.which], word[0] != '\0' ? word : "the rules", trial.rank,
                trial.ranks, shape_names[shape], trial.words, with_message ? ", a message under way" : "");
    return good;
}

int main(int argc, char **argv)
{
    MPI_Comm shapes[SHAPES];
    int failed = 0, failures = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    *(void **)&use = dlsym(RTLD_DEFAULT, "unisono_use");
    *(void **)&algorithm = dlsym(RTLD_DEFAULT, "unisono_algorithm");
    if (argc < 4 || use == NULL || algorithm == NULL) {
        fprintf(stderr, "differential SEED FIRST CASES [COLLECTIVE [IMPLEMENTATION]], with libunisono.so preloaded\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    seed = strtoull(argv[1], NULL, 10);
    uint64_t first = strtoull(argv[2], NULL, 10), end = first + strtoull(argv[3], NULL, 10), number;
    only_collective = argc > 4 ? argv[4] : NULL;
    only_implementation = argc > 5 ? argv[5] : NULL;
    use(MPI_COMM_WORLD, "bcast", "");
    data_start();
    for (number = first; number < end && failures < FAILURES_MOST; number++) {
        if (number == first || number % BLOCK == 0) {
            if (number > first)
                free_shapes(shapes);
            make_shapes(shapes, number / BLOCK);
        }
        failed += !run_case(shapes, number);
        if (number % BLOCK == BLOCK - 1 || number + 1 == end)
            PMPI_Allreduce(&failed, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    free_shapes(shapes);
    data_end();
    if (world_rank == 0)
        printf("%llu cases on %d ranks, %d wrong\n", (unsigned long long)(number - first), world_ranks, failures);
    MPI_Finalize();
    return failures != 0;
}
