/* Persistent requests come and go, and are found as long as they are there. */
#include <stdlib.h>

#include "check.h"
#include "request.h"

static MPI_Request handle(int i)
{
    return (MPI_Request)(intptr_t)(1000 + 64 * i);
}

int main(void)
{
    enum { HANDLES = 6000, TURNS = 200000 };
    static bool there[HANDLES];
    struct request request = {.shape = 3};
    srand(1);
    request_remove(handle(0)); /* of none */
    for (int turn = 0; turn < TURNS; turn++) {
        int i = rand() % HANDLES;
        if (rand() % 2) {
            request.target = i;
            request_add(handle(i), &request);
            there[i] = true;
        } else {
            request_remove(handle(i));
            there[i] = false;
        }
    }
    uint32_t count = 0;
    for (int i = 0; i < HANDLES; i++) {
        CHECK(request_find(handle(i), &request) == there[i]);
        CHECK(!there[i] || request.target == i);
        count += there[i];
    }
    CHECK(request_count == count);
    /* Beyond the room for them they are not remembered; those that were remain. */
    for (int i = 0; i < REQUESTS_MOST; i++)
        request_add(handle(HANDLES + i), &request);
    CHECK(request_count == REQUESTS_MOST / 2);
    for (int i = 0; i < HANDLES; i++)
        CHECK(request_find(handle(i), &request) == there[i]);
    return verdict();
}
