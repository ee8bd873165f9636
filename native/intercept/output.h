/* Where the parts go. */
#ifndef UNISONO_OUTPUT_H
#define UNISONO_OUTPUT_H

/* Collective, at MPI_Finalize: rank 0 writes PREFIX.raw with all parts. */
void output_all(void);

/* PREFIX.rankN.raw with this rank's part only. Async-signal-safe. */
void output_own(const char *ended);

#endif
