#include "inquiry.h"

#include <mpi.h>
#include <stddef.h>

#ifdef UNISONO_SIMULATED

int inquiry_start(struct torus *machine, int *place, const char **teller)
{
    (void)machine, (void)place, (void)teller;
    return MPI_SUCCESS;
}

#else

#include <dlfcn.h>
#ifdef UNISONO_FJMPI /* its mpi-ext.h is there: CMakeLists.txt */
#include <mpi-ext.h>
#endif

enum { MOST_ANSWERS = TORUS_MOST + 2 };

typedef int ask_one(int *);
typedef int ask_three(int *, int *, int *);
typedef int ask_coords(MPI_Comm, int, int, int, int *);
typedef int ask_x(int, int *);
typedef int ask_xy(int, int *, int *);
typedef int ask_xyz(int, int *, int *, int *);

/* What one of them says: extents of 0 are yet to be found, from the coordinates of all. */
struct answer {
    struct torus machine;
    int at[MOST_ANSWERS];
};

typedef void function(void);

static function *look_up(const char *name)
{
    function *found;
    *(void **)&found = dlsym(RTLD_DEFAULT, name);
    return found;
}

/* Of Fujitsu's: coordinates of a rank, in one of the ways there are. */
static bool ask_fujitsu_for(int dimensions, int rank, int at[3])
{
#ifdef UNISONO_FJMPI
    ask_coords *coords = (ask_coords *)look_up("FJMPI_Topology_get_coords");
    if (coords != NULL)
        return coords(MPI_COMM_WORLD, rank, FJMPI_LOGICAL, dimensions, at) == 0;
#endif
    static const char *const names[] = {"FJMPI_Topology_rank2x", "FJMPI_Topology_rank2xy", "FJMPI_Topology_rank2xyz"};
    function *found = look_up(names[dimensions - 1]);
    if (found == NULL)
        return false;
    int error = dimensions == 1   ? ((ask_x *)found)(rank, &at[0])
                : dimensions == 2 ? ((ask_xy *)found)(rank, &at[0], &at[1])
                                  : ((ask_xyz *)found)(rank, &at[0], &at[1], &at[2]);
    return error == 0;
}

static bool ask_fujitsu(int rank, struct answer *answer)
{
    ask_one *dimension = (ask_one *)look_up("FJMPI_Topology_get_dimension");
    ask_three *shape = (ask_three *)look_up("FJMPI_Topology_get_shape");
    struct torus *machine = &answer->machine;
    int *extent = machine->extent;
    if (dimension == NULL || shape == NULL || dimension(&machine->dimensions) != 0 || machine->dimensions < 1 ||
        machine->dimensions > 3 || shape(&extent[0], &extent[1], &extent[2]) != 0)
        return false;
    for (int d = 0; d < machine->dimensions; d++)
        machine->wraps[d] = true;
    return ask_fujitsu_for(machine->dimensions, rank, answer->at);
}

static bool ask_blue_gene(int rank, struct answer *answer)
{
    ask_one *dimensions = (ask_one *)look_up("MPIX_Torus_ndims");
    ask_x *torus = (ask_x *)look_up("MPIX_Rank2torus"); /* the place on the node after the coordinates */
    for (int d = 0; d < TORUS_MOST; d++)
        answer->machine.extent[d] = 0;
    return dimensions != NULL && torus != NULL && dimensions(&answer->machine.dimensions) == 0 &&
           answer->machine.dimensions >= 1 && answer->machine.dimensions <= TORUS_MOST && torus(rank, answer->at) == 0;
}

/* The same on all ranks, and coordinates within the extents; else nothing is known. */
static int settle(const struct answer *answer, bool good, struct torus *machine, int *place)
{
    /* The least of all ranks': whether all is well, dimensions, extents, coordinates turned round, so the largest. */
    int said[2 + 2 * TORUS_MOST] = {good, answer->machine.dimensions}, least[2 + 2 * TORUS_MOST];
    for (int d = 0; d < TORUS_MOST; d++) {
        said[2 + d] = answer->machine.extent[d];
        said[2 + TORUS_MOST + d] = -1 - answer->at[d];
    }
    int error = PMPI_Allreduce(said, least, 2 + 2 * TORUS_MOST, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (error != MPI_SUCCESS || !least[0])
        return error;
    struct torus found = answer->machine;
    bool agree = found.dimensions == least[1];
    for (int d = 0; d < found.dimensions && agree; d++) {
        agree = found.extent[d] == least[2 + d] && answer->at[d] >= 0;
        if (found.extent[d] == 0)
            found.extent[d] = -least[2 + TORUS_MOST + d];
        agree = agree && answer->at[d] < found.extent[d];
    }
    int all, one = agree;
    error = PMPI_Allreduce(&one, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (error == MPI_SUCCESS && all) {
        *machine = found;
        *place = torus_place(&found, answer->at);
    }
    return error;
}

int inquiry_start(struct torus *machine, int *place, const char **teller)
{
    static const struct {
        const char *name;
        bool (*ask)(int rank, struct answer *answer);
    } all[] = {{"Fujitsu's MPI", ask_fujitsu}, {"Blue Gene/Q's MPI", ask_blue_gene}};
    int rank, error = MPI_SUCCESS;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *place = -1;
    for (int i = 0; i < 2 && error == MPI_SUCCESS && machine->dimensions == 0; i++) {
        struct answer answer = {0};
        bool good = all[i].ask(rank, &answer);
        error = settle(&answer, good, machine, place);
        *teller = machine->dimensions > 0 ? all[i].name : NULL;
    }
    return error;
}

#endif
