/*
 * front.h
 *	  What a REST worker answers itself, and what it hands over to executors.
 */
#ifndef LANCE_REST_FRONT_H
#define LANCE_REST_FRONT_H

/* Start the HTTP side of a worker. Without a served database everything is answered ServiceUnavailable. */
extern void lance_front_start(int worker, bool connected);

/* Answer the requests that executors are through with. Call it in each turn of the loop. */
extern void lance_front_collect(void);

#endif
