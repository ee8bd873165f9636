/* Operations from their begin to their end. */
#include "posts.h"

#include "given.h"

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
    const int64_t given = given_bytes(&post->call, comm->posts->ranks);
    return posts_decide(comm->posts, post, given, blocks ? wait_for_room : NULL, &waiting);
}

void posts_post(struct coll_comm *comm, struct post *post)
{
    struct posts *posts = comm->posts;
    const struct call *call = &post->call;
    const int rank = posts->rank;
    struct post_line *line = posts_line(posts, post, rank);
    line->is_here = post->is_long && collective_is_near_later(call->collective) && given_own(call) <= POST_ROOM;
    given_put(call, rank, posts->ranks, line->is_here ? line->payload : posts_data(posts, post, rank));
    posts_give(posts, post);
    given_to_self(call, rank);
    given_expected(call, rank, posts->ranks, &post->seen, &post->until);
    post->next = NULL;
    if (posts->first == NULL)
        posts->first = post;
    else
        posts->last->next = post;
    posts->last = post;
}

/* Whether this rank has given what belongs to the operation; nobody has. */
static bool has_given(const struct posts *posts, const struct post *post, int rank)
{
    return rank < 0 || atomic_load_explicit(&posts_line(posts, post, rank)->count, memory_order_acquire) > post->number;
}

static bool is_ready(const struct posts *posts, struct post *post)
{
    while (post->seen < post->until && has_given(posts, post, given_giver(&post->call, post->seen)))
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

/* What is long for some may be short for others, and in the line at which this rank has looked. */
static void take_near(const struct posts *posts, const struct post *post)
{
    const struct neighbours *around = post->call.around;
    for (int i = 0; i < around->sources; i++) {
        const int source = around->source[i];
        if (source < 0)
            continue;
        const struct post_line *line = posts_line(posts, post, source);
        given_take_from(&post->call, posts->rank, i, line->is_here ? line->payload : posts_data(posts, post, source));
    }
}

static void take(const struct posts *posts, const struct post *post)
{
    if (collective_is_near_later(post->call.collective))
        take_near(posts, post);
    else
        given_take(&post->call, posts->rank, posts->ranks, posts_data(posts, post, 0), posts->segment.each);
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
