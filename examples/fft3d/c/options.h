#pragma once
/* The command line. */

typedef struct {
    int points[3];
    int steps;
    int rows, columns; /* both 0: slabs; both -1: pencils, as square as the ranks allow */
} Options;

extern const char options_usage[];

/* Returns NULL, or what is wrong with the command line. */
const char *options_parse(Options *options, int count, char **words);
