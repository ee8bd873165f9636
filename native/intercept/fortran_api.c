/* unisono.h for Fortran, with any MPI. */
#include <string.h>

#include "intercept.h"
#include "unisono.h"

SYMBOL void unisono_phase_begin_(const char *name, unsigned length);
SYMBOL void unisono_phase_end_(void);

/* `length` is hidden in Fortran, an int or a size_t by compiler; its low half is both. Names end with blanks there. */
void unisono_phase_begin_(const char *name, unsigned length)
{
    char text[PHASE_NAME];
    while (length > 0 && name[length - 1] == ' ')
        length--;
    length = length < sizeof text - 1 ? length : sizeof text - 1;
    memcpy(text, name, length);
    text[length] = '\0';
    unisono_phase_begin(text);
}

void unisono_phase_end_(void)
{
    unisono_phase_end();
}
