/* Large arrays that are streamed through: in huge pages where the system gives them when asked. */
#ifndef UNISONO_PAGES_H
#define UNISONO_PAGES_H

#include <stddef.h>

/* Memory for `bytes` that nobody has touched, to be released by free(); NULL: there is none. Large blocks begin at a
 * huge page (2 MB) and ask for such: a matrix streamed from memory in pages of 4 KB pays for address translation,
 * twice over in a virtual machine. */
void *pages_take(size_t bytes);

#endif
