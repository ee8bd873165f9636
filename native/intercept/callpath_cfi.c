#include "callpath_cfi.h"
#include "callpath_eh.h"

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

/* `breg offset` [`deref`]: the two forms GCC and Clang write when they realign the stack. False: any other. */
static bool read_expression(const uint8_t *at, uint64_t bytes, int64_t *offset, bool *load)
{
    enum { BREG0 = 0x70, DEREF = 0x06 };
    const uint8_t *end = at + bytes;
    if (bytes < 2 || bytes > EXPRESSION || *at++ != BREG0 + REG_FP)
        return false;
    *offset = eh_sleb(&at);
    *load = at < end && *at == DEREF;
    return at + *load == end;
}

static struct where *tracked(struct row *row, const struct eh_entry *entry, uint64_t number)
{
    if (number == (uint64_t)REG_FP)
        return &row->fp;
    return number == entry->ra_register ? &row->ra : NULL;
}

static void set(struct row *row, const struct eh_entry *entry, uint64_t number, struct where where)
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

static void restore(struct row *row, const struct row *first, const struct eh_entry *entry, uint64_t number)
{
    if (number == (uint64_t)REG_FP)
        row->fp = first->fp;
    else if (number == entry->ra_register)
        row->ra = first->ra;
}

/* One instruction whose operation fills its whole byte, except those that move the location. */
static bool execute_long(uint8_t operation, const uint8_t **at, const struct eh_entry *entry, struct row *row,
                         const struct row *first)
{
    uint64_t number, bytes;
    switch (operation) {
    case 0x00: /* nop */
    case 0x2d: /* negate_ra_state: cfi_plain copes with signed addresses and plain ones */ return true;
    case 0x05: /* offset_extended */
        number = eh_uleb(at);
        set(row, entry, number, (struct where){AT_CFA, (int64_t)eh_uleb(at) * entry->data_align});
        return true;
    case 0x11: /* offset_extended_sf */
        number = eh_uleb(at);
        set(row, entry, number, (struct where){AT_CFA, eh_sleb(at) * entry->data_align});
        return true;
    case 0x2f: /* GNU_negative_offset_extended */
        number = eh_uleb(at);
        set(row, entry, number, (struct where){AT_CFA, -(int64_t)eh_uleb(at) * entry->data_align});
        return true;
    case 0x06: /* restore_extended */ restore(row, first, entry, eh_uleb(at)); return true;
    case 0x07: /* undefined */ set(row, entry, eh_uleb(at), (struct where){UNDEFINED, 0}); return true;
    case 0x08: /* same_value */ set(row, entry, eh_uleb(at), (struct where){SAME, 0}); return true;
    case 0x09: /* register */
        number = eh_uleb(at);
        (void)eh_uleb(at);
        set(row, entry, number, (struct where){OTHER, 0});
        return true;
    case 0x0c: /* def_cfa */
        number = eh_uleb(at);
        set_cfa_register(row, number, (int64_t)eh_uleb(at));
        return true;
    case 0x12: /* def_cfa_sf */
        number = eh_uleb(at);
        set_cfa_register(row, number, eh_sleb(at) * entry->data_align);
        return true;
    case 0x0d: /* def_cfa_register */ set_cfa_register(row, eh_uleb(at), row->cfa_offset); return true;
    case 0x0e: /* def_cfa_offset */ row->cfa_offset = (int64_t)eh_uleb(at); return true;
    case 0x13: /* def_cfa_offset_sf */ row->cfa_offset = eh_sleb(at) * entry->data_align; return true;
    case 0x0f: { /* def_cfa_expression */
        bool load = false;
        bytes = eh_uleb(at);
        row->cfa_kind = read_expression(*at, bytes, &row->cfa_offset, &load) && load ? BY_FP_LOAD : BY_OTHER;
        *at += bytes;
        return true;
    }
    case 0x10: { /* expression */
        bool load = false;
        int64_t offset = 0;
        number = eh_uleb(at);
        bytes = eh_uleb(at);
        bool simple = read_expression(*at, bytes, &offset, &load) && !load;
        set(row, entry, number, simple ? (struct where){AT_FP, offset} : (struct where){OTHER, 0});
        *at += bytes;
        return true;
    }
    case 0x14: /* val_offset */
    case 0x15: /* val_offset_sf */
        number = eh_uleb(at);
        (void)eh_uleb(at);
        set(row, entry, number, (struct where){OTHER, 0});
        return true;
    case 0x16: /* val_expression */
        number = eh_uleb(at);
        bytes = eh_uleb(at);
        *at += bytes;
        set(row, entry, number, (struct where){OTHER, 0});
        return true;
    case 0x2e: /* GNU_args_size */ (void)eh_uleb(at); return true;
    default: return false;
    }
}

/* Runs instructions up to the row of `target`; `*location` is where the row begins. False: not understood. */
static bool execute(const uint8_t *at, const uint8_t *end, const struct eh_entry *entry, uintptr_t *location,
                    uintptr_t target, struct row *row, const struct row *first)
{
    struct row kept[STATES];
    unsigned depth = 0;
    while (at < end && *location <= target) {
        uint8_t operation = *at++;
        uint64_t operand = operation & 0x3f;
        switch (operation & 0xc0) {
        case 0x40: /* advance_loc */ *location += operand * entry->code_align; continue;
        case 0x80: /* offset */
            set(row, entry, operand, (struct where){AT_CFA, (int64_t)eh_uleb(&at) * entry->data_align});
            continue;
        case 0xc0: /* restore */ restore(row, first, entry, operand); continue;
        default: break;
        }
        switch (operation) {
        case 0x02: /* advance_loc1, 2 and 4 */
        case 0x03:
        case 0x04: *location += eh_fixed(&at, 1u << (operation - 2)) * entry->code_align; break;
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
    case UNDEFINED: /* nobody further out may use it */ rule.fp_base = CFI_SAME; break;
    case AT_CFA: rule.fp_base = CFI_CFA; break;
    case AT_FP: rule.fp_base = CFI_FP; break;
    default: return rule;
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
    struct eh_entry entry = eh_read(fde);
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
