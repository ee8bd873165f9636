/* A call with a device's memory, twice: as it is, and once more with a copy in host memory where that is wanted. */
#ifndef UNISONO_DEVICE_COPY_H
#define UNISONO_DEVICE_COPY_H

#include "device.h"

/* A buffer, or its copy in host memory: `bytes` from `low` of it. */
struct device_copy {
    void *buffer, *use;
    char *host;
    int64_t low, bytes;
};

void copy_begin(void);
/* Whether a copy is wanted; `served` is what the first attempt said. */
bool copy_again(bool served);
/* Elements `first` to `end` of the buffer. Where that cannot be, the program ends after a line. */
void device_copy_take(struct device_copy *copy, const void *buffer, int64_t first, int64_t end, MPI_Datatype type,
                      MPI_Comm comm);
/* After the second attempt, which serves. */
bool device_copy_end(struct device_copy *send, struct device_copy *receive, int failed, MPI_Comm comm, int *error);

#endif
