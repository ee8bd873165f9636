/* Boxes, halos and orderings of the solver, for cubes of many shapes: no MPI is running. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mesh.h"
#include "order.h"

/* Where a local node is in the whole cube; external ones by looking through all places around the box. */
static int64_t place_of(const struct mesh *mesh, int32_t node)
{
    for (int32_t z = -1; z <= mesh->size[2]; z++)
        for (int32_t y = -1; y <= mesh->size[1]; y++)
            for (int32_t x = -1; x <= mesh->size[0]; x++)
                if (mesh_node(mesh, x, y, z) == node)
                    return ((mesh->low[2] + z) * mesh->nodes[1] + mesh->low[1] + y) * mesh->nodes[0] + mesh->low[0] + x;
    return -1;
}

/* What a process sends a neighbour is, node by node, what the neighbour has as external nodes of it. */
static void check_halo(const struct mesh *meshes, int ranks)
{
    for (int rank = 0; rank < ranks; rank++)
        for (int k = 0; k < meshes[rank].neighbours; k++) {
            const struct neighbour *there = &meshes[rank].neighbour[k];
            const struct mesh *other = &meshes[there->rank];
            const struct neighbour *back = NULL;
            for (int i = 0; i < other->neighbours; i++)
                if (other->neighbour[i].rank == rank)
                    back = &other->neighbour[i];
            CHECK(back != NULL && back->count == there->sent_count);
            for (int32_t i = 0; back != NULL && i < back->count; i++)
                CHECK(place_of(&meshes[rank], meshes[rank].sent[there->sent_first + i]) ==
                      place_of(other, back->first + i));
        }
}

static void check_order(const struct mesh *mesh, enum ordering ordering, int threads, int contiguous)
{
    struct order order;
    CHECK(order_create(&order, mesh, ordering, 4, threads, contiguous != 0));
    char *seen = calloc((size_t)mesh->owned, 1);
    int32_t covered = 0;
    for (int32_t i = 0; i < mesh->owned; i++) {
        int32_t adjacent[26];
        int degree = mesh_adjacent(mesh, i, adjacent);
        for (int k = 0; k < degree; k++)
            CHECK(order.colour[adjacent[k]] != order.colour[i]);
        CHECK(order.number[i] >= 0 && order.number[i] < mesh->owned && order.node[order.number[i]] == i);
        CHECK(order.colour[i] >= 0 && order.colour[i] < order.colours);
    }
    for (int colour = 0; colour < order.colours; colour++)
        for (int thread = 0; thread < threads; thread++)
            for (int32_t i = order.first[colour * threads + thread]; i < order.last[colour * threads + thread]; i++) {
                CHECK(order.colour[order.node[i]] == colour && !seen[i]);
                seen[i] = 1;
                covered++;
            }
    CHECK(covered == mesh->owned);
    if (contiguous)
        for (int thread = 0; thread < threads; thread++)
            for (int colour = 1; colour < order.colours; colour++)
                CHECK(order.first[colour * threads + thread] == order.last[(colour - 1) * threads + thread]);
    free(seen);
    order_free(&order);
}

/* Every thread's runs are its numbers, each once, level after level; a wave takes neighbours in the order of colours. */
static void check_walk(const struct mesh *mesh, enum ordering ordering, int threads)
{
    struct order order;
    CHECK(order_create(&order, mesh, ordering, 10, threads, true));
    int64_t *time = calloc((size_t)mesh->owned, sizeof *time);
    int32_t covered = 0;
    for (int thread = 0; thread < threads; thread++)
        for (int k = order.runs[thread]; k < order.runs[thread + 1]; k++) {
            const struct run *run = &order.run[k];
            const int at = run->colour * threads + thread;
            CHECK(run->from < run->to && run->from >= order.first[at] && run->to <= order.last[at]);
            CHECK(k == order.runs[thread] || run[-1].level <= run->level);
            for (int32_t i = run->from; i < run->to; i++)
                CHECK(time[i]++ == 0 && order.level[order.node[i]] == run->level);
            covered += run->to - run->from;
        }
    CHECK(covered == mesh->owned && (order.wave != NULL) == (threads == 1));
    for (int k = 0; order.wave != NULL && k < order.runs[1]; k++)
        for (int32_t i = order.wave[k].from; i < order.wave[k].to; i++)
            time[i] = k;
    for (int32_t i = 0; order.wave != NULL && i < mesh->owned; i++) {
        int32_t adjacent[26];
        for (int k = mesh_adjacent(mesh, i, adjacent) - 1; k >= 0; k--)
            CHECK((order.colour[adjacent[k]] < order.colour[i]) ==
                  (time[order.number[adjacent[k]]] < time[order.number[i]]));
    }
    free(time);
    order_free(&order);
}

/* Natural order as colours is natural order: of two adjacent nodes the one with the lower number comes first. */
static void check_natural(const struct mesh *mesh)
{
    struct order order;
    CHECK(order_create(&order, mesh, ORDER_NATURAL, 0, 1, true));
    for (int32_t i = 0; i < mesh->owned; i++) {
        int32_t adjacent[26];
        int degree = mesh_adjacent(mesh, i, adjacent);
        for (int k = 0; k < degree; k++)
            CHECK((adjacent[k] < i) == (order.colour[adjacent[k]] < order.colour[i]));
    }
    order_free(&order);
}

static void check_cube(int64_t x, int64_t y, int64_t z, int ranks)
{
    const int64_t nodes[3] = {x, y, z};
    struct mesh meshes[27];
    int parts[3];
    int64_t owned = 0;
    CHECK(mesh_divide(nodes, ranks, parts));
    for (int rank = 0; rank < ranks; rank++) {
        CHECK(mesh_create(&meshes[rank], nodes, parts, rank));
        owned += meshes[rank].owned;
        for (int32_t i = 0; i < meshes[rank].total; i++)
            CHECK(place_of(&meshes[rank], i) >= 0);
    }
    CHECK(owned == x * y * z);
    check_halo(meshes, ranks);
    for (int ordering = 0; ordering < ORDERINGS; ordering++)
        for (int threads = 1; threads <= 5; threads += 2) {
            check_order(&meshes[0], (enum ordering)ordering, threads, 0);
            check_order(&meshes[0], (enum ordering)ordering, threads, 1);
            check_walk(&meshes[0], (enum ordering)ordering, threads);
        }
    check_natural(&meshes[0]);
    for (int rank = 0; rank < ranks; rank++)
        mesh_free(&meshes[rank]);
}

/* 7 (N - 1) + 1 levels on a cube, and 10 colours that differ by little (CM-RCM). */
static void check_levels(void)
{
    const int64_t nodes[3] = {12, 12, 12};
    const int parts[3] = {1, 1, 1};
    struct mesh mesh;
    struct order order;
    CHECK(mesh_create(&mesh, nodes, parts, 0));
    CHECK(order_create(&order, &mesh, ORDER_CMRCM, 10, 1, true));
    CHECK(order.levels == 7 * 11 + 1 && order.colours == 10);
    order_free(&order);
    CHECK(order_create(&order, &mesh, ORDER_CMRCM, 2, 1, true));
    CHECK(order.colours == 8); /* raised: neighbours lie up to 7 levels apart */
    order_free(&order);
    mesh_free(&mesh);
}

int main(void)
{
    const int64_t two[3] = {2, 2, 2};
    int parts[3];
    check_cube(2, 2, 2, 8);
    check_cube(5, 4, 3, 1);
    check_cube(7, 2, 2, 2);
    check_cube(2, 9, 3, 3);
    check_cube(6, 6, 6, 27);
    check_cube(5, 7, 9, 12);
    check_cube(1, 8, 8, 4);
    check_levels();
    CHECK(!mesh_divide(two, 3, parts));
    return verdict();
}
