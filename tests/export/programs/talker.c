/* A library whose thread prints lines to standard output all the time, as UCX's does when it has something to say. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static void *talk(void *unused)
{
    for (int line = 0; line < 200000; line++) {
        printf("[talker] line %d\n", line);
        if (line % 16 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    }
    return unused;
}

__attribute__((constructor)) static void begin(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, talk, NULL) == 0)
        pthread_detach(thread);
}
