/*
 * reading.c
 *	  Operations that only read, as of the statement that runs them.
 */
#include "postgres.h"

#include "access/xact.h"
#include "pg/reading.h"
#include "utils/snapmgr.h"

static bool is_reading;

bool
lance_reading(void)
{
	return is_reading;
}

void
lance_reading_begin(LanceReading *reading)
{
	reading->outer = is_reading;
	reading->pushed = ActiveSnapshotSet();
	if (!reading->pushed)
		return;
	if (!IsInParallelMode())
		CommandCounterIncrement();
	PushCopiedSnapshot(GetActiveSnapshot());
	if (!IsInParallelMode())
		UpdateActiveSnapshotCommandId();
	is_reading = true;
}

/* The snapshot goes with the (sub)transaction. */
void
lance_reading_failed(const LanceReading *reading)
{
	is_reading = reading->outer;
}

void
lance_reading_end(const LanceReading *reading)
{
	is_reading = reading->outer;
	if (reading->pushed)
		PopActiveSnapshot();
}
