/*
 * handler.c
 *	  The callbacks that lance_fdw offers. What is left out is refused by the server by name: writes, TRUNCATE.
 */
#include "postgres.h"

#include "fdw/plan.h"
#include "fdw/scan.h"
#include "fmgr.h"
#include "pg/installed.h"

PG_FUNCTION_INFO_V1(lance_sql_fdw_handler);

/* lance_fdw_handler() */
Datum
lance_sql_fdw_handler(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = lanceGetForeignRelSize;
	routine->GetForeignPaths = lanceGetForeignPaths;
	routine->GetForeignUpperPaths = lanceGetForeignUpperPaths;
	routine->GetForeignPlan = lanceGetForeignPlan;
	routine->BeginForeignScan = lanceBeginForeignScan;
	routine->IterateForeignScan = lanceIterateForeignScan;
	routine->ReScanForeignScan = lanceReScanForeignScan;
	routine->EndForeignScan = lanceEndForeignScan;
	routine->IsForeignScanParallelSafe = lanceIsForeignScanParallelSafe;
	routine->EstimateDSMForeignScan = lanceEstimateDSMForeignScan;
	routine->InitializeDSMForeignScan = lanceInitializeDSMForeignScan;
	routine->ReInitializeDSMForeignScan = lanceReInitializeDSMForeignScan;
	routine->InitializeWorkerForeignScan = lanceInitializeWorkerForeignScan;
	routine->ShutdownForeignScan = lanceShutdownForeignScan;
	routine->ExplainForeignScan = lanceExplainForeignScan;
	routine->AnalyzeForeignTable = lanceAnalyzeForeignTable;
	routine->ImportForeignSchema = lanceImportForeignSchema;
	PG_RETURN_POINTER(routine);
}
