#include "cube.h"

int cube_neighbours(int rank, const int parts[3], int around[CUBE_NEIGHBOURS])
{
    const int place[3] = {rank % parts[0], rank / parts[0] % parts[1], rank / parts[0] / parts[1]};
    int found = 0;
    for (int direction = 0; direction < CUBE_NEIGHBOURS + 1; direction++) {
        const int there[3] = {place[0] + direction % 3 - 1, place[1] + direction / 3 % 3 - 1,
                              place[2] + direction / 9 - 1};
        int inside = 1;
        for (int d = 0; d < 3; d++)
            inside = inside && there[d] >= 0 && there[d] < parts[d];
        int other = (there[2] * parts[1] + there[1]) * parts[0] + there[0];
        if (inside && other != rank)
            around[found++] = other;
    }
    return found;
}
