#include "by_message.h"

#include "node/posts.h"
#include "node/room.h"
#include "peers.h"

static MPI_Comm world = MPI_COMM_NULL;
static int64_t numbers; /* as many tags; as many more behind them are for schedules */

void by_message_start(const struct coll_comm *comm)
{
    const int least = 32767; /* that all have */
    int *most = NULL, found = 0;
    world = comm != NULL ? comm->comm : MPI_COMM_NULL;
    if (world == MPI_COMM_NULL)
        return;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found); /* MPI puts it there alone */
    numbers = ((found ? *most : least) - FABRIC_TAGS_END - FABRIC_TAGS) / 2;
}

int64_t by_message_number(void)
{
    const int64_t number = world != MPI_COMM_NULL ? room_number() : 0;
    return number <= numbers ? number : 0;
}

/* Whoever takes part in more communicators than that at the same time has no memory left for them. */
bool by_message_routes(MPI_Comm *comm, int *tags, int *many)
{
    const int64_t enough = 1 << 20;
    *comm = world;
    *tags = (int)(FABRIC_TAGS_END + FABRIC_TAGS + numbers);
    *many = (int)(numbers / SCHEDULES);
    return world != MPI_COMM_NULL && *many >= enough;
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
