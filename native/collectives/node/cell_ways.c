#include "cell_ways.h"

unsigned char cell_ways[CELL_WAYS_TO - CELL_WAYS_FROM + 1];
