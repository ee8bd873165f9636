#include "link.h"

enum { SMALLEST = 4096, EXCHANGES = 40, AT_ONCE = 8, TAG = 0 };

/* Half the shortest round trip, ns, between the two ranks of a pair. */
static double one_way(MPI_Comm pair, int rank, char *buffer, size_t bytes)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < EXCHANGES; i++) {
        int64_t begin = clock_now();
        if (rank == 0)
            MPI_Send(buffer, (int)bytes, MPI_BYTE, 1, TAG, pair);
        MPI_Recv(buffer, (int)bytes, MPI_BYTE, 1 - rank, TAG, pair, MPI_STATUS_IGNORE);
        if (rank != 0)
            MPI_Send(buffer, (int)bytes, MPI_BYTE, 0, TAG, pair);
        int64_t took = clock_now() - begin;
        best = took < best ? took : best;
    }
    return (double)best / 2;
}

/* ns for each message of a byte more that both ranks of a pair send and receive at once: the shortest of several. */
static double one_more(MPI_Comm pair, int rank, char *out, char *in)
{
    int64_t best[2] = {INT64_MAX, INT64_MAX};
    for (int i = 0; i < 2 * EXCHANGES; i++) {
        MPI_Request requests[2 * AT_ONCE];
        int messages = i % 2 == 0 ? 1 : AT_ONCE;
        MPI_Barrier(pair);
        int64_t begin = clock_now();
        for (int k = 0; k < messages; k++)
            MPI_Irecv(in + k, 1, MPI_BYTE, 1 - rank, TAG, pair, &requests[k]);
        for (int k = 0; k < messages; k++)
            MPI_Isend(out, 1, MPI_BYTE, 1 - rank, TAG, pair, &requests[messages + k]);
        MPI_Waitall(2 * messages, requests, MPI_STATUSES_IGNORE);
        int64_t took = clock_now() - begin;
        best[i % 2] = took < best[i % 2] ? took : best[i % 2];
    }
    return (double)(best[1] - best[0]) / (AT_ONCE - 1);
}

/* ns until the slowest pair has sent and received a message at the same time, the shortest of several: from the first
   begin to the last end on the first node, whose clock is one. */
static double both_ways(struct team *team, MPI_Comm pair, int rank, char *out, char *in, size_t bytes)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < EXCHANGES / 4; i++) {
        int64_t stamps[2] = {INT64_MIN / 2, INT64_MIN / 2};
        team_barrier(team);
        int64_t begin = clock_now();
        if (pair != MPI_COMM_NULL)
            MPI_Sendrecv(out, (int)bytes, MPI_BYTE, 1 - rank, TAG, in, (int)bytes, MPI_BYTE, 1 - rank, TAG, pair,
                         MPI_STATUS_IGNORE);
        if (pair != MPI_COMM_NULL && rank == 0) {
            stamps[0] = -begin;
            stamps[1] = clock_now();
        }
        team_maximum(team, stamps, 2);
        int64_t took = stamps[1] + stamps[0];
        best = took < best ? took : best;
    }
    return (double)best;
}

/* Ranks with the same place in the first and the second node. */
static MPI_Comm make_pair(struct team *team, int *pairs)
{
    int64_t sizes[2] = {0, 0};
    if (team->node < 2)
        sizes[team->node] = team->locals;
    team_maximum_all(team, sizes, 2);
    *pairs = (int)(sizes[0] < sizes[1] ? sizes[0] : sizes[1]);
    MPI_Comm pair;
    int mine = team->node < 2 && team->local < *pairs ? team->local : MPI_UNDEFINED;
    MPI_Comm_split(team->comm, mine, team->node, &pair);
    return pair;
}

void link_measure(struct team *team, struct text *text, char *out, char *in, size_t most)
{
    int pairs;
    int rank = team->node == 0 ? 0 : 1;
    MPI_Comm pair = make_pair(team, &pairs);
    bool first = pair != MPI_COMM_NULL && team->local == 0;
    const char *comma = "";
    double latency = first ? one_way(pair, rank, out, 1) : 0, more = first ? one_more(pair, rank, out, in) : 0;
    text_add(text, ",\"link\":{\"latency_ns\":%.1f,\"message_ns\":%.1f,\"bandwidth\":[", latency, more);
    for (size_t bytes = SMALLEST; bytes <= most; bytes *= 4) {
        team_barrier(team);
        double one = first ? one_way(pair, rank, out, bytes) : 1;
        double all = both_ways(team, pair, rank, out, in, bytes);
        text_add(text, "%s{\"bytes\":%zu,\"gbps_one\":%.3f,\"gbps_all\":%.3f}", comma, bytes, (double)bytes / one,
                 (double)bytes * pairs / all);
        comma = ",";
    }
    text_add(text, "]}");
    if (pair != MPI_COMM_NULL)
        MPI_Comm_free(&pair);
}
