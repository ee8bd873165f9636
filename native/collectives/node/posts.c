/* What operations give and take. */
#include "posts.h"

#include <string.h>

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
           atomic_load_explicit(&posts_part(posts, post->seen)->lines[post->number % POSTS].count,
                                memory_order_acquire) > post->number)
        post->seen++;
    return post->seen >= post->until;
}

/* The first under way is over. */
static void end_first(struct posts *posts, int error)
{
    struct post *post = posts->first;
    posts->first = post->next;
    atomic_store_explicit(&posts_part(posts, posts->rank)->done, post->number + 1, memory_order_release);
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
