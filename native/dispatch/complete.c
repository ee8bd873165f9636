/* Functions that complete requests, where some may be persistent collectives of ours. While the MPI library looks at an array,
 * MPI_REQUEST_NULL stands there in their place, for which it returns what it would for one of its own that is inactive, an empty status.
 * (MPICH 4 and 5 by themselves wait for ever for a persistent collective that was never started.) */
#include "dispatch.h"
#include "persistent.h"
#include "reserve.h"

static void await(struct persistent *one)
{
    unsigned turn = 0;
    for (persistent_move(one); one->is_active && !one->is_over;)
        persistent_turn(one, &turn);
}

static bool is_over(struct persistent *one)
{
    persistent_move(one);
    return !one->is_active || one->is_over;
}

static void set_empty(MPI_Status *status)
{
    MPI_Request none = MPI_REQUEST_NULL;
    if (status != MPI_STATUS_IGNORE)
        PMPI_Wait(&none, status);
}

/* The MPI library moves on what it has, and nothing is completed. */
static void let_move(const struct persistent *one)
{
    dispatch_move();
    fabric_progress(&persistent_comm(one)->fabric);
}

/* The first of those that are ours, in their order; NULL: none. */
static struct persistent *hide(int count, MPI_Request *requests)
{
    struct persistent *first = NULL, **link = &first;
    for (int i = 0; i < count; i++) {
        struct persistent *one = persistent_find(requests[i]);
        if (one == NULL || one->is_hidden)
            continue;
        one->is_hidden = true;
        one->place = i;
        one->more = NULL;
        *link = one;
        link = &one->more;
        requests[i] = MPI_REQUEST_NULL;
    }
    return first;
}

static void show(struct persistent *ours, MPI_Request *requests)
{
    for (; ours != NULL; ours = ours->more) {
        ours->is_hidden = false;
        requests[ours->place] = ours->request;
    }
}

static struct persistent *any_active(struct persistent *ours)
{
    while (ours != NULL && !ours->is_active)
        ours = ours->more;
    return ours;
}

static struct persistent *any_over(struct persistent *ours)
{
    while (ours != NULL && (!ours->is_active || !is_over(ours)))
        ours = ours->more;
    return ours;
}

static bool all_over(struct persistent *ours)
{
    while (ours != NULL && is_over(ours))
        ours = ours->more;
    return ours == NULL;
}

/* What a call for several returns, of which this one has failed. */
static int note(int error, int failed, int count, MPI_Status *statuses, int place)
{
    for (int i = 0; error == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE && i < count; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    if (statuses != MPI_STATUSES_IGNORE)
        statuses[place].MPI_ERROR = failed;
    return MPI_ERR_IN_STATUS;
}

/* The program hears that all are over. */
static int end_all(struct persistent *ours, int error, int count, MPI_Status *statuses)
{
    for (; ours != NULL; ours = ours->more) {
        int failed = persistent_result(ours);
        if (failed != MPI_SUCCESS)
            error = note(error, failed, count, statuses, ours->place);
    }
    return error;
}

/* Those that are over behind the *some that the MPI library has. `ends`: the program hears of it. */
static int end_some(struct persistent *ours, int error, int *some, int *places, MPI_Status *statuses, bool ends)
{
    for (; ours != NULL; ours = ours->more) {
        if (!ours->is_active || !is_over(ours))
            continue;
        places[*some] = ours->place;
        set_empty(statuses != MPI_STATUSES_IGNORE ? &statuses[*some] : MPI_STATUS_IGNORE);
        int failed = ends ? persistent_result(ours) : MPI_SUCCESS;
        ++*some;
        if (failed != MPI_SUCCESS)
            error = note(error, failed, *some, statuses, *some - 1);
    }
    return error;
}

int dispatch_kept_wait(MPI_Request *request, MPI_Status *status, int (*go_on)(MPI_Request *, MPI_Status *))
{
    struct persistent *one = persistent_find(*request);
    if (one == NULL)
        return go_on(request, status);
    await(one);
    set_empty(status);
    return persistent_result(one);
}

int dispatch_kept_test(MPI_Request *request, int *flag, MPI_Status *status,
                       int (*go_on)(MPI_Request *, int *, MPI_Status *))
{
    struct persistent *one = persistent_find(*request);
    if (one == NULL)
        return go_on(request, flag, status);
    *flag = is_over(one);
    if (!*flag) {
        let_move(one);
        return MPI_SUCCESS;
    }
    set_empty(status);
    return persistent_result(one);
}

int dispatch_kept_request_get_status(MPI_Request request, int *flag, MPI_Status *status,
                                     int (*go_on)(MPI_Request, int *, MPI_Status *))
{
    struct persistent *one = persistent_find(request);
    if (one == NULL)
        return go_on(request, flag, status);
    *flag = is_over(one);
    if (*flag)
        set_empty(status);
    else
        let_move(one);
    return MPI_SUCCESS;
}

int dispatch_kept_waitall(int count, MPI_Request *requests, MPI_Status *statuses,
                          int (*go_on)(int, MPI_Request *, MPI_Status *))
{
    struct persistent *ours = hide(count, requests);
    int found = 0;
    for (struct persistent *one = ours; one != NULL; one = one->more, found++)
        await(one);
    int error =
        found == count && count > 0 && statuses == MPI_STATUSES_IGNORE ? MPI_SUCCESS : go_on(count, requests, statuses);
    show(ours, requests);
    return end_all(ours, error, count, statuses);
}

int dispatch_kept_testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses,
                          int (*go_on)(int, MPI_Request *, int *, MPI_Status *))
{
    struct persistent *ours = hide(count, requests);
    int error = MPI_SUCCESS;
    *flag = 0;
    if (all_over(ours))
        error = go_on(count, requests, flag, statuses);
    else
        let_move(ours);
    show(ours, requests);
    return *flag || error != MPI_SUCCESS ? end_all(ours, error, count, statuses) : error;
}

int dispatch_kept_waitany(int count, MPI_Request *requests, int *which, MPI_Status *status,
                          int (*go_on)(int, MPI_Request *, int *, MPI_Status *))
{
    struct persistent *ours = hide(count, requests), *active = any_active(ours), *over = NULL;
    unsigned turn = 0;
    int error = MPI_SUCCESS, done = 0;
    if (active == NULL)
        error = go_on(count, requests, which, status);
    while (active != NULL && (over = any_over(ours)) == NULL) {
        dispatch_move();
        error = PMPI_Testany(count, requests, which, &done, status);
        if (error != MPI_SUCCESS || (done && *which != MPI_UNDEFINED))
            break;
        persistent_turn(active, &turn);
    }
    show(ours, requests);
    if (over == NULL)
        return error;
    *which = over->place;
    set_empty(status);
    return persistent_result(over);
}

/* MPI_Testany; `ends`: the program hears of it. */
static int test_any(struct persistent *ours, int *which, int *flag, MPI_Status *status, bool ends, int error)
{
    struct persistent *over = any_over(ours);
    if (error != MPI_SUCCESS || (*flag && *which != MPI_UNDEFINED))
        return error;
    *flag = over != NULL || (*flag && any_active(ours) == NULL);
    *which = over != NULL ? over->place : MPI_UNDEFINED;
    if (*flag)
        set_empty(status);
    return over != NULL && ends ? persistent_result(over) : MPI_SUCCESS;
}

int dispatch_kept_testany(int count, MPI_Request *requests, int *which, int *flag, MPI_Status *status,
                          int (*go_on)(int, MPI_Request *, int *, int *, MPI_Status *))
{
    struct persistent *ours = hide(count, requests);
    int error = go_on(count, requests, which, flag, status);
    show(ours, requests);
    return ours == NULL ? error : test_any(ours, which, flag, status, true, error);
}

/* MPI_Testsome of all, where MPI_UNDEFINED stays if none is active. */
static int test_some(struct persistent *ours, int error, int *some, int *places, MPI_Status *statuses, bool ends)
{
    const bool any = any_active(ours) != NULL;
    int found = *some == MPI_UNDEFINED ? 0 : *some;
    if (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS)
        return error;
    error = end_some(ours, error, &found, places, statuses, ends);
    *some = any || *some != MPI_UNDEFINED ? found : MPI_UNDEFINED;
    return error;
}

int dispatch_kept_testsome(int count, MPI_Request *requests, int *some, int *places, MPI_Status *statuses,
                           int (*go_on)(int, MPI_Request *, int *, int *, MPI_Status *))
{
    struct persistent *ours = hide(count, requests);
    int error = go_on(count, requests, some, places, statuses);
    show(ours, requests);
    return test_some(ours, error, some, places, statuses, true);
}

int dispatch_kept_waitsome(int count, MPI_Request *requests, int *some, int *places, MPI_Status *statuses,
                           int (*go_on)(int, MPI_Request *, int *, int *, MPI_Status *))
{
    struct persistent *ours = hide(count, requests), *active = any_active(ours);
    unsigned turn = 0;
    int error = MPI_SUCCESS;
    if (active == NULL)
        error = go_on(count, requests, some, places, statuses);
    while (active != NULL) {
        dispatch_move();
        error = PMPI_Testsome(count, requests, some, places, statuses);
        error = test_some(ours, error, some, places, statuses, true);
        if (error != MPI_SUCCESS || *some > 0)
            break;
        persistent_turn(active, &turn);
    }
    show(ours, requests);
    return error;
}

/* The program's array is not to be changed. */
static struct persistent *hide_copy(int count, const MPI_Request *requests, MPI_Request **copy)
{
    *copy = reserve_get((size_t)(count > 0 ? count : 1) * sizeof **copy);
    for (int i = 0; i < count; i++)
        (*copy)[i] = requests[i];
    return hide(count, *copy);
}

static void show_copy(struct persistent *ours, MPI_Request *copy)
{
    show(ours, copy);
    reserve_put(copy);
}

int dispatch_kept_request_get_status_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses,
                                         int (*go_on)(int, const MPI_Request *, int *, MPI_Status *))
{
    MPI_Request *copy;
    struct persistent *ours = hide_copy(count, requests, &copy);
    int error = MPI_SUCCESS;
    *flag = 0;
    if (all_over(ours))
        error = go_on(count, copy, flag, statuses);
    else
        let_move(ours);
    show_copy(ours, copy);
    return error;
}

int dispatch_kept_request_get_status_any(int count, const MPI_Request *requests, int *which, int *flag,
                                         MPI_Status *status,
                                         int (*go_on)(int, const MPI_Request *, int *, int *, MPI_Status *))
{
    MPI_Request *copy;
    struct persistent *ours = hide_copy(count, requests, &copy);
    int error = go_on(count, copy, which, flag, status);
    show_copy(ours, copy);
    return ours == NULL ? error : test_any(ours, which, flag, status, false, error);
}

int dispatch_kept_request_get_status_some(int count, const MPI_Request *requests, int *some, int *places,
                                          MPI_Status *statuses,
                                          int (*go_on)(int, const MPI_Request *, int *, int *, MPI_Status *))
{
    MPI_Request *copy;
    struct persistent *ours = hide_copy(count, requests, &copy);
    int error = go_on(count, copy, some, places, statuses);
    show_copy(ours, copy);
    return test_some(ours, error, some, places, statuses, false);
}
