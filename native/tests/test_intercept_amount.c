/* What calls move, in numbers worked out by hand: 5 ranks and blocks of 10 bytes, unless it says otherwise. */
#include "amount.h"
#include "check.h"

static int is(struct amount amount, int64_t size, int64_t sent, int64_t received)
{
    return amount.size == size && amount.sent == sent && amount.received == received;
}

static void rooted(void)
{
    CHECK(is(amount_barrier(), 0, 0, 0));
    CHECK(is(amount_bcast(ROLE_ROOT, 5, false, 10), 10, 50, 10));
    CHECK(is(amount_bcast(ROLE_OTHER, 5, false, 10), 10, 0, 10));
    CHECK(is(amount_bcast(ROLE_ROOT, 5, true, 10), 10, 50, 0)); /* an intercommunicator's root is in the other group */
    CHECK(is(amount_bcast(ROLE_NONE, 5, true, 10), 10, 0, 0));
    CHECK(is(amount_gather(ROLE_ROOT, 5, 10, 10, false, false), 10, 10, 50));
    CHECK(is(amount_gather(ROLE_ROOT, 5, 0, 10, true, false), 10, 0, 40));
    CHECK(is(amount_gather(ROLE_OTHER, 5, 10, 0, false, false), 10, 10, 0));
    CHECK(is(amount_gather(ROLE_NONE, 5, 10, 0, false, true), NOT_KNOWN, 0, 0));
    CHECK(is(amount_reversed(amount_gather(ROLE_ROOT, 5, 0, 10, true, false)), 10, 40, 0));
    /* Blocks of 1, 2, 3, 4, 5 bytes at rank 3. */
    CHECK(is(amount_gatherv(ROLE_ROOT, 5, 4, 15, 4, false, false), 3, 4, 15));
    CHECK(is(amount_gatherv(ROLE_ROOT, 5, 0, 15, 4, true, false), 3, 0, 11));
    CHECK(is(amount_gatherv(ROLE_OTHER, 5, 4, 0, 0, false, false), 4, 4, 0));
    CHECK(is(amount_reduce(ROLE_ROOT, 5, 10, false, false), 10, 10, 50));
    CHECK(is(amount_reduce(ROLE_ROOT, 5, 10, true, false), 10, 0, 40));
    CHECK(is(amount_reduce(ROLE_OTHER, 5, 10, false, false), 10, 10, 0));
}

static void all_to_all(void)
{
    CHECK(is(amount_allgather(5, 10, 10, false), 10, 50, 50));
    CHECK(is(amount_allgather(5, 0, 10, true), 10, 40, 40));
    CHECK(is(amount_allgatherv(5, 4, 15, 4, false), 3, 20, 15));
    CHECK(is(amount_allgatherv(5, 0, 15, 4, true), 3, 16, 11));
    CHECK(is(amount_alltoall(5, 10, 10, false), 10, 50, 50));
    CHECK(is(amount_alltoall(5, 0, 10, true), 10, 40, 40));
    CHECK(is(amount_alltoallv(5, 20, 15, 0, false), 4, 20, 15));
    CHECK(is(amount_alltoallv(5, 0, 15, 4, true), 3, 11, 11));
    CHECK(is(amount_alltoallv(0, 0, 0, 0, false), 0, 0, 0));
    CHECK(is(amount_allreduce(5, 10, false), 10, 50, 50));
    CHECK(is(amount_allreduce(5, 10, true), 10, 40, 40));
    CHECK(is(amount_reduce_scatter_block(5, 10, false), 10, 50, 50));
    CHECK(is(amount_reduce_scatter_block(5, 10, true), 10, 40, 40));
    CHECK(is(amount_reduce_scatter(5, 15, 4, false), 15, 15, 20));
    CHECK(is(amount_reduce_scatter(5, 15, 4, true), 15, 11, 16));
    CHECK(is(amount_scan(3, 5, 10, false), 10, 20, 40));
    CHECK(is(amount_scan(3, 5, 10, true), 10, 10, 30));
    CHECK(is(amount_exscan(3, 5, 10), 10, 10, 30));
    CHECK(is(amount_exscan(0, 5, 10), 10, 40, 0));
}

static void others(void)
{
    CHECK(is(amount_neighbor(2, 3, 10, 20), 10, 20, 60));
    CHECK(is(amount_neighbor(0, 3, 10, 20), 20, 0, 60));
    CHECK(is(amount_neighborv(2, 30, 50), 15, 30, 50));
    CHECK(is(amount_neighborv(0, 0, 50), 0, 0, 50));
    CHECK(is(amount_sent(7), 7, 7, 0));
    CHECK(is(amount_received(7), 7, 0, 7));
    CHECK(is(amount_none(), NOT_KNOWN, 0, 0));
    CHECK(amount_sum(3, 4) == 7 && amount_sum(NOT_KNOWN, 4) == NOT_KNOWN && amount_sum(3, NOT_KNOWN) == NOT_KNOWN);
    /* More than 2 GiB to each of many. */
    CHECK(is(amount_alltoall(100000, INT64_C(3) << 30, INT64_C(3) << 30, false), INT64_C(3) << 30,
             100000 * (INT64_C(3) << 30), 100000 * (INT64_C(3) << 30)));
}

int main(void)
{
    rooted();
    all_to_all();
    others();
    return verdict();
}
