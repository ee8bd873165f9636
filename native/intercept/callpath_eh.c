#include "callpath_eh.h"

#include <stddef.h>

/* Bytes of an encoded address; 0 for an encoding whose length is not fixed. */
static unsigned address_bytes(uint8_t encoding)
{
    switch (encoding & 0x07) {
    case 0: return sizeof(void *);
    case 2: return 2;
    case 3: return 4;
    case 4: return 8;
    default: return 0;
    }
}

static bool read_cie(const uint8_t *cie, struct eh_entry *entry)
{
    const uint8_t *at = cie;
    uint64_t length = eh_fixed(&at, 4);
    if (length == 0xffffffff)
        length = eh_fixed(&at, 8);
    entry->initial_end = at + length;
    at += 4;
    uint8_t version = *at++;
    const char *augmentation = (const char *)at;
    at += strlen(augmentation) + 1;
    if (version >= 4)
        at += 2; /* sizes of addresses and of segment selectors */
    entry->code_align = eh_uleb(&at);
    entry->data_align = eh_sleb(&at);
    entry->ra_register = version == 1 ? *at++ : eh_uleb(&at);
    entry->encoding = 0;
    if (*augmentation == '\0') {
        entry->initial = at;
        return true;
    }
    if (*augmentation != 'z')
        return false;
    uint64_t bytes = eh_uleb(&at);
    entry->is_augmented = true;
    entry->initial = at + bytes;
    for (const char *letter = augmentation + 1; *letter != '\0'; letter++) {
        switch (*letter) {
        case 'R': entry->encoding = *at++; break;
        case 'L': at++; break;
        case 'P': {
            unsigned skipped = address_bytes(*at++);
            if (skipped == 0)
                return false;
            at += skipped;
            break;
        }
        case 'S': entry->is_signal = true; break;
        case 'B': /* signed with the other key: cfi_plain removes either */ break;
        default: /* unknown letters end what can be read of the augmentation */ return letter[-1] != 'z';
        }
    }
    return true;
}

struct eh_entry eh_read(const uint8_t *fde)
{
    struct eh_entry entry = {.ok = false};
    const uint8_t *at = fde;
    uint64_t length = eh_fixed(&at, 4);
    if (length == 0xffffffff)
        length = eh_fixed(&at, 8);
    entry.own_end = at + length;
    const uint8_t *cie = at;
    cie -= (int32_t)eh_fixed(&at, 4);
    if (!read_cie(cie, &entry))
        return entry;
    unsigned bytes = address_bytes(entry.encoding);
    if (bytes == 0)
        return entry;
    at += 2 * (size_t)bytes; /* first address and length of the function */
    if (entry.is_augmented) {
        uint64_t skipped = eh_uleb(&at);
        at += skipped;
    }
    entry.own = at;
    entry.ok = true;
    return entry;
}
