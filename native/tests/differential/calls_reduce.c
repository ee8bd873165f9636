/* Reductions, scans, and sums that are scattered: their results are compared with the library's own. */
#include <stdlib.h>
#include <string.h>

#include "buffers.h"

bool try_reduction(struct trial *trial, bool to_all)
{
    struct combination what = data_combination(&trial->shared, trial->own_operations, trial->ranks);
    int count = draw_count(trial, what.type, 1), root = draw_root(trial), error[2];
    bool in_place = random_one_in(&trial->shared, 3) && (to_all || (trial->rank == root && (root == 0 || !IS_MPICH)));
    bool gets = to_all || trial->rank == root;
    size_t bytes = (size_t)count * (size_t)what.bytes;
    struct pair send = make(trial, bytes), receive = make(trial, bytes);
    data_fill_numbers(&trial->own, &what, inside(in_place ? &receive : &send, 0), (size_t)count);
    memcpy(receive.memory[1], receive.memory[0], receive.bytes);
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "%d, %s, root %d%s", count, what.name, to_all ? -1 : root, in_place ? ", in place" : "");
    /* What the library underneath gives a function of the program is as malloc's memory is, and no better. */
    bool ours =
        what.kind == 'v' && trial->applies(trial->comm, call_names[trial->which], (long long)bytes, what.bytes) == 1;
    trial->tally->of[DRAWN_OWN_OPERATIONS] += what.function;
    trial->tally->of[DRAWN_QUAD] += what.kind == 'q';
    trial->tally->of[DRAWN_VECTORS] += what.kind == 'v';
    for (int way = 0; way < 2; way++) {
        data_promise(way == 0 && ours ? what.bytes : 16);
        const void *from = in_place ? MPI_IN_PLACE : inside(&send, 0);
        char *to = inside(&receive, way);
        if (to_all)
            error[way] = way == 0 ? TESTED(Allreduce, from, to, count, what.type, what.op, trial->comm)
                                  : PMPI_Allreduce(from, to, count, what.type, what.op, trial->comm);
        else
            error[way] = way == 0 ? TESTED(Reduce, from, to, count, what.type, what.op, root, trial->comm)
                                  : PMPI_Reduce(from, to, count, what.type, what.op, root, trial->comm);
    }
    bool good = error[0] == error[1] && data_kept_promise() &&
                memcmp(receive.memory[0], receive.memory[1], SLACK) == 0 &&
                memcmp(inside(&receive, 0) + bytes, inside(&receive, 1) + bytes, SLACK) == 0;
    if (gets)
        good = good && data_same(&what, inside(&receive, 0), inside(&receive, 1), (size_t)count);
    else
        good = good && same(&receive);
    discard(&send);
    discard(&receive);
    return good;
}

/* Where MPI does not want it of all ranks alike, it is of some only at times. */
static bool draw_in_place(struct trial *trial)
{
    const bool drawn = random_one_in(&trial->shared, 3), of_some = random_one_in(&trial->shared, 2) && drawn;
    trial->tally->of[DRAWN_SOME_IN_PLACE] += of_some;
    return drawn && (!of_some || random_one_in(&trial->own, 2));
}

/* scan and exscan. What an exscan's `receive` on rank 0 is afterwards nobody says. */
bool try_scan(struct trial *trial, bool exclusive)
{
    struct combination what = data_combination(&trial->shared, trial->own_operations, trial->ranks);
    int count = draw_count(trial, what.type, 1), error[2];
    bool in_place = draw_in_place(trial), gets = !exclusive || trial->rank > 0;
    size_t bytes = (size_t)count * (size_t)what.bytes;
    struct pair send = make(trial, bytes), receive = make(trial, bytes);
    data_fill_numbers(&trial->own, &what, inside(in_place ? &receive : &send, 0), (size_t)count);
    memcpy(receive.memory[1], receive.memory[0], receive.bytes);
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    say(trial, "%d, %s%s", count, what.name, in_place ? ", in place" : "");
    bool ours =
        what.kind == 'v' && trial->applies(trial->comm, call_names[trial->which], (long long)bytes, what.bytes) == 1;
    trial->tally->of[DRAWN_OWN_OPERATIONS] += what.function;
    trial->tally->of[DRAWN_QUAD] += what.kind == 'q';
    trial->tally->of[DRAWN_VECTORS] += what.kind == 'v';
    for (int way = 0; way < 2; way++) {
        data_promise(way == 0 && ours ? what.bytes : 16);
        const void *from = in_place ? MPI_IN_PLACE : inside(&send, 0);
        char *to = inside(&receive, way);
        if (exclusive)
            error[way] = way == 0 ? TESTED(Exscan, from, to, count, what.type, what.op, trial->comm)
                                  : PMPI_Exscan(from, to, count, what.type, what.op, trial->comm);
        else
            error[way] = way == 0 ? TESTED(Scan, from, to, count, what.type, what.op, trial->comm)
                                  : PMPI_Scan(from, to, count, what.type, what.op, trial->comm);
    }
    bool good = error[0] == error[1] && data_kept_promise() &&
                memcmp(receive.memory[0], receive.memory[1], SLACK) == 0 &&
                memcmp(inside(&receive, 0) + bytes, inside(&receive, 1) + bytes, SLACK) == 0;
    good = good && (!gets || data_same(&what, inside(&receive, 0), inside(&receive, 1), (size_t)count));
    discard(&send);
    discard(&receive);
    return good;
}

static int scatter_sum(struct trial *trial, bool alike, bool tested, const void *from, void *to, const int *counts,
                       const struct combination *what)
{
    if (alike && tested)
        return TESTED(Reduce_scatter_block, from, to, counts[0], what->type, what->op, trial->comm);
    if (alike)
        return PMPI_Reduce_scatter_block(from, to, counts[0], what->type, what->op, trial->comm);
    if (!tested)
        return PMPI_Reduce_scatter(from, to, counts, what->type, what->op, trial->comm);
#if MPI_VERSION >= 4
    MPI_Count wide[RANKS_MOST];
    for (int i = 0; i < trial->ranks; i++)
        wide[i] = counts[i];
    if (trial->large)
        return TESTED_WIDE(Reduce_scatter, from, to, wide, what->type, what->op, trial->comm);
#endif
    return TESTED_INT(Reduce_scatter, from, to, counts, what->type, what->op, trial->comm);
}

/* reduce_scatter and, where all blocks are alike, reduce_scatter_block. In place what is behind the own block may be
   anything afterwards: the MPI libraries leave there what they like. */
bool try_scattered(struct trial *trial, bool alike)
{
    struct combination what = data_combination(&trial->shared, trial->own_operations, trial->ranks);
    int most = draw_count(trial, what.type, 1) / (trial->ranks > 2 ? 2 : 1), error[2];
    bool in_place = draw_in_place(trial);
    if (IS_MPICH && what.bytes == 24 && (alike || strstr(what.name, "with_lower") != NULL))
        return true; /* it reads and writes beyond its memory (5.0.2 too) */
    int *counts = malloc((size_t)trial->ranks * sizeof *counts);
    size_t all = 0;
    for (int i = 0; i < trial->ranks; i++) {
        counts[i] = alike ? most : random_one_in(&trial->shared, 4) ? 0 : random_below(&trial->shared, most + 1);
        all += (size_t)counts[i];
    }
    const size_t own = (size_t)counts[trial->rank], bytes = (in_place ? all : own) * (size_t)what.bytes;
    struct pair send = make(trial, all * (size_t)what.bytes), receive = make(trial, bytes);
    data_fill_numbers(&trial->own, &what, inside(in_place ? &receive : &send, 0), all);
    memcpy(receive.memory[1], receive.memory[0], receive.bytes);
    trial->tally->of[DRAWN_IN_PLACE] += in_place;
    trial->tally->of[DRAWN_OWN_OPERATIONS] += what.function;
    trial->tally->of[DRAWN_QUAD] += what.kind == 'q';
    trial->tally->of[DRAWN_VECTORS] += what.kind == 'v';
    say(trial, "%zu of %zu, %s%s", own, all, what.name, in_place ? ", in place" : "");
    long long size = (long long)((alike ? own : all) * (size_t)what.bytes);
    bool ours = what.kind == 'v' && trial->applies(trial->comm, call_names[trial->which], size, what.bytes) == 1;
    for (int way = 0; way < 2; way++) {
        data_promise(way == 0 && ours ? what.bytes : 16);
        error[way] = scatter_sum(trial, alike, way == 0, in_place ? MPI_IN_PLACE : inside(&send, 0),
                                 inside(&receive, way), counts, &what);
    }
    bool good = error[0] == error[1] && data_kept_promise() &&
                memcmp(receive.memory[0], receive.memory[1], SLACK) == 0 &&
                memcmp(inside(&receive, 0) + bytes, inside(&receive, 1) + bytes, SLACK) == 0 &&
                data_same(&what, inside(&receive, 0), inside(&receive, 1), own);
    discard(&send);
    discard(&receive);
    free(counts);
    return good;
}
