# Every target works from a fresh clone on a machine with Python 3.11 or newer, gcc and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(shell find native -type f -not -path 'native/test/*' -not -path 'native/fuzz/*' 2>/dev/null)

.PHONY: demo test lint check bench docs links native-test sanitize fuzz clean

# The stamp is rebuilt when the native core or the packaging changes; Python edits need no step at all.
$(VENV)/installed: pyproject.toml CMakeLists.txt $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.7" "cmake>=3.25" "ninja>=1.11"
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install --quiet --no-build-isolation -e ".[dev]"
	touch $@

demo: $(VENV)/installed
	$(BIN)/sapwood demo

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

check: $(VENV)/installed
	$(BIN)/python -m pytest

test: lint native-test check

bench: $(VENV)/installed
	$(BIN)/python benchmarks/run.py

# The documentation is a matter of its own packages; warnings are errors.
$(VENV)/documented: $(VENV)/installed
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install --quiet --no-build-isolation -e ".[docs]"
	touch $@

docs: $(VENV)/documented
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Links to other sites, which needs the network; links between pages are checked by make test and make docs.
links: $(VENV)/documented
	$(BIN)/python -m sphinx -b linkcheck -q docs docs/_build/links

native-test: $(VENV)/installed
	mkdir -p build
	$(BIN)/cmake -S . -B build/native -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DSAPWOOD_PYTHON=OFF -DSAPWOOD_NATIVE_TESTS=ON > build/native.log 2>&1 || (cat build/native.log; exit 1)
	$(BIN)/cmake --build build/native
	$(BIN)/ctest --test-dir build/native --output-on-failure

sanitize: $(VENV)/installed
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DSAPWOOD_PYTHON=OFF -DSAPWOOD_NATIVE_TESTS=ON -DSAPWOOD_SANITIZE=address,undefined
	$(BIN)/cmake --build build/sanitize
	$(BIN)/ctest --test-dir build/sanitize --output-on-failure

FUZZ_SECONDS ?= 60
fuzz: $(VENV)/installed
	@command -v clang++ > /dev/null || { \
	  echo "make fuzz needs clang with libFuzzer: apt-get install clang libclang-rt-dev (or your system's name for them)"; exit 1; }
	$(BIN)/cmake -S . -B build/fuzz -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DCMAKE_CXX_COMPILER=clang++ -DSAPWOOD_PYTHON=OFF -DSAPWOOD_FUZZERS=ON
	$(BIN)/cmake --build build/fuzz
	@for target in build/fuzz/fuzz_*; do \
	  test -x $$target && test -f $$target || continue; name=$$(basename $$target); mkdir -p build/fuzz/corpus/$$name; \
	  echo "== $$name for $(FUZZ_SECONDS) s"; \
	  $$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 build/fuzz/corpus/$$name $$(test -d native/fuzz/seeds/$$name && echo native/fuzz/seeds/$$name) || exit 1; \
	done

clean:
	rm -rf build $(VENV)
