/* What the generated wrappers are made of. */
#ifndef UNISONO_INTERCEPT_H
#define UNISONO_INTERCEPT_H

#include "device.h"
#include "dispatch.h"
#include "kinds.h"
#include "tools.h"

#define SYMBOL __attribute__((visibility("default")))

/* Where a call goes on to in the end; those that dispatch.h serves pass by there (on_NAME of the generated wrappers). */
#define REAL(function) PMPI_##function

#endif
