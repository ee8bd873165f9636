/* When ranks get a private communicator, and lines in shared memory for more slots: on a rank of a world that is pretended. */
#include "check.h"
#include "peers.h"
#include "stub_world.h"

static struct peers *peers;
static MPI_Comm comm;

static int slot_after(int64_t microseconds)
{
    int slot = -2;
    CHECK(peers_join(&peers, comm, true, 1000 * microseconds, &slot) == MPI_SUCCESS);
    return slot;
}

int main(void)
{
    stub_world(1, 2);
    if (topology_start() != MPI_SUCCESS)
        return 1;
    comm = stub_comm(NULL, 0);
    peers = peers_find(comm);
    if (peers == NULL)
        return 1;
    /* What is not repaid by one is by several together: ten times the half millisecond that is usual. */
    CHECK(slot_after(2000) == -1);
    CHECK(slot_after(2000) == -1);
    CHECK(peers->serial < 0);
    CHECK(slot_after(2000) == 0);
    CHECK(peers->serial >= 0);
    /* That time is spent: what comes next has to be repaid by itself. */
    CHECK(slot_after(0) == -1);
    CHECK(slot_after(600) == -1);
    CHECK(slot_after(600) == 1);
    /* Places that are there cost nothing. */
    int slot = 2;
    while (slot < 16 && slot_after(0) == slot)
        slot++;
    CHECK(slot == 16);
    CHECK(slot_after(0) == -1);
    CHECK(peers_join(&peers, comm, true, PEERS_NOW, &slot) == MPI_SUCCESS && slot == 16);
    /* Not freed: that waits for the others of the node, of whom there are none. */
    return verdict();
}
