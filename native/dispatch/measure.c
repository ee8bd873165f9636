#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/bcast.h"
#include "node/cells.h"
#include "node/meet.h"
#include "node/node.h"
#include "node/pull.h"
#include "nonblocking.h"
#include "reduction.h"
#include "reserve.h"
#include "comm_state.h"
#include "trial.h"

enum { ROUNDS = 16, LONG_ROUNDS = 4, CROWDED_ROUNDS = 9, AT_ONCE = 8, IN_A_ROW = 16, CELLS_IN_A_ROW = 8 };

/* The quickest of some rounds is what the machine can do; the first ones are slower. */
static double least(double (*round)(struct coll_comm *, void *, int64_t), struct coll_comm *comm, void *room,
                    int64_t bytes, int rounds)
{
    double found = 1;
    for (int i = 0; i < rounds; i++) {
        double seconds = round(comm, room, bytes);
        found = seconds < found ? seconds : found;
    }
    return found;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where ranks share CPUs one may have one to itself for a round: the middle of several is what they have together. */
static double middle(double (*round)(struct coll_comm *, void *, int64_t), struct coll_comm *comm, void *room,
                     int64_t bytes)
{
    double seconds[CROWDED_ROUNDS];
    for (int i = 0; i < CROWDED_ROUNDS; i++)
        seconds[i] = round(comm, room, bytes);
    qsort(seconds, CROWDED_ROUNDS, sizeof *seconds, compare);
    return seconds[CROWDED_ROUNDS / 2];
}

static double meet(struct coll_comm *comm, void *room, int64_t bytes)
{
    (void)room, (void)bytes;
    double start = PMPI_Wtime();
    node_barrier(comm);
    return PMPI_Wtime() - start;
}

/* One of several barriers in a row. Who comes back from one has had its turn, and is the first in the next: alone, a barrier
   takes the first rank nothing at all or twice as long, as it happens. */
static double meet_again(struct coll_comm *comm, void *room, int64_t bytes)
{
    (void)room, (void)bytes;
    double start = PMPI_Wtime();
    for (int i = 0; i < IN_A_ROW; i++)
        node_barrier(comm);
    return (PMPI_Wtime() - start) / IN_A_ROW;
}

/* What it takes the first rank and one that it meets at each depth of the node, and what each of the others adds. */
static void measure_levels(struct coll_comm *comm, struct costs *costs)
{
    struct levels levels;
    levels_find_all(&levels);
    if (!meet_measure(comm, &levels, costs->meet, &costs->meet_more))
        costs->meet_more = 0;
    levels_free(&levels);
}

/* Writes its cell of the next step, which is returned, and waits until its neighbour has. */
static uint64_t write_cell(struct coll_comm *comm, int neighbour, int64_t bytes)
{
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 1);
    cell_room(comm, step);
    memset(cell_of(node, node->rank, step), (int)step, (size_t)bytes);
    line_post(node, step);
    line_wait(comm, neighbour, step);
    return step;
}

/* What every rank takes to read at once what its neighbour has just written: as the study measures it
   (native/bench/copy_speed.c). */
static double read_cells(struct coll_comm *comm, void *room, int64_t bytes)
{
    struct node *node = comm->node;
    int neighbour = (node->rank + 1) % node->ranks;
    uint64_t step = write_cell(comm, neighbour, bytes);
    node_barrier(comm);
    double start = PMPI_Wtime();
    memcpy(room, cell_of(node, neighbour, step), (size_t)bytes);
    node_pass(node, step + 1);
    node_barrier(comm); /* until all have */
    return PMPI_Wtime() - start;
}

/* One of several in a row: every rank writes, and reads what its neighbour has written, in the way that was found for such messages. */
static double share_cells(struct coll_comm *comm, void *room, int64_t bytes)
{
    struct node *node = comm->node;
    const int neighbour = (node->rank + 1) % node->ranks;
    const enum cell_way way = cell_way(bytes, true);
    double start = PMPI_Wtime();
    for (int i = 0; i < CELLS_IN_A_ROW; i++) {
        const uint64_t step = node_steps(node, 1);
        cell_room(comm, step);
        cell_write(cell_place(node, node->rank, step, bytes, way), (char *)room + COSTS_LONG, bytes, way);
        line_post(node, step);
        line_wait(comm, neighbour, step);
        cell_read(room, cell_place(node, neighbour, step, bytes, way), bytes, way, false);
        node_pass(node, step + 1);
    }
    node_barrier(comm);
    return (PMPI_Wtime() - start) / CELLS_IN_A_ROW;
}

/* Of ranks that share CPUs: a byte of a long message, and of shorter ones, which the caches next to a core hold. What they wait for
   one another shows in messages of a few bytes. A difference that is lost among these waits is none. All ranks take part in all of
   it, whatever each of them finds; but where to wait for one another takes long, copies do not matter. */
static void measure_bytes(struct coll_comm *comm, void *room, struct costs *costs)
{
    const double long_wait = 1e-3;
    const int64_t most = comm->node->cell_bytes < COSTS_LONG ? comm->node->cell_bytes : COSTS_LONG;
    double waits = costs->node_wait, shorter[COSTS_SHORTER] = {0};
    if (node_bcast_inline(comm, 0, &waits, sizeof waits) != MPI_SUCCESS)
        return;
    const bool has_shorter = waits < long_wait && most > costs_shorter[COSTS_SHORTER - 1];
    if (has_shorter)
        waits = middle(share_cells, comm, room, sizeof waits);
    double byte = (middle(share_cells, comm, room, most) - waits) / (double)most;
    for (int i = 0; i < COSTS_SHORTER && has_shorter; i++)
        shorter[i] = (middle(share_cells, comm, room, costs_shorter[i]) - waits) / (double)costs_shorter[i];
    if (byte <= 0)
        return;
    costs->node_byte = byte;
    costs->has_shorter = has_shorter;
    for (int i = COSTS_SHORTER - 1; i >= 0; i--)
        byte = costs->shorter[i] = fmin(byte, fmax(shorter[i], 0));
}

/* One vector into another, both in this core's caches, as of what has come between nodes. Of ranks that share CPUs it would be timed
 * with the turns of others. */
static double combine(struct coll_comm *comm, void *room, int64_t bytes)
{
    struct reduction sum;
    (void)comm;
    if (!reduction_set(&sum, MPI_DOUBLE, MPI_SUM))
        return 0;
    double *mine = room, *came = (double *)(void *)((char *)room + bytes), start = PMPI_Wtime();
    sum.combine(&sum, came, mine, mine, bytes / sum.element);
    return PMPI_Wtime() - start;
}

/* Between the first ranks of the first node and of `other`. */
static int other = 1;

static int first_of_other(const struct coll_comm *comm)
{
    return topology_rank(&comm->topology, comm->topology.node == 0 ? other : 0, 0);
}

static double send(struct coll_comm *comm, void *room, int64_t bytes)
{
    double start = PMPI_Wtime();
    int peer = first_of_other(comm);
    fabric_exchange(&comm->fabric, room, bytes, peer, (char *)room + COSTS_LONG, bytes, peer, FABRIC_SETUP);
    return PMPI_Wtime() - start;
}

/* AT_ONCE short messages both ways, and all of them under way at once. */
static double send_many(struct coll_comm *comm, void *room, int64_t bytes)
{
    MPI_Request requests[2 * AT_ONCE];
    double start = PMPI_Wtime();
    int peer = first_of_other(comm), error = MPI_SUCCESS;
    for (int i = 0; i < 2 * AT_ONCE; i++)
        requests[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < AT_ONCE && error == MPI_SUCCESS; i++)
        error = fabric_start_receive(&comm->fabric, (char *)room + COSTS_LONG + i * bytes, bytes, peer, FABRIC_SETUP,
                                     &requests[i]);
    for (int i = 0; i < AT_ONCE && error == MPI_SUCCESS; i++)
        error = fabric_start_send(&comm->fabric, room, bytes, peer, FABRIC_SETUP, &requests[AT_ONCE + i]);
    fabric_wait(&comm->fabric, 2 * AT_ONCE, requests);
    return PMPI_Wtime() - start;
}

/* What a short message takes on average to the nodes 1, 2, 4 ... further on: at these distances trees and recursive exchanges send. */
static void measure_far(struct coll_comm *comm, void *room, struct costs *costs)
{
    const struct topology *topology = &comm->topology;
    double sum = 0;
    int distances = 0;
    costs->fabric_near = costs->fabric_latency;
    if (topology->local != 0)
        return;
    for (other = 1; other < topology->nodes; other *= 2, distances++)
        if (topology->node == 0 || topology->node == other)
            sum += least(send, comm, room, 8, ROUNDS);
    other = 1;
    costs->fabric_latency = fmax(sum / distances, costs->fabric_near);
}

static int pairs = 1;

/* One of several exchanges in a row, of so many ranks of the first two nodes at once. */
static double send_again(struct coll_comm *comm, void *room, int64_t bytes)
{
    const struct topology *topology = &comm->topology;
    int peer = topology->local < pairs ? topology_rank(topology, 1 - topology->node, topology->local) : -1;
    node_barrier(comm);
    double start = PMPI_Wtime();
    for (int i = 0; i < IN_A_ROW && peer >= 0; i++)
        fabric_exchange(&comm->fabric, room, bytes, peer, (char *)room + COSTS_LONG, bytes, peer, FABRIC_SETUP);
    return (PMPI_Wtime() - start) / IN_A_ROW;
}

/* How much longer a message takes for each further rank of a node that sends at once: an adapter may serve many ranks as quickly as
   one, or one after the other. The middle of several, as the ranks do not begin at the same time. */
static void measure_sharing(struct coll_comm *comm, void *room, struct costs *costs)
{
    const int *first = comm->topology.first, one = first[1] - first[0], two = first[2] - first[1];
    const int most = one < two ? one : two;
    if (most < 2)
        return;
    const double alone = middle(send_again, comm, room, 8);
    pairs = most;
    const double together = middle(send_again, comm, room, 8);
    pairs = 1;
    costs->has_sharing = alone > 0;
    costs->sharing = costs->has_sharing ? fmin(fmax((together / alone - 1) / (most - 1), 0), 1) : 0;
}

static void measure(struct coll_comm *comm, void *room, struct costs *costs)
{
    const struct topology *topology = &comm->topology;
    if (topology->most > 1) {
        costs->node_latency = least(meet, comm, NULL, 0, ROUNDS);
        costs->node_wait = comm->crowded ? middle(meet_again, comm, NULL, 0) : 0;
        measure_levels(comm, costs);
        if (cells_ready(comm) && comm->crowded) {
            measure_bytes(comm, room, costs);
        } else if (cells_ready(comm)) {
            int64_t bytes = comm->node->cell_bytes < COSTS_LONG ? comm->node->cell_bytes : COSTS_LONG;
            double seconds = least(read_cells, comm, room, bytes, LONG_ROUNDS) - costs->node_latency;
            if (seconds > 0)
                costs->node_byte = seconds / (double)bytes;
        }
        /* Messages within a node are copied into its memory and out of it, and ranks wait for them as for any line: what is usual of
           a network is not theirs, and would make them look better than our own shared memory. */
        if (topology->nodes == 1) {
            costs->fabric_byte = fmax(costs->fabric_byte, 2 * costs->node_byte);
            costs->fabric_latency = fmax(costs->fabric_latency, fmax(costs->node_latency, costs->node_wait));
        }
    }
    if (!comm->crowded) {
        memset(room, 0, 2 * COSTS_LONG);
        costs->combine_byte = least(combine, comm, room, COSTS_LONG, LONG_ROUNDS) / COSTS_LONG;
    }
    pull_costs(costs);
    if (topology->nodes > 1 && topology->node < 2 && topology->local == 0) {
        costs->fabric_latency = least(send, comm, room, 8, ROUNDS);
        double seconds = least(send, comm, room, COSTS_LONG, LONG_ROUNDS) - costs->fabric_latency;
        if (seconds > 0)
            costs->fabric_byte = seconds / COSTS_LONG;
        double more = (least(send_many, comm, room, 8, ROUNDS) - costs->fabric_latency) / (AT_ONCE - 1);
        /* Some waits are shorter than the clock tells apart; a message is never free. */
        costs->fabric_message = more > costs->fabric_latency / 100 ? more : costs->fabric_latency / 100;
    }
    if (topology->nodes > 1 && topology->node < 2 && !comm->crowded)
        measure_sharing(comm, room, costs);
    if (topology->nodes > 2)
        measure_far(comm, room, costs);
}

bool measure_costs(struct costs *costs)
{
    struct comm_state *world = comm_state_now(MPI_COMM_WORLD);
    if (world == NULL || !comm_state_equip(world))
        return false;
    *costs = world->ours->costs;
    void *room = reserve_get(2 * COSTS_LONG);
    measure(world->ours, room, costs);
    reserve_put(room);
    PMPI_Bcast(costs, sizeof *costs, MPI_BYTE, 0, world->ours->comm);
    world->ours->costs = *costs;
    nonblocking_before_trial(world);
    if (!trial_start(world->ours))
        comm_state_step_aside(world);
    *costs = world->ours->costs;
    return true;
}
