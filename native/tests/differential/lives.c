#include "lives.h"

void lives_start(struct lives *lives)
{
    for (int i = 0; i < LIVES; i++)
        lives->comm[i] = MPI_COMM_NULL, lives->alive[i] = false;
}

static void end(struct lives *lives, int i)
{
    if (lives->comm[i] != MPI_COMM_NULL)
        MPI_Comm_free(&lives->comm[i]);
    lives->alive[i] = false;
}

/* From the world, or from another of the living: then only its ranks are in it. */
static void make(struct lives *lives, int i, struct random *shared, int world_rank)
{
    int from = random_below(shared, 2 * LIVES), kind = random_below(shared, 5), key = (int)(random_next(shared) >> 40);
    MPI_Comm parent = from < LIVES && lives->alive[from] && from != i ? lives->comm[from] : MPI_COMM_WORLD;
    MPI_Request request;
    MPI_Group group;
    lives->alive[i] = true;
    lives->comm[i] = MPI_COMM_NULL;
    if (parent == MPI_COMM_NULL)
        return;
    switch (kind) {
    case 0: MPI_Comm_dup(parent, &lives->comm[i]); break;
    case 1: MPI_Comm_split(parent, (world_rank ^ key) & 1, world_rank * (key & 2 ? 1 : -1), &lives->comm[i]); break;
    case 2: MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &lives->comm[i]); break;
    case 3:
        MPI_Comm_idup(parent, &lives->comm[i], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Comm_group(parent, &group);
        MPI_Comm_create(parent, group, &lives->comm[i]);
        MPI_Group_free(&group);
    }
}

MPI_Comm lives_draw(struct lives *lives, struct random *shared, int world_rank, struct tally *tally)
{
    int i = random_below(shared, LIVES);
    bool ends = random_one_in(shared, 3);
    if (lives->alive[i] && ends)
        end(lives, i);
    if (!lives->alive[i]) {
        make(lives, i, shared, world_rank);
        tally->of[DRAWN_MADE]++;
    }
    return lives->comm[i];
}

void lives_end(struct lives *lives)
{
    for (int i = 0; i < LIVES; i++)
        end(lives, i);
}
