/* What set-up and calls cost at a scale that cannot be launched here, found by calling the library's own code on one rank of a
 * world that is pretended (stub_world.h): comparisons of ranks, and memory as it is asked for.
 *
 *     at_scale NODES PPN          a line for each: what, bytes a rank, bytes a node; status 1: a bound does not hold
 *
 * Memory of the system is counted where it is taken: the linker puts these functions in the place of malloc() and mmap(). */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "collectives.h"
#include "members.h"
#include "node/cells.h"
#include "node/pairs.h"
#include "serve.h"
#include "comm_state.h"
#include "stub_world.h"

/* A rank that has a node to itself may take more in one call. */
static const int64_t rank_bound = INT64_C(64) << 20, alone_bound = INT64_C(288) << 20, node_bound = INT64_C(4) << 30;

static int nodes, ppn, ranks;
static int64_t now, most; /* bytes of this rank */
static struct coll_comm *world;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *memory);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_munmap(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *memory);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *memory, size_t bytes);

static void count(int64_t bytes)
{
    now += bytes;
    most = now > most ? now : most;
}

static void *counted(void *memory)
{
    count(memory == NULL ? 0 : (int64_t)malloc_usable_size(memory));
    return memory;
}

void *__wrap_malloc(size_t bytes)
{
    return counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t number, size_t bytes)
{
    return counted(__real_calloc(number, bytes));
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return counted(__real_aligned_alloc(alignment, bytes));
}

void __wrap_free(void *memory)
{
    count(memory == NULL ? 0 : -(int64_t)malloc_usable_size(memory));
    __real_free(memory);
}

/* Shared memory is counted apart, by what its ranks fill. */
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    void *memory = __real_mmap(at, bytes, protection, flags, file, offset);
    if (memory != MAP_FAILED && file < 0)
        count((int64_t)bytes);
    return memory;
}

int __wrap_munmap(void *memory, size_t bytes)
{
    count(world != NULL && world->node != NULL && memory == world->node->first.base ? 0 : -(int64_t)bytes);
    return __real_munmap(memory, bytes);
}

static void say(const char *what, int64_t rank, int64_t node)
{
    printf("%s\t%lld\t%lld\n", what, (long long)rank, (long long)node);
}

/* Comparisons are in proportion to the ranks, and what is found is right. */
static void check_members(const char *what, const int *numbers, int count, enum members expected)
{
    int *theirs = malloc((size_t)count * sizeof *theirs);
    MPI_Comm comm = stub_comm(numbers, count);
    MPI_Group group;
    PMPI_Comm_group(MPI_COMM_WORLD, &group);
    stub_comparisons = 0;
    enum members found = members_find(comm, group, ranks, count, theirs);
    const int64_t comparisons = stub_comparisons;
    bool right = found == expected;
    bool all_there = true;
    for (int i = 0; i < count && numbers != NULL; i++)
        all_there = all_there && numbers[i] >= 0;
    for (int i = 0; i < count && right && found >= MEMBERS_WORLD; i++)
        right = theirs[i] == (numbers != NULL ? numbers[i] : i);
    CHECK(right);
    CHECK(members_were_there(comm, group, count, theirs) == all_there);
#ifdef OPEN_MPI
    CHECK(comparisons <= (INT64_C(1) << 22) + 66 * ((int64_t)ranks + count));
    if (comparisons > 6 * ((int64_t)ranks + count) && expected >= MEMBERS_WORLD)
        fprintf(stderr, "%s: %lld comparisons\n", what, (long long)comparisons), failures++;
#endif
    (void)what, (void)comparisons;
    free(theirs);
}

static void check_set_up(void)
{
    int *numbers = malloc((size_t)ranks * sizeof *numbers), count = 0;
    check_members("a copy of the world", NULL, ranks, MEMBERS_WORLD);
    for (int node = 0; node < nodes; node++)
        numbers[count++] = node * ppn;
    check_members("one rank of each node", numbers, count, nodes == ranks ? MEMBERS_WORLD : MEMBERS_KNOWN);
    for (int rank = count = 0; rank < ranks; rank++)
        if (rank / 50 % 2 == 0)
            numbers[count++] = rank;
    check_members("every second fifty", numbers, count, MEMBERS_KNOWN);
    for (int rank = 0; rank < ranks; rank++)
        numbers[rank] = ranks - 1 - rank;
    check_members("backwards", numbers, ranks, MEMBERS_KNOWN);
    for (int rank = 0; rank < ranks; rank++) /* lanes: by place on the node, then by node */
        numbers[rank] = rank % nodes * ppn + rank / nodes;
    check_members("by lanes", numbers, ranks, nodes == ranks ? MEMBERS_WORLD : MEMBERS_KNOWN);
    for (int rank = 0; rank < ranks; rank++)
        numbers[rank] = rank;
    numbers[ranks - 1] = -1;
    check_members("one that joined later", numbers, ranks, MEMBERS_FOREIGN);
    unsigned seed = 1;
    numbers[ranks - 1] = ranks - 1;
    for (int rank = ranks - 1; rank > 0; rank--) {
        int other = (int)(rand_r(&seed) % (unsigned)(rank + 1)), kept = numbers[rank];
        numbers[rank] = numbers[other], numbers[other] = kept;
    }
#ifdef OPEN_MPI
    check_members("shuffled", numbers, ranks, MEMBERS_UNKNOWN);
#else
    check_members("shuffled", numbers, ranks, MEMBERS_KNOWN);
#endif
    numbers[ranks - 1] = -1; /* behind so many that nobody looks so far, unless it has to be known */
#ifdef OPEN_MPI
    check_members("shuffled, and one that joined later", numbers, ranks, MEMBERS_UNKNOWN);
#else
    check_members("shuffled, and one that joined later", numbers, ranks, MEMBERS_FOREIGN);
#endif
    free(numbers);
}

static void check_topology(const struct topology *topology)
{
    bool right = topology->nodes == nodes && topology->blocked && topology->most == ppn && topology->ranks == ranks;
    for (int rank = 0; rank < ranks && right; rank++)
        right = topology->node_of[rank] == rank / ppn && topology->local_of[rank] == rank % ppn;
    CHECK(right);
}

static void nothing(const struct reduction *reduction, const void *left, const void *right, void *result, int64_t count)
{
    (void)reduction, (void)left, (void)right, (void)result, (void)count;
}

/* As many bytes as an algorithm may take: what it says, a share of it where it goes in pieces, and what is in proportion to the ranks. */
static int64_t call_bound(const struct algorithm *algorithm, const struct shape *shape)
{
    const int64_t piece = INT64_C(16) << 20, segments = INT64_C(8) << 20, a_rank = 60;
    int64_t says = algorithm->scratch == NULL ? 0 : algorithm->scratch(world, shape);
    says += algorithm->collects == NULL ? 0 : SERVE_WINDOW;
    const bool in_pieces =
        collective_reduces(algorithm->collective) && !collective_is_nonblocking(algorithm->collective);
    return (says < piece || !in_pieces ? says : piece) + segments + a_rank * ranks;
}

/* Blocks of so many bytes for, or from, every rank; all of them are neighbours. */
struct arguments {
    int64_t *bytes, *at, *first; /* `first`: everybody gets the same */
    int *everybody;
    struct neighbours around;
};

static void arguments_set(const struct arguments *arguments, int64_t each)
{
    for (int rank = 0; rank < ranks; rank++)
        arguments->bytes[rank] = each, arguments->at[rank] = each * rank;
}

static struct arguments arguments_of_all(void)
{
    struct arguments arguments = {.bytes = calloc(3 * (size_t)ranks, sizeof(int64_t)),
                                  .everybody = calloc((size_t)ranks, sizeof(int))};
    arguments.at = arguments.bytes + ranks, arguments.first = arguments.at + ranks;
    for (int rank = 0; rank < ranks; rank++)
        arguments.everybody[rank] = rank;
    arguments.around = (struct neighbours){ranks, ranks, arguments.everybody, arguments.everybody};
    return arguments;
}

/* The longest blocks of an alltoallv that go at once: where an algorithm keeps what others send, dispatch cuts them
   (calls_alltoallv.c). */
static int64_t longest_block(const struct algorithm *algorithm)
{
    const struct shape unit = {.bytes = 1, .element = 1, .commutative = true};
    int64_t kept = algorithm->collects != NULL ? algorithm->collects(world, &unit) : 0;
    return kept == 0 ? INT64_MAX : SERVE_WINDOW / kept > SERVE_KEPT ? SERVE_WINDOW / kept : SERVE_KEPT;
}

/* Its size is `size`, of the vector or of a rank's block; false: too much to try. */
static bool call_of(enum collective collective, int64_t size, const struct arguments *arguments, struct call *call)
{
    const bool shares = collective == COLL_REDUCE_SCATTER || collective == COLL_IREDUCE_SCATTER;
    const bool whole = collective == COLL_BCAST || collective == COLL_REDUCE || collective == COLL_ALLREDUCE ||
                       collective_scans(collective) || shares;
    const int64_t each = whole ? size / ranks / 8 * 8 : size;
    const bool gathers = collective == COLL_NEIGHBOR_ALLGATHER || collective == COLL_NEIGHBOR_ALLGATHERV;
    if (!whole && size * ranks > (INT64_C(1) << 28))
        return false;
    arguments_set(arguments, each);
    call->collective = collective;
    call->around = &arguments->around;
    call->count = size / 8;
    call->bytes = collective_has_no_size(collective) ? 0 : shares ? each * ranks : size;
    call->own = each;
    call->reduction = (struct reduction){.element = 8, .commutative = true, .combine = nothing};
    call->send_bytes = call->receive_bytes = arguments->bytes;
    call->send_at = gathers ? arguments->first : arguments->at;
    call->receive_at = arguments->at;
    return true;
}

/* The most that a call takes, by messages alone: what lies in shared memory is counted apart. `types`: that of an alltoallw needs so
   much for its arguments. */
static int64_t call_most(int64_t types, const char **name)
{
    static const int64_t sizes[] = {8, 64, 1024, 64 << 10, 1 << 20, 64 << 20};
    const size_t room = (size_t)1 << 31;
    void *send = __real_mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *receive = __real_mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int64_t largest = 0;
    const struct arguments arguments = arguments_of_all();
    const struct node kept = *world->node;
    struct cells none_made = {.made = CELLS_NONE};
    world->node->shared = world->node->pull.works = false;
    world->node->cells = &none_made;
    world->node->second.base = NULL;
    world->node->pairs = NULL;
    world->node->pairs_refused = true;
    *name = "";
    for (int i = 0; algorithm_at(i) != NULL; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const struct algorithm *algorithm = algorithm_at(i);
            struct call call = {.send = send, .receive = receive};
            if (sizes[k] > longest_block(algorithm) || !call_of(algorithm->collective, sizes[k], &arguments, &call))
                continue;
            const struct shape shape = {.bytes = call.bytes, .element = 8, .commutative = true};
            if (!algorithm_applies(algorithm, world, &shape))
                continue;
            int64_t before = now;
            most = now;
            CHECK(algorithm_run(algorithm, world, &call, 0) == MPI_SUCCESS);
            if (most - before > call_bound(algorithm, &shape))
                fprintf(stderr, "%s of %lld bytes takes %lld and says %lld\n", algorithm->name, (long long)sizes[k],
                        (long long)(most - before), (long long)call_bound(algorithm, &shape)),
                    failures++;
            int64_t takes = most - before + (algorithm->collective == COLL_ALLTOALLW ? types : 0);
            if (takes > largest)
                largest = takes, *name = algorithm->name;
            coll_scratch_trim(world);
        }
    *world->node = kept;
    free(arguments.bytes);
    free(arguments.everybody);
    __real_munmap(send, room);
    __real_munmap(receive, room);
    return largest;
}

int main(int argc, char **argv)
{
    nodes = argc > 2 ? atoi(argv[1]) : 1000;
    ppn = argc > 2 ? atoi(argv[2]) : 128;
    ranks = nodes * ppn;
    stub_world(nodes, ppn);
    now = most = 0;
    CHECK(topology_start() == MPI_SUCCESS);
    int64_t start = now, total;
    say("where all ranks are", start, start * ppn);

    CHECK(coll_comm_create(MPI_COMM_WORLD, &world) == MPI_SUCCESS);
    if (world == NULL)
        return 1;
    int64_t first = now - start;
    say("MPI_COMM_WORLD", first, first * ppn);
    check_topology(&world->topology);

    struct coll_comm *copy;
    CHECK(coll_comm_create(stub_comm(NULL, 0), &copy) == MPI_SUCCESS);
    int64_t second = now - start - first;
    say("each copy of it", second, second * ppn);
    /* Not freed: that waits for the others of the node, of whom there are none. */
    CHECK(copy != NULL && copy->topology.node_of == world->topology.node_of);
    CHECK(ranks < 1000 || second < first / 4);

    struct comm_state state = {.ranks = ranks};
    int64_t before = now;
    CHECK(comm_state_vectors(&state) != NULL);
    int64_t vectors = now - before;
    say("arguments of allgatherv and alltoallv", vectors, vectors * ppn);
    before = now;
    CHECK(comm_state_layouts(&state) != NULL);
    int64_t types = now - before;
    say("types of alltoallw, amid a call", types, types * ppn);
    comm_state_layouts_done(&state);
    CHECK(ranks < 100000 || now == before);

    int64_t shared = 0;
    if (ppn > 1 && world->node->shared && cells_ready(world) && pairs_ready(world)) {
        shared = world->node->first.each + world->node->second.each + world->node->pairs->segment.each;
        say("shared memory, all that a communicator can have", shared, shared * ppn);
    } else if (ppn > 1) {
        fprintf(stderr, "no shared memory to try this with\n");
    }

    const char *name;
    int64_t call = call_most(types, &name);
    char text[128];
    snprintf(text, sizeof text, "the call that takes most (%s)", name);
    say(text, call, call * ppn);
    total = start + first + vectors + shared + call;
    say("all of it", total, total * ppn);
    CHECK(total <= (ppn > 1 ? rank_bound : alone_bound) && total * ppn <= node_bound);
    check_set_up();
    return verdict();
}
