#include "moving.h"

#include "progress.h"

static struct moving *newest; /* threads are in MPI one at a time (nonblocking_choice.c) */
static bool is_moving;

static bool move(struct moving *moving)
{
    int error;
    if (!schedule_move(&moving->schedule, moving->may_begin(moving), &error))
        return false;
    if (moving->newer != NULL)
        moving->newer->older = moving->older;
    else
        newest = moving->older;
    if (moving->older != NULL)
        moving->older->newer = moving->newer;
    moving->newer = moving->older = NULL;
    moving->end(moving, error);
    return true;
}

int moving_move(void)
{
    int over = 0;
    if (is_moving || newest == NULL)
        return 0;
    is_moving = true;
    for (struct moving *one = newest, *older; one != NULL; one = older) {
        older = one->older;
        over += move(one);
    }
    is_moving = false;
    return over;
}

void moving_start(struct moving *moving)
{
    moving->older = newest;
    if (newest != NULL)
        newest->newer = moving;
    newest = moving;
    progress_begin(moving_move);
    moving_move();
}

bool moving_any(const struct coll_comm *comm)
{
    const struct moving *one = comm != NULL ? newest : NULL;
    while (one != NULL && one->schedule.comm != comm)
        one = one->older;
    return one != NULL;
}

const struct moving *moving_newest(void)
{
    return newest;
}
