/*
 * wake.h
 *	  Waking the background workers when a committed transaction left work for them.
 *
 * Holds the latches of the workers in shared memory. Without shared_preload_libraries every call is a no-op.
 */
#ifndef LANCE_PG_WAKE_H
#define LANCE_PG_WAKE_H

/* Request shared memory and install the start-up hooks; call from _PG_init while preloading. */
extern void lance_wake_init(int workers);

/* A worker announces its latch under its number; it is withdrawn at process exit. */
extern void lance_wake_register(int worker);

/* Set all announced latches once the current transaction has committed; nothing happens if it aborts. */
extern void lance_wake_at_commit(void);

#endif
