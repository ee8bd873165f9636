#include "cell_ways.h"

unsigned char cell_ways[CELL_WAYS_TO - CELL_WAYS_FROM + 1];
unsigned char cell_trades[CELL_WAYS_TO - CELL_TRADES_FROM + 1];
bool cell_ways_late;

void cell_ways_set_late(void)
{
    cell_ways_late = false;
    for (size_t i = 0; i < sizeof cell_ways; i++)
        cell_ways_late = cell_ways_late || cell_ways[i] == CELLS_LATE;
}
