/* An operation of the program's whose order matters: maps x -> a x + b, modulo a prime, one after the other. */
#ifndef UNISONO_TEST_MAPS_H
#define UNISONO_TEST_MAPS_H

#include <mpi.h>
#include <string.h>

enum { PRIME = 10007, MAPS_MOST = 6000 };

struct map {
    int a, b;
};

/* right = left, then right */
static void follow(void *left, void *right, int *count, MPI_Datatype *type)
{
    const struct map *one = left;
    struct map *other = right;
    (void)type;
    for (int i = 0; i < *count; i++)
        other[i] = (struct map){one[i].a * other[i].a % PRIME, (one[i].b * other[i].a + other[i].b) % PRIME};
}

static void maps_of(int rank, struct map *maps, int count)
{
    for (int i = 0; i < count; i++)
        maps[i] = (struct map){2 + (rank * 31 + i) % 90, (rank * 57 + 3 * i) % 90};
}

/* What all ranks' maps are, one rank's after the other's; at most MAPS_MOST. */
static void maps_in_order(int ranks, struct map *all, int count)
{
    static struct map next[MAPS_MOST];
    maps_of(0, all, count);
    for (int rank = 1; rank < ranks; rank++) {
        maps_of(rank, next, count);
        follow(all, next, &count, NULL);
        memcpy(all, next, (size_t)count * sizeof *all);
    }
}

#endif
