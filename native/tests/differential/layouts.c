#include "layouts.h"

#include <stddef.h>

/* An int and a double, a short and a char: in order, and with their parts elsewhere, which is the same signature. And nothing. */
static MPI_Datatype number, number_apart, small, small_apart, nothing;

static MPI_Datatype two_parts(MPI_Aint first_at, MPI_Datatype first, MPI_Aint second_at, MPI_Datatype second,
                              MPI_Aint extent)
{
    const int lengths[2] = {1, 1};
    const MPI_Aint at[2] = {first_at, second_at};
    const MPI_Datatype types[2] = {first, second};
    MPI_Datatype parts, made;
    PMPI_Type_create_struct(2, lengths, at, types, &parts);
    PMPI_Type_create_resized(parts, 0, extent, &made);
    PMPI_Type_commit(&made);
    PMPI_Type_free(&parts);
    return made;
}

void layouts_start(void)
{
    number = two_parts(0, MPI_INT, 8, MPI_DOUBLE, 16);
    number_apart = two_parts(16, MPI_INT, 0, MPI_DOUBLE, 24);
    small = two_parts(0, MPI_SHORT, 2, MPI_CHAR, 4);
    small_apart = two_parts(1, MPI_SHORT, 0, MPI_CHAR, 3); /* no gaps, and not in order */
    PMPI_Type_contiguous(0, MPI_INT, &nothing);
    PMPI_Type_commit(&nothing);
}

void layouts_end(void)
{
    MPI_Datatype *all[] = {&number, &number_apart, &small, &small_apart, &nothing};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        PMPI_Type_free(all[i]);
}

struct plain layouts_plain(struct random *random, bool predefined)
{
    const struct plain all[] = {
        {"MPI_CHAR", MPI_CHAR},     {"MPI_BYTE", MPI_BYTE},       {"MPI_SHORT", MPI_SHORT},
        {"MPI_INT", MPI_INT},       {"MPI_LONG", MPI_LONG},       {"MPI_FLOAT", MPI_FLOAT},
        {"MPI_DOUBLE", MPI_DOUBLE}, {"MPI_UINT8_T", MPI_UINT8_T}, {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX},
        {"int and double", number}, {"short and char", small},    {"nothing", nothing}};
    enum { ALL = sizeof all / sizeof *all, OF_PARTS = 3 };
    const int drawn = random_below(random, ALL - OF_PARTS), parts = random_below(random, 16);
    return parts < OF_PARTS && !predefined ? all[ALL - OF_PARTS + parts] : all[drawn];
}

static MPI_Datatype elsewhere(struct random *random, MPI_Datatype base)
{
    const bool apart = random_one_in(random, 2);
    return apart && base == number ? number_apart : apart && base == small ? small_apart : base;
}

/* Places of `unit` elements that do not overlap, ascending with gaps, or the same backwards. */
static void places(struct random *random, int unit, bool backwards, int *lengths, int *at)
{
    int next = 0;
    for (int i = 0; i < unit; i++) {
        next += random_below(random, 3);
        at[backwards ? unit - 1 - i : i] = next++;
        lengths[i] = 1;
    }
}

struct layout_way layouts_contiguous(MPI_Datatype base, int unit)
{
    struct layout_way way = {.name = "plain", .type = base, .factor = unit};
    MPI_Aint low;
    PMPI_Type_get_extent(base, &low, &way.extent);
    return way;
}

static MPI_Datatype indexed(struct random *random, int unit, bool backwards, int from, MPI_Datatype base)
{
    MPI_Datatype made;
    int lengths[8], at[8];
    places(random, unit, backwards, lengths, at);
    for (int i = 0; i < unit; i++)
        at[i] += from;
    PMPI_Type_indexed(unit, lengths, at, base, &made);
    return made;
}

/* `part`, as one element of a type whose elements are further apart, or begin before their data. `part` is freed. */
static MPI_Datatype resized(MPI_Datatype part, MPI_Aint low, MPI_Aint extent)
{
    MPI_Datatype made;
    PMPI_Type_create_resized(part, low, extent, &made);
    PMPI_Type_free(&part);
    return made;
}

/* Between parts of no elements, and of elements of no bytes. Its extent is said, for Open MPI's own messages of several such elements
 * go wrong otherwise. */
static MPI_Datatype with_nothing(struct random *random, int unit, MPI_Datatype base, MPI_Aint extent)
{
    const int lengths[4] = {0, unit, 3, 0};
    const MPI_Aint at[4] = {-8, random_below(random, 3) * extent, 4 * extent, 64};
    const MPI_Datatype types[4] = {MPI_DOUBLE, base, nothing, base};
    MPI_Datatype made;
    PMPI_Type_create_struct(4, lengths, at, types, &made);
    return resized(made, 0, (unit + 4) * extent);
}

static MPI_Datatype nested(struct random *random, int unit, MPI_Datatype base, MPI_Aint extent)
{
    const int one = 1;
    const MPI_Aint at = (random_below(random, 5) - 2) * extent;
    MPI_Datatype inner, moved, made;
    PMPI_Type_vector(unit, 1, 1 + random_below(random, 2), base, &inner);
    PMPI_Type_create_hindexed(1, &one, &at, inner, &moved);
    PMPI_Type_dup(moved, &made);
    PMPI_Type_free(&inner);
    PMPI_Type_free(&moved);
    return resized(made, -2 * extent, (2 * unit + 3) * extent);
}

static MPI_Datatype structure(struct random *random, int unit, MPI_Datatype base, MPI_Aint extent)
{
    int lengths[8], at[8];
    MPI_Aint bytes_at[8];
    MPI_Datatype types[8], made;
    places(random, unit, false, lengths, at);
    for (int i = 0; i < unit; i++)
        bytes_at[i] = (1 + at[i]) * extent, types[i] = base; /* not from the beginning */
    PMPI_Type_create_struct(unit, lengths, bytes_at, types, &made);
    return made;
}

/* As long as its data and from its beginning on, and yet with gaps, in which other elements lie: element k of such a type is k places
 * beyond the beginning of the k-th next one. */
static MPI_Datatype interleaved(int unit, MPI_Datatype base, MPI_Aint extent)
{
    MPI_Datatype made;
    PMPI_Type_create_hvector(unit, 1, (unit + 1) * extent, base, &made);
    return resized(made, 0, unit * extent);
}

/* Without gaps, and not in order: the last elements first. */
static MPI_Datatype rotated(struct random *random, int unit, MPI_Datatype base, MPI_Aint extent)
{
    const int first = random_below(random, unit), lengths[2] = {unit - first, first};
    const MPI_Aint at[2] = {first * extent, 0};
    const MPI_Datatype types[2] = {base, base};
    MPI_Datatype made;
    PMPI_Type_create_struct(2, lengths, at, types, &made);
    return resized(made, 0, unit * extent);
}

struct layout_way layouts_draw(struct random *random, MPI_Datatype base, int unit)
{
    static const char *const names[] = {"plain",         "contiguous",   "vector",   "indexed",   "indexed backwards",
                                        "struct",        "resized",      "lower",    "duplicate", "negative stride",
                                        "indexed below", "with nothing", "subarray", "nested",    "interleaved",
                                        "rotated"};
    enum { WAYS = sizeof names / sizeof *names };
    const int which = random_below(random, WAYS);
    MPI_Aint low, extent;
    MPI_Datatype part;
    base = elsewhere(random, base);
    struct layout_way way = {.name = names[which], .type = base, .factor = unit, .is_made = which != 0};
    PMPI_Type_get_extent(base, &low, &extent);
    switch (which) {
    case 1: PMPI_Type_contiguous(unit, base, &way.type); break;
    case 2: PMPI_Type_vector(unit, 1, 1 + random_below(random, 3), base, &way.type); break;
    case 3: way.type = indexed(random, unit, false, 0, base); break;
    case 4: way.type = indexed(random, unit, true, 0, base); break;
    case 5: way.type = structure(random, unit, base, extent); break;
    case 6:
    case 7:
        PMPI_Type_contiguous(unit, base, &part);
        way.type = resized(part, which == 7 ? -extent : 0, (unit + 2) * extent);
        break;
    case 8:
        PMPI_Type_contiguous(unit, base, &part);
        PMPI_Type_dup(part, &way.type);
        PMPI_Type_free(&part);
        break;
    case 9: PMPI_Type_create_hvector(unit, 1, -(1 + random_below(random, 2)) * extent, base, &way.type); break;
    case 10: way.type = indexed(random, unit, random_one_in(random, 2), -2, base); break;
    case 11: way.type = with_nothing(random, unit, base, extent); break;
    case 12: {
        const int whole = unit + 3, from = random_below(random, 4);
        PMPI_Type_create_subarray(1, &whole, &unit, &from, MPI_ORDER_C, base, &way.type);
        break;
    }
    case 13: way.type = nested(random, unit, base, extent); break;
    case 14: way.type = interleaved(unit, base, extent); break;
    case 15: way.type = rotated(random, unit, base, extent); break;
    default: break;
    }
    if (way.is_made) {
        way.factor = 1;
        PMPI_Type_commit(&way.type);
    }
    PMPI_Type_get_extent(way.type, &low, &way.extent);
    return way;
}

struct view layouts_from_bottom(const struct layout_way *way, void *data)
{
    const int one = 1;
    struct view view = {.data = MPI_BOTTOM, .is_made = true};
    MPI_Aint address;
    PMPI_Get_address(data, &address);
    PMPI_Type_create_hindexed(1, &one, &address, way->type, &view.type);
    PMPI_Type_commit(&view.type);
    return view;
}

void layouts_free(struct layout_way *way)
{
    if (way->is_made)
        PMPI_Type_free(&way->type);
}
