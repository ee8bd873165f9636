/* What random calls have in common: buffers, counts, words. */
#ifndef UNISONO_TEST_BUFFERS_H
#define UNISONO_TEST_BUFFERS_H

#include "calls.h"
#include "data.h"
#include "later.h"
#include "layouts.h"

enum { SLACK = 512, RANKS_MOST = 1024 };

/* MPICH 4.0.2 crashes in a reduction in place of some length whose root is not 0, its reduce_scatter_block writes beyond its
 * memory where elements have gaps and the operation keeps their order, and on a single rank its allgatherv does not look at
 * displacements. Open MPI's alltoallw on a single rank takes displacements for elements. */
#ifdef MPICH
enum { IS_MPICH = 1 };
#else
enum { IS_MPICH = 0 };
#endif

/* The call under test, which has counts as arrays of one width: TESTED_WIDE is that with large counts. */
#if HAS_PERSISTENT
#define TESTED_AGAIN(name, ...) name(__VA_ARGS__)
#else
#define TESTED_AGAIN(name, ...) MPI_ERR_OTHER
#endif
#define TESTED_BY(now, later_form, again, ...)                                                                         \
    (trial->persistent ? later_end(trial, TESTED_AGAIN(again, __VA_ARGS__, MPI_INFO_NULL, &trial->request))            \
     : trial->later    ? later_end(trial, later_form(__VA_ARGS__, &trial->request))                                    \
                       : now(__VA_ARGS__))
#define TESTED_INT(name, ...) TESTED_BY(MPI_##name, LATER_##name, MPI_##name##_init, __VA_ARGS__)
#define TESTED_WIDE(name, ...) TESTED_BY(MPI_##name##_c, LATER_C_##name, MPI_##name##_init_c, __VA_ARGS__)
#if MPI_VERSION >= 4
#define TESTED(name, ...) (trial->large ? TESTED_WIDE(name, __VA_ARGS__) : TESTED_INT(name, __VA_ARGS__))
#else
#define TESTED(name, ...) TESTED_INT(name, __VA_ARGS__)
#endif

/* Two equal buffers with room around them, one for each way. */
struct pair {
    char *memory[2];
    size_t bytes;
    int shift; /* from where malloc's memory, or better, begins */
};

struct pair make(struct trial *trial, size_t bytes);
/* The same, at any address: what is sent and received need not be aligned. */
struct pair make_anywhere(struct trial *trial, size_t bytes);
char *inside(const struct pair *pair, int way);
bool same(const struct pair *pair);
void discard(struct pair *pair);

/* The blocks of a v call: elements and where they are, with gaps, in any order. The room they need, in units. */
int64_t arrange(struct random *random, int ranks, const int *units, const struct layout_way *way, int *counts, int *at);
#if MPI_VERSION >= 4
void widen(int ranks, const int *counts, const int *at, MPI_Count *wide, MPI_Aint *wide_at);
#endif

bool try_reduction(struct trial *trial, bool to_all);
bool try_scan(struct trial *trial, bool exclusive);
/* reduce_scatter and, where all blocks are alike, reduce_scatter_block. */
bool try_scattered(struct trial *trial, bool alike);
bool try_rooted(struct trial *trial, bool gathers);
bool try_rooted_v(struct trial *trial, bool gathers);

void say(struct trial *trial, const char *format, ...);
/* Units of a message of so many elements each: mostly few, sometimes none, one, or as many as are allowed; or as the trial says. */
int draw_count(struct trial *trial, MPI_Datatype base, int unit);
struct plain draw_plain(struct trial *trial);
int draw_root(struct trial *trial);
/* How this rank lays out a unit, of those ways that the trial allows. */
struct layout_way draw_layout(struct trial *trial, MPI_Datatype base, int unit);
/* What the call under test is told of memory of this rank: itself, or, sometimes, MPI_BOTTOM. */
struct view draw_view(struct trial *trial, const struct layout_way *way, void *data);
void end_view(struct view *view);
/* Ranks that neither send nor receive anything, though others do; usually none. */
uint64_t draw_idle(struct trial *trial);
bool is_idle(uint64_t idle, int rank);
/* Bytes that so many units take, wherever their data lie about their beginning. */
size_t span(const struct layout_way *way, int64_t units);

bool try_alltoallw(struct trial *trial);
/* On a communicator with a topology. `gathers`: the same for all neighbours; `varies`: blocks of several lengths. */
bool try_neighbor(struct trial *trial, bool gathers, bool varies);
bool try_neighbor_w(struct trial *trial);

#endif
