# Every target works from a fresh clone on a machine with Python 3.11 or newer, gcc and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(shell find native -type f -not -path 'native/test/*' -not -path 'native/fuzz/*' 2>/dev/null)

# The English models, which are installed beside the library.
ENGLISH := $(shell find models/en -type f -not -name build.py 2>/dev/null)

PIP_INSTALL := $(BIN)/python -m pip install --quiet
# setuptools builds those test packages that come as sources only.
BUILD_TOOLS := "setuptools>=77" "scikit-build-core>=0.11" "nanobind>=2.7" "cmake>=3.25" "ninja>=1.11"
# Pinned versions first, so that two checkouts behave alike; newer ones where those are not to be had.
# `make PINNED=` goes without pins.
PINNED ?= -c constraints.txt
# Warnings of the compiler are errors; `make WERROR=OFF` for compilers that have new ones.
WERROR ?= ON
EDITABLE := --no-build-isolation --config-settings=cmake.define.SAPWOOD_WERROR=$(WERROR) -e
CLANG_FORMAT = $(BIN)/clang-format $$(find native -name '*.[ch]pp')
# The signatures of the extension, from the extension itself.
STUBGEN = $(BIN)/python -m nanobind.stubgen --quiet --recursive --module sapwood._core --pattern-file native/bind/stubs.pat

.PHONY: constraints demo models test lint format stubs check check-quick check-timing bench bench-compare results tables docs screenshots links native-test sanitize sanitize-threads fuzz fuzz-native fuzz-python fuzz-core fuzz-files fuzz-files-core sanitized-core faults reliability faults-report explorer-load \
  test-minimum test-python wheel clean

# The stamp is rebuilt when the native core or the packaging changes; Python edits need no step at all.
$(VENV)/installed: pyproject.toml CMakeLists.txt $(NATIVE) $(ENGLISH)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(PIP_INSTALL) $(PINNED) $(BUILD_TOOLS) || $(PIP_INSTALL) $(BUILD_TOOLS)
	PATH="$(abspath $(BIN)):$$PATH"; export PATH; \
	  { $(PIP_INSTALL) $(PINNED) $(EDITABLE) ".[dev]" || $(PIP_INSTALL) $(EDITABLE) ".[dev]"; } && \
	  $(PIP_INSTALL) --no-build-isolation --no-deps --force-reinstall ./models/en
	touch $@

demo: $(VENV)/installed
	$(BIN)/sapwood demo

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(CLANG_FORMAT) --dry-run -Werror
	rm -rf build/stubs && $(STUBGEN) --output-dir build/stubs && diff -r build/stubs/_core src/sapwood/_core || \
	  { echo "src/sapwood/_core is not what the extension says: run make stubs"; exit 1; }

format: $(VENV)/installed
	$(BIN)/ruff format .
	$(CLANG_FORMAT) -i

stubs: $(VENV)/installed
	rm -rf src/sapwood/_core && $(STUBGEN) --output-dir src/sapwood

# Two processes at once, each with whole files of tests: what they prepare is shared within a file.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile

check: $(VENV)/installed
	$(PYTEST)

# For the inner loop: without what is slow.
check-quick: $(VENV)/installed
	$(PYTEST) -q -m "not slow and not timing"

# What asserts on the clock; for a machine with nothing else to do.
check-timing: native-test
	SAPWOOD_CHECK_TIMING=1 $(BIN)/ctest --test-dir build/native --output-on-failure -R test_parallel
	$(BIN)/python -m pytest -q -m timing

test: lint native-test check

bench: $(VENV)/installed
	$(BIN)/python benchmarks/run.py --history benchmarks/history.jsonl $(BENCH)

# Another revision beside this checkout, each with an environment of its own: make bench-compare REV=main
# (WITH=... for a second revision, BENCH="'Gram SST'" for some pieces of work).
bench-compare: $(VENV)/installed
	@test -n "$(REV)" || { echo 'make bench-compare needs REV=..., a revision'; exit 1; }
	$(BIN)/python benchmarks/compare.py $(REV) $(if $(WITH),--with $(WITH)) $(BENCH)

# One experiment again, or some of its tables: make results NAME=frames TABLES="faithful best" OPTIONS="--cache DIR".
# Its corpora are those that `sapwood data` finds; $(DATA) names a folder of them.
DATA ?= $(wildcard ../shared/data)
results: $(VENV)/installed
	@test -n "$(NAME)" || { echo 'make results needs NAME=..., an experiment of `sapwood experiment --help`'; exit 1; }
	SAPWOOD_DATA="$(abspath $(DATA))$${SAPWOOD_DATA:+:$$SAPWOOD_DATA}" $(BIN)/sapwood experiment $(NAME) \
	  $(if $(TABLES),--tables $(TABLES)) $(OPTIONS) --json results/$(NAME).json --merge
	$(MAKE) tables

# The English models anew, and the figures of their card: make models CACHE=DIR, or with PARTS=roles for some of them.
models: $(VENV)/installed
	@test -n "$(CACHE)" || { echo 'make models needs CACHE=..., a folder that keeps what was trained'; exit 1; }
	SAPWOOD_DATA="$(abspath $(DATA))$${SAPWOOD_DATA:+:$$SAPWOOD_DATA}" $(BIN)/python models/en/build.py $(PARTS) --cache $(CACHE)

# The figures of the pages from results/.
tables: $(VENV)/installed
	$(BIN)/python results/render.py

# The documentation is a matter of its own packages; warnings are errors.
$(VENV)/documented: $(VENV)/installed
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install --quiet $(EDITABLE) ".[docs]"
	touch $@

docs: $(VENV)/documented
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Pictures of every page of the site, of the report and of the explorer, and what is wrong with them; needs Chromium.
# make screenshots SCREENSHOTS="--only roles explorer"
SCREENSHOTS ?=
screenshots: docs
	$(BIN)/python tests/explorer/screenshots.py $(SCREENSHOTS)

# Links to other sites, which needs the network; links between pages are checked by make test and make docs.
links: $(VENV)/documented
	$(BIN)/python -m sphinx -b linkcheck -q docs docs/_build/links

native-test: $(VENV)/installed
	mkdir -p build
	$(BIN)/cmake -S . -B build/native -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DSAPWOOD_PYTHON=OFF -DSAPWOOD_NATIVE_TESTS=ON -DSAPWOOD_WERROR=$(WERROR) > build/native.log 2>&1 || (cat build/native.log; exit 1)
	$(BIN)/cmake --build build/native
	$(BIN)/ctest --test-dir build/native --output-on-failure

# Memory faults and undefined behaviour in one build, races in another: the sanitizers do not go together.
sanitize: $(VENV)/installed sanitize-threads
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DSAPWOOD_PYTHON=OFF -DSAPWOOD_NATIVE_TESTS=ON -DSAPWOOD_SANITIZE=address,undefined
	$(BIN)/cmake --build build/sanitize
	$(BIN)/ctest --test-dir build/sanitize --output-on-failure

sanitize-threads: $(VENV)/installed
	$(BIN)/cmake -S . -B build/sanitize-threads -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DSAPWOOD_PYTHON=OFF -DSAPWOOD_NATIVE_TESTS=ON -DSAPWOOD_SANITIZE=thread
	$(BIN)/cmake --build build/sanitize-threads
	$(BIN)/ctest --test-dir build/sanitize-threads --output-on-failure

FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?=
fuzz: fuzz-native fuzz-python fuzz-core fuzz-files fuzz-files-core

# The headers under libFuzzer, AddressSanitizer and UBSan.
fuzz-native: $(VENV)/installed
	@command -v clang++ > /dev/null || { \
	  echo "make fuzz needs clang with libFuzzer: apt-get install clang libclang-rt-dev (or your system's name for them)"; exit 1; }
	$(BIN)/cmake -S . -B build/fuzz -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DCMAKE_CXX_COMPILER=clang++ -DSAPWOOD_PYTHON=OFF -DSAPWOOD_FUZZERS=ON
	$(BIN)/cmake --build build/fuzz
	@for target in build/fuzz/fuzz_*; do \
	  test -x $$target && test -f $$target || continue; name=$$(basename $$target); mkdir -p build/fuzz/corpus/$$name; \
	  echo "== $$name for $(FUZZ_SECONDS) s"; \
	  $$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=4096 -len_control=0 -max_len=4096 \
	    -print_final_stats=1 build/fuzz/corpus/$$name \
	    $$(test -d native/fuzz/seeds/$$name && echo native/fuzz/seeds/$$name) || exit 1; \
	done

# Every reader, the model loader, the kernel expressions and the decoder from Python, guided by coverage (atheris).
$(VENV)/fuzzing: $(VENV)/installed
	$(PIP_INSTALL) "atheris>=3.0"
	touch $@

fuzz-python: $(VENV)/fuzzing
	$(BIN)/python tests/fuzz/run.py --seconds $(FUZZ_SECONDS) $(FUZZ_TARGETS)

# What Python hands to the core, with the core itself under AddressSanitizer and UBSan.
CORE_TARGETS ?= model trees decode text
SANITIZED = SAPWOOD_CORE=$$(ls $(abspath build/fuzz-core)/_core*.so) \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
  LD_PRELOAD=$$(clang++ -print-file-name=libclang_rt.asan-x86_64.so)
sanitized-core: $(VENV)/installed
	$(BIN)/cmake -S . -B build/fuzz-core -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DCMAKE_CXX_COMPILER=clang++ -DSAPWOOD_SANITIZE=address,undefined -DPython_EXECUTABLE=$(abspath $(BIN)/python) \
	  -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir)
	$(BIN)/cmake --build build/fuzz-core

fuzz-core: sanitized-core
	$(SANITIZED) $(BIN)/python tests/fuzz/run.py --plain --seconds $(FUZZ_SECONDS) --folder build/fuzz/core $(CORE_TARGETS)

# Model files that are whole but wrong, FUZZ_FILES of them, and a tenth as many with the core under the sanitizers.
FUZZ_FILES ?= 20000
FUZZ_SEED ?= 1
fuzz-files: $(VENV)/installed
	$(BIN)/python tests/fuzz/structure.py --count $(FUZZ_FILES) --seed $(FUZZ_SEED)

fuzz-files-core: sanitized-core
	$(SANITIZED) $(BIN)/python tests/fuzz/structure.py --count $$(($(FUZZ_FILES) / 10)) --seed $(FUZZ_SEED)

# Kills at random points, full disks, read-only folders and memory limits, for longer than the tests do.
faults: $(VENV)/installed
	SAPWOOD_FAULTS=long $(BIN)/python -m pytest tests/faults -q

# The figures of docs/reliability.md: signals and kills, the explorer under load, and changed model files.
# make -j2 reliability takes two of the three at a time.
RELIABILITY ?=
reliability: faults-report explorer-load fuzz-files

faults-report: $(VENV)/installed
	$(BIN)/python tests/faults/report.py $(RELIABILITY)

# Requests per second, latencies and memory of the explorer, beside slow connections and while its workers are killed.
explorer-load: $(VENV)/installed
	$(BIN)/python tests/explorer/load.py $(LOAD)

# The tests with the oldest versions of all dependencies that pyproject.toml allows, or with another Python:
# make test-python OTHER=python3.13. Both have an environment of their own; OTHER_WHEEL names a wheel that is there.
QUICK_TESTS ?= -q -m "not slow and not timing" tests
TEST_TOOLS := "pytest>=8.4" "pytest-timeout>=2.3" "hypothesis>=6.150" "pandas>=2.2"
test-minimum: wheel
	rm -rf build/minimum && $(BIN)/python -m venv build/minimum
	build/minimum/bin/python -m pip install --quiet $(TEST_TOOLS) dist/sapwood-*-$$($(BIN)/python -c \
	  "import sys; print('cp%d%d-' % sys.version_info[:2])")*.whl $$($(BIN)/python tests/minimum.py)
	build/minimum/bin/python -m pytest $(QUICK_TESTS)

OTHER_WHEEL ?= .
test-python:
	@test -n "$(OTHER)" || { echo 'make test-python needs OTHER=..., a Python'; exit 1; }
	rm -rf build/other && $(OTHER) -m venv build/other
	build/other/bin/python -m pip install --quiet $(TEST_TOOLS) "dask>=2025.1" "distributed>=2025.1" "zarr>=3.0.8" \
	  "nltk>=3.9.1" $(OTHER_WHEEL)
	build/other/bin/python -m pytest $(QUICK_TESTS)

constraints: $(VENV)/installed
	(sed -n '/^#/p' constraints.txt; $(BIN)/python -m pip list --format=freeze --exclude-editable \
	  --exclude pip --exclude setuptools --exclude wheel) > build/constraints.txt
	mv build/constraints.txt constraints.txt

wheel: $(VENV)/installed
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps -w dist \
	  --config-settings=cmake.define.SAPWOOD_WERROR=$(WERROR) .

clean:
	rm -rf build $(VENV)
