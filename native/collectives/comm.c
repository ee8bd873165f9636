#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "failure.h"
#include "node/domains.h"
#include "node/node.h"
#include "peers.h"

struct scratch {
    void *memory[SCRATCHES];
    int64_t bytes[SCRATCHES];
    bool grown; /* since the last call */
};

/* Of all communicators of this process, so that large messages one after the other find it: as much as the pieces of a
   reduction take. More is given back after the call. */
static const int64_t kept_most = INT64_C(18) << 20;
static _Atomic int64_t kept;

/* From here on memory is the system's own: what is given back is gone at once, whatever malloc() would keep. */
static const int64_t own_pages_from = 128 << 10;

/* What is usual for cores of one socket and for a network of 100 Gbit/s, until something was measured. */
static const double usual_node_latency = 0.2e-6, usual_node_byte = 1 / 8e9;
static const double usual_fabric_latency = 2e-6, usual_fabric_byte = 1 / 10e9, usual_fabric_message = 0.2e-6;

static void give_back(struct scratch *scratch, int which)
{
    if (scratch->bytes[which] < own_pages_from)
        free(scratch->memory[which]);
    else
        munmap(scratch->memory[which], (size_t)scratch->bytes[which]);
    kept -= scratch->bytes[which];
    scratch->memory[which] = NULL;
    scratch->bytes[which] = 0;
}

static void *pages_of(int64_t bytes)
{
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

bool coll_scratch_would(int64_t bytes)
{
    void *memory = pages_of(bytes);
    return memory != NULL && munmap(memory, (size_t)bytes) == 0;
}

void *coll_scratch(struct coll_comm *comm, int which, int64_t bytes)
{
    struct scratch *scratch = comm->scratch;
    if (bytes <= scratch->bytes[which])
        return scratch->memory[which];
    int64_t page = sysconf(_SC_PAGESIZE), rounded = (bytes + page - 1) / page * page;
    give_back(scratch, which);
    void *memory = rounded < own_pages_from ? aligned_alloc((size_t)page, (size_t)rounded) : pages_of(rounded);
    if (memory == NULL)
        return NULL;
    scratch->memory[which] = memory;
    scratch->bytes[which] = rounded;
    scratch->grown = true;
    kept += rounded;
    return memory;
}

void coll_scratch_trim(struct coll_comm *comm)
{
    struct scratch *scratch = comm->scratch;
    if (__builtin_expect(!scratch->grown, true))
        return;
    scratch->grown = false;
    for (int i = 0; i < SCRATCHES && kept > kept_most; i++)
        give_back(scratch, i);
}

/* What needs no other rank: its memory. */
static struct coll_comm *allocate(void)
{
    struct coll_comm *comm = calloc(1, sizeof *comm);
    if (comm != NULL && (comm->scratch = calloc(1, sizeof *comm->scratch)) != NULL)
        return comm;
    free(comm);
    return NULL;
}

/* Whether every node with several ranks shares memory. */
static bool shares(const struct peers *peers, const struct coll_comm *comm)
{
#ifdef UNISONO_SIMULATED
    (void)peers, (void)comm;
    return true; /* or what there is instead */
#else
    return comm->topology.most == 1 || peers_have_lines(peers, comm->slot);
#endif
}

int coll_comm_join(struct peers **peers, MPI_Comm user, int64_t lived, struct coll_comm **made)
{
    struct coll_comm *comm = allocate();
    int slot, error = peers_join(peers, user, comm != NULL, lived, &slot);
    *made = NULL;
    if (error != MPI_SUCCESS || slot < 0) {
        if (comm != NULL)
            free(comm->scratch);
        free(comm);
        return error;
    }
    comm->peers = *peers;
    comm->peers->users++;
    comm->slot = slot;
    comm->comm = comm->peers->comm;
    comm->topology = comm->peers->topology;
    comm->crowded = comm->peers->crowded;
    comm->rank = comm->topology.rank;
    comm->ranks = comm->topology.ranks;
    comm->fabric = (struct fabric){.comm = comm->comm,
                                   .failure = comm->peers->failure,
                                   .tags = slot * FABRIC_TAGS,
                                   .survives = failure_tolerated()};
    comm->served = shares(comm->peers, comm);
    comm->costs.node_latency = usual_node_latency;
    comm->costs.node_byte = usual_node_byte;
    comm->costs.fabric_latency = usual_fabric_latency;
    comm->costs.fabric_byte = usual_fabric_byte;
    comm->costs.fabric_message = usual_fabric_message;
    node_create(comm, comm->peers, slot);
    *made = comm;
    return MPI_SUCCESS;
}

int coll_comm_create(MPI_Comm user, struct coll_comm **made)
{
    struct peers *peers = peers_find(user);
    *made = NULL;
    if (peers == NULL)
        return MPI_ERR_NO_MEM;
    int error = coll_comm_join(&peers, user, PEERS_NOW, made);
    peers_leave(peers);
    return error;
}

void coll_comm_free(struct coll_comm *comm)
{
    if (comm == NULL)
        return;
    domains_free(comm);
    peers_give(comm->peers, comm->slot, comm->node->step, comm->node->known);
    node_free(comm);
    peers_leave(comm->peers);
    for (int i = 0; i < SCRATCHES; i++)
        give_back(comm->scratch, i);
    free(comm->scratch);
    free(comm->rounds);
    free(comm);
}
