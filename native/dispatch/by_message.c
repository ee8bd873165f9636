#include "by_message.h"

#include "node/posts.h"
#include "node/room.h"
#include "peers.h"

static MPI_Comm world = MPI_COMM_NULL;

/* Half of the tags behind those of slots. */
static int64_t half_of_tags(void)
{
    static int64_t half;
    const int least = 32767; /* that all have */
    int *most = NULL, found = 0;
    if (half > 0)
        return half;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found); /* other communicators do not have it */
    half = ((found ? *most : least) - FABRIC_TAGS_END - FABRIC_TAGS) / 2;
    return half;
}

void by_message_start(const struct coll_comm *comm)
{
    world = comm != NULL ? comm->comm : MPI_COMM_NULL;
}

int64_t by_message_number(void)
{
    const int64_t number = world != MPI_COMM_NULL ? room_number() : 0;
    return number <= half_of_tags() ? number : 0;
}

/* So many that who takes part in more communicators at the same time has no memory left for them. */
int by_message_tags(void)
{
    const int64_t enough = 1 << 21; /* UCX has 8 million in all */
    return half_of_tags() >= enough ? (int)(FABRIC_TAGS_END + FABRIC_TAGS + half_of_tags()) : -1;
}

int by_message_kept_tags(void)
{
    return (int)(by_message_tags() + half_of_tags() - KEPT_TAGS);
}

MPI_Comm by_message_world(void)
{
    return world;
}

static bool has_own(const struct coll_comm *posted)
{
    return posted->fabric.comm != MPI_COMM_SELF;
}

bool by_message_is_there(const struct coll_comm *posted)
{
    return has_own(posted) || world != MPI_COMM_NULL;
}

const int *by_message(const struct coll_comm *posted, struct fabric *fabric)
{
    *fabric = posted->fabric;
    if (has_own(posted))
        return NULL;
    fabric->comm = world;
    fabric->tags = FABRIC_TAGS_END + (int)posts_part(posted->posts, 0)->messages;
    return posted->peers->world;
}
