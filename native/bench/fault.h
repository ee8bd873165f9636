/* Faults on demand, so that how they are handled can be tested for real. For tests only:

     UNISONO_BENCH_FAULT=KIND:COLLECTIVE[:WHERE]

   KIND: "wrong" corrupts one element of the result on the last rank, "hang" stops the last rank for ever, "crash"
   aborts it, when COLLECTIVE is run. WHERE: nothing for every setting but 0; "always" for all; NAME=VALUE for all
   settings of a launch in which the environment variable NAME has that value. Pure, except for fault_act. */
#ifndef UNISONO_FAULT_H
#define UNISONO_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#include "problem.h"

enum fault_kind { FAULT_NONE, FAULT_WRONG, FAULT_HANG, FAULT_CRASH };

struct fault {
    enum fault_kind kind;
    char collective[32];
    bool in_default; /* also with setting 0 */
};

/* Reads the variable; NULL means no fault. False with a sentence when it is not of the form above. */
bool fault_parse(const char *text, struct fault *fault, struct problem *problem);

/* Which fault strikes this collective under this setting. */
enum fault_kind fault_strikes(const struct fault *fault, const char *collective, int setting);

/* Hangs or crashes; does not return then. */
void fault_act(enum fault_kind kind);

#endif
