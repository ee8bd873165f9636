/* The order of a spread, for counting what links carry: `spread simple|double|balanced 8x8x6` prints a line for each step:
 * offset, and blocks that every place then sends that far (more than one where it sends on others' halves). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torus/spread.h"

static bool read_extents(const char *text, struct torus *torus)
{
    int64_t places = 1;
    while (torus->dimensions < TORUS_MOST) {
        char *end;
        long extent = strtol(text, &end, 10);
        if (extent < 2 || (places *= extent) > 1 << 20)
            return false;
        torus->extent[torus->dimensions] = (int)extent;
        torus->wraps[torus->dimensions++] = true;
        if (*end == '\0')
            return true;
        text = end + 1;
    }
    return false;
}

static double blocks(const struct torus *torus, int offset)
{
    struct spread_relayed relayed[SPREAD_PARTS];
    int half, halves = 2 + spread_relayed(torus, offset, relayed);
    unsigned bundle = spread_bundle(torus, offset, &half);
    for (int far = 1; bundle != 0 && far < torus_places(torus); far++)
        halves += spread_halfway(torus, far) == bundle;
    return halves / 2.0;
}

int main(int argc, char **argv)
{
    struct torus torus = {0};
    if (argc != 3 || !read_extents(argv[2], &torus)) {
        fprintf(stderr, "spread simple|double|balanced EXTENTS, each at least 2\n");
        return 2;
    }
    bool balanced = strcmp(argv[1], "balanced") == 0;
    int places = torus_places(&torus), *offsets = malloc((size_t)places * sizeof *offsets);
    if (offsets == NULL)
        return 2;
    (strcmp(argv[1], "double") == 0 ? spread_order_double : spread_order)(&torus, offsets);
    for (int i = 0; i < places - 1; i++)
        if (!balanced || spread_halfway(&torus, offsets[i]) == 0)
            printf("%d %g\n", offsets[i], balanced ? blocks(&torus, offsets[i]) : 1.0);
    free(offsets);
    return 0;
}
