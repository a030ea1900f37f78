/*
 * worker.h
 *	  The background workers: REST servers, and one that removes what committed transactions left in the cleanup queue.
 */
#ifndef LANCE_REST_WORKER_H
#define LANCE_REST_WORKER_H

/*
 * Register the workers; call from _PG_init while preloading, after the settings are defined. Does nothing when
 * lance_catalog.rest_workers is 0. Also reserves the wake-up area (pg/wake.h) for the worker that cleans up.
 */
extern void lance_rest_init(void);

#endif
