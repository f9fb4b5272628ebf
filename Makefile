# Anamnesis: `make help` lists the tasks. Everything is set up in .venv on first use.

PYTHON ?= python3
PYTHONS ?= $(PYTHON)
VENV := .venv
BIN := $(VENV)/bin
TORCH_INDEX ?=
STARTER := $(shell find tools/library/starter tools/knowledge_graph/starter -type f)
ADVISORIES ?= https://api.osv.dev/v1/query
Q ?= A 58-year-old man has had crushing central chest pain for 40 minutes. It spreads to his left arm and jaw, came on at rest, and he is sweating and nauseated. He smokes and takes tablets for high blood pressure. No fever, no cough.
# Compiled modules are kept beside the environment: the tests and the command start many processes.
export PYTHONPYCACHEPREFIX := $(abspath $(VENV))/bytecode
export PYTHONDONTWRITEBYTECODE :=
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
TORCH := $(INSTALL) --require-hashes --no-deps --no-warn-conflicts -r deploy/lock/torch.txt

.PHONY: help ask test test-slow eval-smoke lint audit wheel sbom lock format bench house screenshots studio docs setup clean

help: ## List the tasks
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

# What answers a question. Every file is held to its hash. PyPI's torch for Linux needs a graphics card's libraries, its
# CPU build does not: a build that pip finds on this machine (its `find-links`) is taken before one of an index.
$(VENV)/core: constraints.txt pyproject.toml $(wildcard deploy/lock/*.txt)
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11.5 or newer is needed." if sys.version_info < (3, 11, 5) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(TORCH) --no-index 2>/dev/null || $(TORCH) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX))
	test -e $(VENV)/lib/python*/site-packages/torch-*+cpu.dist-info || $(INSTALL) --require-hashes -r deploy/lock/cuda.txt
	$(INSTALL) --require-hashes -r deploy/lock/core.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

# And what tests, evaluations and every extra need.
$(VENV)/installed: $(VENV)/core
	$(INSTALL) --require-hashes -r deploy/lock/dev.txt
	$(BIN)/python -m pip check
	touch $@

# What every message needs; the rest is built by `setup`, or when a message first needs it.
$(VENV)/minimal: $(VENV)/core $(STARTER)
	$(BIN)/anamnesis setup --minimal
	touch $@

$(VENV)/built: $(VENV)/core $(STARTER)
	$(BIN)/anamnesis setup
	touch $@ $(VENV)/minimal

$(VENV)/ready: $(VENV)/installed $(VENV)/built
	touch $@

setup: $(VENV)/ready ## Make the environment and build what is slow to build once

ask: $(VENV)/minimal ## Answer a case or question in the terminal: make ask Q="..."
	@$(BIN)/anamnesis ask "$$Q"

test: $(VENV)/ready ## Set up and pass the tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist worksteal # a process a core

test-slow: $(VENV)/ready ## Pass the tests that need a minute and a real model server
	$(INSTALL) --constraint constraints.txt --editable '.[dev,model-server]'
	$(BIN)/python -m pytest -m slow

eval-smoke: $(VENV)/ready ## Hold a sample of the evaluations to what is expected (under three minutes)
	$(BIN)/anamnesis eval smoke

lint: $(VENV)/installed ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

audit: $(VENV)/installed ## Ask whether a known fault is in what is installed (sends names and versions to ADVISORIES)
	$(BIN)/python deploy/audit.py --advisories $(ADVISORIES) deploy/lock/torch.txt deploy/lock/dev.txt

wheel: ## Install the wheel in an empty environment of every Python named in PYTHONS, and try it there
	deploy/try_wheel.sh $(PYTHONS)

sbom: $(VENV)/installed ## Write sbom.json: every package with its version and licence (CycloneDX)
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o sbom.json $(BIN)/python

lock: $(VENV)/installed ## Write the hashed locks again from pyproject.toml and constraints.txt
	$(INSTALL) --constraint constraints.txt uv
	deploy/lock/write.sh $(BIN)/uv

format: $(VENV)/installed ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/ready ## Measure speed and memory, and the path by a language model under every fault
	$(BIN)/anamnesis dev bench
	$(BIN)/anamnesis dev bench model
	$(BIN)/anamnesis dev bench faults

house: $(VENV)/ready ## Measure how large the code is, and how much of it a turn runs through
	@$(BIN)/anamnesis dev bench house

screenshots: $(VENV)/ready ## Draw the pictures of the page that the docs show again (needs Chromium)
	@$(BIN)/anamnesis dev bench page --pictures docs/images

studio: $(VENV)/ready ## Open the machine in LangGraph's development server
	$(INSTALL) --constraint constraints.txt --editable '.[studio]'
	LANGGRAPH_CLI_NO_ANALYTICS=1 $(BIN)/langgraph dev --no-browser --allow-blocking

docs: $(VENV)/installed ## Build the documentation site in .site; a broken link or a page without a place is a failure
	$(BIN)/sphinx-build -q -W --keep-going -c docs . .site
	echo '<meta http-equiv="refresh" content="0; url=docs/index.html">' > .site/index.html

clean: ## Remove the environment (the data folder stays)
	rm -rf $(VENV)

export Q
