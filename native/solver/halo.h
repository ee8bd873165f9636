/* Values of external nodes from those who own them: Isend, Irecv, Waitall with up to 26 neighbours. */
#ifndef UNISONO_SOLVER_HALO_H
#define UNISONO_SOLVER_HALO_H

#include <mpi.h>
#include <stdbool.h>

#include "mesh.h"
#include "order.h"

struct halo {
    const struct mesh *mesh;
    int32_t *sent;  /* numbers of the ordering */
    double *buffer; /* 3 a node */
    int32_t count;  /* nodes sent */
    bool threaded;  /* packed by all threads; by one is quicker when messages are short (Nakajima 2009, 4.2) */
    MPI_Comm comm;
    double pack_seconds, exchange_seconds;
};

bool halo_create(struct halo *halo, const struct mesh *mesh, const struct order *order, bool threaded, MPI_Comm comm);
void halo_free(struct halo *halo);

/* `vector`: 3 values a node, external nodes at the end. */
void halo_exchange(struct halo *halo, double *vector);

#endif
