/* crew: the jobs of one experiment, several at a time, each by a thread of its own, while the experiment's thread tells
 * how far they are, listens for a stop and takes the results in the order of the jobs. Private to the laboratory.
 *
 * As many jobs run at once as the study has threads; when fewer are left, each may use more (crew_threads). What comes
 * out is the same whatever that number is, if a job's work is. */
#ifndef LAB_CREW_H
#define LAB_CREW_H

#include "study.h"

typedef struct CrewSeat CrewSeat; /* where a job that runs reports */

/* Calls marked [own] come from a thread of their own, several at once; the others from the study's thread. */
typedef struct {
    int jobs;
    Status (*work)(void *user, int job, CrewSeat *seat); /* [own] to its end; cancel_wanted() knows a stop too */
    /* Now and then while JOB runs: the first that was not taken. NULL: nothing to do. */
    Status (*look)(void *user, int job);
    Status (*take)(void *user, int job); /* after its work, in the order of the jobs; NULL: nothing to do */
    void *user;
    double from, to; /* which part of the study's progress this is; both 0: all of it */
} CrewPlan;

/* Returns when all jobs have ended: done; stopped by the study (STATUS_CANCELLED); or what the first job in order that
 * failed said, which stopped the others. */
Status crew_run(Study *s, const CrewPlan *plan) STATUS_CHECKED;

/* --- [own] --- */
/* How much work the job is, in any unit that all jobs share; 0: none worth mentioning. Until it says so it counts as
 * much as the others on average. */
void crew_weigh(CrewSeat *seat, double weight);
/* Says how far it is, 0..1. False: stop now and return status_cancelled(). Cheap enough for every training step. */
bool crew_goes_on(CrewSeat *seat, double done, const char *what_format, ...) __attribute__((format(printf, 3, 4)));
int crew_threads(CrewSeat *seat); /* how many threads the job may use now, at least 1; more when few jobs are left */

#endif
