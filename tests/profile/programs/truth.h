/* What a test program knows of its own calls: one line in PREFIX.RANK for each, to be compared with the profile. */
#ifndef TRUTH_H
#define TRUTH_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *truth_file;
static int rank, ranks;

static void truth_open(const char *prefix)
{
    char path[4096];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(path, sizeof path, "%s.%d", prefix, rank);
    truth_file = fopen(path, "w");
    if (truth_file == NULL)
        MPI_Abort(MPI_COMM_WORLD, 99);
}

/* `comm_size` -1: the profile names no communicator. `size` -1: no message size. */
static void truth(const char *function, int comm_size, long calls, long size, long sent, long received)
{
    fprintf(truth_file, "%d %s %d %ld %ld %ld %ld\n", rank, function, comm_size, calls, size, sent, received);
}

#endif
