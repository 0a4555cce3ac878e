/* team: threads that share the work of one product at a time, part by part: who is free takes the next one, so that
 * nothing waits for a thread that the system does not let run. The helpers wait awake for a moment, since the next
 * product usually comes at once, then asleep. */
#ifndef DECODE_TEAM_H
#define DECODE_TEAM_H

typedef struct Team Team;

enum { TEAM_MOST = 64 };

/* THREADS in all, the caller's included, 1 .. TEAM_MOST. Fewer when there is no room for more. */
Team *team_new(int threads);
void team_free(Team *t);         /* NULL is fine */
int team_threads(const Team *t); /* NULL: 1 */
/* Calls JOB once for each part 0 .. parts-1 and waits until all are done. */
void team_run(Team *t, int parts, void (*job)(void *data, int part, int parts), void *data);

#endif
