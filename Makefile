# Two commands do everything: `make reproduce` and `make test`. Both make the environment they need.
PYTHON ?= python3
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
READY := $(VENV)/.ready
export PATH := $(BIN):$(PATH)
export PYTHONHASHSEED := 0

.PHONY: help reproduce test test-mirror check docs bench bench-short clean

help:
	@echo "make reproduce   small plan from package-registry data to reports/index.html"
	@echo "make test        lint, types and the default tests (CPU, offline)"
	@echo "make test-mirror the tests that need SENTBENCH_MIRROR"
	@echo "make check       compare the scores with leaderboards/bands.yaml"
	@echo "make docs        the documents as pages, in docs/_build"
	@echo "make bench       speed measurements; never part of a test"
	@echo "make bench-short the same at small sizes: do all sides agree?"

$(READY): requirements.lock pyproject.toml
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@echo "installing requirements.lock into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

reproduce: $(READY)
	@sentbench launch
	@cat reports/tables/small.txt
	@echo
	@echo "report: $(CURDIR)/reports/index.html"

test: $(READY)
	@ruff check .
	@ruff format --check .
	@mypy
	@mkdir -p .cache
	@python -m pytest -m "not slow and not mirror" -n 2 --dist worksteal --junitxml=.cache/tests.xml
	@echo "test results: $(CURDIR)/.cache/tests.xml"

test-mirror: $(READY)
	@mkdir -p .cache
	@python -m pytest -m "mirror and not slow" -n 2 --dist worksteal --junitxml=.cache/tests-mirror.xml
	@echo "test results: $(CURDIR)/.cache/tests-mirror.xml"

check: $(READY)
	@sentbench check

docs: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[docs]"
	@python -m sphinx -q -W -b html docs docs/_build
	@echo "documents: $(CURDIR)/docs/_build/index.html"

bench: $(READY)
	@python -m benchmarks

bench-short: $(READY)
	@python -m benchmarks --short

clean:
	@rm -rf .cache/resume .pytest_cache .mypy_cache .ruff_cache
