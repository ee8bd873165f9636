/* Blocks whose lengths and contents follow from a call and from the two ranks that have to do with them, as good as random. */
#ifndef UNISONO_TEST_BLOCKS_H
#define UNISONO_TEST_BLOCKS_H

enum { RANKS_MOST = 64, LONG = 9000, GAP = 2 };

static inline unsigned mixed(unsigned a, unsigned b)
{
    unsigned x = a * 2654435761u ^ b * 40503u;
    x = (x ^ x >> 15) * 2246822519u;
    return x ^ x >> 13;
}

/* Numbers of what one rank has for another: sometimes none, sometimes many. */
static inline int length(unsigned call, int from, int to)
{
    unsigned chance = mixed(call, (unsigned)(from * RANKS_MOST + to));
    return chance % 4 == 0 ? 0 : chance % 7 == 0 ? LONG + (int)(chance >> 8) % 100 : 1 + (int)(chance >> 8) % 40;
}

static inline int number(unsigned call, int from, int to, int index)
{
    return (int)(mixed(call + 7, (unsigned)(from * RANKS_MOST + to)) >> 2) + index;
}

#endif
