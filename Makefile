.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
# Wheels that the lock knows by their hashes, and nothing else.
INSTALL = $(BIN)/pip install -qq --disable-pip-version-check --only-binary :all: --require-hashes
# The index is pip's own: the one of its configuration, or its default.
LOCK = UV_DEFAULT_INDEX="$${PIP_INDEX_URL-$$($(BIN)/pip config get global.index-url 2>/dev/null)}" $(BIN)/uv pip compile -q \
	--universal --python-version 3.11 --fork-strategy fewest --generate-hashes --custom-compile-command "make lock" setup.cfg
export FLASK_APP := app:create_app

.PHONY: help run dev test long faults browser pictures check clients lint types layers advisories bench lock loader clean

help: ## list what there is
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

run: .venv/.ok ## set up and run everything on this machine; Ctrl-C stops it, the data stays in .data
	@$(BIN)/flask up

dev: .venv/.dev ## the same, and the processes start again when the code changes
	@$(BIN)/flask up --reload

PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
SPREAD := -n 4 --dist loadgroup
LONG := $(addprefix tests/,contracts adapters/embedded adapters/rails/test_conformance.py adapters/test_logs.py \
	api/server/test_slow_clients.py api/server/test_malformed_requests.py api/gateways/test_every_gateway.py \
	api/conversions/test_export.py commands/demo commands/rehearsal commands/test_start_nothing.py models/test_migrate.py \
	journeys/deals/test_machine.py journeys/payouts/test_machine.py pages/test_contract.py pages/test_sweeps.py)

test: .venv/.dev ## the tests, or those of ARGS=tests/...; on a private PostgreSQL and Valkey
	@$(PYTEST) $(or $(ARGS),$(SPREAD) --ignore=tests/faults --ignore=tests/browser $(addprefix --ignore=,$(LONG)))

long: .venv/.dev ## the tests that take long: random requests and steps, thousands of slow clients, servers that start
	@$(PYTEST) $(SPREAD) $(LONG)

faults: .venv/.dev ## the tests that kill, freeze and cut off whole installations
	@$(PYTEST) $(SPREAD) tests/faults

browser: .venv/.dev ## the tests of the pages and of the brands' script in Chromium
	@$(PYTEST) -n 2 tests/browser

pictures: .venv/.dev ## the README's pictures anew; every screen into EVERY=DIR, for people to look at
	@$(PYTEST) -n 0 tests/browser/screens/pictures.py

check: lint types layers advisories test long faults browser ## exactly what CI runs

clients: .venv/.dev ## lint /api/openapi.json and use the clients that three generators make of it
	@$(BIN)/python -m tests.clients

lint: .venv/.dev ## ruff: rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: .venv/.dev ## mypy
	@$(BIN)/mypy

layers: .venv/.dev ## the import direction of docs/architecture.md
	@$(BIN)/lint-imports --no-cache

advisories: .venv/.dev ## is anything locked that is older than the mend of a hole in it; passes where nobody can be asked
	@$(BIN)/python -m tests.advisories

bench: .venv/.dev ## the product beside its anchors; writes bench/results.json
	@$(BIN)/python -m bench

lock: .venv/.dev ## requirements/*.txt anew from setup.cfg, for every machine and Python that Finderfee runs on
	@$(LOCK) -o requirements/run.txt >/dev/null
	@$(LOCK) -o requirements/dev.txt --extra dev -c requirements/run.txt >/dev/null

loader: .venv/.dev ## minify the script of the brands' pages, after a change of it
	@$(BIN)/python -c 'import minify; minify.config({"js-version": 2009}); minify.file("text/javascript", "api/templates/loader.js", "api/templates/loader.min.js")'

clean: ## remove the virtual environment and caches; the data stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Finderfee needs Python 3.11 or newer; say which with: make run PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "Python's venv module is missing; on Debian: apt install python3-venv"; exit 1; }

.venv/.ok: requirements/run.txt | .venv/bin/python
	@echo "Installing what Finderfee needs into .venv ..."
	@$(INSTALL) -r $<
	@touch $@

.venv/.dev: requirements/dev.txt .venv/.ok
	@echo "Installing the development tools ..."
	@$(INSTALL) -r $<
	@touch $@
