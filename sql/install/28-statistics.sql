-- What the server does and has done. Who may read is who may EXECUTE the functions behind the views.

CREATE FUNCTION lance_rest_statistics()
	RETURNS TABLE (operation text, calls bigint, errors bigint, total_us bigint, max_us bigint, since timestamptz)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_rest_statistics';
COMMENT ON FUNCTION lance_rest_statistics() IS
	'calls of the REST operations since the server''s start or the last reset; read it through lance.rest_statistics';
REVOKE ALL ON FUNCTION lance_rest_statistics() FROM PUBLIC;

CREATE FUNCTION lance_cleanup_statistics()
	RETURNS TABLE (items_done bigint, items_failed bigint, files_removed bigint, since timestamptz)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_cleanup_statistics';
COMMENT ON FUNCTION lance_cleanup_statistics() IS
	'work of the cleanup since the server''s start or the last reset; read it through lance.cleanup_summary';
REVOKE ALL ON FUNCTION lance_cleanup_statistics() FROM PUBLIC;

CREATE FUNCTION lance_reset_statistics()
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_reset_statistics';
COMMENT ON FUNCTION lance_reset_statistics() IS
	'have the statistics of REST and cleanup start anew';
REVOKE ALL ON FUNCTION lance_reset_statistics() FROM PUBLIC;

-- As its owner, since others see nothing of processes that are not theirs. What is shown are names of operations.
CREATE FUNCTION lance_rest_activity()
	RETURNS TABLE (pid integer, worker text, operation text, since timestamptz, waits_for text)
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT a.pid, a.backend_type, CASE WHEN a.state <> 'idle' THEN a.query END, a.state_change,
		CASE WHEN a.state <> 'idle' THEN a.wait_event END
	FROM pg_stat_activity a
	WHERE a.backend_type LIKE 'lance\_catalog%' AND a.datname = current_database()
	ORDER BY a.pid;
END;
COMMENT ON FUNCTION lance_rest_activity() IS
	'what the workers are doing; read it through lance.rest_activity';
REVOKE ALL ON FUNCTION lance_rest_activity() FROM PUBLIC;

CREATE VIEW lance.rest_activity AS
	SELECT a.pid, a.worker, a.operation, a.since, a.waits_for FROM lance_rest_activity() a;
COMMENT ON VIEW lance.rest_activity IS
	'the background workers of this database, and what each is doing; empty without shared_preload_libraries';

CREATE VIEW lance.rest_statistics AS
	SELECT s.operation, s.calls, s.errors, s.total_us OPERATOR(pg_catalog.*) interval '1 microsecond' AS total_time,
		(s.total_us OPERATOR(pg_catalog./) s.calls) OPERATOR(pg_catalog.*) interval '1 microsecond' AS mean_time,
		s.max_us OPERATOR(pg_catalog.*) interval '1 microsecond' AS max_time, s.since
	FROM lance_rest_statistics() s;
COMMENT ON VIEW lance.rest_statistics IS
	'calls of the REST operations; lance_reset_statistics() has them start anew; empty without shared_preload_libraries';

CREATE VIEW lance.cleanup_summary AS
	SELECT q.pending, q.failing, q.oldest, q.next_try, q.last_error, s.items_done, s.items_failed, s.files_removed, s.since
	FROM (
		SELECT pg_catalog.count(*) AS pending, pg_catalog.count(*) FILTER (WHERE i.attempts OPERATOR(pg_catalog.>) 0) AS failing,
			pg_catalog.min(i.queued_at) AS oldest, pg_catalog.min(i.due_at) FILTER (WHERE i.attempts OPERATOR(pg_catalog.>) 0) AS next_try,
			(pg_catalog.array_agg(i.last_error ORDER BY i.due_at DESC) FILTER (WHERE i.attempts OPERATOR(pg_catalog.>) 0))[1] AS last_error
		FROM lance.cleanup_item i
	) q LEFT JOIN lance_cleanup_statistics() s ON true;
COMMENT ON VIEW lance.cleanup_summary IS
	'the cleanup queue in one row: what waits, what fails, and what was removed since the server''s start or the last reset';

GRANT SELECT ON lance.rest_activity, lance.rest_statistics TO PUBLIC;
