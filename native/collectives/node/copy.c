#include "copy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* A cache of the last level where the system says nothing. */
static const int64_t usual_cache = INT64_C(32) << 20;

static const int64_t usual_own_cache = INT64_C(1) << 20;

/* Of which the choice of a way depends: one rank may see another than the others. */
static _Atomic int64_t agreed_cache, agreed_own_cache;

/* sysconf() is not asked: under hypervisors it counts the caches of the whole machine. */
static int64_t cache_of(const char *path, int64_t usual)
{
    long long kilobytes = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return usual;
    if (fscanf(file, "%lldK", &kilobytes) != 1)
        kilobytes = 0;
    fclose(file);
    return kilobytes > 0 ? kilobytes << 10 : usual;
}

int64_t copy_last_cache(void)
{
    return cache_of("/sys/devices/system/cpu/cpu0/cache/index3/size", usual_cache);
}

int64_t copy_own_cache_here(void)
{
    return cache_of("/sys/devices/system/cpu/cpu0/cache/index2/size", usual_own_cache);
}

void copy_agree_on_own_cache(int64_t bytes)
{
    atomic_store_explicit(&agreed_own_cache, bytes, memory_order_relaxed);
}

int64_t copy_own_cache(void)
{
    int64_t bytes = atomic_load_explicit(&agreed_own_cache, memory_order_relaxed);
    return bytes > 0 ? bytes : usual_own_cache;
}

void copy_agree_on_cache(int64_t bytes)
{
    atomic_store_explicit(&agreed_cache, bytes, memory_order_relaxed);
}

/* Quarters of the last cache. */
static int64_t quarters(int ranks, int64_t count)
{
    int64_t bytes = atomic_load_explicit(&agreed_cache, memory_order_relaxed);
    return count * (bytes > 0 ? bytes : usual_cache) / 4 / ranks;
}

static _Atomic bool is_early;
static _Atomic int64_t tried_from;

int64_t copy_streams_from(int ranks)
{
    const int64_t from = atomic_load_explicit(&tried_from, memory_order_relaxed);
    return from > 0 ? from : quarters(ranks, atomic_load_explicit(&is_early, memory_order_relaxed) ? 5 : 8);
}

int64_t copy_streams_between(int ranks)
{
    return quarters(ranks, 6);
}

void copy_stream_early(bool early)
{
    atomic_store_explicit(&is_early, early, memory_order_relaxed);
}

void copy_stream_from(int64_t bytes)
{
    atomic_store_explicit(&tried_from, bytes, memory_order_relaxed);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

enum { WIDE = 64 };

/* Whole vectors, where the destination is aligned to one. */
__attribute__((target("avx512f"))) static size_t stream_avx512(char *to, const char *from, size_t bytes)
{
    size_t i = 0;
    for (; i + 4 * WIDE <= bytes; i += 4 * WIDE) {
        __m512i a = _mm512_loadu_si512(from + i), b = _mm512_loadu_si512(from + i + WIDE);
        __m512i c = _mm512_loadu_si512(from + i + 2 * WIDE), d = _mm512_loadu_si512(from + i + 3 * WIDE);
        _mm512_stream_si512((void *)(to + i), a);
        _mm512_stream_si512((void *)(to + i + WIDE), b);
        _mm512_stream_si512((void *)(to + i + 2 * WIDE), c);
        _mm512_stream_si512((void *)(to + i + 3 * WIDE), d);
    }
    return i;
}

__attribute__((target("avx2"))) static size_t stream_avx2(char *to, const char *from, size_t bytes)
{
    size_t i = 0;
    for (; i + WIDE <= bytes; i += WIDE) {
        __m256i a = _mm256_loadu_si256((const void *)(from + i));
        __m256i b = _mm256_loadu_si256((const void *)(from + i + WIDE / 2));
        _mm256_stream_si256((void *)(to + i), a);
        _mm256_stream_si256((void *)(to + i + WIDE / 2), b);
    }
    return i;
}

void copy_streaming(void *to, const void *from, size_t bytes)
{
    char *out = to;
    const char *in = from;
    size_t head = (WIDE - (uintptr_t)out % WIDE) % WIDE, done;
    head = head < bytes ? head : bytes;
    memcpy(out, in, head);
    out += head, in += head, bytes -= head;
    if (__builtin_cpu_supports("avx512f"))
        done = stream_avx512(out, in, bytes);
    else
        done = __builtin_cpu_supports("avx2") ? stream_avx2(out, in, bytes) : 0;
    _mm_sfence(); /* stores past the cache are not ordered by a release */
    memcpy(out + done, in + done, bytes - done);
}

#else

void copy_streaming(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#endif
