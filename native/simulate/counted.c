#include "counted.h"

#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/semaphore.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xbt/dynar.h>

/* Longer ones hold elements, which nobody looks at where nothing is checked; shorter ones what an algorithm keeps its books in. */
enum { SMALL = 512 };

/* That has been sent and not been asked for, or the other way round. */
struct message {
    int from, tag;
    int64_t bytes;
    void *data;
    bool done;
    struct message *next;
};

struct queue {
    struct message *first, **last;
};

struct rank {
    sg_host_t host;
    int node;
    struct queue sent, wanted; /* to this rank, by it */
    sg_sem_t woken;
    bool waits;
};

/* All ranks run in one process, one at a time. */
static struct rank *ranks;
static double *sent; /* by node of the sender, and of the receiver */
static int count_of_ranks, nodes;

bool counted_is_on(void)
{
    return ranks != NULL;
}

static struct rank *self(void)
{
    return smpi_process_get_user_data();
}

void counted_start(int rank, int all)
{
    static struct rank *made;
    if (made == NULL)
        made = calloc((size_t)all, sizeof *made);
    if (made == NULL)
        abort();
    struct rank *mine = &made[rank];
    *mine = (struct rank){.host = sg_host_self(), .woken = sg_sem_init(0)};
    mine->sent.last = &mine->sent.first, mine->wanted.last = &mine->wanted.first;
    smpi_process_set_user_data(mine);
    PMPI_Barrier(MPI_COMM_WORLD);
    if (ranks == NULL) { /* the first of all to be here */
        for (int i = 0; i < all; i++) {
            made[i].node = i > 0 && made[i].host == made[i - 1].host ? made[i - 1].node : nodes++;
        }
        sent = calloc((size_t)nodes * (size_t)nodes, sizeof *sent);
        if (sent == NULL)
            abort();
        ranks = made, count_of_ranks = all;
    }
    PMPI_Barrier(MPI_COMM_WORLD);
}

void counted_clear(void)
{
    PMPI_Barrier(MPI_COMM_WORLD);
    memset(sent, 0, (size_t)nodes * (size_t)nodes * sizeof *sent);
    PMPI_Barrier(MPI_COMM_WORLD);
}

static void append(struct queue *queue, struct message *message)
{
    message->next = NULL;
    *queue->last = message;
    queue->last = &message->next;
}

static struct message *take(struct queue *queue, int from, int tag)
{
    for (struct message **link = &queue->first, *message; (message = *link) != NULL; link = &message->next)
        if (message->from == from && message->tag == tag) {
            *link = message->next;
            if (queue->last == &message->next)
                queue->last = link;
            return message;
        }
    return NULL;
}

static struct message *make(int from, int tag, int64_t bytes, void *data)
{
    struct message *message = malloc(sizeof *message);
    if (message == NULL)
        abort();
    *message = (struct message){.from = from, .tag = tag, .bytes = bytes, .data = data};
    return message;
}

/* All messages go over the library's own communicator of MPI_COMM_WORLD, which every rank has another handle of. */
static int rank_on(MPI_Comm on)
{
    int rank, all;
    PMPI_Comm_rank(on, &rank);
    PMPI_Comm_size(on, &all);
    if (all != count_of_ranks || self() != &ranks[rank]) {
        fprintf(stderr, "simulate: a message among some ranks cannot be counted\n");
        abort();
    }
    return rank;
}

int counted_send(const void *data, int64_t bytes, int to, int tag, MPI_Comm on)
{
    struct rank *receiver = &ranks[to];
    const int from = rank_on(on);
    const size_t carried = bytes <= SMALL ? (size_t)bytes : 0;
    sent[ranks[from].node * nodes + receiver->node] += (double)bytes;
    struct message *message = take(&receiver->wanted, from, tag);
    if (message == NULL) {
        void *copy = carried > 0 ? malloc(carried) : NULL;
        if (carried > 0 && copy == NULL)
            abort();
        if (carried > 0)
            memmove(copy, data, carried);
        append(&receiver->sent, make(from, tag, bytes, copy));
        return MPI_SUCCESS;
    }
    const bool fits = bytes <= message->bytes;
    if (carried > 0 && fits)
        memmove(message->data, data, carried);
    message->done = true; /* the receiver may free it as soon as it runs */
    if (receiver->waits) {
        receiver->waits = false;
        sg_sem_release(receiver->woken);
    }
    return fits ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

int counted_receive(void *data, int64_t bytes, int from, int tag, MPI_Comm on, MPI_Request *request)
{
    struct rank *mine = &ranks[rank_on(on)];
    struct message *wanted = make(from, tag, bytes, data), *message = take(&mine->sent, from, tag);
    *request = (MPI_Request)(void *)wanted;
    if (message == NULL) {
        append(&mine->wanted, wanted);
        return MPI_SUCCESS;
    }
    const bool fits = message->bytes <= bytes;
    if (message->data != NULL && fits)
        memmove(data, message->data, (size_t)message->bytes);
    wanted->done = true;
    free(message->data), free(message);
    return fits ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

int counted_wait(int count, MPI_Request requests[], bool waits)
{
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < count; i++) {
            struct message *message = (struct message *)(void *)requests[i];
            if (requests[i] == MPI_REQUEST_NULL)
                continue;
            any = true;
            if (message->done) {
                free(message);
                requests[i] = MPI_REQUEST_NULL;
                return i;
            }
        }
        any = any && waits;
        if (any) {
            self()->waits = true;
            sg_sem_acquire(self()->woken);
        }
    }
    return -1;
}

/* Which links a message passes is SimGrid's word. */
static void add_route(sg_host_t from, sg_host_t to, double bytes, double *fullest)
{
    xbt_dynar_t links = xbt_dynar_new(sizeof(sg_link_t), NULL);
    sg_host_get_route(from, to, links);
    for (unsigned i = 0; i < xbt_dynar_length(links); i++) {
        sg_link_t link = xbt_dynar_get_as(links, i, sg_link_t);
        double *load = sg_link_get_data(link);
        if (load == NULL) {
            load = calloc(1, sizeof *load);
            if (load == NULL)
                abort();
            sg_link_set_data(link, load);
        }
        *load += bytes;
        *fullest = *load > *fullest ? *load : *fullest;
    }
    xbt_dynar_free(&links);
}

static void clear_links(void)
{
    sg_link_t *links = sg_link_list();
    for (size_t i = 0; i < sg_link_count(); i++)
        if (sg_link_get_data(links[i]) != NULL)
            *(double *)sg_link_get_data(links[i]) = 0;
    xbt_free(links);
}

struct loads counted_loads(void)
{
    struct loads loads = {0};
    sg_host_t *host = calloc((size_t)nodes, sizeof(sg_host_t));
    if (host == NULL)
        abort();
    for (int rank = 0; rank < count_of_ranks; rank++)
        host[ranks[rank].node] = ranks[rank].host;
    clear_links();
    for (int here = 0; here < nodes; here++) {
        double out = 0, in = 0;
        for (int there = 0; there < nodes; there++) {
            const double bytes = here == there ? 0 : sent[here * nodes + there];
            out += bytes;
            in += here == there ? 0 : sent[there * nodes + here];
            if (bytes > 0)
                add_route(host[here], host[there], bytes, &loads.link);
        }
        loads.all += out;
        out = in > out ? in : out;
        loads.node = out > loads.node ? out : loads.node;
    }
    free(host);
    return loads;
}
