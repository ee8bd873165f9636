#include "unforced.h"

#include <string.h>

#include "data.h"

enum {
    EVEN = 384, /* a multiple of this is as many bytes of any type, in blocks and in halves of blocks of up to four */
    TOO_LONG = 46500 * EVEN, /* more than 16 MiB */
    LONG_EVERY = 16,         /* stretches */
};

static int find(const char *name)
{
    int i = 0;
    while (strcmp(call_names[i], name) != 0)
        i++;
    return i;
}

static bool is_of_neighbors(int which)
{
    return strncmp(call_names[which], "neighbor_", strlen("neighbor_")) == 0;
}

/* Where operations are the program's, those that take one: whether its order may be changed counts for the choice. */
static int draw_which(struct random *shared, bool reduces)
{
    static const char *const names[] = {"allreduce", "allreduce", "reduce", "reduce_scatter", "reduce_scatter_block",
                                        "scan",      "exscan"};
    return reduces ? find(names[random_below(shared, sizeof names / sizeof *names)]) : random_below(shared, NAMES);
}

static int64_t draw_bytes(struct random *shared)
{
    switch (random_below(shared, 12)) {
    case 0: return 0;
    case 1:
    case 2: return 8 << random_below(shared, 6);
    case 3: return 1 + random_below(shared, 300);
    case 4: return EVEN;
    case 5: return (int64_t)EVEN * (1 + random_below(shared, 8));
    case 6:
    case 7: return (int64_t)EVEN * (1 + random_below(shared, 200));
    case 8: return (int64_t)EVEN << random_below(shared, 11);
    default: return 8 * (1 + random_below(shared, 16));
    }
}

static MPI_Comm make(MPI_Comm parent, struct random *shared)
{
    MPI_Comm made = MPI_COMM_NULL;
    int rank, kind = random_below(shared, 3);
    if (parent == MPI_COMM_NULL)
        return made;
    MPI_Comm_rank(parent, &rank);
    if (kind == 0)
        MPI_Comm_dup(parent, &made);
    else
        MPI_Comm_split(parent, 0, kind == 1 ? rank : -rank, &made);
    return made;
}

/* Those whose length all ranks know, so that they agree whether one has to pack. */
static const char *const long_names[] = {"bcast", "allgather", "alltoall", "gather", "scatter"};
enum { LONG_NAMES = sizeof long_names / sizeof *long_names };

/* On the world, of each collective a short call and two long ones (draw_next_long). */
static void draw_long(struct stretch *stretch, struct random *shared, int only)
{
    stretch->whichs = LONG_NAMES;
    stretch->comms = stretch->shapes = 1;
    for (int i = 0; i < LONG_NAMES; i++)
        stretch->which[i] = only >= 0 ? only : find(long_names[i]);
    stretch->sizes = 2;
    stretch->bytes[0] = 8 << random_below(shared, 3);
    stretch->bytes[1] = TOO_LONG;
}

void unforced_begin(struct stretch *stretch, uint64_t number, struct random *shared, int only, const MPI_Comm *shapes,
                    int count, struct tally *tally)
{
    *stretch = (struct stretch){.begun = true, .is_long = number % LONG_EVERY == LONG_EVERY / 2};
    stretch->comms = 1 + random_below(shared, COMMS), stretch->whichs = 1 + random_below(shared, CHOICES);
    stretch->own_operations = random_one_in(shared, 4);
    stretch->turns = random_one_in(shared, 3), stretch->flies = random_one_in(shared, 3);
    stretch->sizes = 1 + random_below(shared, CHOICES), stretch->shapes = 1 + random_below(shared, CHOICES);
    for (int i = 0; i < CHOICES; i++) {
        stretch->which[i] = only >= 0 ? only : draw_which(shared, stretch->own_operations);
        stretch->bytes[i] = draw_bytes(shared);
        stretch->shape[i] = random_next(shared);
    }
    if (stretch->is_long)
        draw_long(stretch, shared, only);
    for (int i = 0; i < stretch->comms; i++) {
        const bool lasts = stretch->is_long || random_one_in(shared, 2);
        const int from = random_one_in(shared, 3) && !stretch->is_long ? random_below(shared, count) : 0;
        stretch->parent[i] = shapes[from];
        stretch->own[i] = !lasts;
        stretch->is_world[i] = from == 0 && !stretch->own[i];
        stretch->comm[i] = stretch->own[i] ? make(shapes[from], shared) : shapes[from];
        tally->of[DRAWN_MADE] += stretch->own[i];
        for (int k = 0; k < CHOICES; k++)
            stretch->topology[i][k] = MPI_COMM_NULL;
    }
}

/* Freed, and another one made at once: often it has the same handle. */
static void renew(struct stretch *stretch, int i, struct trial *trial)
{
    MPI_Comm before = stretch->comm[i];
    if (before == MPI_COMM_NULL)
        return;
    MPI_Comm_free(&stretch->comm[i]);
    stretch->comm[i] = make(stretch->parent[i], &trial->shared);
    trial->tally->of[DRAWN_MADE]++;
    trial->tally->of[DRAWN_SAME_HANDLE] += stretch->comm[i] == before;
}

static MPI_Comm of_neighbors(struct stretch *stretch, struct trial *trial)
{
    MPI_Comm *topology = &stretch->topology[stretch->last.comm][stretch->last.which];
    if (*topology == MPI_COMM_NULL)
        *topology = trial_topology(trial);
    return *topology;
}

static bool equal(struct pick a, struct pick b)
{
    return a.comm == b.comm && a.which == b.which && a.size == b.size && a.shape == b.shape;
}

/* Much of it as before, and often all. */
static struct pick next(const struct stretch *stretch, struct random *shared)
{
    struct pick pick = stretch->last;
    int drawn = random_below(shared, 8), all = drawn == 5;
    if (drawn == 0 || all)
        pick.comm = random_below(shared, stretch->comms);
    if (drawn == 1 || all)
        pick.which = random_below(shared, stretch->whichs);
    if (drawn == 2 || drawn == 3 || all)
        pick.size = random_below(shared, stretch->sizes);
    if (drawn == 4 || all)
        pick.shape = random_below(shared, stretch->shapes);
    return pick;
}

/* Of each a short one, then two long ones, one of them without gaps; then short ones. */
static struct pick next_long(const struct stretch *stretch, struct random *shared)
{
    const int turn = stretch->calls / 3, step = stretch->calls % 3;
    if (turn < stretch->whichs)
        return (struct pick){.which = turn, .size = step > 0};
    struct pick pick = next(stretch, shared);
    pick.size = 0;
    return pick;
}

static enum layouts draw_layouts(const struct stretch *stretch, struct random *shared)
{
    static const enum layouts pairs[] = {LAYOUTS_OF_UNITS, LAYOUTS_PLAIN, LAYOUTS_OF_UNITS};
    if (stretch->is_long && stretch->last.size > 0)
        return pairs[stretch->calls % 3 - 1 + (int)(stretch->shape[stretch->last.which] & 1)];
    return (enum layouts[]){LAYOUTS_PLAIN, LAYOUTS_OF_UNITS, LAYOUTS_OF_SEVERAL_COUNTS}[random_below(shared, 3)];
}

static int64_t bytes_of(const struct stretch *stretch, const struct trial *trial)
{
    int64_t bytes = stretch->bytes[stretch->last.size];
    if (bytes < TOO_LONG || strcmp(call_names[trial->which], "bcast") == 0)
        return bytes;
    int64_t blocks = (bytes / EVEN + trial->ranks - 1) / trial->ranks;
    return EVEN * blocks * (trial->ranks > 2 ? 2 : 1); /* of a rank; some calls halve what they have drawn */
}

void unforced_draw(struct stretch *stretch, struct trial *trial, struct random *shape)
{
    struct random *shared = &trial->shared;
    struct pick pick = stretch->is_long ? next_long(stretch, shared) : next(stretch, shared);
    const bool again = stretch->calls > 0 && equal(pick, stretch->last), renews = random_one_in(shared, 12);
    stretch->last = pick;
    trial->which = stretch->which[pick.which];
    if (renews && stretch->own[pick.comm])
        renew(stretch, pick.comm, trial);
    trial->comm = stretch->comm[pick.comm];
    trial->layouts = draw_layouts(stretch, shared);
    stretch->calls++;
    trial->own_operations = stretch->own_operations;
    trial->turn = stretch->turns ? stretch->calls : 0;
    *shape = random_of(stretch->shape[pick.shape], (uint64_t)trial->which, 3);
    if (trial->comm == MPI_COMM_NULL)
        return;
    PMPI_Comm_rank(trial->comm, &trial->rank);
    PMPI_Comm_size(trial->comm, &trial->ranks);
    trial->bytes = bytes_of(stretch, trial);
    if (is_of_neighbors(trial->which)) {
        trial->comm = of_neighbors(stretch, trial);
        PMPI_Comm_rank(trial->comm, &trial->rank); /* its communicator may have been renewed since, in another order */
    }
    trial->tally->of[DRAWN_AGAIN] += again;
    stretch->asked[pick.which][pick.size] += stretch->is_world[pick.comm];
}

/* How many calls on the world ours served, of which we ask when they are over: the question would make it ready too early. */
static void count_ours(const struct stretch *stretch, struct trial *trial, int comm)
{
    for (int which = 0; which < stretch->whichs; which++)
        for (int size = 0; size < stretch->sizes; size++)
            if (stretch->asked[which][size] > 0 && !is_of_neighbors(stretch->which[which]) &&
                trial->applies(stretch->comm[comm], call_names[stretch->which[which]], stretch->bytes[size], 8) == 1)
                trial->tally->of[DRAWN_BY_OURS] += stretch->asked[which][size];
}

void unforced_end(struct stretch *stretch, struct trial *trial)
{
    if (!stretch->begun)
        return;
    bool counted = false;
    for (int i = 0; i < stretch->comms; i++) {
        if (stretch->is_world[i] && !counted) {
            count_ours(stretch, trial, i);
            counted = true;
        }
        for (int k = 0; k < CHOICES; k++)
            if (stretch->topology[i][k] != MPI_COMM_NULL)
                MPI_Comm_free(&stretch->topology[i][k]);
        if (stretch->own[i] && stretch->comm[i] != MPI_COMM_NULL)
            MPI_Comm_free(&stretch->comm[i]);
    }
    stretch->begun = false;
}
