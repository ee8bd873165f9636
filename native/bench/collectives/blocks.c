#include "blocks.h"

#include <limits.h>
#include <stdlib.h>

#include "../counts.h"
#include "../pattern.h"

void block_fill(void *block, size_t bytes, int from, int to, uint64_t repetition)
{
    pattern_fill(block, bytes, pattern_key(repetition, from, to));
}

bool block_verify(const void *block, size_t bytes, int from, int to, uint64_t repetition, struct problem *problem)
{
    uint64_t key = pattern_key(repetition, from, to);
    size_t wrong = pattern_first_wrong(block, bytes, key);
    if (wrong == bytes)
        return true;
    return problem_set(problem, "byte %zu of the %zu from rank %d is %u, should be %u", wrong, bytes, from,
                       ((const unsigned char *)block)[wrong], pattern_byte(wrong, key));
}

bool blocks_verify(const struct operation *operation, const void *receive, int to, uint64_t repetition,
                   struct problem *problem)
{
    const char *block = receive;
    for (int from = 0; from < operation->ranks; from++, block += operation->bytes)
        if (!block_verify(block, operation->bytes, from, to, repetition, problem))
            return false;
    return true;
}

bool blocks_uneven(struct operation *operation, int turn, struct problem *problem)
{
    int ranks = operation->ranks;
    operation->counts = malloc((size_t)ranks * sizeof(int));
    operation->offsets = malloc((size_t)ranks * sizeof(int));
    if (operation->counts == NULL || operation->offsets == NULL)
        return problem_set(problem, "memory: no room for %d counts", ranks);
    int64_t offset = 0;
    for (int i = 0; i < ranks; i++) {
        int64_t count = counts_uneven((int64_t)operation->bytes, (i + turn) % ranks, ranks);
        if (count > INT_MAX || offset > INT_MAX)
            return problem_set(problem,
                               "size: %d blocks of %zu bytes on average lie beyond what MPI displacements can say",
                               ranks, operation->bytes);
        operation->counts[i] = (int)count;
        operation->offsets[i] = (int)offset;
        offset += count;
    }
    return true;
}
