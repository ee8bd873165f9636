/* What of HIP's runtime says whose memory it is, for aware.c. MAJOR: of its version, on which the numbers of memory types
 * depend. The error of a question about other memory stays until it is asked for, as with the real one. */
#include <dlfcn.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1 };
static int error;

struct attributes {
    int type, device;
    void *at, *host;
    int managed;
    unsigned flags;
};

int hipRuntimeGetVersion(int *version)
{
    *version = MAJOR * 10000000;
    return SUCCESS;
}

int hipPeekAtLastError(void)
{
    return error;
}

int hipGetLastError(void)
{
    int was = error;
    error = SUCCESS;
    return was;
}

int hipPointerGetAttributes(struct attributes *attributes, const void *at)
{
    int (*has)(const void *);
    *(void **)&has = dlsym(RTLD_DEFAULT, "device_has");
    if (has == 0 || !has(at))
        return error = INVALID_VALUE;
    memset(attributes, 0, sizeof *attributes);
    attributes->type = MAJOR >= 6 ? 2 : 1; /* the device's */
    return SUCCESS;
}
