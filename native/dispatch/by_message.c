#include "by_message.h"

#include "node/posts.h"
#include "node/room.h"
#include "peers.h"

static MPI_Comm world = MPI_COMM_NULL;
static int64_t numbers; /* as many tags */

void by_message_start(const struct coll_comm *comm)
{
    const int least = 32767; /* that all have */
    int *most = NULL, found = 0;
    world = comm != NULL ? comm->comm : MPI_COMM_NULL;
    if (world == MPI_COMM_NULL)
        return;
    PMPI_Comm_get_attr(world, MPI_TAG_UB, &most, &found);
    numbers = (found ? *most : least) - FABRIC_TAGS_END - FABRIC_TAGS;
}

int64_t by_message_number(void)
{
    const int64_t number = world != MPI_COMM_NULL ? room_number() : 0;
    return number <= numbers ? number : 0;
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
