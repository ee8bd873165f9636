/* Alltoallw: its blocks are bytes before an algorithm sees them (dispatch), so what serves an alltoallv serves it. Which of
 * those is the quickest may be another, as who calls alltoallw has types with gaps; and so may be the MPI library's own. */
#include "../group/exchange_counts.h"

static const char meaning[] = "As the alltoallv of that name.";

/* What is left of a row is written behind it. */
#define ROW(way)                                                                                                       \
    extern const struct algorithm alltoallv_##way;                                                                     \
    static bool applies_##way(const struct coll_comm *comm, const struct shape *shape)                                 \
    {                                                                                                                  \
        return alltoallv_##way.applies(comm, shape);                                                                   \
    }                                                                                                                  \
    static double cost_##way(const struct coll_comm *comm, const struct shape *shape)                                  \
    {                                                                                                                  \
        return alltoallv_##way.cost(comm, shape);                                                                      \
    }                                                                                                                  \
    static int run_##way(struct coll_comm *comm, const struct call *call, int64_t segment)                             \
    {                                                                                                                  \
        struct call same = *call;                                                                                      \
        same.collective = COLL_ALLTOALLV;                                                                              \
        return alltoallv_##way.run(comm, &same, segment);                                                              \
    }                                                                                                                  \
    const struct algorithm alltoallw_##way = {.name = "alltoallw_" #way,                                               \
                                              .collective = COLL_ALLTOALLW,                                            \
                                              .meaning = meaning,                                                      \
                                              .reference = "",                                                         \
                                              .applies = applies_##way,                                                \
                                              .cost = cost_##way,                                                      \
                                              .run = run_##way

extern const struct algorithm alltoallv_nodes;

static int64_t collects_nodes(const struct coll_comm *comm, const struct shape *shape)
{
    return alltoallv_nodes.collects(comm, shape);
}

enum { SEGMENT = 32 << 10 };

ROW(adaptive), .segment = SEGMENT, .scratch = counts_bytes
}
;
ROW(cells)
}
;
ROW(flat_pairwise)
}
;
ROW(flat_spread)
}
;
ROW(nodes), .scratch = counts_bytes, .collects = collects_nodes
}
;
ROW(paced), .segment = SEGMENT
}
;
ROW(pull)
}
;
