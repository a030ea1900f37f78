-- Distances between vectors. l2, cosine, dot and hamming are as Lance defines them; the operators are spelled as pgvector's. They
-- are open to all: they read nothing but their arguments.

CREATE FUNCTION lance_l2(a real[], b real[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_l2';
COMMENT ON FUNCTION lance_l2(real[], real[]) IS
	'the sum of the squared differences of two vectors'' items';

CREATE FUNCTION lance_l2(a double precision[], b double precision[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_l2';
COMMENT ON FUNCTION lance_l2(double precision[], double precision[]) IS
	'the sum of the squared differences of two vectors'' items';

CREATE FUNCTION lance_l2(a smallint[], b smallint[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_l2';
COMMENT ON FUNCTION lance_l2(smallint[], smallint[]) IS
	'the sum of the squared differences of two vectors'' items';

CREATE FUNCTION lance_euclidean(a real[], b real[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_euclidean';
COMMENT ON FUNCTION lance_euclidean(real[], real[]) IS
	'the root of the sum of the squared differences of two vectors'' items';
CREATE OPERATOR <-> (FUNCTION = lance_euclidean, LEFTARG = real[], RIGHTARG = real[], COMMUTATOR = <->);
COMMENT ON OPERATOR <-> (real[], real[]) IS 'Euclidean distance of two vectors: lance_euclidean';

CREATE FUNCTION lance_euclidean(a double precision[], b double precision[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_euclidean';
COMMENT ON FUNCTION lance_euclidean(double precision[], double precision[]) IS
	'the root of the sum of the squared differences of two vectors'' items';
CREATE OPERATOR <-> (FUNCTION = lance_euclidean, LEFTARG = double precision[], RIGHTARG = double precision[], COMMUTATOR = <->);
COMMENT ON OPERATOR <-> (double precision[], double precision[]) IS 'Euclidean distance of two vectors: lance_euclidean';

CREATE FUNCTION lance_euclidean(a smallint[], b smallint[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_euclidean';
COMMENT ON FUNCTION lance_euclidean(smallint[], smallint[]) IS
	'the root of the sum of the squared differences of two vectors'' items';
CREATE OPERATOR <-> (FUNCTION = lance_euclidean, LEFTARG = smallint[], RIGHTARG = smallint[], COMMUTATOR = <->);
COMMENT ON OPERATOR <-> (smallint[], smallint[]) IS 'Euclidean distance of two vectors: lance_euclidean';

CREATE FUNCTION lance_cosine(a real[], b real[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_cosine';
COMMENT ON FUNCTION lance_cosine(real[], real[]) IS
	'1 minus the cosine of the angle between two vectors';
CREATE OPERATOR <=> (FUNCTION = lance_cosine, LEFTARG = real[], RIGHTARG = real[], COMMUTATOR = <=>);
COMMENT ON OPERATOR <=> (real[], real[]) IS 'cosine distance of two vectors: lance_cosine';

CREATE FUNCTION lance_cosine(a double precision[], b double precision[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_cosine';
COMMENT ON FUNCTION lance_cosine(double precision[], double precision[]) IS
	'1 minus the cosine of the angle between two vectors';
CREATE OPERATOR <=> (FUNCTION = lance_cosine, LEFTARG = double precision[], RIGHTARG = double precision[], COMMUTATOR = <=>);
COMMENT ON OPERATOR <=> (double precision[], double precision[]) IS 'cosine distance of two vectors: lance_cosine';

CREATE FUNCTION lance_cosine(a smallint[], b smallint[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_cosine';
COMMENT ON FUNCTION lance_cosine(smallint[], smallint[]) IS
	'1 minus the cosine of the angle between two vectors';
CREATE OPERATOR <=> (FUNCTION = lance_cosine, LEFTARG = smallint[], RIGHTARG = smallint[], COMMUTATOR = <=>);
COMMENT ON OPERATOR <=> (smallint[], smallint[]) IS 'cosine distance of two vectors: lance_cosine';

CREATE FUNCTION lance_dot(a real[], b real[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_dot';
COMMENT ON FUNCTION lance_dot(real[], real[]) IS
	'1 minus the sum of the products of two vectors'' items';

CREATE FUNCTION lance_dot(a double precision[], b double precision[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_dot';
COMMENT ON FUNCTION lance_dot(double precision[], double precision[]) IS
	'1 minus the sum of the products of two vectors'' items';

CREATE FUNCTION lance_dot(a smallint[], b smallint[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_dot';
COMMENT ON FUNCTION lance_dot(smallint[], smallint[]) IS
	'1 minus the sum of the products of two vectors'' items';

CREATE FUNCTION lance_negative_inner_product(a real[], b real[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_negative_inner_product';
COMMENT ON FUNCTION lance_negative_inner_product(real[], real[]) IS
	'the sum of the products of two vectors'' items, negated';
CREATE OPERATOR <#> (FUNCTION = lance_negative_inner_product, LEFTARG = real[], RIGHTARG = real[], COMMUTATOR = <#>);
COMMENT ON OPERATOR <#> (real[], real[]) IS 'negated inner product of two vectors: lance_negative_inner_product';

CREATE FUNCTION lance_negative_inner_product(a double precision[], b double precision[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_negative_inner_product';
COMMENT ON FUNCTION lance_negative_inner_product(double precision[], double precision[]) IS
	'the sum of the products of two vectors'' items, negated';
CREATE OPERATOR <#> (FUNCTION = lance_negative_inner_product, LEFTARG = double precision[], RIGHTARG = double precision[], COMMUTATOR = <#>);
COMMENT ON OPERATOR <#> (double precision[], double precision[]) IS 'negated inner product of two vectors: lance_negative_inner_product';

CREATE FUNCTION lance_negative_inner_product(a smallint[], b smallint[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_negative_inner_product';
COMMENT ON FUNCTION lance_negative_inner_product(smallint[], smallint[]) IS
	'the sum of the products of two vectors'' items, negated';
CREATE OPERATOR <#> (FUNCTION = lance_negative_inner_product, LEFTARG = smallint[], RIGHTARG = smallint[], COMMUTATOR = <#>);
COMMENT ON OPERATOR <#> (smallint[], smallint[]) IS 'negated inner product of two vectors: lance_negative_inner_product';

CREATE FUNCTION lance_l1(a real[], b real[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_l1';
COMMENT ON FUNCTION lance_l1(real[], real[]) IS
	'the sum of the absolute differences of two vectors'' items';
CREATE OPERATOR <+> (FUNCTION = lance_l1, LEFTARG = real[], RIGHTARG = real[], COMMUTATOR = <+>);
COMMENT ON OPERATOR <+> (real[], real[]) IS 'taxicab distance of two vectors: lance_l1';

CREATE FUNCTION lance_l1(a double precision[], b double precision[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_l1';
COMMENT ON FUNCTION lance_l1(double precision[], double precision[]) IS
	'the sum of the absolute differences of two vectors'' items';
CREATE OPERATOR <+> (FUNCTION = lance_l1, LEFTARG = double precision[], RIGHTARG = double precision[], COMMUTATOR = <+>);
COMMENT ON OPERATOR <+> (double precision[], double precision[]) IS 'taxicab distance of two vectors: lance_l1';

CREATE FUNCTION lance_l1(a smallint[], b smallint[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_l1';
COMMENT ON FUNCTION lance_l1(smallint[], smallint[]) IS
	'the sum of the absolute differences of two vectors'' items';
CREATE OPERATOR <+> (FUNCTION = lance_l1, LEFTARG = smallint[], RIGHTARG = smallint[], COMMUTATOR = <+>);
COMMENT ON OPERATOR <+> (smallint[], smallint[]) IS 'taxicab distance of two vectors: lance_l1';

CREATE FUNCTION lance_hamming(a smallint[], b smallint[]) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_hamming';
COMMENT ON FUNCTION lance_hamming(smallint[], smallint[]) IS
	'the number of bits that differ in two vectors of integers';
CREATE OPERATOR <~> (FUNCTION = lance_hamming, LEFTARG = smallint[], RIGHTARG = smallint[], COMMUTATOR = <~>);
COMMENT ON OPERATOR <~> (smallint[], smallint[]) IS 'bits that differ in two vectors: lance_hamming';

CREATE FUNCTION lance_hamming(a bytea, b bytea) RETURNS double precision
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'lance_sql_hamming_bytea';
COMMENT ON FUNCTION lance_hamming(bytea, bytea) IS
	'the number of bits that differ in two vectors of bits';
CREATE OPERATOR <~> (FUNCTION = lance_hamming, LEFTARG = bytea, RIGHTARG = bytea, COMMUTATOR = <~>);
COMMENT ON OPERATOR <~> (bytea, bytea) IS 'bits that differ in two vectors: lance_hamming';
