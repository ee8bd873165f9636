/* Who is around a box of a cube: counts and byte totals of Nakajima's second microbenchmark, everybody's
 * neighbour. */
#include "../bench/cube.h"
#include "check.h"

/* Of a cube of n^3 boxes, how many have so many neighbours. */
static void check_counts(int n)
{
    const int parts[3] = {n, n, n};
    int boxes[CUBE_NEIGHBOURS + 1] = {0}, around[CUBE_NEIGHBOURS];
    for (int rank = 0; rank < n * n * n; rank++)
        boxes[cube_neighbours(rank, parts, around)]++;
    CHECK(boxes[7] == 8);
    CHECK(boxes[11] == 12 * (n - 2));
    CHECK(boxes[17] == 6 * (n - 2) * (n - 2));
    CHECK(boxes[26] == (n - 2) * (n - 2) * (n - 2));
    CHECK(boxes[7] + boxes[11] + boxes[17] + boxes[26] == n * n * n);
}

/* Who sends to whom is sent to, in every grid; nobody is there twice. */
static void check_mutual(int x, int y, int z)
{
    const int parts[3] = {x, y, z};
    int around[CUBE_NEIGHBOURS], back[CUBE_NEIGHBOURS];
    for (int rank = 0; rank < x * y * z; rank++) {
        int count = cube_neighbours(rank, parts, around);
        for (int k = 0; k < count; k++) {
            int times = 0, others = cube_neighbours(around[k], parts, back);
            for (int i = 0; i < others; i++)
                times += back[i] == rank;
            CHECK(times == 1 && around[k] != rank && (k == 0 || around[k] > around[k - 1]));
        }
    }
}

int main(void)
{
    const int sizes[] = {8, 16, 32, 48}, kilobytes[] = {40, 160, 639, 1438};
    for (int n = 2; n <= 6; n++)
        check_counts(n);
    check_mutual(4, 4, 4), check_mutual(2, 1, 1), check_mutual(3, 2, 1), check_mutual(5, 3, 2), check_mutual(1, 1, 1);
    /* 3 N^2 doubles to each of 26: "about 40 KB, 160 KB, 640 KB, 1.44 MB". */
    for (int i = 0; i < 4; i++)
        CHECK((CUBE_NEIGHBOURS * 3 * sizes[i] * sizes[i] * 8 + 500) / 1000 == kilobytes[i]);
    return verdict();
}
