/*
 * reading.h
 *	  Operations that only read, as of the statement that runs them.
 */
#ifndef LANCE_PG_READING_H
#define LANCE_PG_READING_H

/*
 * Run an operation that only reads as of the moment that the running statement shows, with what its own transaction has done
 * since: what one statement reads of several tables belongs together. Outside of it each look sees all that was committed
 * before, under READ COMMITTED.
 */
#define LANCE_READ(operation)               \
	do                                      \
	{                                       \
		LanceReading reading;               \
                                            \
		lance_reading_begin(&reading);      \
		PG_TRY();                           \
		{                                   \
			operation;                      \
		}                                   \
		PG_CATCH();                         \
		{                                   \
			lance_reading_failed(&reading); \
			PG_RE_THROW();                  \
		}                                   \
		PG_END_TRY();                       \
		lance_reading_end(&reading);        \
	} while (0)

typedef struct LanceReading
{
	bool outer;  /* whether one was running already */
	bool pushed; /* whether there is a snapshot to take away */
} LanceReading;

extern void lance_reading_begin(LanceReading *reading);
extern void lance_reading_end(const LanceReading *reading);
extern void lance_reading_failed(const LanceReading *reading);

/* Whether such an operation is running: the active snapshot is what it sees. */
extern bool lance_reading(void);

#endif
