#include "request.h"

#include <pthread.h>

enum { MASK = REQUESTS_MOST - 1 };

/* Open addressing; a removed entry is closed up, so that there are never any but live ones. */
static struct {
    MPI_Request handle;
    bool used;
    struct request request;
} entries[REQUESTS_MOST];
uint32_t request_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t home(MPI_Request handle)
{
    return (uint32_t)((uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 40) & MASK;
}

/* Where it is, or the empty place where it would be. */
static uint32_t place(MPI_Request handle)
{
    uint32_t i = home(handle);
    while (entries[i].used && entries[i].handle != handle)
        i = (i + 1) & MASK;
    return i;
}

void request_add(MPI_Request handle, const struct request *request)
{
    pthread_mutex_lock(&lock);
    uint32_t i = place(handle);
    if (entries[i].used || request_count < REQUESTS_MOST / 2) {
        request_count += !entries[i].used;
        entries[i].used = true;
        entries[i].handle = handle;
        entries[i].request = *request;
    }
    pthread_mutex_unlock(&lock);
}

bool request_find(MPI_Request handle, struct request *request)
{
    pthread_mutex_lock(&lock);
    uint32_t i = place(handle);
    bool found = entries[i].used;
    *request = entries[i].request;
    pthread_mutex_unlock(&lock);
    return found;
}

void request_forget(MPI_Request handle)
{
    pthread_mutex_lock(&lock);
    uint32_t hole = place(handle);
    if (entries[hole].used) {
        request_count--;
        /* Move up whatever would no longer be found from its home. */
        for (uint32_t i = (hole + 1) & MASK; entries[i].used; i = (i + 1) & MASK) {
            if (((i - home(entries[i].handle)) & MASK) >= ((i - hole) & MASK)) {
                entries[hole] = entries[i];
                hole = i;
            }
        }
        entries[hole].used = false;
    }
    pthread_mutex_unlock(&lock);
}
