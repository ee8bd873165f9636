#include "types.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "reserve.h"

enum { SLOTS = 256, CACHED = 16 };

struct known {
    MPI_Datatype type;
    bool used;
    struct layout layout;
};

static struct known predefined[SLOTS]; /* open addressing; read only after the start */
static int keyval = MPI_KEYVAL_INVALID;
static uint32_t generation = 1; /* changes when a datatype is freed: its handle may be another's soon */

static _Thread_local struct {
    uint32_t generation;
    MPI_Datatype type;
    struct layout layout;
} cache[CACHED] __attribute__((tls_model("initial-exec")));

static uint32_t hash(MPI_Datatype type)
{
    return (uint32_t)((uint64_t)(uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

static int forget(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)extra;
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
    reserve_put(value);
    return MPI_SUCCESS;
}

/* Size and extent; false when it is no datatype. */
static bool measure(MPI_Datatype type, struct layout *layout, MPI_Count *lower)
{
    MPI_Count size, extent;
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size == MPI_UNDEFINED ||
        PMPI_Type_get_extent_x(type, lower, &extent) != MPI_SUCCESS)
        return false;
    *layout = (struct layout){.size = size, .extent = extent};
    return true;
}

static void add(MPI_Datatype type, enum type_kind kind)
{
    struct layout layout;
    MPI_Count lower;
    if (type == MPI_DATATYPE_NULL || !measure(type, &layout, &lower))
        return;
    layout.contiguous = layout.size == layout.extent && lower == 0;
    layout.kind = kind;
    uint32_t slot = hash(type) % SLOTS;
    while (predefined[slot].used && predefined[slot].type != type)
        slot = (slot + 1) % SLOTS;
    predefined[slot] = (struct known){type, true, layout};
}

bool types_start(void)
{
    const struct {
        enum type_kind kind;
        MPI_Datatype types[20]; /* MPI_DATATYPE_NULL: no more */
    } all[] = {
        {OF_INTEGER,
         {MPI_INT, MPI_LONG, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_LONG_LONG,
          MPI_UNSIGNED_LONG_LONG, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T,
          MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_DATATYPE_NULL}},
        {OF_FORTRAN_INTEGER, {MPI_INTEGER, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER2, MPI_INTEGER1, MPI_DATATYPE_NULL}},
        {OF_REAL, {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_LONG_DOUBLE, MPI_DATATYPE_NULL}},
        {OF_REAL, {MPI_REAL8, MPI_REAL4, MPI_DATATYPE_NULL}},
        {OF_COMPLEX,
         {MPI_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX,
          MPI_DATATYPE_NULL}},
        {OF_COMPLEX, {MPI_COMPLEX16, MPI_COMPLEX8, MPI_DATATYPE_NULL}},
        {OF_LOGICAL, {MPI_LOGICAL, MPI_C_BOOL, MPI_DATATYPE_NULL}},
        {OF_BYTE, {MPI_BYTE, MPI_DATATYPE_NULL}},
        {OF_ADDRESS, {MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_DATATYPE_NULL}},
        {OF_PAIR,
         {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2REAL,
          MPI_2DOUBLE_PRECISION, MPI_2INTEGER, MPI_DATATYPE_NULL}},
        {OF_OTHERS, {MPI_CHAR, MPI_CHARACTER, MPI_WCHAR, MPI_PACKED, MPI_DATATYPE_NULL}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int k = 0; all[i].types[k] != MPI_DATATYPE_NULL; k++)
            add(all[i].types[k], all[i].kind);
    return PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &keyval, NULL) == MPI_SUCCESS;
}

enum op_kind types_op(enum type_kind kind, MPI_Op op)
{
    const unsigned numbers = 1u << OF_INTEGER | 1u << OF_FORTRAN_INTEGER | 1u << OF_REAL | 1u << OF_ADDRESS;
    const unsigned bits = 1u << OF_INTEGER | 1u << OF_FORTRAN_INTEGER | 1u << OF_BYTE | 1u << OF_ADDRESS;
    unsigned allowed = 0;
    if (op == MPI_SUM || op == MPI_PROD)
        allowed = numbers | 1u << OF_COMPLEX;
    else if (op == MPI_MAX || op == MPI_MIN)
        allowed = numbers;
    else if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
        allowed = bits;
    else if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
        allowed = 1u << OF_INTEGER | 1u << OF_LOGICAL;
    else if (op == MPI_MINLOC || op == MPI_MAXLOC)
        allowed = 1u << OF_PAIR;
    else if (op != MPI_REPLACE && op != MPI_NO_OP && op != MPI_OP_NULL)
        return OP_OWN;
    return allowed >> kind & 1 ? OP_PREDEFINED : OP_FORBIDDEN;
}

void types_finish(void)
{
    PMPI_Type_free_keyval(&keyval);
}

static bool is_contiguous(MPI_Datatype type);

/* Looks at what a type was made with; only the makers that keep data together if their parts do. */
static bool made_contiguous(int combiner, const int *numbers, const MPI_Aint *addresses, MPI_Datatype part)
{
    struct layout layout;
    MPI_Count lower;
    if (!is_contiguous(part) || !measure(part, &layout, &lower))
        return false;
    switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_RESIZED: return true;
    case MPI_COMBINER_VECTOR: return numbers[0] <= 1 || numbers[2] == numbers[1];
    case MPI_COMBINER_HVECTOR: return numbers[0] <= 1 || addresses[0] == numbers[1] * layout.size;
    default: return false;
    }
}

/* Numbers, addresses, types, as the envelope counts them; what is larger is none of the makers above. */
enum { PARTS = 4 };

static bool envelope(MPI_Datatype type, int *numbers, int *addresses, int *types, int *combiner)
{
#if MPI_VERSION >= 4
    MPI_Count some, more, large, rest;
    if (PMPI_Type_get_envelope_c(type, &some, &more, &large, &rest, combiner) != MPI_SUCCESS || large > 0 ||
        some > PARTS || more > PARTS || rest > PARTS)
        return false;
    *numbers = (int)some, *addresses = (int)more, *types = (int)rest;
    return true;
#else
    return PMPI_Type_get_envelope(type, numbers, addresses, types, combiner) == MPI_SUCCESS && *numbers <= PARTS &&
           *addresses <= PARTS && *types <= PARTS;
#endif
}

static bool is_contiguous(MPI_Datatype type)
{
    struct layout layout;
    MPI_Count lower;
    int numbers[PARTS], integers, addresses, types, combiner;
    MPI_Aint places[PARTS];
    MPI_Datatype parts[PARTS];
    if (!measure(type, &layout, &lower) || layout.size != layout.extent || lower != 0)
        return false;
    if (!envelope(type, &integers, &addresses, &types, &combiner))
        return false;
    if (combiner == MPI_COMBINER_NAMED)
        return true;
    if (types != 1 || PMPI_Type_get_contents(type, integers, addresses, types, numbers, places, parts) != MPI_SUCCESS)
        return false;
    bool good = made_contiguous(combiner, numbers, places, parts[0]);
    /* Of a part that was made with large counts the envelope cannot be had: then it is no named one either. */
    if (!envelope(parts[0], &integers, &addresses, &types, &combiner) || combiner != MPI_COMBINER_NAMED)
        PMPI_Type_free(&parts[0]);
    return good;
}

static void keep(MPI_Datatype type, const struct layout *layout)
{
    struct layout *kept = reserve_get(sizeof *kept);
    *kept = *layout;
    PMPI_Type_set_attr(type, keyval, kept);
}

static bool derived(MPI_Datatype type, struct layout *layout)
{
    struct layout *kept = NULL;
    int found = 0;
    MPI_Count lower;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_get_attr(type, keyval, &kept, &found) != MPI_SUCCESS)
        return false;
    if (found) {
        *layout = *kept;
        return true;
    }
    if (!measure(type, layout, &lower))
        return false;
    layout->contiguous = is_contiguous(type);
    keep(type, layout);
    return true;
}

/* Of two threads that met a type at once, the later one would free what the other has kept, and others read. */
static bool derived_in_turn(MPI_Datatype type, struct layout *layout)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    bool good = derived(type, layout);
    pthread_mutex_unlock(&lock);
    return good;
}

bool types_layout(MPI_Datatype type, struct layout *layout)
{
    for (uint32_t slot = hash(type) % SLOTS; predefined[slot].used; slot = (slot + 1) % SLOTS)
        if (predefined[slot].type == type) {
            *layout = predefined[slot].layout;
            return true;
        }
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE), slot = hash(type) % CACHED;
    if (cache[slot].type == type && cache[slot].generation == now) {
        *layout = cache[slot].layout;
        return true;
    }
    if (!derived_in_turn(type, layout))
        return false;
    cache[slot].type = type;
    cache[slot].generation = now;
    cache[slot].layout = *layout;
    return true;
}
