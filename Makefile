# make run and make test need nothing but Python 3.11 or newer: each makes .venv if there is none.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: run test test-all lint format bench docs clean help
.DEFAULT_GOAL := help

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/make \1\t\2/' | expand -t 16

run: .venv/base ## train a network that swings by the wrong answer; verdicts, a text plot, a report
	$(BIN)/dynascope run swing-by

test: .venv/test ## the tests (about eleven minutes on two cores)
	$(BIN)/python -m pytest -n auto --dist loadfile

test-all: .venv/test ## the tests, and what is slow or installs something
	$(BIN)/python -m pytest -m "slow or not slow"

lint: .venv/test ## format, lint, import rules, types
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports
	$(BIN)/mypy

format: .venv/test ## bring the code into shape
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: .venv/bench ## benchmarks against named peers, ratios printed
	cd benchmarks && for script in [a-z]*.py; do [ $$script = timing.py ] || ../$(BIN)/python $$script; done

docs: .venv/test ## write the command pages anew
	$(BIN)/python -m dynascope.cli.docs > docs/commands.md

clean: ## remove the environment and caches
	rm -rf .venv .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dynascope needs Python 3.11 or newer: make PYTHON=python3.11 run")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/base: .venv/made pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

.venv/test: .venv/made pyproject.toml constraints.txt
	$(PIP) -e '.[test]'
	@touch $@

.venv/bench: .venv/made pyproject.toml constraints.txt
	$(PIP) -e '.[bench]'
	@touch $@
