/* A link that holds every frame for so long: late_link MICROSECONDS. Two TAP devices, "near" and "far", in the network it is
   started in; ailing.py puts them in the place of a node's link. For kernels without netem. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { HELD = 1024, FRAME = 10000 };

static struct frame {
    int64_t due;
    int out;
    ssize_t bytes;
    char data[FRAME];
} held[HELD];

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int tap(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0) {
        perror("late_link");
        exit(1);
    }
    return device;
}

int main(int argc, char **argv)
{
    int64_t delay = (int64_t)(1000 * atof(argc > 1 ? argv[1] : "50"));
    struct pollfd ends[2] = {{tap("near"), POLLIN, 0}, {tap("far"), POLLIN, 0}};
    prctl(PR_SET_TIMERSLACK, 1000);
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}); /* a wire waits for no processor */
    puts("ready");
    fflush(stdout);
    for (uint64_t first = 0, next = 0;;) {
        struct timespec wait = {0};
        if (next > first && held[first % HELD].due > now())
            wait.tv_nsec = held[first % HELD].due - now() > 0 ? held[first % HELD].due - now() : 0;
        ppoll(ends, 2, next > first ? &wait : NULL, NULL);
        for (int i = 0; i < 2; i++) {
            struct frame *frame = &held[next % HELD];
            while (next - first < HELD && (frame->bytes = read(ends[i].fd, frame->data, FRAME)) > 0) {
                frame->due = now() + delay;
                frame->out = ends[1 - i].fd;
                frame = &held[++next % HELD];
            }
        }
        for (; next > first && held[first % HELD].due <= now(); first++)
            if (write(held[first % HELD].out, held[first % HELD].data, (size_t)held[first % HELD].bytes) < 0)
                continue; /* the link is not up yet: the frame is lost, as on a wire */
    }
}
