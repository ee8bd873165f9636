#include "device.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Thread_local struct device_call device_call __attribute__((tls_model("initial-exec")));
_Thread_local struct device_stack device_stack __attribute__((tls_model("initial-exec")));
const char *device_heap, *device_heap_end, *device_data, *device_data_end;

/* What of the drivers' interfaces is asked for; their names, their numbers. */
enum { CUDA_MEMORY_TYPE = 2, CUDA_IS_MANAGED = 8, CUDA_DEVICE = 2, HIP_6 = 60000000 };
enum { ZE_CONTEXT = 0xd, ZE_ALLOCATION = 0x17, ZE_DEVICE = 2, ZE_SHARED = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* looking for drivers */
static unsigned long long seen;                          /* how many objects had been loaded */
static int64_t looked; /* at which tick of the clock; counting objects takes longer than a short call may */
static bool any;       /* one of these is there */
static int (*cuda)(void *value, int attribute, uintptr_t at); /* cuPointerGetAttribute */
static int (*hip)(void *attributes, const void *at);          /* hipPointerGetAttributes */
static int (*hip_peek)(void), (*hip_clear)(void);             /* hipPeekAtLastError, hipGetLastError */
static int hip_version;
static int (*ze)(void *context, const void *at, void *properties, void **device); /* zeMemGetAllocProperties */
static void *ze_context;

static void find(void *object, const char *name, void *function)
{
    void *found = dlsym(object, name);
    memcpy(function, &found, sizeof found);
}

static void find_cuda(void)
{
    void *object = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (object != NULL)
        find(object, "cuPointerGetAttribute", &cuda);
}

static void find_hip(void)
{
    static const char *const names[] = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
    void *object = NULL;
    int (*version)(int *) = NULL;
    for (int i = 0; i < 4 && object == NULL; i++)
        object = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
    if (object == NULL)
        return;
    find(object, "hipPeekAtLastError", &hip_peek);
    find(object, "hipGetLastError", &hip_clear);
    find(object, "hipRuntimeGetVersion", &version);
    if (version != NULL && version(&hip_version) == 0)
        find(object, "hipPointerGetAttributes", &hip);
}

/* A context of our own: allocations are the driver's, whichever context they were made in. */
static void find_ze(void)
{
    void *object = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_NOLOAD), *driver = NULL;
    int (*init)(uint32_t) = NULL, (*get)(uint32_t *, void **) = NULL, (*create)(void *, const void *, void **) = NULL;
    struct {
        int type;
        const void *next;
        uint32_t flags;
    } wanted = {.type = ZE_CONTEXT};
    uint32_t count = 1;
    if (object == NULL)
        return;
    find(object, "zeInit", &init);
    find(object, "zeDriverGet", &get);
    find(object, "zeContextCreate", &create);
    if (init != NULL && get != NULL && create != NULL && init(0) == 0 && get(&count, &driver) == 0 && count > 0 &&
        create(driver, &wanted, &ze_context) == 0)
        find(object, "zeMemGetAllocProperties", &ze);
}

/* How many objects have been loaded. */
static int look_at(struct dl_phdr_info *info, size_t size, void *loaded)
{
    (void)size;
    *(unsigned long long *)loaded = info->dlpi_adds;
    return 1;
}

static void look_for_stack(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    if (device_stack.high != NULL || pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0)
        device_stack = (struct device_stack){low, (const char *)low + bytes};
    pthread_attr_destroy(&attributes);
}

/* The end of the heap, from the kernel: a break that is no address changes nothing. Not by sbrk(0), which UCX replaces by one that
 * sets the break to what it has just read: what another thread's malloc has got in between is unmapped then. */
static const char *heap_end(void)
{
    return (const char *)(uintptr_t)syscall(SYS_brk, 0);
}

bool device_driver(void)
{
    unsigned long long loaded = 0;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    int64_t now = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
    if (__atomic_load_n(&looked, __ATOMIC_ACQUIRE) == now)
        return __atomic_load_n(&any, __ATOMIC_RELAXED);
    dl_iterate_phdr(look_at, &loaded);
    __atomic_store_n(&device_heap_end, heap_end(), __ATOMIC_RELAXED);
    if (__atomic_load_n(&seen, __ATOMIC_ACQUIRE) == loaded) {
        __atomic_store_n(&looked, now, __ATOMIC_RELEASE);
        return __atomic_load_n(&any, __ATOMIC_RELAXED);
    }
    pthread_mutex_lock(&lock);
    if (seen != loaded) {
        if (cuda == NULL)
            find_cuda();
        if (hip == NULL)
            find_hip();
        if (ze == NULL)
            find_ze();
        __atomic_store_n(&any, cuda != NULL || hip != NULL || ze != NULL, __ATOMIC_RELAXED);
        __atomic_store_n(&seen, loaded, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return __atomic_load_n(&any, __ATOMIC_RELAXED);
}

static bool cuda_owns(const void *buffer)
{
    unsigned type = 0, managed = 0;
    if (cuda(&type, CUDA_MEMORY_TYPE, (uintptr_t)buffer) != 0)
        return false;
    return type == CUDA_DEVICE || (cuda(&managed, CUDA_IS_MANAGED, (uintptr_t)buffer) == 0 && managed != 0);
}

/* An error of ours is not left for the program to find. */
static bool hip_owns(const void *buffer)
{
    struct {
        int type, device;
        void *at, *host;
        int managed;
        unsigned flags;
        char more[64];
    } attributes = {.type = 0};
    bool clean = hip_peek != NULL && hip_clear != NULL && hip_peek() == 0;
    if (hip(&attributes, buffer) != 0) {
        if (clean)
            hip_clear();
        return false;
    }
    return attributes.type == (hip_version >= HIP_6 ? 2 : 1) || attributes.type == 3 || attributes.managed != 0;
}

static bool ze_owns(const void *buffer)
{
    struct {
        int structure;
        void *next;
        int type;
        uint64_t id, page;
    } properties = {.structure = ZE_ALLOCATION};
    void *device = NULL;
    return ze(ze_context, buffer, &properties, &device) == 0 &&
           (properties.type == ZE_DEVICE || properties.type == ZE_SHARED);
}

static bool owns(const void *buffer)
{
    return buffer != NULL && buffer != MPI_IN_PLACE && !device_is_not(buffer) &&
           ((cuda != NULL && cuda_owns(buffer)) || (hip != NULL && hip_owns(buffer)) ||
            (ze != NULL && ze_owns(buffer)));
}

bool device_owns(const void *one, const void *other)
{
    look_for_stack();
    return device_driver() && (owns(one) || owns(other));
}

/* The program is the first object. */
static int find_data(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; device_data_end == NULL && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W) == 0)
            continue;
        device_data = (const char *)(uintptr_t)(info->dlpi_addr + part->p_vaddr);
        device_data_end = device_data + part->p_memsz;
    }
    return 1;
}

/* Before there are threads: the heap, which grows upwards from here, and the program's own data. */
__attribute__((constructor)) static void find_heap_and_data(void)
{
    device_heap = device_heap_end = heap_end();
    dl_iterate_phdr(find_data, NULL);
}
