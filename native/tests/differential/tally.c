#include "tally.h"

#include <stdio.h>

const char *const tally_names[DRAWN] = {
    [DRAWN_CALLS] = "calls",
    [DRAWN_BY_OURS] = "by an algorithm of ours",
    [DRAWN_LARGE] = "with large counts",
    [DRAWN_LATER] = "nonblocking",
    [DRAWN_PERSISTENT] = "persistent",
    [DRAWN_IN_PLACE] = "in place",
    [DRAWN_OWN_OPERATIONS] = "with operations of the program",
    [DRAWN_QUAD] = "quad sums",
    [DRAWN_VECTORS] = "sums of 32 and 64 byte vectors",
    [DRAWN_MISALIGNED] = "from misaligned buffers",
    [DRAWN_RETURNING] = "under error handlers that return",
    [DRAWN_ERRORS] = "with a mistake",
    [DRAWN_MADE] = "communicators made",
    [DRAWN_SHORT_LIVED] = "on communicators that come and go",
    [DRAWN_THREADED] = "beside other threads",
    [DRAWN_AGAIN] = "like the one before",
    [DRAWN_SAME_HANDLE] = "communicators at the handle of one that was freed",
    [DRAWN_SEVERAL_COUNTS] = "layouts of several counts",
    [DRAWN_STARTED_AGAIN] = "started several times",
    [DRAWN_IN_FLIGHT] = "while another was under way",
    [DRAWN_SOME_IN_PLACE] = "in place on some ranks",
    [DRAWN_FROM_BOTTOM] = "sides seen from MPI_BOTTOM",
    [DRAWN_BETWEEN_GROUPS] = "between two groups",
    [DRAWN_BESIDE] = "of ours started while another of ours was under way",
};

void tally_add(struct tally *to, const struct tally *from)
{
    for (int i = 0; i < DRAWN; i++)
        to->of[i] += from->of[i];
}

void tally_print(const struct tally *tally)
{
    printf("drawn: ");
    for (int i = 0; i < DRAWN; i++)
        printf("%s%llu %s", i > 0 ? ", " : "", tally->of[i], tally_names[i]);
    printf("\n");
}
