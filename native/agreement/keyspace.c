#include "keyspace.h"

#include <stdlib.h>

struct keyspace *keyspace_open(int rank, int ranks, int round, const char *host)
{
    struct keyspace *(*const kinds[])(int rank, int ranks) = {keyspace_pmix, keyspace_pmi};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct keyspace *space = kinds[i](rank, ranks);
        if (space == NULL)
            continue;
        space->rank = rank;
        space->ranks = ranks;
        space->round = round;
        space->host = host;
        return space;
    }
    return NULL;
}

void keyspace_close(struct keyspace *space)
{
    if (space == NULL)
        return;
    free(space->own);
    free(space);
}
