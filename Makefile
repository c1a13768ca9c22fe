# `make help` lists the commands. Everything needed is installed in .venv, at the versions in constraints.txt;
# the environment is made anew when pyproject.toml or constraints.txt change.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Arguments for the command: make demo ARGS=..., make test ARGS="-k master", make bench ARGS=...
ARGS ?=

# Tests run in so many processes at once: as many as there are cores. Each begins with its share of the tests in their
# order, so that a file stays together, and takes over what others have not begun when its own are done.
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PYTEST := $(BIN)/python -m pytest --numprocesses $(JOBS) --dist worksteal

# Rewriting the assertions of all tests takes 15 seconds a process: it is kept for the next run, whoever has forbidden it.
test test-all: export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check docs format bench fuzz wheel-check clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/installed  ## solve a first problem by column generation
	$(BIN)/colgen demo $(ARGS)

test: $(VENV)/installed-dev  ## the fast tests, on all cores
	$(PYTEST) $(ARGS)

test-all: $(VENV)/installed-dev  ## all tests, also those marked slow, each with more examples
	COLGEN_TESTS=thorough $(PYTEST) -m "slow or not slow" $(ARGS)

check: $(VENV)/installed-dev  ## style, types, the order of the three floors, and the documentation
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy --strict colgen benchmarks tests/typed_programs.py
	$(BIN)/python .ci/check_pages.py
	$(BIN)/lint-imports
	$(MKDOCS)

docs: $(VENV)/installed-docs  ## build the documentation, its notebooks executed: site/index.html
	COLGEN_NOTEBOOKS=run $(MKDOCS) $(ARGS)

format: $(VENV)/installed-dev  ## put the code in the project's format
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

bench: $(VENV)/installed-bench  ## measure speed: make bench ARGS=engine
	$(BIN)/colgen bench $(ARGS)

fuzz: $(VENV)/installed  ## look for what is called proved and is not: make fuzz ARGS="--minutes 10 --seed 1"
	$(BIN)/python -m tests.fuzz $(ARGS)

# The source distribution is built from the checkout and the wheel from the source distribution; the wheel is then
# used from a directory where the checkout cannot be imported by accident.
wheel-check: $(VENV)/installed-dev  ## build the distribution, install it in an empty environment, use it there
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

clean:  ## remove the environment and everything that was built or cached
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
