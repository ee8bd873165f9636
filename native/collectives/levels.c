#include "levels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reserve.h"

/* The ranks of this node, ascending by their numbers in the world. */
static struct {
    int ranks, count;
    enum division kind[LEVELS];
    bool pretended;
    int *world;  /* place on the node -> number in the world */
    int *domain; /* [level * ranks + place]: the lowest place in the same domain */
} here;

/* Divides every domain of the level before, `above` (NULL: the node), by a part: [place] gets the lowest place that is in
 * the same. Returns how many there are; 0: some rank is bound within none. */
static int divide(const struct bound *bound, int ranks, const int *above, enum division part, int *domain)
{
    int domains = 0;
    for (int place = 0; place < ranks; place++) {
        int first = 0;
        if (bound[place].in[part] < 0)
            return 0;
        while (bound[first].in[part] != bound[place].in[part] || (above != NULL && above[first] != above[place]))
            first++;
        domain[place] = first;
        domains += first == place;
    }
    return domains;
}

/* The levels of the node, those with the fewest domains outermost: the caches of some processors are within NUMA domains, on
 * others NUMA domains share one. */
static void find_levels(const struct bound *bound, int ranks)
{
    int domains[DIVISIONS], before = 1;
    for (int part = 0; part < DIVISIONS; part++)
        domains[part] = divide(bound, ranks, NULL, (enum division)part, here.domain);
    for (;;) {
        int part = -1;
        for (int i = 0; i < DIVISIONS; i++)
            if (domains[i] > 1 && (part < 0 || domains[i] < domains[part]))
                part = i;
        if (part < 0)
            return;
        domains[part] = 0;
        int *level = here.domain + here.count * ranks;
        int now = divide(bound, ranks, here.count > 0 ? level - ranks : NULL, (enum division)part, level);
        if (now > before) {
            here.kind[here.count++] = (enum division)part;
            before = now;
        }
    }
}

bool levels_know(const int *world, const struct bound *bound, int ranks)
{
    int *room = malloc((1 + LEVELS) * (size_t)ranks * sizeof *room);
    if (room == NULL)
        return false;
    memcpy(room, world, (size_t)ranks * sizeof *room);
    here.ranks = ranks, here.count = 0;
    here.world = room, here.domain = room + ranks;
    find_levels(bound, ranks);
    return true;
}

#ifdef UNISONO_SIMULATED
/* Ranks of a simulation are one process, which would have one table for all nodes. */
int levels_start(MPI_Comm near, int rank, int node)
{
    (void)near, (void)rank, (void)node;
    return MPI_SUCCESS;
}
#else
/* Pretended ones, for tests: "4/2" are domains of four places and of two, one of the parts for each. */
static void pretend(struct bound *bound, int ranks, const char *text)
{
    for (int place = 0; place < ranks; place++) {
        const char *at = text;
        for (int part = 0; part < DIVISIONS; part++) {
            char one[64];
            snprintf(one, sizeof one, "%.*s", (int)strcspn(at, "/"), at);
            bound[place].in[part] = one[0] != '\0' ? fake_first(one, place) : -1;
            at += strcspn(at, "/");
            at += *at == '/';
        }
    }
}

/* What ranks of a machine tell one another. */
struct told {
    int rank, node;
    struct bound bound;
};

static int by_rank(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Of all ranks of the machine, those of one node. */
static bool know_node(struct told *all, int ranks, int node)
{
    const char *fake = getenv("UNISONO_FAKE_NUMA");
    int *world = malloc((size_t)ranks * sizeof *world), ours = 0;
    struct bound *bound = malloc((size_t)ranks * sizeof *bound);
    bool good = world != NULL && bound != NULL;
    qsort(all, (size_t)ranks, sizeof *all, by_rank);
    for (int i = 0; good && i < ranks; i++)
        if (all[i].node == node) {
            world[ours] = all[i].rank;
            bound[ours++] = all[i].bound;
        }
    if (good && fake != NULL)
        pretend(bound, ours, fake);
    here.pretended = fake != NULL;
    good = good && levels_know(world, bound, ours);
    free(world);
    free(bound);
    return good;
}

int levels_start(MPI_Comm near, int rank, int node)
{
    int ranks, error = MPI_SUCCESS;
    struct told own = {rank, node, bound_now()};
    if (here.world != NULL)
        return MPI_SUCCESS;
    PMPI_Comm_size(near, &ranks);
    struct told *all = malloc((size_t)ranks * sizeof *all);
    int good = all != NULL, both = 0;
    error = PMPI_Allreduce(&good, &both, 1, MPI_INT, MPI_MIN, near);
    if (error == MPI_SUCCESS && both)
        error = PMPI_Allgather(&own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE, near);
    if (error == MPI_SUCCESS && both) {
        good = know_node(all, ranks, node);
        error = PMPI_Allreduce(&good, &both, 1, MPI_INT, MPI_MIN, near);
    }
    free(all);
    if (!both)
        levels_end(); /* some know, others do not */
    return error != MPI_SUCCESS || both ? error : MPI_ERR_NO_MEM;
}
#endif

void levels_end(void)
{
    free(here.world);
    memset(&here, 0, sizeof here);
}

static int compare(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Numbers the domains of a level of the node by their lowest ranks here; `number`: room for each place. Returns how many. */
static int number_domains(const int *level, const int *places, int ranks, int *number, int *domain_of)
{
    int domains = 0;
    for (int place = 0; place < here.ranks; place++)
        number[place] = -1;
    for (int rank = 0; rank < ranks; rank++) {
        int *seen = &number[level[places[rank]]];
        if (*seen < 0)
            *seen = domains++;
        domain_of[rank] = *seen;
    }
    return domains;
}

static bool follow_one_another(const int *domain_of, int ranks)
{
    for (int rank = 1; rank < ranks; rank++)
        if (domain_of[rank] < domain_of[rank - 1])
            return false;
    return true;
}

/* The domain of a rank at a depth; all of them at depth 0, itself at the last. */
static int at_depth(const struct levels *levels, int ranks, int depth, int rank)
{
    return depth == 0 ? 0 : depth > levels->count ? rank : levels->domain_of[(depth - 1) * ranks + rank];
}

int levels_mate(const struct levels *levels, int ranks, int depth)
{
    for (int rank = 1; rank < ranks; rank++)
        if (at_depth(levels, ranks, depth, rank) == 0 && at_depth(levels, ranks, depth + 1, rank) != 0)
            return rank;
    return -1;
}

/* `counts`: room for each rank. */
static void find_widest(struct levels *levels, int ranks, int *counts)
{
    for (int inner = 1; inner <= levels->count + 1; inner++)
        for (int outer = 0; outer < inner; outer++) {
            int next = 0, *most = &levels->widest[outer][inner];
            memset(counts, 0, (size_t)ranks * sizeof *counts);
            for (int rank = 0; rank < ranks; rank++) {
                if (at_depth(levels, ranks, inner, rank) != next)
                    continue; /* not the first rank of its domain */
                next++;
                int count = ++counts[at_depth(levels, ranks, outer, rank)];
                *most = count > *most ? count : *most;
            }
        }
}

void levels_find(struct levels *levels, const int *theirs, int ranks)
{
    *levels = (struct levels){.in_order = true};
    if (here.count == 0)
        return;
    const size_t each = (size_t)ranks;
    int *domain_of = reserve_get(((size_t)here.count + 2) * each * sizeof(int) + (size_t)here.ranks * sizeof(int));
    int *places = domain_of + (size_t)here.count * each, *counts = places + each, *number = counts + each;
    for (int rank = 0; rank < ranks; rank++) {
        const int *found = bsearch(&theirs[rank], here.world, (size_t)here.ranks, sizeof *here.world, compare);
        places[rank] = found != NULL ? (int)(found - here.world) : 0;
    }
    levels->domain_of = domain_of;
    for (int level = 0, before = 1; level < here.count && before < ranks; level++) {
        int *at = domain_of + (size_t)levels->count * each;
        int domains = number_domains(here.domain + level * here.ranks, places, ranks, number, at);
        if (domains == ranks)
            break;
        if (domains > before) {
            levels->in_order = levels->in_order && follow_one_another(at, ranks);
            levels->count++;
            before = domains;
        }
        levels->meet[levels->count] = level + 1;
    }
    find_widest(levels, ranks, counts);
    if (levels->count == 0)
        levels_free(levels);
}

void levels_find_all(struct levels *levels)
{
    levels_find(levels, here.world, here.ranks);
}

void levels_free(struct levels *levels)
{
    if (levels->domain_of != NULL)
        reserve_put(levels->domain_of);
    levels->domain_of = NULL;
    levels->count = 0;
}

int levels_choose(const struct levels *levels, const double *meet, double more, int *chosen)
{
    const int last = levels->count + 1;
    double least[DEPTHS] = {0}; /* from this depth down to single ranks */
    int next[DEPTHS] = {0}, count = 0;
    for (int depth = last - 1; depth >= 0; depth--)
        for (int below = depth + 1; below <= last; below++) {
            double seconds = meet[levels->meet[depth]] + more * (levels->widest[depth][below] - 1) + least[below];
            if (below == depth + 1 || (more > 0 && seconds < least[depth])) {
                least[depth] = seconds;
                next[depth] = below;
            }
        }
    for (int depth = 0; depth < last; depth = next[depth])
        chosen[count++] = depth;
    return count;
}

int levels_describe(char *text, size_t bytes)
{
    static const char *const kinds[] = {"sockets", "NUMA domains", "caches of the last level",
                                        "caches of the level below"};
    if (here.count == 0)
        return snprintf(text, bytes, "ranks of the first: in one domain, or not all bound within one");
    int used = snprintf(text, bytes, "domains with ranks on the first: ");
    for (int level = 0; level < here.count && (size_t)used < bytes; level++) {
        int domains = 0;
        for (int place = 0; place < here.ranks; place++)
            domains += here.domain[level * here.ranks + place] == place;
        used += snprintf(text + used, bytes - (size_t)used, "%s%d %s", level > 0 ? ", " : "", domains,
                         here.pretended ? "pretended" : kinds[here.kind[level]]);
    }
    return used;
}
