# Everything a developer runs. `make help` lists it; nothing here touches a path outside the checkout.

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
STAMP   := $(VENV)/.installed
PROTOS  := $(sort $(shell find proto -name '*.proto'))
comma   := ,
PYTEST  := $(BIN)/python -m pytest -n auto

.DEFAULT_GOAL := help
.PHONY: help setup check format test demo serve proto lock bench interop soak audit docs clean

help:  ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## / { printf "  \033[1m%-9s\033[0m %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP)  ## make .venv from the hashed lock files (quick when nothing changed)

$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Floecat needs Python 3.11 or newer, and '$(PYTHON)' is older."; \
	  echo "Install one (Debian: apt-get install python3 python3-venv) and run: make PYTHON=python3.12 setup"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' can't make virtual environments. Debian: apt-get install python3-venv"; exit 1; }
	@echo "setting up $(VENV) (a minute or two the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

check: setup  ## format, lint, types, layers, protos, freshness of what is generated
	@$(BIN)/python scripts/check.py

format: setup  ## rewrite the code the way `check` wants it
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .

test: setup  ## every test; FAST=1 leaves out what is slow
	@$(if $(FAST),true,$(BIN)/python scripts/java.py)
	@$(PYTEST) -m "$(if $(FAST),not slow and not spark and not interop,not interop)" $(ARGS)
	@echo "left out: tests against servers fetched with Maven (make interop)$(if $(FAST),$(comma) and with FAST=1 the slow ones and Spark)"

demo: setup  ## the main job, on a small lakehouse made for it
	@$(BIN)/python scripts/java.py
	@$(BIN)/python -m demo

serve: setup  ## start the service
	@mkdir -p build/serve
	@FLOECAT_DATA_DIR=build/serve $(BIN)/floecat serve

proto: setup  ## generate the stubs in src/ai from proto/
	@$(BIN)/python scripts/proto.py

lock: setup  ## resolve pyproject.toml anew into requirements/
	@$(BIN)/python scripts/lock.py

bench: setup  ## measured comparisons against peers; writes build/bench.json
	@$(BIN)/python -m bench $(ARGS)

interop: setup  ## the same contracts against running servers, fetched with Maven; a row for each
	@$(BIN)/python -m pytest -m interop -r fE $(ARGS)

soak: setup  ## the long versions: more kills, more seeds, more rows
	@SOAK=1 $(PYTEST) -m "not interop" $(ARGS)
	@SOAK=1 $(PYTEST) -m interop tests/model $(ARGS)

audit: setup  ## known vulnerabilities and a bill of materials (build/sbom.json)
	@$(BIN)/python scripts/audit.py

docs: setup  ## regenerate the reference pages in docs/
	@$(BIN)/python scripts/docs.py

clean:  ## remove what was built (not .venv)
	@rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
