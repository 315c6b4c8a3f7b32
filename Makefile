# Two commands do everything: `make reproduce` and `make test`. Both make the environment they need.
PYTHON ?= $(shell command -v python3.11 || echo python3)
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
READY := $(VENV)/.ready
export PATH := $(BIN):$(PATH)
export PYTHONHASHSEED := 0
# Waiting threads sleep: on shared cores, spinning costs more than the work.
export OMP_WAIT_POLICY ?= PASSIVE
# Python keeps compiled modules; otherwise every training process would compile two thousand of them at its start.
unexport PYTHONDONTWRITEBYTECODE

# Files for codespell: all that people write.
PROSE := $(wildcard *.md) Makefile dvc.yaml .ci/run docs harness methods sentbench benchmarks tests recipes leaderboards

PIP_OPTIONS := --quiet --disable-pip-version-check
# uv is faster than pip and reads pip's configured index; pip is the fallback.
INDEX := UV_DEFAULT_INDEX="$$("$(BIN)/python" -m pip config get global.index-url 2>/dev/null)" \
	SSL_CERT_FILE="$$("$(BIN)/python" -m pip config get global.cert 2>/dev/null || echo "$$SSL_CERT_FILE")"
MORE := UV_FIND_LINKS="$$("$(BIN)/python" -m pip config get global.find-links 2>/dev/null)" \
	UV_EXTRA_INDEX_URL="$$("$(BIN)/python" -m pip config get global.extra-index-url 2>/dev/null)"
install = env $(INDEX) $(MORE) "$(BIN)/uv" pip install --quiet --index-strategy unsafe-best-match \
	--python "$(BIN)/python" $(1) 2>/dev/null || "$(BIN)/python" -m pip install $(PIP_OPTIONS) $(1)
# Runs a command and says every four seconds that it still runs.
saying = { passed=0; while sleep 4 >/dev/null 2>&1; do passed=$$((passed + 4)); echo "$(1), $$passed s"; done; } & saying=$$!; \
	$(2); code=$$?; kill $$saying; exit $$code

CHROMIUM ?= chromium
# Pictures of the documents: NAME=PAGE of the report, with the anchor at the top of the picture.
PICTURES := answers=index.html leaderboard=pages/small.html\#table-small paper=papers/pcl.html\#table-pcl-table2 \
	claims=papers/pcl.html\#claims compare=pages/compare.html\#pick audit=pages/methods.html\#audit-simcse protocols=pages/small.html\#protocols

.PHONY: help reproduce test test-browser test-thorough test-slow test-mirror test-gpu check generated docs pictures lock bench bench-short clean

help:
	@echo "make reproduce     small plan from package-registry data to reports/index.html"
	@echo "make test          lint, spelling and terms, types and the default tests (CPU, offline)"
	@echo "make test-thorough tests that take long for what they add to make test (CONTRIBUTING.md names the kinds)"
	@echo "make test-browser  the tests of the report's pages in a browser (needs Chromium)"
	@echo "make test-slow     the tests that are too slow for make test"
	@echo "make test-mirror   the tests that need SENTBENCH_MIRROR"
	@echo "make test-gpu      invariants of every method on this machine's GPU"
	@echo "make check         compare losses and scores with the committed ones"
	@echo "make generated     write all generated text: tables, schemas, outputs shown in documents, the report's pages"
	@echo "make docs          build the documentation as a site in docs/_build, with a check of every internal link"
	@echo "make pictures      take the pictures of the documents from the report, in docs/pictures (needs Chromium)"
	@echo "make lock          update the hashes of requirements.lock after a change of a version"
	@echo "make bench         speed measurements; never part of a test"
	@echo "make bench-short   the same at small sizes, to check that all tools give equal scores"

$(READY): requirements.lock requirements-torch.lock pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "make: $$("$(PYTHON)" -V 2>&1), \
expected Python 3.11 (requirements.lock); set PYTHON=..." >&2; exit 2; }
	@test -x $(VENV)/bin/python || { echo "making $(VENV)"; $(call saying,making $(VENV),"$(PYTHON)" -m venv $(VENV)); }
	@echo "installing uv"
	@$(call saying,installing uv,"$(BIN)/python" -m pip install $(PIP_OPTIONS) uv >/dev/null 2>&1 || true)
	@echo "installing $$(grep -c == requirements.lock) packages of requirements.lock"
	@$(call saying,installing requirements.lock,$(call install,--require-hashes --no-deps --requirement requirements.lock))
	@echo "installing $$(grep == requirements-torch.lock)"
	@$(call saying,installing torch,$(call install,--requirement requirements-torch.lock))
	@echo "installing sentbench"
	@$(call saying,installing sentbench,"$(BIN)/python" -m pip install $(PIP_OPTIONS) --no-deps --no-build-isolation --editable .)
	@touch $(READY)

reproduce: $(READY)
	@# without git, a copy of the committed results is kept for the comparison at the end
	@test -e .git || test -d .cache/committed || { mkdir -p .cache/committed && cp -R reports/scores $(wildcard reports/further) .cache/committed; }
	@sentbench launch --first-seeds
	@sentbench report --print small
	@echo
	@echo "report: $(CURDIR)/reports/index.html"
	@sentbench check --only results

test: $(READY)
	@ruff check .
	@ruff format --check .
	@codespell $(PROSE)
	@mkdir -p .cache
	@# types are checked while the tests run: both cores are in use from the start to the end
	@mypy > .cache/types.txt 2>&1 & types=$$!; \
	python -m pytest -m "not slow and not mirror and not cluster and not gpu and not browser and not thorough" \
	-n 2 --dist worksteal --junitxml=.cache/tests.xml; tests=$$?; \
	wait $$types; types=$$?; cat .cache/types.txt; exit $$((tests ? tests : types))
	@echo "test results: $(CURDIR)/.cache/tests.xml"

test-thorough: $(READY)
	@mkdir -p .cache
	@python -m pytest -m "thorough and not slow and not mirror and not gpu" -n 2 --dist worksteal --junitxml=.cache/tests-thorough.xml
	@echo "test results: $(CURDIR)/.cache/tests-thorough.xml"

test-browser: $(READY)
	@mkdir -p .cache
	@python -m pytest tests/harness/report/browser -m browser -n 2 --dist worksteal -rs --junitxml=.cache/tests-browser.xml
	@echo "test results: $(CURDIR)/.cache/tests-browser.xml"

test-slow: $(READY)
	@mkdir -p .cache
	@python -m pytest -m "slow and not mirror and not cluster and not gpu" -n 2 --dist worksteal --junitxml=.cache/tests-slow.xml
	@echo "test results: $(CURDIR)/.cache/tests-slow.xml"

test-mirror: $(READY)
	@mkdir -p .cache
	@python -m pytest -m "mirror and not slow" -n 2 --dist worksteal --junitxml=.cache/tests-mirror.xml
	@echo "test results: $(CURDIR)/.cache/tests-mirror.xml"

test-gpu: $(READY)
	@python -c 'import sys, torch; torch.cuda.is_available() or sys.exit(f"make: torch {torch.__version__} finds \
no GPU; docs/table.md (Check the machine) says how its CUDA build is installed")'
	@python -m pytest -m gpu -rs tests/conformance

check: $(READY)
	@sentbench check

generated: $(READY)
	@python -m docs.generated
	@python -m tests.regression.reference --missing
	@python -m tests.regression.pairs --missing
	@# dvc.lock records the new report
	@sentbench report
	@dvc commit --quiet --force report || echo "the next make reproduce updates dvc.lock"

docs: $(READY)
	@"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[docs]"
	@python -m sphinx -q -W -n -b html docs docs/_build
	@echo "documents: $(CURDIR)/docs/_build/index.html"

pictures: $(READY)
	@mkdir -p .cache
	@# in a frame, because Chromium draws nothing of a page that begins at an anchor
	@for picture in $(PICTURES); do echo "docs/pictures/$${picture%%=*}.png"; \
	printf '<body style="margin:0"><iframe src="%s" style="border:0;width:1280px;height:800px"></iframe>' \
	"file://$(CURDIR)/reports/$${picture#*=}" > .cache/picture.html; \
	$(CHROMIUM) --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,800 \
	--screenshot="$(CURDIR)/docs/pictures/$${picture%%=*}.png" "file://$(CURDIR)/.cache/picture.html" 2>/dev/null \
	|| exit 2; done

lock: $(READY)
	@mkdir -p .cache
	@grep -o '^[^ #]*==[^ ]*' requirements.lock | env $(INDEX) "$(BIN)/uv" pip compile --quiet --generate-hashes --no-deps \
	--no-annotate --custom-compile-command "make lock" --python-version 3.11 - > .cache/lock
	@mv .cache/lock requirements.lock

bench: $(READY)
	@python -m benchmarks
	@python -m docs.generated

bench-short: $(READY)
	@python -m benchmarks --short

clean:
	@rm -rf .cache/resume .pytest_cache .mypy_cache .ruff_cache
