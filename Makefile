# From a fresh clone everything below needs only Python 3.11 or newer and make.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
TOOLS := build/tools
COMPILE := $(TOOLS)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url --no-header
SOURCES := minara_site memory_app learning_app profile_app
TEMPLATES := templates tests/toy/templates tests/web/templates
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help run test check check-types check-code check-site soak bench bench-recall audit sbom lock

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.base ## start the console; make run ARGS="--demo --port 8123" passes flags on
	@exec $(BIN)/minara up $(ARGS)

test: $(VENV)/.dev ## run every test that needs no further service; make test ARGS="-k roles" passes words on to pytest
	@exec $(BIN)/python -m tests.lanes $(ARGS)

check: check-types check-code check-site ## lint, types, layers, templates, weaknesses, settings, migrations

check-types: $(VENV)/.dev
	$(BIN)/mypy $(SOURCES)

check-code: $(VENV)/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports
	$(BIN)/djlint --quiet --check $(TEMPLATES)
	$(BIN)/djlint --quiet --lint $(TEMPLATES)
	$(BIN)/bandit --quiet --recursive --severity-level high $(SOURCES)

check-site: $(VENV)/.dev
	@mkdir -p build/check
	MINARA_DATA_DIR=build/check MINARA_PUBLIC_URL=https://minara.example.com MINARA_DEBUG=false \
	  $(BIN)/python manage.py check --deploy --fail-level WARNING
	MINARA_DATA_DIR=build/check $(BIN)/python manage.py makemigrations --check --dry-run

soak: $(VENV)/.dev ## run the long failure tests and whole corpora, for hours; then plant faults one at a time: which test catches each
	$(BIN)/pytest -m soak -v $(ARGS)
	$(BIN)/python -m tests.planted

bench: $(VENV)/.dev ## measure against references of the same run; prints a table, writes JSON
	$(BIN)/python -m tests.bench all $(ARGS)

bench-recall: $(VENV)/.dev ## measure what the search finds
	$(BIN)/python -m tests.bench recall $(ARGS)

audit: $(VENV)/.dev ## ask the package index for known vulnerabilities of what production installs
	@$(BIN)/python .ci/audit

sbom: $(VENV)/.dev ## list what production installs, as CycloneDX in build/sbom.json
	@mkdir -p build
	@PYTHONWARNINGS=ignore $(BIN)/cyclonedx-py requirements requirements/base.txt --pyproject pyproject.toml \
	  --output-reproducible --output-format JSON --output-file build/sbom.json
	@echo "build/sbom.json written"

lock: ## turn requirements/*.in into hash-locked *.txt
	@test -x $(TOOLS)/bin/uv || { $(FIND_PYTHON) "$$python" -m venv $(TOOLS) && $(TOOLS)/bin/pip install -q uv; }
	$(COMPILE) requirements/dev.in -o requirements/dev.txt
	for name in base local-embeddings market scale; do \
	  $(COMPILE) requirements/$$name.in -c requirements/dev.txt -o requirements/$$name.txt || exit 1; \
	done

# The stamps say which requirements the environment holds; a newer file installs again.

$(VENV)/.base: requirements/base.txt pyproject.toml | $(BIN)/python
	@echo "Installing what requirements/base.txt locks ..."
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements/base.txt
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.base
	@echo "Installing what requirements/dev.txt locks ..."
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(BIN)/python:
	@$(FIND_PYTHON) \
	"$$python" -m venv $(VENV) || { \
	  rm -rf $(VENV); echo "Python's venv module is missing; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; \
	}

# Sets $python to the newest interpreter that will do.
define FIND_PYTHON
for python in python3.14 python3.13 python3.12 python3.11 python3 python; do \
  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; python=; \
done; \
test -n "$$python" || { echo "Minara needs Python 3.11 or newer, and none was found." >&2; exit 1; };
endef
