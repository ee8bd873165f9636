#include "posts.h"

#include <stdlib.h>
#include <string.h>

#include "../reserve.h"

enum { MPIS_SHIFT = 31, NUMBER_SHIFT = 32, RUN_MOST = 1 << 30 };

/* Of a rank: long enough for what programs combine or exchange in the background while latency counts. Longer messages are the MPI
 * library's, which copies them once. */
static const int64_t arena_usual = 128 << 10, arena_least = 4 << 10, all_most = 16 << 20;
enum { AT_ONCE = 4 }; /* of the longest, under way together */

static struct posts_rank *part_of(const struct posts *posts, int local)
{
    return (struct posts_rank *)(void *)segment_of(&posts->segment, local);
}

static int64_t arena_for(int ranks)
{
    int64_t arena = arena_usual;
    while (arena > arena_least && arena * ranks > room_share(all_most))
        arena /= 2;
    return arena;
}

/* This rank's own data, to which nobody else writes: else the first operations, by which the trial at the start judges
 * (dispatch/trial.h), would meet memory that no cache has. */
static void warm(const struct posts *posts)
{
    struct posts_rank *part = part_of(posts, posts->rank);
    memset(part + 1, 0, (size_t)posts->arena);
    for (int i = 0; i < POSTS; i++)
        memset(part->lines[i].payload, 0, POST_ROOM);
}

void posts_announce(struct coll_comm *comm)
{
    struct posts *posts = comm->posts = reserve_get(sizeof *posts);
    posts->arena = arena_for(comm->topology.locals);
    posts->rank = comm->topology.local;
    posts->ranks = comm->topology.locals;
}

static int64_t bytes_of(const struct posts *posts)
{
    return (int64_t)sizeof(struct posts_rank) + posts->arena;
}

bool posts_create(struct coll_comm *comm)
{
    posts_announce(comm);
    if (!segment_create(&comm->posts->segment, comm, bytes_of(comm->posts))) {
        posts_free(comm);
        return false;
    }
    comm->posts->complete = true;
    warm(comm->posts);
    return true;
}

/* With the next operation. */
static void come(struct posts *posts)
{
    struct posts_rank *first = part_of(posts, 0);
    const uint64_t mine = posts->begun + 1;
    uint64_t greatest = atomic_load_explicit(&first->first, memory_order_relaxed);
    warm(posts);
    atomic_store_explicit(&part_of(posts, posts->rank)->begun, posts->begun, memory_order_relaxed);
    while (greatest < mine && !atomic_compare_exchange_weak(&first->first, &greatest, mine))
        ;
    atomic_fetch_add(&first->present, 1);
}

bool posts_offer(struct coll_comm *comm, struct shared_place *place, int *file)
{
    struct posts *posts = comm->posts;
    if (!segment_offer(&posts->segment, comm, bytes_of(posts), place, file))
        return false;
    /* All before is the MPI library's. */
    atomic_store_explicit(&part_of(posts, 0)->word, UINT64_C(1) << MPIS_SHIFT | RUN_MOST, memory_order_relaxed);
    come(posts);
    return true;
}

bool posts_take(struct coll_comm *comm, const struct shared_place *place)
{
    if (!segment_take(&comm->posts->segment, comm, bytes_of(comm->posts), place))
        return false;
    come(comm->posts);
    return true;
}

bool posts_complete(const struct posts *posts)
{
    return posts->complete || (posts->segment.base != NULL && atomic_load(&part_of(posts, 0)->present) == posts->ranks);
}

void posts_free(struct coll_comm *comm)
{
    if (comm->posts == NULL)
        return;
    segment_free(&comm->posts->segment);
    reserve_put(comm->posts);
    comm->posts = NULL;
}

int64_t posts_given(enum collective collective, int64_t bytes, int ranks)
{
    bool to_each =
        collective == COLL_IALLTOALL || collective == COLL_ISCATTER || collective == COLL_IREDUCE_SCATTER_BLOCK;
    return to_each ? bytes * ranks : bytes;
}

bool posts_fit(const struct coll_comm *comm, enum collective collective, const struct shape *shape)
{
    return comm->posts != NULL && shape->bytes <= comm->posts->arena &&
           posts_given(collective, shape->bytes, comm->ranks) <= comm->posts->arena / AT_ONCE;
}

/* All ranks have finished the operations of ours below. */
static bool are_done(struct posts *posts, uint64_t below)
{
    uint64_t least = UINT64_MAX;
    if (posts->known >= below)
        return true;
    for (int i = 0; i < posts->ranks; i++) {
        uint64_t done = atomic_load_explicit(&part_of(posts, i)->done, memory_order_acquire);
        least = done < least ? done : least;
    }
    posts->known = least;
    return least >= below;
}

/* All ranks have begun so many operations. */
static bool have_begun(const struct posts *posts, uint64_t count)
{
    bool all = true;
    for (int i = 0; i < posts->ranks && all; i++)
        all = atomic_load_explicit(&part_of(posts, i)->begun, memory_order_acquire) >= count;
    return all;
}

/* Where data of so many bytes begins in the arenas: in one piece. */
static int64_t place_of(const struct posts *posts, int64_t bytes)
{
    const int64_t line = 64, rounded = (bytes + line - 1) / line * line, in = posts->at % posts->arena;
    return in + rounded > posts->arena ? posts->at - in + posts->arena : posts->at;
}

/* How many operations of ours all ranks must have finished before the next one, which ends there in the arenas, begins. */
static uint64_t needed(const struct posts *posts, int64_t end)
{
    uint64_t next = posts->ours, below = next >= POSTS ? next + 1 - POSTS : 0;
    while (below < next && posts->from[below % POSTS] < end - posts->arena)
        below++;
    return below;
}

/* Whether the operation with this number is ours, as a word tells that has it decided. */
static bool tells_ours(uint64_t word, uint32_t number)
{
    uint32_t last = (uint32_t)(word >> NUMBER_SHIFT), run = (uint32_t)word & ~(UINT32_C(1) << MPIS_SHIFT);
    bool is_mpis = word >> MPIS_SHIFT & 1;
    return !is_mpis || (int32_t)(number - (last - run)) < 0;
}

static uint64_t next_word(uint64_t word, uint32_t number, bool ours)
{
    uint32_t run = (uint32_t)word & ~(UINT32_C(1) << MPIS_SHIFT);
    bool was_mpis = word >> MPIS_SHIFT & 1;
    run = ours || !was_mpis ? 0 : run < RUN_MOST ? run + 1 : run;
    return (uint64_t)number << NUMBER_SHIFT | (uint64_t)!ours << MPIS_SHIFT | run;
}

/* Whether all ranks will look here for what the operation with this number is. */
static bool all_look(struct posts *posts, uint64_t number)
{
    if (!posts->complete && posts_complete(posts))
        posts->complete = number >= atomic_load(&part_of(posts, 0)->first);
    return posts->complete;
}

static bool decide(struct posts *posts, int64_t end, bool (*may_wait)(void *), void *with)
{
    _Atomic uint64_t *place = &part_of(posts, 0)->word;
    const uint32_t number = (uint32_t)posts->begun;
    uint64_t word = atomic_load_explicit(place, memory_order_acquire);
    while ((int32_t)((uint32_t)(word >> NUMBER_SHIFT) - number) < 0) {
        bool was_mpis = word >> MPIS_SHIFT & 1;
        bool ours = all_look(posts, posts->begun) && are_done(posts, needed(posts, end)) &&
                    (!was_mpis || have_begun(posts, posts->begun - 1));
        if (!ours && may_wait != NULL && may_wait(with))
            word = atomic_load_explicit(place, memory_order_acquire);
        else if (atomic_compare_exchange_weak_explicit(place, &word, next_word(word, number, ours),
                                                       memory_order_acq_rel, memory_order_acquire))
            return ours;
    }
    return tells_ours(word, number);
}

bool posts_decide(struct posts *posts, struct post *post, int64_t bytes, bool (*may_wait)(void *), void *with)
{
    const int64_t line = 64, at = place_of(posts, bytes);
    posts->begun++;
    if (posts->segment.base == NULL)
        return false;
    post->is_long = bytes > POST_ROOM;
    const int64_t end = post->is_long ? at + (bytes + line - 1) / line * line : posts->at;
    bool ours = decide(posts, end, may_wait, with);
    atomic_store_explicit(&part_of(posts, posts->rank)->begun, posts->begun, memory_order_release);
    if (!ours)
        return false;
    post->number = posts->ours++;
    post->at = at % posts->arena;
    posts->from[post->number % POSTS] = posts->at;
    posts->at = end;
    return true;
}

unsigned char *posts_data(const struct posts *posts, const struct post *post, int local)
{
    struct posts_rank *part = part_of(posts, local);
    return post->is_long ? (unsigned char *)(part + 1) + post->at : part->lines[post->number % POSTS].payload;
}

void posts_give(struct posts *posts, const struct post *post)
{
    struct post_line *line = &part_of(posts, posts->rank)->lines[post->number % POSTS];
    atomic_store_explicit(&line->count, post->number + 1, memory_order_release);
}

static void copy(void *to, const void *from, int64_t bytes)
{
    if (to != from)
        memcpy(to, from, (size_t)bytes);
}

static bool gives_nothing(const struct call *call, int rank)
{
    bool from_root = call->collective == COLL_IBCAST || call->collective == COLL_ISCATTER;
    bool to_root = call->collective == COLL_IGATHER;
    return call->collective == COLL_IBARRIER || (from_root && rank != call->root) || (to_root && rank == call->root);
}

/* Whose data this rank awaits. */
static void expect(struct post *post, int rank, int ranks)
{
    const struct call *call = &post->call;
    post->seen = 0, post->until = ranks;
    switch (call->collective) {
    case COLL_IBCAST:
    case COLL_ISCATTER: post->seen = call->root, post->until = rank == call->root ? call->root : call->root + 1; break;
    case COLL_IGATHER:
    case COLL_IREDUCE: post->until = rank == call->root ? ranks : 0; break;
    case COLL_ISCAN: post->until = rank + 1; break;
    case COLL_IEXSCAN: post->until = rank; break;
    default: break;
    }
}

/* One turn of waiting for room, where all ranks wait for the operation. */
struct waiting {
    struct coll_comm *comm;
    unsigned turn;
};

static bool wait_for_room(void *with)
{
    struct waiting *waiting = with;
    posts_move(waiting->comm);
    return wait_turn(waiting->comm, &waiting->turn);
}

bool posts_number(struct coll_comm *comm, struct post *post, bool blocks)
{
    struct waiting waiting = {.comm = comm};
    const int64_t given = posts_given(post->call.collective, post->call.bytes, comm->posts->ranks);
    return posts_decide(comm->posts, post, given, blocks ? wait_for_room : NULL, &waiting);
}

void posts_post(struct coll_comm *comm, struct post *post)
{
    struct posts *posts = comm->posts;
    const struct call *call = &post->call;
    const int rank = posts->rank;
    if (!gives_nothing(call, rank))
        memcpy(posts_data(posts, post, rank), call->send,
               (size_t)posts_given(call->collective, call->bytes, posts->ranks));
    posts_give(posts, post);
    if (rank == call->root && call->collective == COLL_IGATHER)
        copy((char *)call->receive + rank * call->bytes, call->send, call->bytes);
    if (rank == call->root && call->collective == COLL_ISCATTER && call->receive != NULL)
        copy(call->receive, (const char *)call->send + rank * call->bytes, call->bytes);
    expect(post, rank, posts->ranks);
    post->next = NULL;
    if (posts->first == NULL)
        posts->first = post;
    else
        posts->last->next = post;
    posts->last = post;
}

/* Of the ranks from 0 to below `until`, from `skip` bytes on in what each has given. */
static void combine(const struct posts *posts, const struct post *post, int until, int64_t skip)
{
    const struct call *call = &post->call;
    const unsigned char *first = posts_data(posts, post, 0) + skip;
    if (until == 1)
        memcpy(call->receive, first, (size_t)call->bytes);
    for (int i = 1; i < until; i++) {
        const unsigned char *next = posts_data(posts, post, i) + skip;
        call->reduction.combine(&call->reduction, i == 1 ? first : call->receive, next, call->receive, call->count);
    }
}

/* What all have given is there. */
static void take(const struct posts *posts, const struct post *post)
{
    const struct call *call = &post->call;
    const int rank = posts->rank;
    const int64_t bytes = call->bytes;
    char *receive = call->receive;
    switch (call->collective) {
    case COLL_IBCAST:
        if (rank != call->root)
            memcpy(receive, posts_data(posts, post, call->root), (size_t)bytes);
        break;
    case COLL_ISCATTER:
        if (rank != call->root)
            memcpy(receive, posts_data(posts, post, call->root) + rank * bytes, (size_t)bytes);
        break;
    case COLL_IGATHER:
        for (int i = 0; rank == call->root && i < posts->ranks; i++)
            if (i != rank)
                memcpy(receive + i * bytes, posts_data(posts, post, i), (size_t)bytes);
        break;
    case COLL_IALLGATHER:
        for (int i = 0; i < posts->ranks; i++)
            memcpy(receive + i * bytes, posts_data(posts, post, i), (size_t)bytes);
        break;
    case COLL_IALLTOALL:
        for (int i = 0; i < posts->ranks; i++)
            memcpy(receive + i * bytes, posts_data(posts, post, i) + rank * bytes, (size_t)bytes);
        break;
    case COLL_IREDUCE_SCATTER_BLOCK: combine(posts, post, posts->ranks, rank * bytes); break;
    case COLL_IREDUCE:
    case COLL_IALLREDUCE:
    case COLL_ISCAN:
    case COLL_IEXSCAN: combine(posts, post, post->until, 0); break;
    default: break;
    }
}

static bool is_ready(const struct posts *posts, struct post *post)
{
    while (post->seen < post->until &&
           atomic_load_explicit(&part_of(posts, post->seen)->lines[post->number % POSTS].count, memory_order_acquire) >
               post->number)
        post->seen++;
    return post->seen >= post->until;
}

/* The first under way is over. */
static void end_first(struct posts *posts, int error)
{
    struct post *post = posts->first;
    posts->first = post->next;
    atomic_store_explicit(&part_of(posts, posts->rank)->done, post->number + 1, memory_order_release);
    post->finish(post, error);
}

void posts_move(struct coll_comm *comm)
{
    struct posts *posts = comm->posts;
    while (posts->first != NULL && is_ready(posts, posts->first)) {
        take(posts, posts->first);
        end_first(posts, MPI_SUCCESS);
    }
}

void posts_fail(struct coll_comm *comm)
{
    while (comm->posts->first != NULL)
        end_first(comm->posts, wait_outcome(comm));
}

/* An operation that blocks, and how it ended. */
struct blocking {
    struct post post;
    bool is_over;
    int error;
};

static void note(struct post *post, int error)
{
    struct blocking *blocking = (struct blocking *)post;
    blocking->is_over = true;
    blocking->error = error;
}

int posts_run(struct coll_comm *comm, const struct call *call)
{
    struct blocking blocking = {.post = {.call = *call, .finish = note}};
    unsigned turn = 0;
    if (!posts_number(comm, &blocking.post, true))
        return wait_outcome(comm);
    posts_post(comm, &blocking.post);
    for (posts_move(comm); !blocking.is_over; posts_move(comm))
        if (!wait_turn(comm, &turn))
            posts_fail(comm);
    return blocking.error;
}
