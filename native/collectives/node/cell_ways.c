#include "cell_ways.h"

unsigned char cell_ways[2][CELL_WAYS_TO - CELL_WAYS_FROM + 1];
unsigned char cell_trades[CELL_WAYS_TO - CELL_WAYS_FROM + 1];
bool cell_owns[CELL_WAYS_TO - CELL_WAYS_FROM + 1];
bool cell_ways_late;

void cell_ways_set_late(void)
{
    cell_ways_late = false;
    for (size_t i = 0; i < sizeof *cell_ways; i++)
        cell_ways_late = cell_ways_late || cell_ways[0][i] == CELLS_LATE || cell_ways[1][i] == CELLS_LATE;
}
