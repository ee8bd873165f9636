/* Domains of the ranks of a communicator, and coordinates that an MPI library tells: by stand-ins, in this program, for
 * the functions that Fujitsu's and Blue Gene/Q's libraries have. On two ranks or more, each a node where coordinates
 * are asked for. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "collectives.h"
#include "inquiry.h"

/* Which library is pretended to be there, and what is wrong with it. */
static enum { NONE, FUJITSU, FUJITSU_LINE, FUJITSU_ERROR, FUJITSU_OUTSIDE, BLUE_GENE } library;
static int ranks, asked;

int FJMPI_Topology_get_dimension(int *dimensions);
int FJMPI_Topology_get_shape(int *x, int *y, int *z);
int FJMPI_Topology_rank2x(int rank, int *x);
int FJMPI_Topology_rank2xy(int rank, int *x, int *y);
int FJMPI_Topology_rank2xyz(int rank, int *x, int *y, int *z);
int MPIX_Torus_ndims(int *dimensions);
int MPIX_Rank2torus(int rank, int *coordinates);

static int is_fujitsu(void)
{
    return library >= FUJITSU && library <= FUJITSU_OUTSIDE;
}

int FJMPI_Topology_get_dimension(int *dimensions)
{
    *dimensions = library == FUJITSU_LINE ? 1 : 3;
    return !is_fujitsu();
}

/* A line of all ranks in the last dimension; of two dimensions more nobody has said anything in one. */
int FJMPI_Topology_get_shape(int *x, int *y, int *z)
{
    *x = library == FUJITSU_LINE ? ranks : 1;
    if (library != FUJITSU_LINE)
        *y = 1, *z = ranks;
    return !is_fujitsu();
}

int FJMPI_Topology_rank2x(int rank, int *x)
{
    asked++;
    *x = ranks - 1 - rank;
    return 0;
}

int FJMPI_Topology_rank2xy(int rank, int *x, int *y)
{
    (void)rank, (void)x, (void)y;
    return 1;
}

int FJMPI_Topology_rank2xyz(int rank, int *x, int *y, int *z)
{
    asked++;
    *x = *y = 0;
    *z = library == FUJITSU_OUTSIDE ? rank + 1 : rank;
    return library == FUJITSU_ERROR && rank == 0;
}

int MPIX_Torus_ndims(int *dimensions)
{
    *dimensions = 5;
    return library != BLUE_GENE;
}

/* Five coordinates and the place on the node. */
int MPIX_Rank2torus(int rank, int *coordinates)
{
    memset(coordinates, 0, 6 * sizeof *coordinates);
    coordinates[3] = 2 * (ranks - 1 - rank); /* every second place is another's */
    coordinates[5] = 7;
    return 0;
}

/* The world as it is found anew. */
static struct topology found(void)
{
    struct topology topology;
    topology_end();
    CHECK(topology_start() == MPI_SUCCESS && topology_create(&topology, MPI_COMM_WORLD));
    return topology;
}

static void test_inquiry(void)
{
    char text[200];
    setenv("UNISONO_FAKE_NODES", "1", 1);
    library = FUJITSU;
    struct topology topology = found();
    CHECK(topology.nodes == ranks && topology.cuboid.node_at != NULL && topology.cuboid.torus.dimensions == 1);
    CHECK(topology.cuboid.torus.wraps[0] && topology.cuboid.node_at[ranks - 1] == ranks - 1);
    topology_describe(text, sizeof text);
    CHECK(strstr(text, ", from Fujitsu's MPI") != NULL);
    topology_free(&topology);

    library = FUJITSU_LINE;
    topology = found();
    CHECK(topology.cuboid.node_at != NULL && topology.cuboid.node_at[0] == ranks - 1);
    topology_free(&topology);

    library = BLUE_GENE;
    topology = found();
    CHECK(topology.cuboid.node_at == NULL); /* there are gaps */
    topology_describe(text, sizeof text);
    CHECK(strstr(text, "1x1x1x") != NULL && strstr(text, "from Blue Gene/Q's MPI") != NULL);
    topology_free(&topology);

    CHECK(asked == 2);
    for (library = FUJITSU_ERROR; library <= FUJITSU_OUTSIDE; library++) {
        topology = found();
        CHECK(topology.cuboid.node_at == NULL);
        topology_describe(text, sizeof text);
        CHECK(strstr(text, "coordinates: none") != NULL);
        topology_free(&topology);
    }

    library = NONE;
    unsetenv("UNISONO_FAKE_NODES");
}

static void test_domains(void)
{
    struct topology topology, turned;
    MPI_Comm reversed;
    char text[200];
    setenv("UNISONO_FAKE_NUMA", "1", 1);
    topology = found();
    CHECK(topology.nodes == 1 && topology.levels.count == 0); /* a domain for each rank divides nothing */
    topology_free(&topology);
    setenv("UNISONO_FAKE_NUMA", "%2/%4", 1);
    topology = found();
    topology_describe(text, sizeof text);
    CHECK(strstr(text, "2 pretended") != NULL);
    PMPI_Comm_split(MPI_COMM_WORLD, 0, -topology.rank, &reversed);
    CHECK(topology_create(&turned, reversed));
    CHECK(topology.levels.count == (ranks > 4) + (ranks > 2) && turned.levels.count == topology.levels.count);
    CHECK(topology.levels.in_order == (ranks < 3) && turned.levels.in_order == topology.levels.in_order);
    if (ranks > 2)
        CHECK(topology.levels.widest[0][1] == 2 && topology.levels.widest[0][topology.levels.count + 1] == ranks);
    for (int rank = 0; ranks > 2 && rank < ranks; rank++)
        CHECK(topology.levels.domain_of[rank] == rank % 2 && turned.levels.domain_of[rank] == rank % 2);
    PMPI_Comm_free(&reversed);
    topology_free(&turned);
    topology_free(&topology);
    setenv("UNISONO_FAKE_NODES", "1", 1);
    topology = found();
    CHECK(topology.levels.count == 0);
    topology_free(&topology);
    unsetenv("UNISONO_FAKE_NODES");
    unsetenv("UNISONO_FAKE_NUMA");
}

int main(int argc, char **argv)
{
    PMPI_Init(&argc, &argv);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    test_inquiry();
    test_domains();
    topology_end();
    PMPI_Finalize();
    return verdict();
}
