#include "places.h"

#include <stdlib.h>
#include <string.h>

#include "../reserve.h"

/* A node while nodes are sorted. `first`: the lowest node of its group, by level. */
struct item {
    const struct address *address;
    int node, first[SWITCH_LEVELS];
};

static int compare_addresses(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    for (int level = 0; level < SWITCH_LEVELS; level++)
        if (x->address->level[level] != y->address->level[level])
            return x->address->level[level] < y->address->level[level] ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int compare_places(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    for (int level = 0; level < SWITCH_LEVELS; level++)
        if (x->first[level] != y->first[level])
            return x->first[level] < y->first[level] ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* The most groups in one further out. `outer` NULL: all are in one; `inner` NULL: nodes are counted. */
static int find_widest(const int *outer, const int *inner, int nodes)
{
    int widest = 0, count = 0;
    for (int i = 0; i < nodes; i++) {
        if (i > 0 && outer != NULL && outer[i] != outer[i - 1])
            count = 0;
        count += count == 0 || inner == NULL || inner[i] != inner[i - 1];
        widest = count > widest ? count : widest;
    }
    return widest;
}

/* Sorted by addresses: the lowest node of every group. Returns how many groups there are at this level. */
static int find_first(struct item *items, int nodes, int level)
{
    int groups = 0;
    for (int from = 0, to; from < nodes; from = to) {
        int lowest = items[from].node;
        for (to = from; to < nodes && items[to].address->level[level] == items[from].address->level[level]; to++)
            lowest = items[to].node < lowest ? items[to].node : lowest;
        for (int i = from; i < to; i++)
            items[i].first[level] = lowest;
        groups++;
    }
    return groups;
}

struct places *places_create(const struct address *addresses, int nodes, double taper)
{
    struct item *items = reserve_get((size_t)nodes * sizeof *items);
    int groups[SWITCH_LEVELS];
    for (int node = 0; node < nodes; node++)
        items[node] = (struct item){.address = &addresses[node], .node = node};
    qsort(items, (size_t)nodes, sizeof *items, compare_addresses);
    for (int level = 0; level < SWITCH_LEVELS; level++)
        groups[level] = find_first(items, nodes, level);
    struct places *places = NULL;
    if (groups[SWITCH_LEVELS - 1] > 1) { /* the innermost has the most */
        size_t each = (size_t)nodes;
        places = reserve_get(sizeof *places + (2 + SWITCH_LEVELS) * each * sizeof(int));
        int *node = (int *)(places + 1), *place = node + each, *group = place + each;
        qsort(items, each, sizeof *items, compare_places);
        *places = (struct places){.nodes = nodes, .node = node, .place = place, .in_order = true, .taper = taper};
        for (int i = 0; i < nodes; i++) {
            node[i] = items[i].node;
            place[node[i]] = i;
            places->in_order = places->in_order && node[i] == i;
        }
        for (int level = 0; level < SWITCH_LEVELS; level++) {
            if (groups[level] == 1 || (level > 0 && groups[level] == groups[level - 1]))
                continue; /* the same groups as one further out */
            places->groups[places->levels] = groups[level];
            places->group[places->levels++] = group;
            for (int i = 1; i < nodes; i++)
                group[i] = group[i - 1] + (items[i].first[level] != items[i - 1].first[level]);
            group += each;
        }
        for (int level = 0; level <= places->levels; level++)
            places->widest[level] = find_widest(level > 0 ? places->group[level - 1] : NULL,
                                                level < places->levels ? places->group[level] : NULL, nodes);
        places->crossings = crossings_create();
    }
    reserve_put(items);
    return places;
}

void places_free(struct places *places)
{
    if (places == NULL)
        return;
    crossings_free(places->crossings);
    reserve_put(places);
}
