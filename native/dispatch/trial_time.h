/* How long the calls of a task take. All ranks begin each of them together, as in a study (native/bench): behind one another, calls
 * in which some ranks only send would take less than a program waits for one. */
#ifndef UNISONO_TRIAL_TIME_H
#define UNISONO_TRIAL_TIME_H

#include "trial_task.h"

/* Calls of one algorithm behind one another. Of long messages two, in half as many rounds: after another algorithm the first one finds
 * the memory in the wrong caches, which single copy feels most. */
enum { TRIAL_CALLS_MOST = 8, TRIAL_CALLS_LONG = 2 };

/* All of its algorithms, some rounds. Collective. */
void trial_time(const struct task *task, struct coll_comm *comm);
/* Of each call the slowest rank's time, on all ranks. Collective. */
bool trial_share_times(const struct task *task, const struct coll_comm *comm);
/* Then: seconds of one of them in even (0) or in odd rounds (1): the quickest quarter's mean, as a clock tells short calls apart in
 * steps, and all that disturbs adds time. */
double trial_seconds(const struct task *task, int which, int half);

#endif
