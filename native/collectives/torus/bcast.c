#include "bcast.h"

#include <math.h>
#include <stdlib.h>

#include "../group/cost.h"
#include "../node/node.h"

/* Streams have two tags each, for up and down. */
enum { FIRST_TAG = 64, UNIT = 64 };

int torus_way_trees(const struct coll_comm *comm, struct torus_way way)
{
    return way.links ? trees_count(&comm->topology.cuboid.torus) : 1;
}

int torus_way_drivers(const struct coll_comm *comm, struct torus_way way)
{
    int trees = torus_way_trees(comm, way), least = comm->topology.least;
    return !way.several ? 1 : trees < least ? trees : least;
}

void torus_stream(const struct coll_comm *comm, struct torus_way way, int tree, int root_node, int local,
                  int root_local, struct stream *stream)
{
    const struct topology *topology = &comm->topology;
    const struct cuboid *cuboid = &topology->cuboid;
    int places[TREE_CHILDREN];
    int root = cuboid->place_of[root_node], here = cuboid->place_of[topology->node];
    int parent =
        way.links ? tree_parent(&cuboid->torus, tree, root, here) : short_tree_parent(&cuboid->torus, root, here);
    *stream = (struct stream){.parent = -1, .tag = FIRST_TAG + 2 * tree, .unit = UNIT};
    stream->child_count = way.links ? tree_children(&cuboid->torus, tree, root, here, places)
                                    : short_tree_children(&cuboid->torus, root, here, places);
    if (parent >= 0) {
        int node = cuboid->node_at[parent];
        stream->parent = topology_rank(topology, node, node == root_node ? root_local : local);
    }
    for (int i = 0; i < stream->child_count; i++)
        stream->children[i] = topology_rank(topology, cuboid->node_at[places[i]], local);
}

/* What one rank has to do with one broadcast. */
struct passing {
    struct coll_comm *comm;
    char *data;
    int64_t bytes, chunk;
    int root_local, drivers, trees;
    bool at_root;
    struct stream streams[2 * TORUS_MOST];
    struct flow flow;
    int64_t *parts; /* of a chunk: bytes and places by local number */
};

/* A chunk that has come, on to the other ranks of the node. */
static int share(struct passing *passing, int64_t round)
{
    struct coll_comm *comm = passing->comm;
    int64_t base = round * passing->chunk, left = passing->bytes - base;
    int64_t here = left < passing->chunk ? left : passing->chunk;
    int locals = comm->topology.locals;
    if (passing->at_root || passing->drivers == 1)
        return node_bcast(comm, passing->at_root ? passing->root_local : 0, passing->data + base, here);
    int64_t *bytes = passing->parts, *at = bytes + locals;
    for (int local = 0; local < locals; local++)
        bytes[local] = at[local] = 0;
    /* As the streams cut it: the same for all, though only drivers have them. */
    struct stream any = {
        .bytes = passing->bytes, .segment = passing->chunk / passing->trees, .unit = UNIT, .of = passing->trees};
    for (int tree = passing->trees - 1; tree >= 0; tree--) {
        int64_t part;
        int local = torus_driver(tree, passing->trees, passing->drivers);
        any.index = tree;
        at[local] = stream_at(&any, round, &part) - base;
        bytes[local] += part;
    }
    char *chunk = passing->data + base;
    return node_allgather(comm, chunk + at[comm->topology.local], chunk, 0, bytes, at);
}

/* The streams that this rank drives: at the root's node the root has all, without a copy to anybody before. */
static int take_streams(struct passing *passing, struct torus_way way, int root_node)
{
    int mine = 0, local = passing->comm->topology.local;
    for (int tree = 0; tree < passing->trees; tree++) {
        int driver = torus_driver(tree, passing->trees, passing->drivers);
        if (local != (passing->at_root ? passing->root_local : driver))
            continue;
        struct stream *stream = &passing->streams[mine++];
        torus_stream(passing->comm, way, tree, root_node, driver, passing->root_local, stream);
        stream->data = passing->data, stream->bytes = passing->bytes;
        stream->segment = passing->chunk / passing->trees;
        stream->of = passing->trees, stream->index = tree;
    }
    return mine;
}

static int64_t depth_of(const struct coll_comm *comm, struct torus_way way)
{
    const struct torus *torus = &comm->topology.cuboid.torus;
    return way.links ? trees_depth(torus) : short_tree_depth(torus);
}

int64_t torus_segment(const struct coll_comm *comm, struct torus_way way, int passes, int64_t bytes, int64_t segment)
{
    enum { LEAST = 1024 };
    if (!way.links || segment != TORUS_SEGMENT)
        return segment;
    double part = (double)bytes / torus_way_trees(comm, way), depth = (double)(passes * depth_of(comm, way));
    int64_t best = (int64_t)sqrt(part / depth * cost_neighbour(&comm->costs) / comm->costs.fabric_byte);
    best = best < LEAST ? LEAST : best;
    return best < segment ? best : segment;
}

/* Who copies does not send on meanwhile, so that it pays to do both at once only where the network is the slower. */
static bool copies_while_passing(const struct coll_comm *comm, struct torus_way way)
{
    return way.several && 4 * comm->costs.fabric_byte > torus_way_trees(comm, way) * comm->costs.node_byte;
}

int torus_bcast(struct coll_comm *comm, struct torus_way way, int root, void *data, int64_t bytes, int64_t segment)
{
    const struct topology *topology = &comm->topology;
    struct passing passing = {.comm = comm,
                              .data = data,
                              .bytes = bytes,
                              .root_local = topology->local_of[root],
                              .drivers = torus_way_drivers(comm, way),
                              .trees = torus_way_trees(comm, way),
                              .at_root = topology->node == topology->node_of[root]};
    segment = (torus_segment(comm, way, 1, bytes, segment) + UNIT - 1) / UNIT * UNIT;
    /* A vector that is less than a chunk is one. */
    int64_t most = (bytes + passing.trees - 1) / passing.trees;
    segment = segment < most || most < 1 ? segment : (most + UNIT - 1) / UNIT * UNIT;
    passing.chunk = segment * passing.trees;
    int mine = take_streams(&passing, way, topology->node_of[root]);
    passing.parts = malloc(2 * (size_t)topology->locals * sizeof *passing.parts);
    if (!way.several)
        passing.chunk = bytes; /* the node after the network, with everything */
    int64_t rounds = bytes > 0 ? (bytes + passing.chunk - 1) / passing.chunk : 0;
    /* So many chunks are passed on first that those farthest away never wait. */
    int64_t ahead = copies_while_passing(comm, way) ? depth_of(comm, way) + 1 : INT64_MAX / 2;
    int error =
        passing.parts == NULL ? MPI_ERR_NO_MEM : flow_begin(&passing.flow, &comm->fabric, passing.streams, mine);
    if (error == MPI_SUCCESS && passing.at_root)
        flow_offer(&passing.flow, INT64_MAX);
    for (int64_t round = 0; round < rounds && error == MPI_SUCCESS; round++) {
        error = flow_until(&passing.flow, round + ahead);
        if (error == MPI_SUCCESS && topology->locals > 1)
            error = share(&passing, round);
    }
    error = flow_end(&passing.flow, error);
    free(passing.parts);
    return error;
}

double torus_pass_cost(const struct coll_comm *comm, struct torus_way way, int64_t bytes, int64_t segment)
{
    int trees = torus_way_trees(comm, way);
    double depth = (double)depth_of(comm, way);
    segment = torus_segment(comm, way, 1, bytes, segment);
    double part = (double)bytes / trees, piece = part < (double)segment ? part : (double)segment;
    /* The short tree's root sends each segment to all its children; every link tree has ports of its own. */
    double fan = way.links ? 1 : depth, pieces = piece > 0 ? part / piece : 1;
    return (depth + (pieces - 1) * fan) *
           (cost_neighbour(&comm->costs) + piece * comm->costs.fabric_byte + (trees - 1) * comm->costs.fabric_message);
}

double torus_bcast_cost(const struct coll_comm *comm, struct torus_way way, int64_t bytes, int64_t segment)
{
    double pass = torus_pass_cost(comm, way, bytes, segment);
    if (comm->topology.most == 1)
        return pass;
    /* Everybody copies everything once, piece by piece behind the first copy. */
    double share = comm->costs.node_latency * 3 + 1.1 * (double)bytes * comm->costs.node_byte;
    if (!copies_while_passing(comm, way))
        return pass + share;
    return bytes > 8 * segment ? (pass > share ? pass : share) + pass / 8 : pass + share;
}
