#include "number.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

static locale_t plain;

static void make(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool number_read(const char *text, double *value)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char *end;
    pthread_once(&once, make);
    if (plain == (locale_t)0)
        return false;
    *value = strtod_l(text, &end, plain);
    return end != text && *end == '\0';
}
