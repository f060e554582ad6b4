/*
 * worker_pool.h - a few threads that do one thing together, and wait for each other.
 *
 * A run has a share for each member. Each does its own, and one that finds a share which nobody has
 * begun does that too: a thread that the system does not let run holds nobody up. worker_pool_run,
 * whose caller is member 0, returns when all shares are done: what was written in them is seen by
 * all in the next run. Between two runs the members look for the next one for a moment, for it
 * mostly comes at once; then they sleep.
 *
 * Context  one caller
 */
#pragma once

struct worker_pool;

enum { WORKERS_MAX = 32 };

/* One share of a run. */
typedef void worker_pool_work(void *context, unsigned share);

/* At most WORKERS_MAX members. NULL: the system gives no memory, or no more threads. */
struct worker_pool *worker_pool_make(unsigned members);
void worker_pool_run(struct worker_pool *pool, worker_pool_work *work, void *context);
void worker_pool_free(struct worker_pool *pool);
