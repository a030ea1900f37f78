--
-- Databases of other encodings: text is converted, or refused where a letter has no place.
--
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set fixtures :fixtures '/data'
\set root file:// :fixtures
\set ranges :root '/ranges.lance'
SELECT current_database() AS home \gset
CREATE DATABASE lance_regress_latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0;
CREATE DATABASE lance_regress_ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0;

\c lance_regress_latin1
SET client_encoding = 'UTF8';
SET client_min_messages = warning;
CREATE EXTENSION lance_catalog;
CREATE SERVER local FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
SELECT lance_attach_dataset(:'ranges', 'local', 'public', 'r', version => 1);
SELECT label, length(label), octet_length(label) FROM r LIMIT 2;
SELECT label FROM r;

\c lance_regress_ascii
SET client_min_messages = warning;
CREATE EXTENSION lance_catalog;
CREATE SERVER local FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
SELECT lance_attach_dataset(:'ranges', 'local', 'public', 'r', version => 1);
SELECT octet_length(label) FROM r;

\c :home
DROP DATABASE lance_regress_latin1;
DROP DATABASE lance_regress_ascii;
