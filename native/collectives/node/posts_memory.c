/* The memory of nonblocking collectives, and which operations are ours. */
#include "posts.h"

#include <string.h>

#include "../reserve.h"
#include "given.h"

enum { MPIS_SHIFT = 31, NUMBER_SHIFT = 32, RUN_MOST = 1 << 30 };

/* Of a rank: long enough for what programs combine or exchange in the background while latency counts. Longer messages are the MPI
 * library's, which copies them once. */
static const int64_t arena_usual = 128 << 10, arena_least = 4 << 10, all_most = 16 << 20;
enum { AT_ONCE = 4 }; /* of the longest, under way together */

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
    struct posts_rank *part = posts_part(posts, posts->rank);
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
    comm->posts->complete = comm->posts->has_come = true;
    warm(comm->posts);
    return true;
}

/* With the next operation. */
void posts_come(struct posts *posts)
{
    struct posts_rank *first = posts_part(posts, 0);
    const uint64_t mine = posts->begun + 1;
    uint64_t greatest = atomic_load_explicit(&first->first, memory_order_relaxed);
    atomic_store_explicit(&posts_part(posts, posts->rank)->begun, posts->begun, memory_order_relaxed);
    while (greatest < mine && !atomic_compare_exchange_weak(&first->first, &greatest, mine))
        ;
    atomic_fetch_add(&first->present, 1);
    posts->has_come = true;
}

bool posts_offer(struct coll_comm *comm, int64_t messages, struct shared_place *place, int *file)
{
    struct posts *posts = comm->posts;
    if (!segment_offer(&posts->segment, comm, bytes_of(posts), place, file))
        return false;
    /* All before is the MPI library's. */
    atomic_store_explicit(&posts_part(posts, 0)->word, UINT64_C(1) << MPIS_SHIFT | RUN_MOST, memory_order_relaxed);
    posts_part(posts, 0)->messages = messages;
    return true;
}

bool posts_take(struct coll_comm *comm, const struct shared_place *place)
{
    if (!segment_take(&comm->posts->segment, comm, bytes_of(comm->posts), place))
        return false;
    posts_come(comm->posts);
    return true;
}

bool posts_complete(const struct posts *posts)
{
    return posts->complete ||
           (posts->segment.base != NULL && atomic_load(&posts_part(posts, 0)->present) == posts->ranks);
}

void posts_free(struct coll_comm *comm)
{
    if (comm->posts == NULL)
        return;
    segment_free(&comm->posts->segment);
    reserve_put(comm->posts);
    comm->posts = NULL;
}

int64_t posts_piece(const struct coll_comm *comm, const struct call *call)
{
    const int64_t line = 64, room = comm->posts->arena / AT_ONCE / 2;
    if (collective_is_near_later(call->collective))
        return given_room(call, room);
    return room / (call->collective == COLL_IGATHERV ? 1 : comm->ranks) / line * line;
}

bool posts_hold(const struct coll_comm *comm, const struct call *call)
{
    const int64_t arena = comm->posts->arena;
    return call->bytes <= arena && call->piece <= arena && given_bytes(call, comm->ranks) <= arena / AT_ONCE;
}

bool posts_fit(const struct coll_comm *comm, enum collective collective, const struct shape *shape)
{
    /* Of an iallgatherv on average: posts_hold() knows the longest block. */
    const struct call call = {.collective = collective, .bytes = shape->bytes, .piece = shape->bytes};
    if (comm->posts == NULL)
        return false;
    return collective_has_no_size(collective) ? posts_piece(comm, &call) > 0 : posts_hold(comm, &call);
}

/* All ranks have finished the operations of ours below. */
static bool are_done(struct posts *posts, uint64_t below)
{
    uint64_t least = UINT64_MAX;
    if (posts->known >= below)
        return true;
    for (int i = 0; i < posts->ranks; i++) {
        uint64_t done = atomic_load_explicit(&posts_part(posts, i)->done, memory_order_acquire);
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
        all = atomic_load_explicit(&posts_part(posts, i)->begun, memory_order_acquire) >= count;
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
        posts->complete = number >= atomic_load(&posts_part(posts, 0)->first);
    return posts->complete;
}

static bool decide(struct posts *posts, const struct post *post, int64_t end, bool (*may_wait)(void *), void *with)
{
    _Atomic uint64_t *place = &posts_part(posts, 0)->word;
    const uint32_t number = (uint32_t)posts->begun;
    uint64_t word = atomic_load_explicit(place, memory_order_acquire);
    while ((int32_t)((uint32_t)(word >> NUMBER_SHIFT) - number) < 0) {
        bool was_mpis = word >> MPIS_SHIFT & 1;
        bool ours = !post->is_mpis && all_look(posts, posts->begun) && are_done(posts, needed(posts, end)) &&
                    (!was_mpis || have_begun(posts, posts->begun - 1));
        if (!ours && !post->is_mpis && may_wait != NULL && may_wait(with))
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
    if (!posts->has_come)
        return false;
    post->is_long = bytes > POST_ROOM;
    const int64_t end = post->is_long ? at + (bytes + line - 1) / line * line : posts->at;
    bool ours = decide(posts, post, end, may_wait, with);
    atomic_store_explicit(&posts_part(posts, posts->rank)->begun, posts->begun, memory_order_release);
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
    struct posts_rank *part = posts_part(posts, local);
    return post->is_long ? (unsigned char *)(part + 1) + post->at : posts_line(posts, post, local)->payload;
}

struct post_line *posts_line(const struct posts *posts, const struct post *post, int local)
{
    return &posts_part(posts, local)->lines[post->number % POSTS];
}

void posts_give(struct posts *posts, const struct post *post)
{
    struct post_line *line = posts_line(posts, post, posts->rank);
    atomic_store_explicit(&line->count, post->number + 1, memory_order_release);
}
