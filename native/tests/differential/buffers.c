#include "buffers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = 64 /* bytes of a vector */ };

struct pair make(struct trial *trial, size_t bytes)
{
    struct pair pair = {.bytes = bytes + 2 * SLACK};
    size_t room = (pair.bytes + WIDEST - 1) / WIDEST * WIDEST;
    for (int i = 0; i < 2; i++)
        if ((pair.memory[i] = aligned_alloc(WIDEST, room)) == NULL)
            MPI_Abort(MPI_COMM_WORLD, 3);
    data_fill_bytes(&trial->own, pair.memory[0], pair.bytes);
    memcpy(pair.memory[1], pair.memory[0], pair.bytes);
    trial->held[trial->helds].memory = pair.memory[0];
    trial->held[trial->helds++].bytes = pair.bytes;
    return pair;
}

struct pair make_anywhere(struct trial *trial, size_t bytes)
{
    struct pair pair = make(trial, bytes + WIDEST);
    if (random_one_in(&trial->own, 4))
        pair.shift = 1 + random_below(&trial->own, WIDEST - 1);
    trial->misaligned = trial->misaligned || pair.shift != 0;
    return pair;
}

char *inside(const struct pair *pair, int way)
{
    return pair->memory[way] + SLACK + pair->shift;
}

bool same(const struct pair *pair)
{
    return memcmp(pair->memory[0], pair->memory[1], pair->bytes) == 0;
}

void discard(struct pair *pair)
{
    free(pair->memory[0]);
    free(pair->memory[1]);
}

void say(struct trial *trial, const char *format, ...)
{
    size_t used = strlen(trial->words);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(trial->words + used, sizeof trial->words - used, format, arguments);
    va_end(arguments);
    if (getenv("UNISONO_SAY") != NULL)
        fprintf(stderr, "%s rank %d of %d: %s\n", call_names[trial->which], trial->rank, trial->ranks, trial->words);
}

int draw_count(struct trial *trial, MPI_Datatype base, int unit)
{
    struct random *random = &trial->shared;
    int bits = 1, bytes;
    PMPI_Type_size(base, &bytes);
    if (trial->bytes >= 0 && bytes > 0)
        return (int)(trial->bytes / ((int64_t)unit * bytes));
    while (1 << bits < trial->most)
        bits++;
    switch (random_below(random, 8)) {
    case 0: return 0;
    case 1: return 1;
    default: return random_below(random, 1 << (1 + random_below(random, bits)));
    }
}

/* MPICH by itself takes some messages of elements of several parts for longer than they are (4.0.2), or for others (5.0.2). */
#ifdef MPICH
enum { HAS_PARTS = 0 };
#else
enum { HAS_PARTS = 1 };
#endif

struct plain draw_plain(struct trial *trial)
{
    const bool is_long = trial->bytes > 1 << 20; /* of which some calls have to be without gaps */
    return layouts_plain(&trial->shared, trial->layouts == LAYOUTS_PLAIN || is_long || !HAS_PARTS);
}

int draw_root(struct trial *trial)
{
    return (random_below(&trial->shared, trial->ranks) + trial->turn) % trial->ranks;
}

/* Whether a message can be cut anywhere where the MPI libraries cut theirs: they do so by elements, of which ranks then may not
 * have types of several sizes. */
static bool is_cut_alike(const struct trial *trial, MPI_Datatype base, int unit)
{
    int bytes;
    PMPI_Type_size(base, &bytes);
    bytes *= unit;
    return bytes > 0 && (bytes & (bytes - 1)) == 0 && trial->bytes % ((int64_t)bytes * trial->ranks) == 0;
}

struct layout_way draw_layout(struct trial *trial, MPI_Datatype base, int unit)
{
    if (trial->layouts == LAYOUTS_PLAIN)
        return layouts_contiguous(base, unit);
    const bool any = trial->layouts == LAYOUTS_ANY ||
                     (trial->layouts == LAYOUTS_OF_SEVERAL_COUNTS && is_cut_alike(trial, base, unit));
    struct layout_way way = layouts_draw(&trial->own, base, unit);
    while (!any && way.factor != 1) {
        layouts_free(&way);
        way = layouts_draw(&trial->own, base, unit);
    }
    trial->tally->of[DRAWN_SEVERAL_COUNTS] += any && trial->layouts == LAYOUTS_OF_SEVERAL_COUNTS;
    return way;
}

struct view draw_view(struct trial *trial, const struct layout_way *way, void *data)
{
    const bool bottom = random_one_in(&trial->own, 6) && trial->layouts != LAYOUTS_PLAIN;
    trial->tally->of[DRAWN_FROM_BOTTOM] += bottom;
    return bottom ? layouts_from_bottom(way, data) : (struct view){.data = data, .type = way->type};
}

void end_view(struct view *view)
{
    if (view->is_made)
        PMPI_Type_free(&view->type);
}

uint64_t draw_idle(struct trial *trial)
{
    const bool some = random_one_in(&trial->shared, 3);
    const uint64_t drawn = random_next(&trial->shared);
    return some ? drawn : 0;
}

bool is_idle(uint64_t idle, int rank)
{
    return idle >> rank % 64 & 1;
}

size_t span(const struct layout_way *way, int64_t units)
{
    return (size_t)(units * way->factor * way->extent + 16 * way->extent + 256);
}

int64_t arrange(struct random *random, int ranks, const int *units, const struct layout_way *way, int *counts, int *at)
{
    int64_t next = 0;
    bool tight = random_one_in(random, 2);
    int first = tight ? 0 : random_below(random, ranks);
    for (int i = 0; i < ranks; i++) {
        int rank = (first + i) % ranks;
        next += tight ? 0 : random_below(random, 4);
        counts[rank] = units[rank] * way->factor;
        at[rank] = (int)next * way->factor;
        next += units[rank];
    }
    return next;
}

#if MPI_VERSION >= 4
void widen(int ranks, const int *counts, const int *at, MPI_Count *wide, MPI_Aint *wide_at)
{
    for (int i = 0; counts != NULL && i < ranks; i++)
        wide[i] = counts[i], wide_at[i] = at[i];
}
#endif
