/* A part of the profile also when the program is ended by a signal: a batch system's time limit, or a crash. */
#ifndef UNISONO_SIGNALS_H
#define UNISONO_SIGNALS_H

/* From now on the signals that would end the program first write this rank's part; then whatever would have happened
 * happens. A handler that the program installs later takes our place. */
void signals_start(void);

/* At MPI_Finalize: as before signals_start, where the program has not changed it since. */
void signals_end(void);

#endif
