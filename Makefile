# Every target makes what it needs: a virtual environment in .venv, with the
# package in editable mode and the extras of that target.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
SIZE ?= quick
SOURCES := pyproject.toml setup.py $(shell find sklearn_sl -name '*.pyx' -o -name '*.pxd' -o -name '*.h')

.PHONY: demo test test-drop-in test-slow test-debug test-sanitize test-matrix bench doc lint clean

demo: .venv/plot.stamp
	$(BIN)/python -m sklearn_sl compare --quick --out report.html

# Two tests at a time, afterwards those that look at the clock, and scikit-learn's own.
test: .venv/test.stamp .venv/browser.stamp
	$(BIN)/python -m pytest --quiet -n 2 -m 'not slow and not alone'
	$(BIN)/python -m pytest --quiet -m 'alone and not slow'
	$(BIN)/python tests/drop_in/run.py -n 2

# scikit-learn's own tests on the classes of this package that have the names of its own.
test-drop-in: .venv/test.stamp
	$(BIN)/python tests/drop_in/run.py -n 2 $(ARGS)

test-slow: .venv/test.stamp
	$(BIN)/python -m pytest -m slow

# The suite with bounds checks in the compiled code; leaves a debug build behind.
test-debug: .venv/test.stamp
	SKLEARN_SL_DEBUG=1 $(BIN)/python -m pip install --quiet --editable .
	SKLEARN_SL_DEBUG=1 $(BIN)/python -m pytest; status=$$?; rm -f .venv/*.stamp; exit $$status

# The tests of compiled code under sanitizers, which must catch two mistakes on purpose, too.
test-sanitize: .venv/test.stamp
	$(BIN)/python tests/sanitize.py $(ARGS)

# The oldest and newest dependencies, and every Python that is found; MATRIX=3.13 selects.
test-matrix:
	$(PYTHON) tests/matrix.py $(ARGS)

bench: .venv/bench.stamp
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script --size $(SIZE) || exit 1; done
	$(BIN)/python doc/benchmarks.py

doc: .venv/doc.stamp
	$(BIN)/python -m sphinx -W --keep-going -b html doc doc/_build/html

lint: .venv/lint.stamp
	ruff check .
	ruff format --check .
	cython-lint sklearn_sl
	$(BIN)/python -m mypy

clean:
	rm -rf .venv build dist *.egg-info doc/_build doc/gallery doc/generated
	find sklearn_sl -name '*.so' -delete -o -name '*.c' -delete

# The linters need no compiled package, mypy the types of NumPy and SciPy.
.venv/lint.stamp: .venv/bin/python Makefile
	$(BIN)/python -m pip install --quiet 'ruff>=0.12' 'cython-lint>=0.16' 'mypy>=1.15' \
		'numpy>=2.0' 'scipy>=1.13' 'scikit-learn>=1.7'
	touch $@

# A changed .pyx or build file installs again, which compiles again.
.venv/%.stamp: .venv/bin/python $(SOURCES)
	@echo 'Installing for "$*"; the first time all is compiled, which takes about three minutes'
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@

# A browser for the tests of the report, which are skipped where none can be had.
.venv/browser.stamp: .venv/bin/python tests/_browser.py
	$(BIN)/python tests/_browser.py
	touch $@

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
