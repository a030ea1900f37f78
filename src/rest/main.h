/*
 * main.h
 *	  Entry points of the background workers, and what they share.
 */
#ifndef LANCE_REST_MAIN_H
#define LANCE_REST_MAIN_H

/* Found by the postmaster by name. */
extern PGDLLEXPORT void lance_rest_worker_main(Datum number) pg_attribute_noreturn();
extern PGDLLEXPORT void lance_rest_executor_main(Datum number) pg_attribute_noreturn();
extern PGDLLEXPORT void lance_cleanup_worker_main(Datum number) pg_attribute_noreturn();

/*
 * Signals, connection, settings; number is the worker's own. False: the served database is missing, and the worker is
 * connected to none.
 */
extern bool lance_rest_start_worker(int number, const char *name);

/* The number of an executor among all background workers: the one that cleans up is 0, REST workers come next. */
extern int lance_rest_executor_number(int executor);

/* For a worker that is connected to none: end the process, to be started again, once the database is there. */
extern void lance_rest_end_if_database_exists(void);

/* Interrupts, reload, invalidations; call it in each turn of a loop, outside transactions. */
extern void lance_rest_housekeeping(void);

#endif
