/* Random calls through libunisono and through the MPI library underneath: the memory afterwards must be the same.
 *
 *     mpirun -n 3 -x LD_PRELOAD=.../libunisono.so differential SEED FIRST CASES [COLLECTIVE [IMPLEMENTATION]]
 *     ... differential SEED FIRST CASES threads:4      so many threads at once, each on communicators of its own
 *     ... differential SEED FIRST CASES unforced [threads:N | COLLECTIVE]      rules and costs say what serves: unforced.h
 *
 * Every case draws a communicator, one of its implementations, datatypes (other ones on each rank), counts and so on from
 * the seed and its own number, so that one case can be run again alone (on a communicator that comes and goes: with its
 * block, from the multiple of 256 before it; where nothing is forced, from the one before: what came before counts). On failure it is named with the seed, in words;
 * status 1. With UNISONO_SAY in the environment every call is named before it is made. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/unisono.h"
#include "between.h"
#include "calls.h"
#include "data.h"
#include "flight.h"
#include "later.h"
#include "layouts.h"
#include "lives.h"
#include "manners.h"
#include "unforced.h"

enum { SHAPES = 8, BLOCK = 256, IMPLEMENTATIONS = 64, FAILURES_MOST = 10, THREADS_MOST = 16, NUMBERS = 20000 };

static int world_rank, world_ranks;
static uint64_t seed;
static bool is_unforced;
static const char *only_collective, *only_implementation;
static int (*use)(MPI_Comm, const char *, const char *);
static int (*applies)(MPI_Comm, const char *, long long, int);
static int (*algorithm)(MPI_Comm, int, struct unisono_algorithm *);

static const char *const shape_names[SHAPES] = {"world",       "copy of world", "reversed",    "shuffled",
                                                "odd or even", "single",        "random part", "all but the last"};

/* What one thread needs; of one thread, the world is its own to use. */
struct runner {
    int number;
    uint64_t first, end;
    MPI_Comm shapes[SHAPES];
    struct between between; /* two parts of the world */
    struct lives *lives;    /* NULL: only one thread may make communicators */
    struct stretch stretch;
    struct tally tally;
    int failed;
};

/* Of one block of cases; MPI_COMM_NULL where this rank is not in it. */
static void make_shapes(MPI_Comm shapes[SHAPES], uint64_t block, bool alone)
{
    struct random random = random_of(seed, block, 77);
    uint64_t key = random_next(&random);
    struct random own = random_of(key, (uint64_t)world_rank, 1);
    int part = random_below(&own, 3) > 0, order = random_below(&own, 1000);
    if (alone)
        shapes[0] = MPI_COMM_WORLD;
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &shapes[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &shapes[1]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &shapes[4]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &shapes[2]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, order, &shapes[3]);
    MPI_Comm_dup(MPI_COMM_SELF, &shapes[5]);
    MPI_Comm_split(MPI_COMM_WORLD, part, world_rank, &shapes[6]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < world_ranks - 1 ? 0 : MPI_UNDEFINED, world_rank, &shapes[7]);
}

static void free_shapes(MPI_Comm shapes[SHAPES])
{
    for (int i = 0; i < SHAPES; i++)
        if (shapes[i] != MPI_COMM_NULL && shapes[i] != MPI_COMM_WORLD)
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

/* Its nonblocking form, by ours where that applies. */
static void draw_nonblocking(struct trial *trial)
{
    later_draw(trial, false);
    trial->by_library = trial->later && !later_is_ours(trial, use);
    if (!trial->by_library)
        flight_draw(trial);
}

/* A message that is under way while the collective waits. */
static void start_message(const struct trial *trial, int *in, const int *out, MPI_Request requests[2])
{
    int to = (trial->rank + 1) % trial->ranks, from = (trial->rank + trial->ranks - 1) % trial->ranks;
    MPI_Irecv(in, NUMBERS, MPI_INT, from, 5, trial->comm, &requests[0]);
    MPI_Isend(out, NUMBERS, MPI_INT, to, 5, trial->comm, &requests[1]);
}

static bool run(struct trial *trial, bool with_message)
{
    static _Thread_local int in[NUMBERS], out[NUMBERS];
    MPI_Request requests[2];
    if (with_message) {
        out[NUMBERS - 1] = trial->rank;
        start_message(trial, in, out, requests);
    }
    bool good = trial_run(trial);
    if (with_message) {
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        good = good && in[NUMBERS - 1] == (trial->rank + trial->ranks - 1) % trial->ranks;
    }
    return good;
}

static bool run_case(struct runner *runner, uint64_t number)
{
    struct trial trial = {.shared = random_of(seed, number, 0),
                          .own = random_of(seed, number, (uint64_t)world_rank + 1),
                          .bytes = -1,
                          .tally = &runner->tally,
                          .comms = runner->shapes,
                          .use = use,
                          .applies = applies};
    char word[96];
    int shape = random_below(&trial.shared, SHAPES);
    bool short_lived = random_one_in(&trial.shared, 6) && runner->lives != NULL,
         returns = random_one_in(&trial.shared, 4);
    bool mistaken = random_one_in(&trial.shared, 6) && returns;
    trial.which = random_below(&trial.shared, NAMES);
    for (int i = 0; only_collective != NULL && i < NAMES; i++)
        trial.which = strcmp(call_names[i], only_collective) == 0 ? i : trial.which;
    trial.most = random_one_in(&trial.shared, 40) ? 40000 : 600;
    trial.large = random_one_in(&trial.shared, 4);
    bool with_message = random_one_in(&trial.shared, 8);
    trial.comm = runner->shapes[shape];
    if (short_lived) /* before anybody leaves: it is collective */
        trial.comm = lives_draw(runner->lives, &trial.shared, world_rank, &runner->tally);
    if (trial.comm == MPI_COMM_NULL)
        return true;
    runner->tally.of[DRAWN_SHORT_LIVED] += short_lived;
    PMPI_Comm_rank(trial.comm, &trial.rank);
    PMPI_Comm_size(trial.comm, &trial.ranks);
    MPI_Comm topology = trial_topology(&trial);
    trial.comm = topology != MPI_COMM_NULL ? topology : trial.comm;
    draw_implementation(&trial, word);
    draw_nonblocking(&trial);
    bool taken = use(trial.comm, call_names[trial.which], word) == 0 || word[0] == '\0' || only_implementation != NULL;
    runner->tally.of[DRAWN_BY_OURS] += word[0] != '\0';
    if (returns)
        manners_draw(&trial);
    bool good = !mistaken || manners_mistake(&trial);
    good = run(&trial, with_message) && good && taken; /* in any case: the others are in it */
    if (returns)
        manners_restore(&trial);
    if (topology != MPI_COMM_NULL)
        PMPI_Comm_free(&topology);
    if (!good)
        fprintf(stderr, "WRONG: seed %llu case %llu: %s by %s, rank %d of %d (%s): %s%s%s%s%s\n",
                (unsigned long long)seed, (unsigned long long)number, call_names[trial.which],
                word[0] != '\0' ? word : "the rules", trial.rank, trial.ranks,
                short_lived ? "short-lived" : shape_names[shape], trial.words,
                with_message ? ", a message under way" : "", mistaken ? ", after a mistake" : "",
                trial.misaligned ? ", misaligned" : "",
                trial.persistent ? ", persistent"
                : trial.later    ? ", nonblocking"
                                 : "");
    return good;
}

/* Instead of unisono_applies: the question alone would make ready what is to be served later, or never. */
static int does_not_ask(MPI_Comm comm, const char *collective, long long bytes, int element)
{
    (void)comm, (void)collective, (void)bytes, (void)element;
    return 0;
}

/* Nothing is asked of libunisono before it serves, nor told. */
static bool run_unforced(struct runner *runner, uint64_t number)
{
    struct trial trial = {.shared = random_of(seed, number, 2),
                          .own = random_of(seed, number, (uint64_t)world_rank + 3),
                          .tally = &runner->tally,
                          .comms = runner->shapes,
                          .applies = does_not_ask,
                          .by_library = true};
    struct random shape;
    unforced_draw(&runner->stretch, &trial, &shape);
    if (trial.comm == MPI_COMM_NULL)
        return true;
    trial.large = random_one_in(&trial.shared, 4);
    const bool returns = random_one_in(&trial.shared, 8), mistaken = random_one_in(&trial.shared, 3) && returns;
    const bool with_message = random_one_in(&trial.shared, 12), later = random_one_in(&trial.shared, 4);
    const bool flies = runner->stretch.flies && !runner->stretch.is_long;
    if (later || flies)
        later_draw(&trial, flies);
    if (flies)
        flight_draw(&trial);
    if (returns)
        manners_draw(&trial);
    bool good = !mistaken || manners_mistake(&trial);
    trial.shared = shape;
    good = run(&trial, with_message) && good;
    if (returns)
        manners_restore(&trial);
    if (!good)
        fprintf(stderr, "WRONG: seed %llu case %llu, unforced: %s, rank %d of %d: %s%s%s%s%s\n",
                (unsigned long long)seed, (unsigned long long)number, call_names[trial.which], trial.rank, trial.ranks,
                trial.words, with_message ? ", a message under way" : "", mistaken ? ", after a mistake" : "",
                trial.misaligned ? ", misaligned" : "",
                trial.persistent ? ", persistent"
                : trial.later    ? ", nonblocking"
                                 : "");
    return good;
}

static void end_stretch(struct runner *runner)
{
    struct trial trial = {.tally = &runner->tally, .applies = runner->lives != NULL ? applies : does_not_ask};
    unforced_end(&runner->stretch, &trial);
}

static int only_which(void)
{
    int which = only_collective != NULL ? NAMES - 1 : -1;
    while (which >= 0 && strcmp(call_names[which], only_collective) != 0)
        which--;
    return which;
}

/* Before some cases. */
static bool run_between(struct runner *runner, uint64_t number)
{
    struct trial trial = {.shared = random_of(seed, number, 55),
                          .own = random_of(seed, number, (uint64_t)world_rank + 57),
                          .tally = &runner->tally};
    if (!random_one_in(&trial.shared, 16) || runner->between.comm == MPI_COMM_NULL)
        return true;
    const bool good = between_run(&runner->between, &trial);
    if (!good)
        fprintf(stderr, "WRONG: seed %llu case %llu, before it between two groups, rank %d of the world: %s\n",
                (unsigned long long)seed, (unsigned long long)number, world_rank, trial.words);
    return good;
}

/* The cases of one block that are this thread's. */
static void *run_block(void *argument)
{
    struct runner *runner = argument;
    for (uint64_t number = runner->first; number < runner->end; number++) {
        if (is_unforced && (number == runner->first || number % STRETCH == 0)) {
            struct random shared = random_of(seed, number, 99);
            end_stretch(runner);
            unforced_begin(&runner->stretch, number / STRETCH, &shared, only_which(), runner->shapes, SHAPES,
                           &runner->tally);
        }
        runner->failed += !run_between(runner, number);
        runner->failed += !(is_unforced ? run_unforced : run_case)(runner, number);
    }
    end_stretch(runner);
    return NULL;
}

/* The next block, dealt to the threads. How many were wrong on any rank. */
static int run_threads(struct runner *runners, int threads, uint64_t from, uint64_t to)
{
    pthread_t thread[THREADS_MOST];
    int failed = 0, failures = 0;
    for (int i = 0; i < threads; i++) {
        uint64_t length = to - from;
        runners[i].first = from + length * (uint64_t)i / (uint64_t)threads;
        runners[i].end = from + length * (uint64_t)(i + 1) / (uint64_t)threads;
        make_shapes(runners[i].shapes, from / BLOCK * THREADS_MOST + (uint64_t)i, threads == 1);
        struct random shared = random_of(seed, from, 56);
        runners[i].between = between_make(runners[i].shapes[1], &shared);
    }
    for (int i = 1; i < threads; i++)
        if (pthread_create(&thread[i], NULL, run_block, &runners[i]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 3);
    run_block(&runners[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    if (runners[0].lives != NULL)
        lives_end(runners[0].lives);
    for (int i = 0; i < threads; i++) {
        failed += runners[i].failed;
        free_shapes(runners[i].shapes);
        between_free(&runners[i].between);
    }
    PMPI_Allreduce(&failed, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return failures;
}

static int finish(struct runner *runners, int threads, uint64_t cases, int failures)
{
    for (int i = 1; i < threads; i++) {
        runners[i].tally.of[DRAWN_THREADED] = runners[i].tally.of[DRAWN_CALLS];
        tally_add(&runners[0].tally, &runners[i].tally);
    }
    if (world_rank == 0) {
        tally_print(&runners[0].tally);
        printf("%llu cases on %d ranks, %d wrong\n", (unsigned long long)cases, world_ranks, failures);
    }
    MPI_Finalize();
    return failures != 0;
}

#ifdef UNISONO_STATIC /* linked in: a program in C alone, whose requests are all completed by our functions */
extern _Atomic unsigned char dispatch_all_complete;
#else
static _Atomic unsigned char dispatch_all_complete;
#endif

int main(int argc, char **argv)
{
    static struct runner runners[THREADS_MOST];
    static struct lives lives;
    int failures = 0, threads = 1, level;
    is_unforced = argc > 4 && strcmp(argv[4], "unforced") == 0;
    const int next = 4 + is_unforced;
    if (argc > next && strncmp(argv[next], "threads:", 8) == 0)
        threads = atoi(argv[next] + 8);
    dispatch_all_complete = 1;
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    *(void **)&use = dlsym(RTLD_DEFAULT, "unisono_use");
    *(void **)&applies = dlsym(RTLD_DEFAULT, "unisono_applies");
    *(void **)&algorithm = dlsym(RTLD_DEFAULT, "unisono_algorithm");
    if (argc < 4 || use == NULL || algorithm == NULL || threads < 1 || threads > THREADS_MOST) {
        fprintf(
            stderr,
            "differential SEED FIRST CASES [unforced] [COLLECTIVE [IMPLEMENTATION]] or [threads:N], with libunisono.so "
            "preloaded\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    if (threads > 1 && level < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77; /* this MPI cannot */
    }
    if (threads >
        1) { /* Open MPI 4.1 makes topologies ready at the first one, which two threads at once do not survive */
        const int one = 1, none = 0;
        MPI_Comm grid;
        MPI_Cart_create(MPI_COMM_SELF, 1, &one, &none, 0, &grid);
        MPI_Comm_free(&grid);
    }
    seed = strtoull(argv[1], NULL, 10);
    uint64_t first = strtoull(argv[2], NULL, 10), end = first + strtoull(argv[3], NULL, 10), number = first;
    only_collective = argc > next && threads == 1 ? argv[next] : NULL;
    only_implementation = argc > next + 1 ? argv[next + 1] : NULL;
    if (!is_unforced)
        use(MPI_COMM_WORLD, "bcast", "");
    data_start();
    layouts_start();
    manners_start();
    lives_start(&lives);
    runners[0].lives = threads == 1 ? &lives : NULL;
    while (number < end && failures < FAILURES_MOST) {
        uint64_t to = number / BLOCK * BLOCK + BLOCK < end ? number / BLOCK * BLOCK + BLOCK : end;
        failures = run_threads(runners, threads, number, to);
        number = to;
    }
    manners_end();
    layouts_end();
    data_end();
    return finish(runners, threads, number - first, failures);
}
