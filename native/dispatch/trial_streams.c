#include "trial_streams.h"

#include <math.h>
#include <stdlib.h>

#include "node/allgather.h"
#include "node/cells.h"
#include "node/copy.h"
#include "node/node.h"

enum { TURNS = 4, LINE = 64 };

/* Of one call, whose data this rank has just written, as a program does. */
static double seconds_of(struct coll_comm *world, char *send, char *receive, int64_t block, int turn)
{
    for (int64_t at = 0; at < block; at += LINE)
        send[at] = (char)turn;
    node_barrier(world);
    const double start = PMPI_Wtime();
    node_allgather(world, send, receive, block, NULL, NULL);
    return PMPI_Wtime() - start;
}

enum trial_streams trial_streams(struct coll_comm *world)
{
    const int64_t all = copy_streams_between(world->ranks), block = all / (world->ranks + 1) / LINE * LINE;
    char *send = malloc((size_t)block), *receive = malloc((size_t)(block * world->ranks));
    int good = block > 0 && send != NULL && receive != NULL && world->node->shared, everywhere = 0;
    double least[2] = {HUGE_VAL, HUGE_VAL}, slowest[2] = {0};
    if (PMPI_Allreduce(&good, &everywhere, 1, MPI_INT, MPI_MIN, world->comm) != MPI_SUCCESS)
        everywhere = 0;
    for (int turn = 0; turn < 2 * TURNS && everywhere; turn++) {
        copy_stream_from(turn % 2 ? all : INT64_MAX);
        const double seconds = seconds_of(world, send, receive, block, turn);
        if (turn > 1) /* the first of each also gets its pages */
            least[turn % 2] = fmin(least[turn % 2], seconds);
    }
    copy_stream_from(0);
    free(send);
    free(receive);
    if (!everywhere || PMPI_Allreduce(least, slowest, 2, MPI_DOUBLE, MPI_MAX, world->comm) != MPI_SUCCESS)
        return STREAMS_UNKNOWN;
    return slowest[1] < slowest[0] ? STREAMS_EARLY : STREAMS_LATE;
}
