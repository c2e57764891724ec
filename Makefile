# make run and make test need nothing but Python 3.11 or newer: each makes .venv if there is none.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: run page test test-all test-ci test-portable campaign lint format bench docs clean help
.DEFAULT_GOAL := help

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/make \1\t\2/' | expand -t 16

run: .venv/base ## train a network that swings by the wrong answer; verdicts, a text plot, a report
	$(BIN)/dynascope run swing-by

page: .venv/page ## studies, records and explorers in the browser
	$(BIN)/dynascope page

test: .venv/test ## unit and contract tests, one study per phenomenon
	$(BIN)/python -m pytest -n auto --dist loadscope

test-all: .venv/ray ## what make test leaves out: all studies, what is slow or needs torch or Ray
	$(BIN)/python -m pytest -n auto --dist loadscope -m slow tests/studies
	$(BIN)/python -m pytest -n auto --dist loadscope -m slow --ignore=tests/studies

# Tests of one study go to one worker and share its run.
test-ci: .venv/witness ## test-all without Ray, kills of longer studies and detectors of longer computations
	$(BIN)/python -m pytest -n auto --dist loadscope -m "slow and not by_hand" tests/studies
	$(BIN)/python -m pytest -n auto --dist loadscope -m slow --ignore=tests/studies

test-portable: .venv/test ## make test with other instruction sets and another number of cores
	$(BIN)/python tests/portable.py

MINUTES ?= 20
campaign: .venv/test ## faults on purpose: kills, full disks, flipped bytes, odd input; MINUTES=20 SEED=...
	$(BIN)/python tests/campaign --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

lint: .venv/test ## format, lint, import rules, types
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports
	$(BIN)/mypy

format: .venv/test ## bring the code into shape
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: .venv/bench ## benchmarks against named peers, ratios printed
	cd benchmarks && failed=; for script in [a-z]*.py; do \
	  [ $$script = timing.py ] || ../$(BIN)/python $$script || failed="$$failed $$script"; done; \
	  [ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }

docs: .venv/test ## write the generated pages anew, and the documentation into site/; RUN="polyak balance" runs these first
	$(BIN)/python -m dynascope.cli.docs > docs/commands.md
	$(BIN)/python -m dynascope.studies.coverage > docs/items.md
	$(BIN)/python -m dynascope.studies.table > docs/studies.md
	$(BIN)/python -m dynascope.docs_site --out site $(if $(RUN),--run $(RUN))

clean: ## remove the environment and caches
	rm -rf .venv .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dynascope needs Python 3.11 or newer: make PYTHON=python3.11 run")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/base: .venv/made pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

.venv/page: .venv/made pyproject.toml constraints.txt
	$(PIP) -e '.[page]'
	@touch $@

.venv/test: .venv/made pyproject.toml constraints.txt
	$(PIP) -e '.[test]'
	@touch $@

.venv/witness: .venv/test
	$(PIP) -e '.[test,witness]'
	@touch $@

.venv/ray: .venv/witness
	$(PIP) -e '.[test,witness,ray]'
	@touch $@

.venv/bench: .venv/made pyproject.toml constraints.txt
	$(PIP) -e '.[bench]'
	@touch $@
