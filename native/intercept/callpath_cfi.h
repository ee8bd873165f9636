/* How to get from a function's frame to its caller's, out of the unwind tables that every ELF object carries.
 *
 * Only what is needed to find return addresses is kept: the canonical frame address (CFA: the caller's stack pointer
 * right after the call has returned), where the return address is stored, and where the caller's frame pointer is.
 * Everything else (expressions beyond the two forms compilers use to realign the stack, signal frames) is said to be
 * CFI_HARD and left to the compiler's own unwinder. Formats: DWARF 5, 6.4; Linux Standard Base, .eh_frame. */
#ifndef UNISONO_CALLPATH_CFI_H
#define UNISONO_CALLPATH_CFI_H

#include <stdbool.h>
#include <stdint.h>

enum cfi_kind {
    CFI_STEP, /* the three fields below say how to go on */
    CFI_END,  /* the outermost frame, or code without unwind tables */
    CFI_HARD, /* there is a caller, but it takes a full unwinder to find it */
};

enum cfi_base {
    CFI_SP,      /* stack pointer + offset */
    CFI_FP,      /* frame pointer + offset */
    CFI_FP_LOAD, /* what is stored at frame pointer + offset */
    CFI_CFA,     /* stored at CFA + offset */
    CFI_SAME,    /* not saved: the callers' value is still in the register */
};

struct cfi_rule {
    int32_t cfa;      /* offset to `cfa_base`: CFI_SP, CFI_FP or CFI_FP_LOAD */
    int32_t fp;       /* the caller's frame pointer is stored at `fp_base` (CFI_CFA, CFI_FP) + fp, or CFI_SAME */
    int32_t ra;       /* the return address is stored at CFA + ra */
    uint8_t kind;     /* enum cfi_kind */
    uint8_t cfa_base; /* enum cfi_base */
    uint8_t fp_base;  /* enum cfi_base */
    uint8_t own;      /* for the user of the rule */
};

/* The rule for code that is about to return to `pc`. Does not allocate; takes the dynamic linker's lock, if any, as
 * the compiler's unwinder does. */
struct cfi_rule cfi_find(uintptr_t pc);

/* A return address as it was before the CPU signed it (pointer authentication of aarch64). */
static inline uintptr_t cfi_plain(uintptr_t address)
{
#if defined(__aarch64__)
    register uintptr_t x30 __asm__("x30") = address;
    __asm__("hint #7" : "+r"(x30)); /* xpaclri; no operation where there is no such thing */
    return x30;
#else
    return address;
#endif
}

#endif
