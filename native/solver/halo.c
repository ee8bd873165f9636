#include "halo.h"

#include <stdlib.h>

#include "patience.h"

bool halo_create(struct halo *halo, const struct mesh *mesh, const struct order *order, bool threaded, MPI_Comm comm)
{
    int32_t count = 0;
    for (int k = 0; k < mesh->neighbours; k++)
        count += mesh->neighbour[k].sent_count;
    *halo = (struct halo){.mesh = mesh, .count = count, .threaded = threaded, .comm = comm};
    halo->sent = malloc(((size_t)count + 1) * sizeof *halo->sent);
    halo->buffer = malloc((3 * (size_t)count + 1) * sizeof *halo->buffer);
    if (halo->sent == NULL || halo->buffer == NULL)
        return false;
    for (int32_t i = 0; i < count; i++)
        halo->sent[i] = order->number[mesh->sent[i]];
    return true;
}

void halo_free(struct halo *halo)
{
    free(halo->sent);
    free(halo->buffer);
    *halo = (struct halo){0};
}

static void pack(const struct halo *halo, const double *vector, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++)
        for (int k = 0; k < 3; k++)
            halo->buffer[3 * (int64_t)i + k] = vector[3 * (int64_t)halo->sent[i] + k];
}

/* Neighbour by neighbour, as the document's program: with threads each of them is a loop of its own. */
static void pack_all(const struct halo *halo, const double *vector)
{
    const struct mesh *mesh = halo->mesh;
    if (!halo->threaded) {
        pack(halo, vector, 0, halo->count);
        return;
    }
    for (int k = 0; k < mesh->neighbours; k++) {
        const struct neighbour *neighbour = &mesh->neighbour[k];
#pragma omp parallel for schedule(static)
        for (int32_t i = neighbour->sent_first; i < neighbour->sent_first + neighbour->sent_count; i++)
            pack(halo, vector, i, i + 1);
    }
}

void halo_exchange(struct halo *halo, double *vector)
{
    const struct mesh *mesh = halo->mesh;
    MPI_Request requests[2 * DIRECTIONS];
    double begun = MPI_Wtime();
    for (int k = 0; k < mesh->neighbours; k++) {
        const struct neighbour *neighbour = &mesh->neighbour[k];
        MPI_Irecv(vector + 3 * (int64_t)neighbour->first, 3 * neighbour->count, MPI_DOUBLE, neighbour->rank, 0,
                  halo->comm, &requests[k]);
    }
    double packing = MPI_Wtime();
    pack_all(halo, vector);
    double packed = MPI_Wtime();
    for (int k = 0; k < mesh->neighbours; k++) {
        const struct neighbour *neighbour = &mesh->neighbour[k];
        MPI_Isend(halo->buffer + 3 * (int64_t)neighbour->sent_first, 3 * neighbour->sent_count, MPI_DOUBLE,
                  neighbour->rank, 0, halo->comm, &requests[mesh->neighbours + k]);
    }
    patience_wait(2 * mesh->neighbours, requests);
    halo->pack_seconds += packed - packing;
    halo->exchange_seconds += MPI_Wtime() - packed + (packing - begun);
}
