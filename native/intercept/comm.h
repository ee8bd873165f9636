/* What is worth knowing about a communicator, found once and kept with it as an attribute.
 *
 * Profiles speak of shapes (how many ranks on how many nodes), of which a program has few, however many communicators it
 * makes. A communicator is looked at when it is made or first used, and forgotten when it is freed. */
#ifndef UNISONO_COMM_H
#define UNISONO_COMM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { SHAPES_MOST = 1024 };

struct shape {
    int size;
    int nodes; /* NOT_KNOWN: some rank was not there at MPI_Init, or they are too many in no order (members.h) */
    uint64_t created;
};

/* One communicator. */
struct group {
    int32_t shape; /* NOT_KNOWN: there were more than SHAPES_MOST */
    int rank;
    int size;
    int peers;       /* ranks that data goes to and comes from: `size`, or of an intercommunicator the remote group's */
    uint64_t serial; /* no other communicator of the run has the same; from 1 on */
    bool inter;
    bool is_world;   /* its ranks are those of the world, in their order */
    int out, in;     /* neighbours of a topology, those that are MPI_PROC_NULL too */
    uint64_t absent; /* bit i: neighbour i of a Cartesian topology is MPI_PROC_NULL */
};

struct comms {
    int rank;
    int ranks; /* of MPI_COMM_WORLD */
    int node;  /* this rank's, counted from 0 in order of their first ranks */
    int nodes;
    MPI_Comm own; /* a copy of the world for our own messages */
    struct shape shapes[SHAPES_MOST];
    int shape_count;
};
extern struct comms comms;

/* Collective, at MPI_Init; false on all ranks if one has no memory. */
bool comms_start(void);

/* Collective: whether all ranks say so. */
bool comms_agree(bool good);

/* Collective, at MPI_Finalize. */
void comms_end(void);

/* Valid until this communicator is freed, and for this thread's next call of comm_group at least. */
const struct group *comm_group(MPI_Comm comm);

/* A rank's number in MPI_COMM_WORLD (on an intercommunicator: of the remote group); NOT_KNOWN for one that was not
 * there at MPI_Init. */
int comm_world_rank(const struct group *group, MPI_Comm comm, int rank);

#endif
