/* The entries of .eh_frame as they lie in memory, and the numbers in them. Formats: DWARF 5, 6.4.1 and 7.6; Linux
 * Standard Base, .eh_frame. The tables are the compiler's and are trusted as the compiler's own unwinder trusts them. */
#ifndef UNISONO_CALLPATH_EH_H
#define UNISONO_CALLPATH_EH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What describes one function: its own entry (FDE) and that which it shares with others (CIE). */
struct eh_entry {
    const uint8_t *initial, *initial_end; /* instructions of the CIE */
    const uint8_t *own, *own_end;         /* and of the FDE */
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_register;
    uint8_t encoding; /* of addresses */
    bool is_signal, is_augmented, ok;
};

/* The entry at `fde`; not `ok` when it is of a kind that compilers do not write. */
struct eh_entry eh_read(const uint8_t *fde);

/* Numbers at `*at`, which moves beyond them. */
static inline uint64_t eh_uleb(const uint8_t **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

static inline int64_t eh_sleb(const uint8_t **at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = *(*at)++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

static inline uint64_t eh_fixed(const uint8_t **at, unsigned bytes)
{
    uint64_t value = 0; /* both platforms are little-endian where it matters: x86-64, and Linux on aarch64 */
    memcpy(&value, *at, bytes);
    *at += bytes;
    return value;
}

#endif
