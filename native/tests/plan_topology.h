/* For tests of plans (../collectives/requests/plan.h): ranks that are on nodes by chance, and memory without MPI. */
#ifndef UNISONO_PLAN_TOPOLOGY_H
#define UNISONO_PLAN_TOPOLOGY_H

#include <stdlib.h>

#include "requests/plan.h"
#include "reserve.h"

enum { MOST = 24 };

void *reserve_get(size_t bytes)
{
    return calloc(1, bytes);
}

void reserve_put(void *memory)
{
    free(memory);
}

static struct topology topology;
static int node_of[MOST], local_of[MOST], first[MOST + 1], members[MOST];

/* Ranks dealt out to nodes by chance; every node has one at least. */
static inline void draw_topology(int ranks, int nodes)
{
    int count[MOST] = {0}, at = 0;
    for (int rank = 0; rank < ranks; rank++)
        node_of[rank] = rank < nodes ? rank : rand() % nodes;
    for (int node = 0; node < nodes; node++) {
        first[node] = at;
        for (int rank = 0; rank < ranks; rank++)
            if (node_of[rank] == node) {
                local_of[rank] = count[node]++;
                members[at++] = rank;
            }
    }
    first[nodes] = at;
    topology = (struct topology){
        .ranks = ranks, .nodes = nodes, .node_of = node_of, .local_of = local_of, .first = first, .members = members};
    topology.in_order = true;
    for (int i = 0; i < ranks; i++)
        topology.in_order = topology.in_order && members[i] == i;
    for (int node = 0; node < nodes; node++)
        topology.most = count[node] > topology.most ? count[node] : topology.most;
}

static inline struct topology seen_by(int rank)
{
    struct topology mine = topology;
    mine.rank = rank;
    mine.node = node_of[rank];
    mine.local = local_of[rank];
    mine.locals = first[mine.node + 1] - first[mine.node];
    return mine;
}

/* Ranks that follow one another, on nodes of chance. */
static inline void draw_in_order(int ranks, int nodes)
{
    draw_topology(ranks, nodes);
    for (int node = 0, rank = 0; node < nodes; node++)
        for (int local = 0; local < first[node + 1] - first[node]; local++, rank++) {
            node_of[rank] = node;
            local_of[rank] = local;
            members[rank] = rank;
        }
    topology.in_order = true;
}

#endif
