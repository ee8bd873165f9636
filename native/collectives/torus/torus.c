#include "torus.h"

#include <stdlib.h>
#include <string.h>

int torus_places(const struct torus *torus)
{
    int places = 1;
    for (int d = 0; d < torus->dimensions; d++)
        places *= torus->extent[d];
    return places;
}

void torus_at(const struct torus *torus, int place, int at[TORUS_MOST])
{
    for (int d = 0; d < torus->dimensions; d++) {
        at[d] = place % torus->extent[d];
        place /= torus->extent[d];
    }
}

int torus_place(const struct torus *torus, const int at[TORUS_MOST])
{
    int place = 0;
    for (int d = torus->dimensions - 1; d >= 0; d--)
        place = place * torus->extent[d] + at[d];
    return place;
}

int torus_add(const struct torus *torus, int place, int offset, int sign)
{
    int at[TORUS_MOST], by[TORUS_MOST];
    torus_at(torus, place, at);
    torus_at(torus, offset, by);
    for (int d = 0; d < torus->dimensions; d++)
        at[d] = (at[d] + (sign > 0 ? by[d] : torus->extent[d] - by[d])) % torus->extent[d];
    return torus_place(torus, at);
}

int torus_step(const struct torus *torus, int place, int dimension, int sign)
{
    int at[TORUS_MOST] = {0};
    torus_at(torus, place, at);
    at[dimension] = (at[dimension] + (sign > 0 ? 1 : torus->extent[dimension] - 1)) % torus->extent[dimension];
    return torus_place(torus, at);
}

int torus_distance(const struct torus *torus, int offset, int dimension)
{
    int at[TORUS_MOST] = {0}, extent = torus->extent[dimension];
    torus_at(torus, offset, at);
    return torus->wraps[dimension] && at[dimension] > extent / 2 ? at[dimension] - extent : at[dimension];
}

int torus_hops(const struct torus *torus, int offset)
{
    int hops = 0;
    for (int d = 0; d < torus->dimensions; d++)
        hops += abs(torus_distance(torus, offset, d));
    return hops;
}

bool torus_wraps(const struct torus *torus)
{
    for (int d = 0; d < torus->dimensions; d++)
        if (!torus->wraps[d])
            return false;
    return true;
}

/* The coordinates that occur in one dimension, as an interval: where it begins, how long it is. Over the edge where the
 * machine wraps. 0 when there are gaps. */
static int interval(const struct torus *machine, int dimension, const bool *used, int *begins)
{
    int extent = machine->extent[dimension], starts = 0, length = 0;
    *begins = 0;
    for (int x = 0; x < extent; x++) {
        bool before = x > 0 ? used[x - 1] : machine->wraps[dimension] && used[extent - 1];
        length += used[x];
        if (used[x] && !before) {
            *begins = x;
            starts++;
        }
    }
    return starts <= 1 ? length : 0;
}

/* The box around the nodes, in the machine's dimensions; false when there is none with as many places as nodes. */
static bool surround(const struct torus *machine, const int *at, int nodes, int *begins, int *lengths, bool *used)
{
    int coordinates[TORUS_MOST];
    int64_t places = 1;
    for (int d = 0; d < machine->dimensions; d++) {
        memset(used, 0, (size_t)machine->extent[d] * sizeof *used);
        for (int node = 0; node < nodes; node++) {
            torus_at(machine, at[node], coordinates);
            used[coordinates[d]] = true;
        }
        lengths[d] = interval(machine, d, used, &begins[d]);
        places *= lengths[d];
    }
    return places == nodes;
}

static void shape(struct torus *torus, const struct torus *machine, const int *lengths)
{
    torus->dimensions = 0;
    for (int d = 0; d < machine->dimensions; d++)
        if (lengths[d] > 1) {
            torus->extent[torus->dimensions] = lengths[d];
            torus->wraps[torus->dimensions++] = machine->wraps[d] && lengths[d] == machine->extent[d];
        }
}

/* Puts every node at its place; false when two are at one. */
static bool settle(const struct torus *machine, const struct torus *torus, const int *at, int nodes, const int *begins,
                   const int *lengths, int *node_at, int *place_of)
{
    for (int i = 0; i < nodes; i++)
        node_at[i] = -1;
    for (int node = 0; node < nodes; node++) {
        int on_machine[TORUS_MOST], own[TORUS_MOST] = {0}, kept = 0;
        torus_at(machine, at[node], on_machine);
        for (int d = 0; d < machine->dimensions; d++)
            if (lengths[d] > 1)
                own[kept++] = (on_machine[d] - begins[d] + machine->extent[d]) % machine->extent[d];
        int place = torus_place(torus, own);
        if (node_at[place] >= 0)
            return false;
        node_at[place] = node;
        place_of[node] = place;
    }
    return true;
}

bool cuboid_create(struct cuboid *cuboid, const struct torus *machine, const int *at, int nodes)
{
    int begins[TORUS_MOST], lengths[TORUS_MOST], longest = 1;
    *cuboid = (struct cuboid){0};
    for (int node = 0; node < nodes; node++)
        if (at[node] < 0)
            return false;
    for (int d = 0; d < machine->dimensions; d++)
        longest = machine->extent[d] > longest ? machine->extent[d] : longest;
    bool *used = malloc((size_t)longest * sizeof *used);
    int *both = malloc(2 * (size_t)nodes * sizeof *both);
    bool good = used != NULL && both != NULL && surround(machine, at, nodes, begins, lengths, used);
    if (good) {
        shape(&cuboid->torus, machine, lengths);
        good = settle(machine, &cuboid->torus, at, nodes, begins, lengths, both, both + nodes);
    }
    free(used);
    if (!good) {
        free(both);
        *cuboid = (struct cuboid){0};
        return false;
    }
    cuboid->node_at = both;
    cuboid->place_of = both + nodes;
    return true;
}

void cuboid_free(struct cuboid *cuboid)
{
    free((void *)(uintptr_t)cuboid->node_at); /* the start of the block that both are in */
    *cuboid = (struct cuboid){0};
}
