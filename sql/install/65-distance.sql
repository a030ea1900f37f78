-- Distances between vectors, as Lance defines them. They are open to all: they read nothing but their arguments.

CREATE FUNCTION lance_l2(a real[], b real[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_l2';
COMMENT ON FUNCTION lance_l2(real[], real[]) IS
	'the sum of the squared differences of two vectors'' items';

CREATE FUNCTION lance_l2(a double precision[], b double precision[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_l2';
COMMENT ON FUNCTION lance_l2(double precision[], double precision[]) IS
	'the sum of the squared differences of two vectors'' items';

CREATE FUNCTION lance_cosine(a real[], b real[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_cosine';
COMMENT ON FUNCTION lance_cosine(real[], real[]) IS
	'1 minus the cosine of the angle between two vectors';

CREATE FUNCTION lance_cosine(a double precision[], b double precision[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_cosine';
COMMENT ON FUNCTION lance_cosine(double precision[], double precision[]) IS
	'1 minus the cosine of the angle between two vectors';

CREATE FUNCTION lance_dot(a real[], b real[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_dot';
COMMENT ON FUNCTION lance_dot(real[], real[]) IS
	'1 minus the sum of the products of two vectors'' items';

CREATE FUNCTION lance_dot(a double precision[], b double precision[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_dot';
COMMENT ON FUNCTION lance_dot(double precision[], double precision[]) IS
	'1 minus the sum of the products of two vectors'' items';
