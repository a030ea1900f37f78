# lance_catalog: build with PGXS. "make help" lists the targets.
EXTENSION = lance_catalog
MODULE_big = lance_catalog
EXTVERSION = 0.1.0

PG_CONFIG ?= pg_config
BUILD = build

.DEFAULT_GOAL := all
include deps/deps.mk

# "make SANITIZE=undefined" builds the extension under UBSan: the server stops at the first finding.
SANITIZE ?=
OPTIMISE = -O2 -g -fPIC $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)

# The rooms, in the order of their dependencies (test/check/layers holds the table).
LIB_ROOMS = base token storage column arrow proto encoding format index dataset scan
SERVER_ROOMS = pg catalog ops sqlapi rest fdw

LIB_SOURCES = $(sort $(foreach room,$(LIB_ROOMS),$(wildcard src/$(room)/*.c)))
SERVER_SOURCES = $(sort $(foreach room,$(SERVER_ROOMS),$(wildcard src/$(room)/*.c)))
PROTOS = $(sort $(wildcard src/proto/*.proto))
PROTO_SOURCES = $(PROTOS:src/proto/%.proto=$(BUILD)/gen/proto/%.pb-c.c)
PROTO_HEADERS = $(PROTO_SOURCES:.c=.h)

# ---- the library half, compiled without the server's include path
LIB_WARNINGS = -std=gnu11 -Wall -Wextra -Werror -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes
LIB_CPPFLAGS = -Isrc -I$(BUILD)/gen -D_GNU_SOURCE
LIB_LIBS = -lcurl -lcrypto -lexpat -lcjson -lprotobuf-c -lroaring -lzstd -llz4

# ---- the server half
SERVER_WARNINGS = -std=gnu11 -Wall -Wextra -Werror -Wshadow -Wno-unused-parameter -Wno-sign-compare
SERVER_CPPFLAGS = -Isrc -I$(BUILD)/gen -isystem $(shell $(PG_CONFIG) --includedir-server) -D_GNU_SOURCE -DLANCE_CATALOG_VERSION='"$(EXTVERSION)"'
override with_llvm = no
DATA_built = $(BUILD)/lance_catalog--$(EXTVERSION).sql
DATA = $(wildcard sql/lance_catalog--*--*.sql)
REGRESS_OPTS = --inputdir=. --outputdir=$(BUILD)/regress
# one test a line, in the order in which they run
REGRESS = setup
REGRESS += namespaces
REGRESS += tables
REGRESS += servers
REGRESS += versions
REGRESS += history
REGRESS += transactions
REGRESS += refs
REGRESS += batch
REGRESS += revisions
REGRESS += directory
REGRESS += abandoned
REGRESS += api_keys
REGRESS += security
REGRESS += exposure
REGRESS += grants
REGRESS += privileges
REGRESS += cleanup
REGRESS += plans
REGRESS += fdw_options
REGRESS += fdw_fixtures
REGRESS += fdw_scan
REGRESS += fdw_plan
REGRESS += fdw_pushdown
REGRESS += fdw_parallel
REGRESS += fdw_versions
REGRESS += fdw_import
REGRESS += fdw_encoding
REGRESS += fdw_row_ids
REGRESS += fdw_row_lookup
REGRESS += inspect
REGRESS += fdw_types
REGRESS += fdw_nearest
REGRESS += fdw_vector
REGRESS += fdw_blobs
ISOLATION_OPTS = --inputdir=test --outputdir=$(BUILD)/isolation
ISOLATION = declare_declare declare_drop drop_drop cascade rename_rename rename_drop refs create_version upserts one_moment repeatable_read notify reap servers privileges
EXTRA_CLEAN = $(OBJS:.o=.d) $(addprefix $(BUILD)/,lance_inspect bench gen san unit deps/obj deps/san regress isolation check)

OBJS = $(LIB_SOURCES:.c=.o) $(PROTO_SOURCES:.c=.o) $(SERVER_SOURCES:.c=.o) $(NANOARROW_OBJS)
PG_CPPFLAGS = $(LIB_CPPFLAGS)
SHLIB_LINK = $(LIB_LIBS) -lmicrohttpd -lgnutls $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -Wl,--version-script=src/lance_catalog.map

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

lance_catalog.so: src/lance_catalog.map

$(LIB_SOURCES:.c=.o): override CPPFLAGS := $(LIB_CPPFLAGS) -MMD -MP
$(LIB_SOURCES:.c=.o): override CFLAGS := $(LIB_WARNINGS) $(OPTIMISE)
# Only the room arrow sees nanoarrow.
ARROW_SOURCES = $(filter src/arrow/%,$(LIB_SOURCES))
$(ARROW_SOURCES:.c=.o): override CPPFLAGS += $(NANOARROW_CPPFLAGS)
$(ARROW_SOURCES:%.c=$(BUILD)/san/%.o): LIB_CPPFLAGS += $(NANOARROW_CPPFLAGS)
$(ARROW_SOURCES:.c=.o) $(ARROW_SOURCES:%.c=$(BUILD)/san/%.o): | $(NANOARROW_STAMP) $(NANOARROW_CONFIG)
$(PROTO_SOURCES:.c=.o): override CFLAGS := -std=gnu11 -O2 -g -fPIC
$(PROTO_SOURCES:.c=.o): override CPPFLAGS := $(LIB_CPPFLAGS)
$(SERVER_SOURCES:.c=.o): override CPPFLAGS := $(SERVER_CPPFLAGS) $(CPPFLAGS) -MMD -MP
$(SERVER_SOURCES:.c=.o): override CFLAGS := $(SERVER_WARNINGS) $(OPTIMISE)
$(OBJS): | $(PROTO_HEADERS)
-include $(wildcard $(OBJS:.o=.d))

$(BUILD)/gen/proto/%.pb-c.c $(BUILD)/gen/proto/%.pb-c.h: src/proto/%.proto
	@mkdir -p $(BUILD)/gen/proto
	protoc-c --proto_path=src --c_out=$(BUILD)/gen $<

# The install script is the parts under sql/install, in the order of their names.
$(BUILD)/lance_catalog--$(EXTVERSION).sql: $(sort $(wildcard sql/install/*.sql))
	@mkdir -p $(BUILD)
	cat $^ > $@

# ---- unit tests of the library half: cmocka, under ASan and UBSan
SAN = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g
SAN_OBJS = $(LIB_SOURCES:%.c=$(BUILD)/san/%.o) $(PROTO_SOURCES:$(BUILD)/%.c=$(BUILD)/san/%.o) $(NANOARROW_SAN_OBJS)
UNIT_HELPERS = $(patsubst %.c,$(BUILD)/san/%.o,$(filter-out %_test.c,$(wildcard test/unit/*.c)))
UNIT_TESTS = $(patsubst test/unit/%.c,$(BUILD)/unit/%,$(wildcard test/unit/*_test.c))

$(BUILD)/san/%.o: %.c | $(PROTO_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(LIB_WARNINGS) $(LIB_CPPFLAGS) $(SAN) -MMD -MP -c $< -o $@

$(BUILD)/san/gen/%.o: $(BUILD)/gen/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(LIB_CPPFLAGS) -O1 -g -c $< -o $@

$(BUILD)/san/liblance.a: $(SAN_OBJS)
	@rm -f $@
	ar qcs $@ $^

$(BUILD)/unit/%_test: $(BUILD)/san/test/unit/%_test.o $(UNIT_HELPERS) $(BUILD)/san/liblance.a
	@mkdir -p $(@D)
	$(CC) $(SAN) $^ -lcmocka $(LIB_LIBS) -lm -o $@

.PRECIOUS: $(BUILD)/san/%.o $(BUILD)/fuzzobj/%.o $(BUILD)/gen/proto/%.pb-c.c $(BUILD)/gen/proto/%.pb-c.h
-include $(wildcard $(SAN_OBJS:.o=.d) $(UNIT_HELPERS:.o=.d) $(UNIT_TESTS:$(BUILD)/unit/%=$(BUILD)/san/test/unit/%.d))

unit: $(UNIT_TESTS)
	@set -e; for t in $^; do echo "# $$t"; $$t; done

unit-tests: $(UNIT_TESTS)

# ---- random tables and changes to them, written by the pylance of PYTHON: make random PYTHON=… [CASES=n] [SEED=n]
PYTHON ?= python3
CASES ?= 100
SEED ?= 1
$(BUILD)/random/dump: $(BUILD)/san/test/random/dump.o $(BUILD)/san/test/unit/fixture_text.o $(BUILD)/san/liblance.a
	@mkdir -p $(@D)
	$(CC) $(SAN) $^ $(LIB_LIBS) -lm -o $@

$(BUILD)/san/test/random/dump.o: LIB_CPPFLAGS += -Itest

random: $(BUILD)/random/dump
	$(PYTHON) test/random/run.py $< --cases $(CASES) --seed $(SEED)

# ---- the program lance_inspect: the library half without a server
LIB_OBJS = $(LIB_SOURCES:.c=.o) $(PROTO_SOURCES:.c=.o) $(NANOARROW_OBJS)

$(BUILD)/lance_inspect: tools/lance_inspect.c $(LIB_OBJS)
	$(CC) $(LIB_WARNINGS) $(LIB_CPPFLAGS) -O2 -g $^ $(LIB_LIBS) -lm -o $@

inspect: $(BUILD)/lance_inspect

# ---- decode speed of each encoding beside the pylance of PYTHON: make bench PYTHON=… [BENCH=options of bench/decode.py]
$(BUILD)/bench/decode: bench/decode.c test/unit/fixture_text.c $(LIB_OBJS)
	@mkdir -p $(@D)
	$(CC) $(LIB_WARNINGS) $(LIB_CPPFLAGS) -Itest $(OPTIMISE) $^ $(LIB_LIBS) -lm -o $@

$(BUILD)/bench/load: bench/load.c
	@mkdir -p $(@D)
	$(CC) $(LIB_WARNINGS) -D_GNU_SOURCE $(OPTIMISE) $< -o $@

bench-programs: $(BUILD)/bench/decode $(BUILD)/bench/load inspect

bench: bench-programs
	$(PYTHON) bench/decode.py $(BENCH)

# ---- the REST server beside its peers: make bench-rest PYTHON=… [BENCH=options of bench/rest.py]
bench-rest: $(BUILD)/bench/load
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) bench/rest.py $(BENCH)

# ---- instructions of the REST server for each request: make bench-instructions PYTHON=…
bench-instructions: install
	PG_CONFIG=$(PG_CONFIG) PYTHONDONTWRITEBYTECODE=1 $(PYTHON) bench/rest_instructions.py $(BENCH)

# ---- the catalog's calls with few and with many tables and versions: make bench-catalog [BENCH=options of bench/catalog.py]
bench-catalog: install
	PG_CONFIG=$(PG_CONFIG) PYTHONDONTWRITEBYTECODE=1 $(PYTHON) bench/catalog.py $(BENCH)

# ---- a second compiler reads everything (it makes no objects)
CLANG = clang-14
clang: $(PROTO_HEADERS) $(NANOARROW_STAMP) $(NANOARROW_CONFIG)
	@printf '%s\n' $(LIB_SOURCES) | xargs -P 2 -n 4 $(CLANG) -fsyntax-only $(LIB_WARNINGS) $(LIB_CPPFLAGS) $(NANOARROW_CPPFLAGS)
	@printf '%s\n' $(SERVER_SOURCES) | xargs -P 2 -n 4 $(CLANG) -fsyntax-only $(SERVER_WARNINGS) $(SERVER_CPPFLAGS)

# ---- fuzz targets: replayed over their corpora by gcc's build, run by clang's libFuzzer
FUZZ_NAMES = $(patsubst test/fuzz/%_fuzz.c,%,$(wildcard test/fuzz/*_fuzz.c))
FUZZ_SHARED = $(filter-out test/fuzz/replay.c %_fuzz.c,$(wildcard test/fuzz/*.c))
FUZZ_SECONDS = 60
FUZZ_FLAGS = -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

$(BUILD)/fuzz/%_replay: $(BUILD)/san/test/fuzz/%_fuzz.o $(BUILD)/san/test/fuzz/replay.o $(FUZZ_SHARED:%.c=$(BUILD)/san/%.o) $(BUILD)/san/liblance.a
	@mkdir -p $(@D)
	$(CC) $(SAN) $^ $(LIB_LIBS) -lm -o $@

$(BUILD)/fuzzobj/%.o: %.c | $(PROTO_HEADERS) $(NANOARROW_STAMP) $(NANOARROW_CONFIG)
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 $(LIB_CPPFLAGS) $(NANOARROW_CPPFLAGS) $(FUZZ_FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/fuzzobj/liblance.a: $(LIB_SOURCES:%.c=$(BUILD)/fuzzobj/%.o) $(PROTO_SOURCES:$(BUILD)/%.c=$(BUILD)/san/%.o) $(NANOARROW_OBJS)
	@rm -f $@
	ar qcs $@ $^

$(BUILD)/fuzz/%_fuzz: $(BUILD)/fuzzobj/test/fuzz/%_fuzz.o $(FUZZ_SHARED:%.c=$(BUILD)/fuzzobj/%.o) $(BUILD)/fuzzobj/liblance.a
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) $^ $(LIB_LIBS) -lm -o $@

fuzz-replays: $(FUZZ_NAMES:%=$(BUILD)/fuzz/%_replay)

fuzz-replay: fuzz-replays
	@set -e; for n in $(FUZZ_NAMES); do echo "# $$n"; $(BUILD)/fuzz/$${n}_replay test/data/fuzz/$$n; done

# make fuzz NAME=file: new inputs go to build/fuzz/corpus, findings to build/fuzz
fuzz: $(BUILD)/fuzz/$(NAME)_fuzz
	@mkdir -p $(BUILD)/fuzz/corpus/$(NAME)
	cd $(BUILD)/fuzz && ./$(NAME)_fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=3000 -use_value_profile=1 corpus/$(NAME) $(CURDIR)/test/data/fuzz/$(NAME)

-include $(wildcard $(BUILD)/san/test/fuzz/*.d) $(shell find $(BUILD)/fuzzobj -name '*.d' 2>/dev/null)

# make print-VARIABLE shows its value, for the scripts.
print-%:
	@echo '$($*)'

# ---- queries beside PostgreSQL's own tables, pylance and DuckDB: make bench-query PYTHON=… [BENCH=options of bench/query.py]
bench-query: install
	PG_CONFIG=$(PG_CONFIG) PYTHONDONTWRITEBYTECODE=1 $(PYTHON) bench/query.py $(BENCH)

# ---- the same over a dataset on an S3 server that answers after a delay: make bench-query-s3 PYTHON=… [BENCH=options of bench/query_s3.py]
bench-query-s3: install
	PG_CONFIG=$(PG_CONFIG) PYTHONDONTWRITEBYTECODE=1 $(PYTHON) bench/query_s3.py $(BENCH)

.PHONY: unit unit-tests random bench bench-rest bench-instructions bench-catalog bench-query bench-query-s3 bench-programs inspect clang fuzz fuzz-replay fuzz-replays help
help:
	@echo "make deps       fetch and unpack nanoarrow (a build does it too when it is missing)"
	@echo "make            build the extension"
	@echo "make install    install it for the server of PG_CONFIG"
	@echo "make unit       build and run the unit tests of the library half"
	@echo "make inspect    build build/lance_inspect, which shows what a dataset is made of without a server"
	@echo "make bench      decode speed of each encoding beside pylance (PYTHON=a python that has it)"
	@echo "make bench-rest  the REST server beside pylance's adapter and SeaweedFS (PYTHON; BENCH=\"--weed PROGRAM\")"
	@echo "make bench-instructions  install, then count the REST server's instructions for each request with callgrind (PYTHON)"
	@echo "make bench-query  install, then queries beside PostgreSQL's own tables, pylance and DuckDB (PYTHON)"
	@echo "make bench-query-s3  install, then queries over S3 beside pylance: times, requests, bytes (PYTHON)"
	@echo "make bench-catalog  install, then time the catalog's calls with few and with many tables and versions"
	@echo "make fuzz-replay  run the fuzz targets over their corpora;  make fuzz NAME=file  search for new inputs"
	@echo "make clang      read everything with clang, for its warnings"
	@echo "make clean      remove what was built"
	@echo "./check         run every test;  ./quickstart  show the whole thing at work"
