/* The order in which `paced` sends and expects pieces, against its plain description; and that going through it takes
 * steps in proportion to the partners and the pieces, whatever the sizes are. */
/* The library's own are there too. */
#define alltoall_paced alltoall_tested
#define alltoallv_paced alltoallv_tested
#include "../collectives/algorithms/alltoall_paced.c"

#include <string.h>

#include "check.h"

enum { MOST = 64 };

/* Nodes of `most` ranks, the last one of fewer. */
static struct coll_comm world(int nodes, int most, int last, int *numbers)
{
    int ranks = (nodes - 1) * most + last, *first = numbers, *members = first + nodes + 1;
    for (int node = 0; node <= nodes; node++)
        first[node] = node == nodes ? ranks : node * most;
    for (int rank = 0; rank < ranks; rank++)
        members[rank] = rank;
    struct coll_comm comm = {.ranks = ranks};
    comm.topology = (struct topology){.ranks = ranks,
                                      .nodes = nodes,
                                      .locals = most,
                                      .most = most,
                                      .least = last,
                                      .first = first,
                                      .members = members};
    return comm;
}

static int64_t piece(const int64_t *bytes, int rank, int64_t at, int64_t segment)
{
    int64_t left = rank < 0 ? 0 : bytes[rank] - at;
    return left < 0 ? 0 : left < segment ? left : segment;
}

static void test_order(unsigned *seed)
{
    enum { SEGMENT = 10, LONGEST = 45 };
    int numbers[2 * MOST], steps[3 * MOST], most = 1 + rand_r(seed) % 4;
    struct coll_comm comm = world(2 + rand_r(seed) % 5, most, 1 + rand_r(seed) % most, numbers);
    int64_t out[MOST], in[MOST], at[MOST] = {0}, due = 0;
    for (int rank = 0; rank < comm.ranks; rank++) {
        out[rank] = rand_r(seed) % 2 ? rand_r(seed) % LONGEST : 0;
        in[rank] = rand_r(seed) % 2 ? rand_r(seed) % LONGEST : 0;
    }
    struct pace pace = {.comm = &comm};
    pace.out = way_from(&comm, (struct blocks){.bytes = out, .at = at}, SEGMENT, 1, steps);
    pace.expected = way_from(&comm, (struct blocks){.bytes = in, .at = at}, SEGMENT, -1, steps + MOST);
    for (int64_t place = 0; place < LONGEST; place += SEGMENT)
        for (int step = 0; step < nodes_partner_steps(&comm.topology); step++) {
            int to = nodes_partner(&comm.topology, step, 1);
            int64_t bytes = piece(out, to, place, SEGMENT);
            if (bytes > 0) {
                CHECK(has_more(&pace.out));
                add_due(&pace);
                CHECK(next_rank(&pace.out) == to && next_bytes(&pace.out) == bytes && pace.out.at == place);
                CHECK(pace.due == due);
                next_place(&pace.out);
            }
            due += piece(in, nodes_partner(&comm.topology, step, -1), place, SEGMENT);
        }
    CHECK(!has_more(&pace.out));
}

/* One long block among many that are empty. */
static void test_length(void)
{
    enum { NODES = 100, PPN = 64, RANKS = NODES * PPN, SEGMENT = 32 << 10, PIECES = 8192 };
    int *numbers = malloc(3 * RANKS * sizeof *numbers), *steps = malloc(RANKS * sizeof *steps);
    int64_t *bytes = calloc(RANKS, sizeof *bytes);
    struct coll_comm comm = world(NODES, PPN, PPN, numbers);
    bytes[RANKS - 1] = (int64_t)PIECES * SEGMENT;
    bytes[RANKS - 2] = SEGMENT;
    struct way way = way_from(&comm, (struct blocks){.bytes = bytes, .at = bytes}, SEGMENT, 1, steps);
    int places = 0;
    for (; has_more(&way); next_place(&way))
        places++;
    CHECK(places == PIECES + 1);
    free(numbers);
    free(steps);
    free(bytes);
}

int main(void)
{
    unsigned seed = 1;
    for (int i = 0; i < 300; i++)
        test_order(&seed);
    test_length();
    return verdict();
}
