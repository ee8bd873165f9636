#include "members.h"

#include <stdint.h>

/* Whether the MPI looks for each rank from the beginning (members.h). */
#if defined OPEN_MPI
static const bool looks_for_each = true;
#else
static const bool looks_for_each = false;
#endif

/* So few comparisons are not worth a guess; more than `patience`, and so many for each rank, are not made. */
static const int64_t few = INT64_C(1) << 14, patience = INT64_C(1) << 22, patience_each = 64;

/* Guesses that are verified together: each costs half as many comparisons. */
enum { TOGETHER = 8 };

struct search {
    MPI_Group group, world;
    int ranks, world_ranks;
    int *theirs;
    int64_t left; /* comparisons that may still be made */
};

/* By the MPI; MPI_UNDEFINED: not there, or out of patience. */
static int look_for(struct search *search, int rank)
{
    int there = MPI_UNDEFINED;
    if (search->left < 0)
        return MPI_UNDEFINED;
    PMPI_Group_translate_ranks(search->group, 1, &rank, search->world, &there);
    search->left -= there != MPI_UNDEFINED ? there + 1 : search->world_ranks;
    return there;
}

/* How many ranks from this one on are the world's `first`, `first + step`, ...; at most `most`, of TOGETHER. */
static int follow(struct search *search, int rank, int64_t first, int64_t step, int most)
{
    int guess[TOGETHER], asked[TOGETHER], found[TOGETHER], count = 0, right = 0;
    for (; count < most && rank + count < search->ranks; count++) {
        int64_t next = first + count * step;
        if (next < 0 || next >= search->world_ranks || (count > 0 && step == 0))
            break;
        guess[count] = (int)next;
        asked[count] = rank + count;
    }
    if (count == 0)
        return 0;
    MPI_Group guessed;
    if (PMPI_Group_incl(search->world, count, guess, &guessed) != MPI_SUCCESS)
        return 0;
    PMPI_Group_translate_ranks(search->group, count, asked, guessed, found);
    PMPI_Group_free(&guessed);
    while (right < count && found[right] == right) {
        search->theirs[rank + right] = guess[right];
        right++;
    }
    return right;
}

/* The row that begins at this rank, in steps of *step if it is not 0 and that is right: how long it is. */
static int row(struct search *search, int rank, int64_t *step)
{
    int64_t first = search->theirs[rank];
    int length = 1;
    if (rank + 1 == search->ranks)
        return length;
    if (*step == 0 || follow(search, rank + 1, first + *step, *step, 1) == 0) {
        *step = 1;
        if (follow(search, rank + 1, first + *step, *step, 1) == 0) {
            int next = look_for(search, rank + 1);
            if (next == MPI_UNDEFINED)
                return 0;
            search->theirs[rank + 1] = next;
            *step = next - first;
        }
    }
    length = 2;
    for (int more = TOGETHER; more == TOGETHER; length += more)
        more = follow(search, rank + length, first + length * *step, *step, TOGETHER);
    return length;
}

static bool find_rows(struct search *search)
{
    int64_t step = 0, begin = 0, before = 0;
    int rows = 0;
    for (int rank = 0, length; rank < search->ranks; rank += length, rows++) {
        int64_t guess = begin + (begin - before);
        if (rows < 2 || guess == begin || follow(search, rank, guess, 0, 1) == 0) {
            search->theirs[rank] = look_for(search, rank);
            if (search->theirs[rank] == MPI_UNDEFINED)
                return false;
        }
        before = begin;
        begin = search->theirs[rank];
        length = row(search, rank, &step);
        if (length == 0)
            return false;
    }
    return true;
}

static bool find_all(MPI_Group group, MPI_Group world, int ranks, int *theirs)
{
    enum { AT_ONCE = 256 };
    int asked[AT_ONCE];
    for (int done = 0, count; done < ranks; done += count) {
        for (count = 0; count < AT_ONCE && done + count < ranks; count++)
            asked[count] = done + count;
        PMPI_Group_translate_ranks(group, count, asked, world, theirs + done);
        for (int i = 0; i < count; i++)
            if (theirs[done + i] == MPI_UNDEFINED)
                return false;
    }
    return true;
}

bool members_were_there(MPI_Comm comm, MPI_Group world, int ranks, int *theirs)
{
    MPI_Group group;
    if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
        return false;
    const bool good = find_all(group, world, ranks, theirs);
    PMPI_Group_free(&group);
    return good;
}

enum members members_find(MPI_Comm comm, MPI_Group world, int world_ranks, int ranks, int *theirs)
{
    MPI_Group group;
    bool same = ranks == world_ranks, good = true, patient = true;
    if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
        return MEMBERS_UNKNOWN;
    if (same && group == world) { /* Open MPI's communicators share the group that they were copied with */
        for (int rank = 0; rank < ranks; rank++)
            theirs[rank] = rank;
    } else if (looks_for_each && (int64_t)ranks * world_ranks > few) {
        struct search search = {group, world, ranks, world_ranks, theirs, 0};
        search.left = patience + patience_each * ((int64_t)ranks + world_ranks);
        good = find_rows(&search);
        patient = search.left >= 0;
    } else {
        good = find_all(group, world, ranks, theirs);
    }
    PMPI_Group_free(&group);
    for (int rank = 0; good && same && rank < ranks; rank++)
        same = theirs[rank] == rank;
    if (!good)
        return patient ? MEMBERS_FOREIGN : MEMBERS_UNKNOWN;
    return same ? MEMBERS_WORLD : MEMBERS_KNOWN;
}
