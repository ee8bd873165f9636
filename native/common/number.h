/* Numbers in text: with a decimal point, whatever the locale of the program is. */
#ifndef UNISONO_NUMBER_H
#define UNISONO_NUMBER_H

#include <stdbool.h>

/* The whole text; false when it is no number. */
bool number_read(const char *text, double *value);

#endif
