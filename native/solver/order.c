#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "walk.h"

const char *const ordering_names[ORDERINGS] = {"natural", "rcm", "multicolour", "cmrcm"};

/* One level of Cuthill-McKee: candidates in order, but those adjacent to one of this level wait for the next.
 * Returns how many wait; they stay in `candidates`. Accepted ones are appended to `sequence`. */
static int32_t accept(const struct mesh *mesh, int32_t level, int32_t *candidates, int32_t count, int32_t *level_of,
                      int32_t *sequence, int32_t *done)
{
    int32_t waiting = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t adjacent[26], node = candidates[i];
        int degree = mesh_adjacent(mesh, node, adjacent);
        bool free_of_level = true;
        for (int k = 0; k < degree && free_of_level; k++)
            free_of_level = level_of[adjacent[k]] != level;
        if (free_of_level) {
            level_of[node] = level;
            sequence[(*done)++] = node;
        } else {
            candidates[waiting++] = node;
        }
    }
    return waiting;
}

/* Levels of independent nodes by breadth first search from a corner, which has the least degree: O(nodes).
 * `sequence` gets the nodes in order. Returns the number of levels, 0: no memory. */
static int32_t cuthill_mckee(const struct mesh *mesh, int32_t *level_of, int32_t *sequence)
{
    const int32_t unseen = -2, queued = -1;
    int32_t *candidates = malloc((size_t)mesh->owned * sizeof *candidates);
    if (candidates == NULL)
        return 0;
    for (int32_t i = 0; i < mesh->owned; i++)
        level_of[i] = unseen;
    int32_t done = 0, count = 1, level = 0;
    candidates[0] = 0;
    level_of[0] = queued;
    while (count > 0) {
        int32_t begun = done;
        count = accept(mesh, level, candidates, count, level_of, sequence, &done);
        for (int32_t i = begun; i < done; i++) {
            int32_t adjacent[26];
            int degree = mesh_adjacent(mesh, sequence[i], adjacent);
            for (int k = 0; k < degree; k++)
                if (level_of[adjacent[k]] == unseen) {
                    level_of[adjacent[k]] = queued;
                    candidates[count++] = adjacent[k];
                }
        }
        level++;
    }
    free(candidates);
    return level;
}

static bool is_valid(const struct mesh *mesh, const int32_t *colour)
{
    for (int32_t i = 0; i < mesh->owned; i++) {
        int32_t adjacent[26];
        int degree = mesh_adjacent(mesh, i, adjacent);
        for (int k = 0; k < degree; k++)
            if (colour[adjacent[k]] == colour[i])
                return false;
    }
    return true;
}

/* The longest chain of nodes that come before in natural order: x + 2 y + 4 z on a box. */
static int natural(const struct mesh *mesh, int32_t *colour)
{
    int most = 0;
    const int32_t *size = mesh->size;
    const int32_t step_y = size[0] > 1 ? 2 : 1, step_z = (size[0] > 1 ? 2 : 1) * (size[1] > 1 ? 2 : 1);
    for (int32_t i = 0; i < mesh->owned; i++) {
        int32_t place[3];
        mesh_place(mesh, i, place);
        colour[i] = place[0] + step_y * place[1] + step_z * place[2];
        most = colour[i] > most ? colour[i] : most;
    }
    return most + 1;
}

static int multicolour(const struct mesh *mesh, int32_t *colour)
{
    int32_t place[3];
    for (int32_t i = 0; i < mesh->owned; i++) {
        mesh_place(mesh, i, place);
        colour[i] = place[0] % 2 + 2 * (place[1] % 2) + 4 * (place[2] % 2);
    }
    int seen[8] = {0}, to[8], colours = 0;
    for (int32_t i = 0; i < mesh->owned; i++)
        seen[colour[i]] = 1;
    for (int c = 0; c < 8; c++) {
        to[c] = colours;
        colours += seen[c];
    }
    for (int32_t i = 0; i < mesh->owned; i++)
        colour[i] = to[colour[i]];
    return colours;
}

/* Colours of the levels in reverse, cyclically. `level` gets the levels. */
static int cyclic(const struct mesh *mesh, int32_t levels, int wanted, int32_t *level_of, int32_t *level)
{
    for (int32_t i = 0; i < mesh->owned; i++)
        level[i] = levels - 1 - level_of[i];
    int colours = wanted < levels ? wanted : levels;
    for (;; colours++) {
        for (int32_t i = 0; i < mesh->owned; i++)
            level_of[i] = level[i] % colours;
        if (colours >= levels || is_valid(mesh, level_of))
            return colours;
    }
}

/* Fills in colours and levels, and in which sequence nodes are taken within a colour. */
static bool paint(struct order *order, const struct mesh *mesh, enum ordering ordering, int wanted, int32_t *sequence)
{
    for (int32_t i = 0; i < mesh->owned; i++)
        sequence[i] = i;
    if (ordering == ORDER_NATURAL) {
        order->colours = natural(mesh, order->colour);
        memcpy(order->level, order->colour, (size_t)mesh->owned * sizeof *order->level);
    } else if (ordering == ORDER_MULTICOLOUR) {
        order->colours = multicolour(mesh, order->colour);
        for (int32_t i = 0; i < mesh->owned; i++)
            order->level[i] = i / mesh->size[0] / mesh->size[1];
    } else {
        order->levels = cuthill_mckee(mesh, order->colour, sequence);
        for (int32_t i = 0, k = mesh->owned - 1; i < k; i++, k--) {
            int32_t swapped = sequence[i];
            sequence[i] = sequence[k], sequence[k] = swapped;
        }
        if (order->levels > 0)
            order->colours = cyclic(mesh, order->levels, ordering == ORDER_RCM ? order->levels : wanted, order->colour,
                                    order->level);
    }
    return order->colours > 0;
}

/* Numbers: the share of thread t of colour c is a range, as even as can be. */
static bool number(struct order *order, const struct mesh *mesh, const int32_t *sequence, bool contiguous)
{
    int colours = order->colours, threads = order->threads;
    int32_t *size = calloc((size_t)colours, sizeof *size), *begin = calloc((size_t)colours, sizeof *begin);
    order->first = calloc((size_t)colours * (size_t)threads, sizeof *order->first);
    order->last = calloc((size_t)colours * (size_t)threads, sizeof *order->last);
    bool good = size != NULL && begin != NULL && order->first != NULL && order->last != NULL;
    if (good) {
        for (int32_t i = 0; i < mesh->owned; i++)
            size[order->colour[i]]++;
        int32_t next = 0;
        for (int outer = 0; outer < (contiguous ? threads : colours); outer++)
            for (int inner = 0; inner < (contiguous ? colours : threads); inner++) {
                int c = contiguous ? inner : outer, t = contiguous ? outer : inner;
                int64_t from = (int64_t)size[c] * t / threads, to = (int64_t)size[c] * (t + 1) / threads;
                order->first[c * threads + t] = next;
                next += (int32_t)(to - from);
                order->last[c * threads + t] = next;
            }
        for (int32_t i = 0; i < mesh->owned; i++) {
            int32_t node = sequence[i], c = order->colour[node];
            int64_t at = begin[c]++;
            int t = (int)((at * threads + threads - 1) / size[c]);
            while (t >= threads || (int64_t)size[c] * t / threads > at)
                t--;
            while ((int64_t)size[c] * (t + 1) / threads <= at)
                t++;
            int32_t given = order->first[c * threads + t] + (int32_t)(at - (int64_t)size[c] * t / threads);
            order->number[node] = given;
            order->node[given] = node;
        }
    }
    free(size);
    free(begin);
    return good;
}

bool order_create(struct order *order, const struct mesh *mesh, enum ordering ordering, int colours, int threads,
                  bool contiguous)
{
    *order = (struct order){.threads = threads};
    order->colour = malloc((size_t)mesh->owned * sizeof *order->colour);
    order->number = malloc((size_t)mesh->total * sizeof *order->number);
    order->node = malloc((size_t)mesh->owned * sizeof *order->node);
    order->level = malloc((size_t)mesh->owned * sizeof *order->level);
    int32_t *sequence = malloc((size_t)mesh->owned * sizeof *sequence);
    bool good = order->colour != NULL && order->number != NULL && order->node != NULL && order->level != NULL &&
                sequence != NULL && paint(order, mesh, ordering, colours, sequence) &&
                number(order, mesh, sequence, contiguous) && walk_create(order, mesh);
    for (int32_t i = mesh->owned; good && i < mesh->total; i++)
        order->number[i] = i;
    free(sequence);
    if (!good)
        order_free(order);
    return good;
}

void order_free(struct order *order)
{
    free(order->colour);
    free(order->number);
    free(order->node);
    free(order->first);
    free(order->last);
    free(order->level);
    free(order->run);
    free(order->runs);
    free(order->wave);
    *order = (struct order){0};
}
