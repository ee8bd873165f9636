#include "combine.h"

#include "../reduction.h"

static const void *wait_posted(struct coll_comm *comm, const struct posted *posted, int local)
{
    line_wait(comm, local, posted->step);
    if (posted->expects && local > 0)
        line_expect(comm->node, local, posted->step + 1);
    return cell_piece_of(comm->node, local, posted->step, posted->piece) + posted->at;
}

/* Done with what the other of two ranks posted: pieces go CELLS_OWNED where they have one reader. */
static void has_read(const struct node *node, const struct posted *posted, int64_t bytes)
{
    if (node->way == CELLS_OWNED)
        cell_own(cell_piece_of(node, 1 - node->rank, posted->step, posted->piece) + posted->at, bytes);
}

/* What needs the elements of all at once. */
static void combine_at_once(struct coll_comm *comm, const struct posted *posted, const void *own, void *result,
                            int64_t count, const struct reduction *reduction)
{
    const struct node *node = comm->node;
    const void *of[node->ranks];
    for (int local = 0; local < node->ranks; local++)
        of[local] = local == node->rank ? own : wait_posted(comm, posted, local);
    reduction_fold(reduction, of, node->ranks, result, count);
}

void combine_posted(struct coll_comm *comm, const struct posted *posted, const void *own, void *result, int64_t count,
                    const struct reduction *reduction)
{
    const struct node *node = comm->node;
    if (reduction->sum != NULL) {
        combine_at_once(comm, posted, own, result, count, reduction);
        has_read(node, posted, count * reduction->element);
        return;
    }
    const void *left = node->rank == 0 ? own : wait_posted(comm, posted, 0);
    for (int local = 1; local < node->ranks; local++, left = result)
        reduction->combine(reduction, left, local == node->rank ? own : wait_posted(comm, posted, local), result,
                           count);
    has_read(node, posted, count * reduction->element);
}

void combine_lines(struct coll_comm *comm, uint64_t step, const void *own, void *result, int64_t count,
                   const struct reduction *reduction)
{
    const struct node *node = comm->node;
    if (__builtin_expect(reduction->sum != NULL, false)) {
        const void *of[node->ranks];
        for (int local = 0; local < node->ranks; local++)
            of[local] = local == node->rank ? own : line_wait(comm, local, step)->payload;
        reduction_fold(reduction, of, node->ranks, result, count);
        return;
    }
    const void *left = node->rank == 0 ? own : line_wait(comm, 0, step)->payload;
    for (int local = 1; local < node->ranks; local++, left = result)
        reduction->combine(reduction, left, local == node->rank ? own : line_wait(comm, local, step)->payload, result,
                           count);
}
