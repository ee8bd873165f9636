/* From how many bytes on a rank of a node reads another's memory in less time than both need to pass it through cells
 * (exchange_pull_measured): a system call looks up every page, which takes more or less of the processor, the kernel and the
 * hypervisor, and between caches copies are quicker or slower. */
#ifndef UNISONO_MEASURE_PULL_H
#define UNISONO_MEASURE_PULL_H

/* Collective over MPI_COMM_WORLD, before anything is served and after measure_ways(): some milliseconds, on nodes whose ranks
 * have a CPU each. The same is found on all ranks; where nothing can be measured, all is as before. */
void measure_pull(void);

/* A line on standard error, if it was measured. */
void measure_pull_print(void);

#endif
