#include "segment.h"

#include <sys/mman.h>
#include <unistd.h>

#include "../failure.h"
#include "room.h"

static int peer(const struct coll_comm *comm, int local)
{
    return topology_rank(&comm->topology, comm->topology.node, local);
}

/* A message of another rank of the node, unless it has left or is gone. */
static bool hear(const struct coll_comm *comm, void *data, int64_t bytes, int local)
{
    MPI_Request request;
    int error = fabric_start_receive(&comm->fabric, data, bytes, peer(comm, local), FABRIC_SETUP, &request);
    const MPI_Request message = request;
    if (error == MPI_SUCCESS)
        error = fabric_await(&comm->fabric, &request);
    fabric_forget(&comm->fabric, message);
    if (request != MPI_REQUEST_NULL) {
        PMPI_Cancel(&request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return error == MPI_SUCCESS;
}

/* What local 0 says, told to all. False: messages fail. */
static bool tell(const struct coll_comm *comm, void *data, int64_t bytes)
{
    bool good = true;
    if (comm->topology.local != 0)
        return hear(comm, data, bytes, 0);
    for (int local = 1; local < comm->topology.locals; local++)
        good = fabric_send(&comm->fabric, data, bytes, peer(comm, local), FABRIC_SETUP) == MPI_SUCCESS && good;
    return good;
}

bool segment_agree(const struct coll_comm *comm, bool good)
{
    char all = good, theirs;
    if (comm->topology.local != 0)
        fabric_send(&comm->fabric, &all, 1, peer(comm, 0), FABRIC_SETUP);
    else
        for (int local = 1; local < comm->topology.locals; local++) {
            all = hear(comm, &theirs, 1, local) && theirs && all;
        }
    return tell(comm, &all, 1) && all;
}

/* This rank's part of the file and the whole in its memory. */
static bool take(struct segment *segment, const struct coll_comm *comm, int file)
{
    size_t each = (size_t)segment->each;
    if (file < 0 || !room_spares(segment->bytes) ||
        shared_memory_fill(file, each * (size_t)comm->topology.local, each) != 0)
        return false;
    segment->base = shared_memory_map(file, (size_t)segment->bytes);
    return segment->base != NULL &&
           failure_shared(segment->failure, segment->base, segment->each, comm->topology.locals, comm->topology.local);
}

/* Maps all of it now: else the first messages through every place, by which the trial at the start judges, would take as long
 * as the faults. Every part has its pages by now, in memory near its rank. What the system does not do is no mistake. */
static void populate(const struct segment *segment)
{
    const int64_t most = INT64_C(64) << 20;
#ifdef MADV_POPULATE_WRITE
    const int advice = MADV_POPULATE_WRITE;
#else
    const int advice = 23; /* of Linux 5.14, where the C library's headers are older */
#endif
    if (segment->bytes <= most)
        madvise(segment->base, (size_t)segment->bytes, advice);
}

/* Its size; false: nobody would hear of it any more. */
static bool plan(struct segment *segment, const struct coll_comm *comm, int64_t each)
{
    struct failure *failure = comm->fabric.failure;
    *segment = (struct segment){0};
    if (failure_known(failure))
        return false;
    int64_t page = sysconf(_SC_PAGESIZE), rounded = (each + failure_room(failure) + page - 1) / page * page;
    *segment = (struct segment){.each = rounded, .bytes = rounded * comm->topology.locals, .failure = failure};
    return true;
}

/* By local 0: the file, or an empty place. */
static int make(struct segment *segment, struct shared_place *place)
{
    if (!room_take(segment->bytes))
        return -1;
    segment->taken = segment->bytes;
    return shared_memory_make(place, room_named());
}

bool segment_offer(struct segment *segment, struct coll_comm *comm, int64_t each, struct shared_place *place, int *file)
{
    *place = (struct shared_place){0};
    *file = -1;
    if (!plan(segment, comm, each))
        return false;
    *file = make(segment, place);
    if (take(segment, comm, *file))
        return true;
    shared_memory_unname(place);
    if (*file >= 0)
        close(*file);
    *file = -1;
    *place = (struct shared_place){0};
    segment_free(segment);
    return false;
}

bool segment_take(struct segment *segment, struct coll_comm *comm, int64_t each, const struct shared_place *place)
{
    if (!plan(segment, comm, each))
        return false;
    int file = shared_memory_join(place);
    bool good = take(segment, comm, file);
    if (file >= 0)
        close(file);
    if (!good)
        segment_free(segment);
    return good;
}

bool segment_create(struct segment *segment, struct coll_comm *comm, int64_t each)
{
    struct shared_place place = {0};
    int file = -1;
    if (!plan(segment, comm, each))
        return false;
    if (comm->topology.local == 0)
        file = make(segment, &place);
    bool good = tell(comm, &place, sizeof place);
    if (good && place.path[0] == '\0') { /* which all have heard */
        segment_free(segment);
        return false;
    }
    if (comm->topology.local != 0 && good)
        file = shared_memory_join(&place);
    good = take(segment, comm, file) && good;
    good = segment_agree(comm, good);
    if (comm->topology.local == 0)
        shared_memory_unname(&place);
    if (file >= 0)
        close(file);
    if (good)
        populate(segment);
    else
        segment_free(segment);
    return good;
}

void segment_free(struct segment *segment)
{
    if (segment->base != NULL) {
        failure_unshared(segment->failure, segment->base);
        munmap(segment->base, (size_t)segment->bytes);
    }
    if (segment->taken > 0)
        room_give(segment->taken);
    *segment = (struct segment){0};
}
