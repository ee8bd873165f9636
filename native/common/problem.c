#include "problem.h"

#include <stdarg.h>
#include <stdio.h>

bool problem_set(struct problem *problem, const char *format, ...)
{
    if (problem_any(problem))
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    /* What is quoted may hold anything; a sentence is one line, and moves no cursor. */
    for (char *at = problem->text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == '\x7f')
            *at = '?';
    return false;
}
