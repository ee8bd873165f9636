#include "pattern.h"

#include <string.h>

enum { CACHE_LINE = 64 };

uint64_t pattern_key(uint64_t repetition, int from, int to)
{
    return pattern_mix(pattern_mix(repetition) ^ ((uint64_t)(uint32_t)from << 32 | (uint32_t)to));
}

void pattern_fill(void *block, size_t bytes, uint64_t key)
{
    char *place = block;
    for (size_t start = 0; start < bytes; start += 8) {
        uint64_t word = pattern_mix(key + start);
        memcpy(place + start, &word, bytes - start < 8 ? bytes - start : 8);
    }
}

unsigned char pattern_byte(size_t position, uint64_t key)
{
    uint64_t word = pattern_mix(key + position / 8 * 8);
    unsigned char bytes[8];
    memcpy(bytes, &word, sizeof bytes);
    return bytes[position % 8];
}

size_t pattern_first_wrong(const void *block, size_t bytes, uint64_t key)
{
    const char *place = block;
    for (size_t start = 0; start < bytes; start += 8) {
        uint64_t word = pattern_mix(key + start);
        size_t length = bytes - start < 8 ? bytes - start : 8;
        if (memcmp(place + start, &word, length) == 0)
            continue;
        for (size_t i = start; i < start + length; i++)
            if ((unsigned char)place[i] != pattern_byte(i, key))
                return i;
    }
    return bytes;
}

void pattern_touch(void *buffer, size_t bytes, uint64_t repetition)
{
    char *place = buffer;
    size_t start = 0;
    for (; start + sizeof(float) <= bytes; start += CACHE_LINE) {
        float value = (float)((repetition + start / CACHE_LINE) & 1023);
        memcpy(place + start, &value, sizeof value);
    }
    if (start < bytes)
        place[start] = (char)repetition;
}
