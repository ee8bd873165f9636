#include "mesh.h"

#include <stdlib.h>

bool mesh_divide(const int64_t nodes[3], int ranks, int parts[3])
{
    double least = -1;
    for (int z = 1; z <= ranks; z++)
        for (int y = 1; ranks % z == 0 && y <= ranks / z; y++) {
            int x = ranks / z / y;
            if (ranks / z % y != 0 || x > nodes[0] || y > nodes[1] || z > nodes[2])
                continue;
            double a = (double)nodes[0] / x, b = (double)nodes[1] / y, c = (double)nodes[2] / z;
            double surface = a * b + b * c + c * a;
            if (least < 0 || surface < least * (1 - 1e-12)) {
                least = surface;
                parts[0] = x, parts[1] = y, parts[2] = z;
            }
        }
    return least >= 0;
}

static int64_t begin(int64_t nodes, int parts, int part)
{
    return nodes * part / parts;
}

/* The region in one direction, -1, 0 or 1 in each dimension: the layer beyond that side, or (of us) the layer
 * inside. */
static void region(const struct mesh *mesh, const int step[3], bool inside, int32_t from[3], int32_t extent[3])
{
    for (int d = 0; d < 3; d++) {
        extent[d] = step[d] == 0 ? mesh->size[d] : 1;
        from[d] = step[d] == 0 ? 0 : step[d] < 0 ? (inside ? 0 : -1) : mesh->size[d] - (inside ? 1 : 0);
    }
}

static int32_t count(const int32_t extent[3])
{
    return extent[0] * extent[1] * extent[2];
}

static void list(const struct mesh *mesh, const int32_t from[3], const int32_t extent[3], int32_t *sent)
{
    for (int32_t z = from[2]; z < from[2] + extent[2]; z++)
        for (int32_t y = from[1]; y < from[1] + extent[1]; y++)
            for (int32_t x = from[0]; x < from[0] + extent[0]; x++)
                *sent++ = (z * mesh->size[1] + y) * mesh->size[0] + x;
}

/* The neighbours, and the nodes they need if there is room for the list; how many those are. */
static int32_t meet(struct mesh *mesh, const int place[3], int32_t *sent)
{
    int32_t sent_count = 0;
    mesh->total = mesh->owned;
    mesh->neighbours = 0;
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        int step[3] = {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1}, there[3];
        bool exists = direction != CENTRE;
        for (int d = 0; d < 3; d++) {
            there[d] = place[d] + step[d];
            exists = exists && there[d] >= 0 && there[d] < mesh->parts[d];
        }
        mesh->base[direction] = -1;
        if (!exists)
            continue;
        int32_t inside[3], extent[3];
        region(mesh, step, false, mesh->from[direction], mesh->extent[direction]);
        region(mesh, step, true, inside, extent);
        int32_t nodes = count(extent);
        if (sent != NULL)
            list(mesh, inside, extent, sent + sent_count);
        mesh->base[direction] = mesh->total;
        mesh->neighbour[mesh->neighbours++] =
            (struct neighbour){.rank = (there[2] * mesh->parts[1] + there[1]) * mesh->parts[0] + there[0],
                               .first = mesh->total,
                               .count = nodes,
                               .sent_first = sent_count,
                               .sent_count = nodes};
        mesh->total += nodes;
        sent_count += nodes;
    }
    return sent_count;
}

bool mesh_create(struct mesh *mesh, const int64_t nodes[3], const int parts[3], int rank)
{
    *mesh = (struct mesh){0};
    int place[3] = {rank % parts[0], rank / parts[0] % parts[1], rank / parts[0] / parts[1]};
    int64_t owned = 1, with_halo = 1;
    for (int d = 0; d < 3; d++) {
        mesh->nodes[d] = nodes[d];
        mesh->parts[d] = parts[d];
        mesh->low[d] = begin(nodes[d], parts[d], place[d]);
        int64_t size = begin(nodes[d], parts[d], place[d] + 1) - mesh->low[d];
        if (size > INT32_MAX - 2)
            return false;
        mesh->size[d] = (int32_t)size;
        if (__builtin_mul_overflow(owned, size, &owned) || __builtin_mul_overflow(with_halo, size + 2, &with_halo))
            return false;
    }
    if (with_halo > INT32_MAX)
        return false;
    mesh->owned = (int32_t)owned;
    mesh->sent = malloc(((size_t)meet(mesh, place, NULL) + 1) * sizeof *mesh->sent);
    if (mesh->sent == NULL)
        return false;
    meet(mesh, place, mesh->sent);
    return true;
}

void mesh_free(struct mesh *mesh)
{
    free(mesh->sent);
    mesh->sent = NULL;
}

static int side(int32_t at, int32_t size)
{
    return at < 0 ? 0 : at >= size ? 2 : 1;
}

int32_t mesh_node(const struct mesh *mesh, int32_t x, int32_t y, int32_t z)
{
    int direction = side(x, mesh->size[0]) + 3 * side(y, mesh->size[1]) + 9 * side(z, mesh->size[2]);
    if (direction == CENTRE)
        return (z * mesh->size[1] + y) * mesh->size[0] + x;
    if (mesh->base[direction] < 0)
        return -1;
    const int32_t *from = mesh->from[direction], *extent = mesh->extent[direction];
    return mesh->base[direction] + ((z - from[2]) * extent[1] + y - from[1]) * extent[0] + x - from[0];
}

int mesh_adjacent(const struct mesh *mesh, int32_t node, int32_t adjacent[26])
{
    int32_t place[3], from[3], to[3];
    int found = 0;
    mesh_place(mesh, node, place);
    for (int d = 0; d < 3; d++) {
        from[d] = place[d] > 0 ? -1 : 0;
        to[d] = place[d] + 1 < mesh->size[d] ? 1 : 0;
    }
    for (int32_t z = from[2]; z <= to[2]; z++)
        for (int32_t y = from[1]; y <= to[1]; y++)
            for (int32_t x = from[0]; x <= to[0]; x++)
                if (x != 0 || y != 0 || z != 0)
                    adjacent[found++] = node + (z * mesh->size[1] + y) * mesh->size[0] + x;
    return found;
}
