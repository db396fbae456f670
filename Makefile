# The one entry. `make` alone lists the targets; each makes what it needs first.
# Overridable: PYTHON (an interpreter, 3.11 or newer), JOBS (test processes at once), SEED (of random trials).

VENV := .venv
BIN := $(VENV)/bin
CLIENTS := build/clients/.installed
SANDBOX := build/.sandbox
JOBS ?= 3
CODE := $(wildcard src tests benchmarks)
FAST := $(wildcard tests/unit tests/property tests/contract tests/architecture)
# From the commit: two runs of one commit try the same, and the next commit something else.
SEED ?= $(shell printf '%d' 0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0))
PYTEST := TEST_SEED=$(SEED) $(BIN)/python -m pytest -q --hypothesis-seed=$(SEED)
# Here several tests run at once, on a machine that others use, too: one that fails is tried once more, by itself.
define SECOND_TRY
== THE TESTS THAT FAILED, ONCE MORE AND ALONE
   Whichever passes now is not well: it, or what it tests, depends on chance. Mend it; its first failure is above.
endef
export SECOND_TRY
# Whoever is done takes over from the others: slow tests stand together.
SHARED := -n $(JOBS) --dist worksteal

# `python3` when it is new enough, else the newest versioned one that starts.
ifndef PYTHON
PYTHON := $(shell for candidate in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$candidate; break; }; done)
endif

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo check test lint bench bench-merge fix docs clean

help: ## list the targets
	@echo "lineclear: make TARGET"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.runtime ## watch four agents build a shop, without and with lineclear (needs no test tools)
	@$(BIN)/lineclear demo

check: lint ## format, lint, types, layers, and the fast tests: before every commit
	@echo "== tests (unit, property, contract, architecture)"
	@$(PYTEST) $(SHARED) -m "not slow and not serial" $(FAST)

test: lint $(CLIENTS) $(SANDBOX) ## everything: the linters and all tests
	@echo "== tests (seed $(SEED))"
	@$(PYTEST) $(SHARED) -m "not serial" || { [ $$? -eq 1 ] && echo "$$SECOND_TRY" && $(PYTEST) -v -m "not serial" --last-failed; }
	@echo "== tests that need the machine for themselves"
	@$(PYTEST) -m serial || [ $$? -eq 5 ]  # 5: there is none

lint: $(VENV)/.dev
	@echo "== format"
	@$(BIN)/ruff format --check --output-format=concise $(CODE)
	@echo "== lint"
	@$(BIN)/ruff check --quiet $(CODE)
	@echo "== types"
	@$(BIN)/mypy $(CODE)
	@echo "== layers"
	@$(BIN)/lint-imports --no-logo

bench: $(VENV)/.dev ## measure, and print ratios to floors measured in the same run
	@$(BIN)/python -m benchmarks

bench-merge: $(VENV)/.dev ## score the merge engine on real conflicts (LINECLEAR_MERGE_CASES=DIR)
	@$(BIN)/python -m benchmarks.merge

fix: $(VENV)/.dev ## format, and repair what ruff can repair
	@$(BIN)/ruff check --fix --exit-zero $(CODE)
	@$(BIN)/ruff format $(CODE)

docs: $(VENV)/.dev ## write the generated part of the reference
	@$(BIN)/python docs/generate.py

clean: ## remove caches and build results (.venv stays)
	@rm -rf build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

# -- the virtual environment -------------------------------------------------------------------

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "lineclear needs Python 3.11 or newer, and none was found." \
		"Next: run \`make PYTHON=/path/to/python3.11\`." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual" \
		"environments: its venv or ensurepip module is missing." \
		"Next: run \`apt install python3-venv\` (Debian, Ubuntu)." >&2; exit 1; }
	@echo "== $(VENV) ($$($(PYTHON) --version))"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: $(BIN)/python pyproject.toml
	@echo "== install"
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	@echo "== install, with the tools for development"
	@$(BIN)/python -m pip install --quiet --editable '.[dev,postgres]'
	@touch $(VENV)/.runtime $@

# -- the real clients that the end-to-end tests start -------------------------------------------

$(CLIENTS): tests/clients/package.json tests/clients/package-lock.json | $(VENV)/.dev
	@echo "== install, real clients for the end-to-end tests"
	@$(BIN)/python -m tests.install_clients && touch $@ || [ "$$CI" != true ]

# -- bubblewrap and git-lfs, for the tests of the sandbox, and iproute2, for machines in namespaces --

$(SANDBOX):
	@mkdir -p $(@D)
	@{ command -v bwrap && command -v ip && command -v git-lfs; } >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& echo "== install, bubblewrap, git-lfs and iproute2 for tests" && apt-get -qq update \
		&& apt-get -qq install --yes --no-install-recommends bubblewrap git-lfs iproute2 >/dev/null; } \
		|| echo "bubblewrap, git-lfs or iproute2 is missing: the tests of the sandbox will be left out (with CI=true" \
		"they fail), and those of a team do without namespaces"
	@touch $@
