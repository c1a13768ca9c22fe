# `make help` lists the commands. All requirements are installed in .venv, at the versions in constraints.txt;
# the environment is rebuilt when pyproject.toml or constraints.txt change.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Arguments for the command: make demo ARGS=..., make test ARGS="-k master", make bench ARGS=...
ARGS ?=

# Number of test processes, by default one per core. Each begins with a contiguous share of the tests, so that a file
# stays together, and takes over waiting tests of others when its own are done.
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PYTEST := $(BIN)/python -m pytest --numprocesses $(JOBS) --dist worksteal

# Rewriting the assertions of all tests takes 15 seconds per process, so it is cached even if the environment forbids it.
test test-all: export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check docs format bench fuzz wheel-check clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/installed  ## solve a first problem by column generation
	$(BIN)/colgen demo $(ARGS)

test: $(VENV)/installed-dev  ## run the fast tests, on all cores
	$(PYTEST) $(ARGS)

test-all: $(VENV)/installed-dev  ## run all tests, also those marked slow, each with more examples
	COLGEN_TESTS=thorough $(PYTEST) -m "slow or not slow" $(ARGS)

check: $(VENV)/installed-dev  ## check style, types, the order of imports, and the documentation
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy --strict colgen benchmarks tests/typed_programs.py
	$(BIN)/python .ci/check_pages.py
	$(BIN)/lint-imports
	$(MKDOCS)
	$(BIN)/python .ci/check_site.py site

docs: $(VENV)/installed-docs  ## build the documentation and run its notebooks: site/index.html
	COLGEN_NOTEBOOKS=run $(MKDOCS) $(ARGS)

format: $(VENV)/installed-dev  ## format the code
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

bench: $(VENV)/installed-bench  ## measure speed: make bench ARGS=engine
	$(BIN)/colgen bench $(ARGS)

fuzz: $(VENV)/installed  ## search for wrong proofs on random problems: make fuzz ARGS="--minutes 10 --seed 1"
	$(BIN)/python -m tests.fuzz $(ARGS)

# Build the source distribution from the checkout and the wheel from the source distribution. The wheel is then used
# in a directory from which the checkout cannot be imported by accident.
wheel-check: $(VENV)/installed-dev  ## build the distribution, install it in an empty environment and run it
	set -eu; \
	dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	$(BIN)/python -m build --outdir "$$dir/dist" .; \
	$(BIN)/python -m venv "$$dir/venv"; \
	"$$dir/venv/bin/python" -m pip --disable-pip-version-check install --quiet \
		--constraint constraints.txt "$$dir"/dist/*.whl; \
	cp .ci/check_installed.py "$$dir"; \
	cd "$$dir"; \
	venv/bin/python check_installed.py; \
	venv/bin/colgen --version; \
	venv/bin/colgen demo --quick cutting_stock colouring title_path

clean:  ## remove the environment and all built or cached files
	rm -rf $(VENV) build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "colgen needs Python 3.11 or newer; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)." \
			"Name another with: make PYTHON=python3.12 ..." >&2; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(VENV)/installed-bench: $(VENV)/installed
	$(PIP) install --quiet --constraint constraints.txt --editable '.[benchmark]'
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(PIP) install --quiet --constraint constraints.txt --editable '.[docs]'
	@touch $@
