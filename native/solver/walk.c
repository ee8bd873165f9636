#include "walk.h"

#include <stdlib.h>
#include <string.h>

static int by_level(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    return a->level != b->level ? (a->level < b->level ? -1 : 1) : (a->from > b->from) - (a->from < b->from);
}

struct timed {
    int64_t time;
    struct run run;
};

static int by_time(const void *left, const void *right)
{
    const struct timed *a = left, *b = right;
    return a->time != b->time ? (a->time < b->time ? -1 : 1) : by_level(&a->run, &b->run);
}

/* The runs of a thread, colour by colour, into `run` unless that is NULL; how many. */
static int collect(const struct order *order, int thread, struct run *run)
{
    int count = 0;
    for (int colour = 0; colour < order->colours; colour++) {
        const int at = colour * order->threads + thread;
        for (int32_t i = order->first[at]; i < order->last[at]; i++) {
            const int32_t level = order->level[order->node[i]];
            if (i == order->first[at] || level != order->level[order->node[i - 1]]) {
                if (run != NULL)
                    run[count] = (struct run){i, i, level, colour};
                count++;
            }
            if (run != NULL)
                run[count - 1].to = i + 1;
        }
    }
    return count;
}

/* How many levels neighbours are apart at the most. */
static int32_t reach_of(const struct order *order, const struct mesh *mesh)
{
    int32_t reach = 0;
    for (int32_t i = 0; i < mesh->owned; i++) {
        int32_t adjacent[26];
        const int degree = mesh_adjacent(mesh, i, adjacent);
        for (int k = 0; k < degree; k++) {
            const int32_t apart = abs(order->level[adjacent[k]] - order->level[i]);
            reach = apart > reach ? apart : reach;
        }
    }
    return reach;
}

static bool make_wave(struct order *order, const struct mesh *mesh)
{
    const size_t count = (size_t)order->runs[1];
    struct timed *timed = malloc((count + 1) * sizeof *timed);
    order->wave = malloc((count + 1) * sizeof *order->wave);
    const bool good = timed != NULL && order->wave != NULL;
    if (good) {
        const int64_t apart = (int64_t)reach_of(order, mesh) + 1;
        for (size_t k = 0; k < count; k++)
            timed[k] = (struct timed){order->run[k].level + apart * order->run[k].colour, order->run[k]};
        qsort(timed, count, sizeof *timed, by_time);
        for (size_t k = 0; k < count; k++)
            order->wave[k] = timed[k].run;
    }
    free(timed);
    return good;
}

bool walk_create(struct order *order, const struct mesh *mesh)
{
    order->runs = calloc((size_t)order->threads + 1, sizeof *order->runs);
    if (order->runs == NULL)
        return false;
    for (int thread = 0; thread < order->threads; thread++)
        order->runs[thread + 1] = order->runs[thread] + collect(order, thread, NULL);
    order->run = malloc(((size_t)order->runs[order->threads] + 1) * sizeof *order->run);
    if (order->run == NULL)
        return false;
    for (int thread = 0; thread < order->threads; thread++) {
        struct run *own = order->run + order->runs[thread];
        qsort(own, (size_t)collect(order, thread, own), sizeof *own, by_level);
    }
    return order->threads > 1 || make_wave(order, mesh);
}
