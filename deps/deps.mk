# deps.mk: the one dependency that no distribution packages, nanoarrow (Apache License 2.0), as a static part.
#
#	NANOARROW_DIR		an unpacked source distribution; set it to build without a network
#	NANOARROW_SDIST		a downloaded source distribution (.tar.gz), used instead of downloading
#
# "make deps" fetches it ahead of time; a build that needs it does the same by itself.
NANOARROW_VERSION = 0.9.0
NANOARROW_SHA256 = $(patsubst --hash=sha256:%,%,$(filter --hash=%,$(file < deps/nanoarrow.txt)))
PYTHON ?= python3
NANOARROW_DIR ?= $(BUILD)/deps/nanoarrow-$(NANOARROW_VERSION)
NANOARROW_SDIST ?= $(BUILD)/deps/download/nanoarrow-$(NANOARROW_VERSION).tar.gz
NANOARROW_STAMP = $(NANOARROW_DIR)/PKG-INFO
NANOARROW_CONFIG = $(BUILD)/deps/include/nanoarrow/nanoarrow_config.h

NANOARROW_ROOT = $(NANOARROW_DIR)/subprojects/arrow-nanoarrow/src
FLATCC_ROOT = $(NANOARROW_DIR)/subprojects/flatcc-fd3c4ae5cd39f0651eda6a3a1a374278070135d6
NANOARROW_FILES = common/array common/array_stream common/schema common/utils \
	ipc/codecs ipc/decoder ipc/encoder ipc/reader ipc/writer
FLATCC_FILES = builder emitter refmap verifier
NANOARROW_CPPFLAGS = -isystem $(BUILD)/deps/include -isystem $(NANOARROW_ROOT) -isystem $(FLATCC_ROOT)/include
NANOARROW_BUILD_FLAGS = -std=gnu11 -w -g -fPIC -fvisibility=hidden -DNDEBUG \
	-DNANOARROW_IPC_WITH_ZSTD -DNANOARROW_IPC_WITH_LZ4 $(NANOARROW_CPPFLAGS)

NANOARROW_OBJS = $(NANOARROW_FILES:%=$(BUILD)/deps/obj/nanoarrow/%.o) $(FLATCC_FILES:%=$(BUILD)/deps/obj/flatcc/%.o)
NANOARROW_SAN_OBJS = $(NANOARROW_OBJS:$(BUILD)/deps/obj/%=$(BUILD)/deps/san/%)

deps: $(NANOARROW_STAMP) $(NANOARROW_CONFIG)

$(BUILD)/deps/download/nanoarrow-$(NANOARROW_VERSION).tar.gz: deps/nanoarrow.txt
	@mkdir -p $(@D)
	PYTHONPATH="$(CURDIR)/deps/pip" $(PYTHON) -m pip download --quiet --no-deps --no-binary nanoarrow --no-build-isolation \
		--require-hashes -d $(@D) -r deps/nanoarrow.txt || { \
		echo "nanoarrow $(NANOARROW_VERSION) could not be downloaded: check the network and pip's index settings," \
		"or set NANOARROW_SDIST to a copy of its source distribution (deps/deps.mk)" >&2; exit 1; }
	@touch $@

$(BUILD)/deps/nanoarrow-$(NANOARROW_VERSION)/PKG-INFO: $(NANOARROW_SDIST)
	@mkdir -p $(BUILD)/deps
	echo "$(NANOARROW_SHA256)  $(NANOARROW_SDIST)" | sha256sum --check --quiet
	tar -xzf $(NANOARROW_SDIST) -C $(BUILD)/deps
	@touch $@

# The header that nanoarrow's own build would make: version and a prefix for its symbols.
$(NANOARROW_CONFIG): deps/deps.mk
	@mkdir -p $(@D)
	printf '%s\n' '#ifndef NANOARROW_CONFIG_H_INCLUDED' '#define NANOARROW_CONFIG_H_INCLUDED' \
		'#define NANOARROW_VERSION_MAJOR 0' '#define NANOARROW_VERSION_MINOR 9' '#define NANOARROW_VERSION_PATCH 0' \
		'#define NANOARROW_VERSION "$(NANOARROW_VERSION)"' \
		'#define NANOARROW_VERSION_INT (NANOARROW_VERSION_MAJOR * 10000 + NANOARROW_VERSION_MINOR * 100 + NANOARROW_VERSION_PATCH)' \
		'#define NANOARROW_NAMESPACE LanceCatalog' '#endif' > $@

$(BUILD)/deps/obj/nanoarrow/%.o: $(NANOARROW_STAMP) $(NANOARROW_CONFIG)
	@mkdir -p $(@D)
	$(CC) $(NANOARROW_BUILD_FLAGS) -O2 -c $(NANOARROW_ROOT)/nanoarrow/$*.c -o $@

$(BUILD)/deps/obj/nanoarrow/ipc/decoder.o: deps/nanoarrow_decoder.c $(NANOARROW_STAMP) $(NANOARROW_CONFIG)
	@mkdir -p $(@D)
	$(CC) $(NANOARROW_BUILD_FLAGS) -O2 -c $< -o $@

$(BUILD)/deps/obj/flatcc/%.o: $(NANOARROW_STAMP) $(NANOARROW_CONFIG)
	@mkdir -p $(@D)
	$(CC) $(NANOARROW_BUILD_FLAGS) -O2 -c $(FLATCC_ROOT)/src/runtime/$*.c -o $@

# flatcc loads unaligned words on purpose: address checks only.
$(BUILD)/deps/san/nanoarrow/%.o: $(NANOARROW_STAMP) $(NANOARROW_CONFIG)
	@mkdir -p $(@D)
	$(CC) $(NANOARROW_BUILD_FLAGS) -fsanitize=address -O1 -c $(NANOARROW_ROOT)/nanoarrow/$*.c -o $@

$(BUILD)/deps/san/nanoarrow/ipc/decoder.o: deps/nanoarrow_decoder.c $(NANOARROW_STAMP) $(NANOARROW_CONFIG)
	@mkdir -p $(@D)
	$(CC) $(NANOARROW_BUILD_FLAGS) -fsanitize=address -O1 -c $< -o $@

$(BUILD)/deps/san/flatcc/%.o: $(NANOARROW_STAMP) $(NANOARROW_CONFIG)
	@mkdir -p $(@D)
	$(CC) $(NANOARROW_BUILD_FLAGS) -fsanitize=address -O1 -c $(FLATCC_ROOT)/src/runtime/$*.c -o $@

.PHONY: deps
