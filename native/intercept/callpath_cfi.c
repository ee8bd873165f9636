#include "callpath_cfi.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Register numbers of the platform's DWARF supplement. */
#if defined(__x86_64__)
enum { REG_FP = 6, REG_SP = 7 };
#elif defined(__aarch64__)
enum { REG_FP = 29, REG_SP = 31 };
#else
enum { REG_FP = -1, REG_SP = -2 }; /* no rule is ever found: every path is left to the compiler's unwinder */
#endif

/* libgcc's and LLVM's unwinders both export it: the table entry of the function that holds `pc`. */
struct dwarf_eh_bases {
    void *text, *data, *function;
};
extern const uint8_t *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

enum { STATES = 8, EXPRESSION = 24 };

/* Where a register of the caller is. */
struct where {
    enum { SAME, AT_CFA, AT_FP, UNDEFINED, OTHER } kind;
    int64_t offset; /* AT_CFA, AT_FP: stored at that base + offset */
};

struct row {
    int64_t cfa_offset;
    uint64_t cfa_register;
    enum { BY_REGISTER, BY_FP_LOAD, BY_OTHER } cfa_kind;
    struct where fp, ra;
};

struct entry {
    const uint8_t *initial, *initial_end; /* instructions of the CIE */
    const uint8_t *own, *own_end;         /* and of the FDE */
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_register;
    uint8_t encoding; /* of addresses */
    bool is_signal, is_augmented, ok;
};

static uint64_t uleb(const uint8_t **at)
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

static int64_t sleb(const uint8_t **at)
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

static uint64_t fixed(const uint8_t **at, unsigned bytes)
{
    uint64_t value = 0; /* both platforms are little-endian where it matters: x86-64, and Linux on aarch64 */
    memcpy(&value, *at, bytes);
    *at += bytes;
    return value;
}

/* Bytes of an encoded address; 0 for an encoding whose length is not fixed. */
static unsigned address_bytes(uint8_t encoding)
{
    switch (encoding & 0x07) {
    case 0:
        return sizeof(void *);
    case 2:
        return 2;
    case 3:
        return 4;
    case 4:
        return 8;
    default:
        return 0;
    }
}

static bool read_cie(const uint8_t *cie, struct entry *entry)
{
    const uint8_t *at = cie;
    uint64_t length = fixed(&at, 4);
    if (length == 0xffffffff)
        length = fixed(&at, 8);
    entry->initial_end = at + length;
    at += 4;
    uint8_t version = *at++;
    const char *augmentation = (const char *)at;
    at += strlen(augmentation) + 1;
    if (version >= 4)
        at += 2; /* sizes of addresses and of segment selectors */
    entry->code_align = uleb(&at);
    entry->data_align = sleb(&at);
    entry->ra_register = version == 1 ? *at++ : uleb(&at);
    entry->encoding = 0;
    if (*augmentation == '\0') {
        entry->initial = at;
        return true;
    }
    if (*augmentation != 'z')
        return false;
    uint64_t bytes = uleb(&at);
    entry->is_augmented = true;
    entry->initial = at + bytes;
    for (const char *letter = augmentation + 1; *letter != '\0'; letter++) {
        switch (*letter) {
        case 'R':
            entry->encoding = *at++;
            break;
        case 'L':
            at++;
            break;
        case 'P': {
            unsigned skipped = address_bytes(*at++);
            if (skipped == 0)
                return false;
            at += skipped;
            break;
        }
        case 'S':
            entry->is_signal = true;
            break;
        case 'B': /* signed with the other key: cfi_plain removes either */
            break;
        default: /* unknown letters end what can be read of the augmentation */
            return letter[-1] != 'z';
        }
    }
    return true;
}

static struct entry read_fde(const uint8_t *fde)
{
    struct entry entry = {.ok = false};
    const uint8_t *at = fde;
    uint64_t length = fixed(&at, 4);
    if (length == 0xffffffff)
        length = fixed(&at, 8);
    entry.own_end = at + length;
    const uint8_t *cie = at;
    cie -= (int32_t)fixed(&at, 4);
    if (!read_cie(cie, &entry))
        return entry;
    unsigned bytes = address_bytes(entry.encoding);
    if (bytes == 0)
        return entry;
    at += 2 * (size_t)bytes; /* first address and length of the function */
    if (entry.is_augmented) {
        uint64_t skipped = uleb(&at);
        at += skipped;
    }
    entry.own = at;
    entry.ok = true;
    return entry;
}

/* `breg offset` [`deref`]: the two forms GCC and Clang write when they realign the stack. False: any other. */
static bool read_expression(const uint8_t *at, uint64_t bytes, int64_t *offset, bool *load)
{
    enum { BREG0 = 0x70, DEREF = 0x06 };
    const uint8_t *end = at + bytes;
    if (bytes < 2 || bytes > EXPRESSION || *at++ != BREG0 + REG_FP)
        return false;
    *offset = sleb(&at);
    *load = at < end && *at == DEREF;
    return at + *load == end;
}

static struct where *tracked(struct row *row, const struct entry *entry, uint64_t number)
{
    if (number == (uint64_t)REG_FP)
        return &row->fp;
    return number == entry->ra_register ? &row->ra : NULL;
}

static void set(struct row *row, const struct entry *entry, uint64_t number, struct where where)
{
    struct where *one = tracked(row, entry, number);
    if (one != NULL)
        *one = where;
}

static void set_cfa_register(struct row *row, uint64_t number, int64_t offset)
{
    row->cfa_kind = BY_REGISTER;
    row->cfa_register = number;
    row->cfa_offset = offset;
}

static void restore(struct row *row, const struct row *first, const struct entry *entry, uint64_t number)
{
    if (number == (uint64_t)REG_FP)
        row->fp = first->fp;
    else if (number == entry->ra_register)
        row->ra = first->ra;
}

/* One instruction whose operation fills its whole byte, except those that move the location. */
static bool execute_long(uint8_t operation, const uint8_t **at, const struct entry *entry, struct row *row,
                         const struct row *first)
{
    uint64_t number, bytes;
    switch (operation) {
    case 0x00: /* nop */
    case 0x2d: /* negate_ra_state: cfi_plain copes with signed addresses and plain ones */
        return true;
    case 0x05: /* offset_extended */
        number = uleb(at);
        set(row, entry, number, (struct where){AT_CFA, (int64_t)uleb(at) * entry->data_align});
        return true;
    case 0x11: /* offset_extended_sf */
        number = uleb(at);
        set(row, entry, number, (struct where){AT_CFA, sleb(at) * entry->data_align});
        return true;
    case 0x2f: /* GNU_negative_offset_extended */
        number = uleb(at);
        set(row, entry, number, (struct where){AT_CFA, -(int64_t)uleb(at) * entry->data_align});
        return true;
    case 0x06: /* restore_extended */
        restore(row, first, entry, uleb(at));
        return true;
    case 0x07: /* undefined */
        set(row, entry, uleb(at), (struct where){UNDEFINED, 0});
        return true;
    case 0x08: /* same_value */
        set(row, entry, uleb(at), (struct where){SAME, 0});
        return true;
    case 0x09: /* register */
        number = uleb(at);
        (void)uleb(at);
        set(row, entry, number, (struct where){OTHER, 0});
        return true;
    case 0x0c: /* def_cfa */
        number = uleb(at);
        set_cfa_register(row, number, (int64_t)uleb(at));
        return true;
    case 0x12: /* def_cfa_sf */
        number = uleb(at);
        set_cfa_register(row, number, sleb(at) * entry->data_align);
        return true;
    case 0x0d: /* def_cfa_register */
        set_cfa_register(row, uleb(at), row->cfa_offset);
        return true;
    case 0x0e: /* def_cfa_offset */
        row->cfa_offset = (int64_t)uleb(at);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        row->cfa_offset = sleb(at) * entry->data_align;
        return true;
    case 0x0f: { /* def_cfa_expression */
        bool load = false;
        bytes = uleb(at);
        row->cfa_kind = read_expression(*at, bytes, &row->cfa_offset, &load) && load ? BY_FP_LOAD : BY_OTHER;
        *at += bytes;
        return true;
    }
    case 0x10: { /* expression */
        bool load = false;
        int64_t offset = 0;
        number = uleb(at);
        bytes = uleb(at);
        bool simple = read_expression(*at, bytes, &offset, &load) && !load;
        set(row, entry, number, simple ? (struct where){AT_FP, offset} : (struct where){OTHER, 0});
        *at += bytes;
        return true;
    }
    case 0x14: /* val_offset */
    case 0x15: /* val_offset_sf */
        number = uleb(at);
        (void)uleb(at);
        set(row, entry, number, (struct where){OTHER, 0});
        return true;
    case 0x16: /* val_expression */
        number = uleb(at);
        bytes = uleb(at);
        *at += bytes;
        set(row, entry, number, (struct where){OTHER, 0});
        return true;
    case 0x2e: /* GNU_args_size */
        (void)uleb(at);
        return true;
    default:
        return false;
    }
}

/* Runs instructions up to the row of `target`; `*location` is where the row begins. False: not understood. */
static bool execute(const uint8_t *at, const uint8_t *end, const struct entry *entry, uintptr_t *location,
                    uintptr_t target, struct row *row, const struct row *first)
{
    struct row kept[STATES];
    unsigned depth = 0;
    while (at < end && *location <= target) {
        uint8_t operation = *at++;
        uint64_t operand = operation & 0x3f;
        switch (operation & 0xc0) {
        case 0x40: /* advance_loc */
            *location += operand * entry->code_align;
            continue;
        case 0x80: /* offset */
            set(row, entry, operand, (struct where){AT_CFA, (int64_t)uleb(&at) * entry->data_align});
            continue;
        case 0xc0: /* restore */
            restore(row, first, entry, operand);
            continue;
        default:
            break;
        }
        switch (operation) {
        case 0x02: /* advance_loc1, 2 and 4 */
        case 0x03:
        case 0x04:
            *location += fixed(&at, 1u << (operation - 2)) * entry->code_align;
            break;
        case 0x0a: /* remember_state */
            if (depth == STATES)
                return false;
            kept[depth++] = *row;
            break;
        case 0x0b: /* restore_state */
            if (depth == 0)
                return false;
            *row = kept[--depth];
            break;
        default:
            if (!execute_long(operation, &at, entry, row, first))
                return false;
        }
    }
    return true;
}

static bool fits(int64_t offset)
{
    return offset >= INT32_MIN && offset <= INT32_MAX;
}

static struct cfi_rule rule_of(const struct row *row)
{
    struct cfi_rule rule = {.kind = CFI_HARD};
    if (row->ra.kind == UNDEFINED) {
        rule.kind = CFI_END;
        return rule;
    }
    if (row->ra.kind != AT_CFA || !fits(row->ra.offset) || !fits(row->cfa_offset) || !fits(row->fp.offset))
        return rule;
    if (row->cfa_kind == BY_FP_LOAD)
        rule.cfa_base = CFI_FP_LOAD;
    else if (row->cfa_kind == BY_REGISTER && row->cfa_register == (uint64_t)REG_SP)
        rule.cfa_base = CFI_SP;
    else if (row->cfa_kind == BY_REGISTER && row->cfa_register == (uint64_t)REG_FP)
        rule.cfa_base = CFI_FP;
    else
        return rule;
    switch (row->fp.kind) {
    case SAME:
    case UNDEFINED: /* nobody further out may use it */
        rule.fp_base = CFI_SAME;
        break;
    case AT_CFA:
        rule.fp_base = CFI_CFA;
        break;
    case AT_FP:
        rule.fp_base = CFI_FP;
        break;
    default:
        return rule;
    }
    rule.cfa = (int32_t)row->cfa_offset;
    rule.fp = (int32_t)row->fp.offset;
    rule.ra = (int32_t)row->ra.offset;
    rule.kind = CFI_STEP;
    return rule;
}

/* Whether this is where a signal handler returns to, in code without tables: the compiler's unwinder knows it by its
 * instructions (call sigreturn), and so it goes on there. */
static bool is_signal_return(uintptr_t pc)
{
#if defined(__x86_64__)
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
#elif defined(__aarch64__)
    static const uint8_t code[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
#else
    static const uint8_t code[] = {0};
#endif
    /* Where tables are wrong, `pc` may be anything: let the kernel look, which does not crash. */
    uint8_t found[sizeof code];
    const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    if (memory < 0)
        return false;
    const ssize_t got = pread(memory, found, sizeof found, (off_t)pc);
    close(memory);
    return got == (ssize_t)sizeof code && memcmp(found, code, sizeof code) == 0;
}

struct cfi_rule cfi_find(uintptr_t pc)
{
    /* The call that returns to `pc` may be the last instruction of its function: look at its last byte. */
    const uintptr_t target = pc - 1;
    struct dwarf_eh_bases bases = {NULL, NULL, NULL};
    const uint8_t *fde = pc == 0 ? NULL : _Unwind_Find_FDE((void *)target, &bases);
    if (fde == NULL)
        return (struct cfi_rule){.kind = pc != 0 && is_signal_return(pc) ? CFI_HARD : CFI_END};
    struct entry entry = read_fde(fde);
    if (!entry.ok || entry.is_signal)
        return (struct cfi_rule){.kind = CFI_HARD};
    struct row row = {.cfa_kind = BY_OTHER};
    uintptr_t location = 0;
    if (!execute(entry.initial, entry.initial_end, &entry, &location, 0, &row, &row))
        return (struct cfi_rule){.kind = CFI_HARD};
    const struct row first = row;
    location = (uintptr_t)bases.function;
    if (!execute(entry.own, entry.own_end, &entry, &location, target, &row, &first))
        return (struct cfi_rule){.kind = CFI_HARD};
    return rule_of(&row);
}
