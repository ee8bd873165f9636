#include "reduce_common.h"

void elements_prepare_first(struct operation *operation, int of)
{
    static struct reduction floats, bytes; /* kept: the tables depend on numbers of ranks only */
    operation->reduction = operation->bytes % sizeof(float) == 0 ? &floats : &bytes;
    reduction_prepare_first(operation->reduction, operation->ranks, of, operation->reduction == &floats);
}

void elements_prepare(struct operation *operation)
{
    elements_prepare_first(operation, operation->ranks);
}

MPI_Datatype elements_type(const struct operation *operation)
{
    return operation->reduction->floats ? MPI_FLOAT : MPI_BYTE;
}

MPI_Op elements_op(const struct operation *operation)
{
    return operation->reduction->floats ? MPI_SUM : MPI_BXOR;
}

size_t elements_in(const struct operation *operation, size_t bytes)
{
    return operation->reduction->floats ? bytes / sizeof(float) : bytes;
}

void elements_fill(const struct operation *operation, void *send, uint64_t repetition)
{
    reduction_fill(operation->reduction, send, 0, elements_in(operation, operation->send_bytes), operation->rank,
                   repetition);
}

bool elements_verify(const struct operation *operation, const void *result, size_t first, size_t bytes,
                     uint64_t repetition, struct problem *problem)
{
    const struct reduction *reduction = operation->reduction;
    size_t count = elements_in(operation, bytes);
    size_t wrong = reduction_first_wrong(reduction, result, first, count, repetition);
    if (wrong == count)
        return true;
    double found = reduction->floats ? (double)((const float *)result)[wrong] : ((const unsigned char *)result)[wrong];
    return problem_set(problem, "element %zu of %zu is %g, should be %u", wrong, count, found,
                       reduction_expected(reduction, first + wrong, repetition));
}
