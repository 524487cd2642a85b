# One command for each purpose; everything is installed into .venv, nothing outside it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Tests start Python hundreds of times: without bytecode on disk each start compiles our sources.
unexport PYTHONDONTWRITEBYTECODE
ONE_THREAD := NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1

.PHONY: demo docs test test-slurm-quick test-slurm-versions quick check fuzz bench bench-rltune bench-marl \
	bench-adlro bench-mig bench-slurm bench-fidelity clean
.DEFAULT_GOAL := help

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/'
.PHONY: help

demo: $(VENV)/.installed  ## compare scheduling policies on a synthetic workload: table and report
	@mkdir -p demo
	$(BIN)/dovetail compare synth:helios --cluster 80x8:v100 --jobs 20000 --seed 0 \
		--json demo/compare.json --report demo/report.html

docs: $(VENV)/.docs  ## the documents as a site, in build/docs/index.html
	$(BIN)/python -m sphinx -b html --fresh-env --write-all --fail-on-warning --keep-going --quiet docs build/docs

test: $(VENV)/.dev  ## everything that CI checks: style, types, layers, tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache
	@echo "$(BIN)/mypy, beside the tests: those of the live part mostly wait for Slurm"
	@$(BIN)/mypy & types=$$!; \
	$(ONE_THREAD) $(BIN)/python -m tests.warm_up; \
	$(ONE_THREAD) $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder; tests=$$?; \
	wait $$types && exit $$tests

test-slurm-quick: $(VENV)/.dev  ## the tests that speak with Slurm most, on Debian trixie's and sid's; root
	$(ONE_THREAD) $(PYTHON) -m tests.slurm_versions check quick

test-slurm-versions: $(VENV)/.dev  ## all live tests on three versions of Slurm, most of an hour; root
	$(ONE_THREAD) $(BIN)/python -m pytest tests/live
	$(ONE_THREAD) $(PYTHON) -m tests.slurm_versions check everything

quick: $(VENV)/.dev  ## the tests for every save: no Slurm, no training, a minute or so
	$(BIN)/ruff check
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --quick

check: test  ## the same

bench: $(VENV)/.dev  ## measure what the README says about speed
	$(ONE_THREAD) $(BIN)/python -m benchmarks.run

bench-rltune: $(VENV)/.dev  ## choose, learn and compare on six real traces, hours
	$(ONE_THREAD) $(BIN)/python -m benchmarks.run rltune forward training inference environment lublin

bench-marl: $(VENV)/.dev  ## two agents, selector and allocator, on five histories, many hours
	$(ONE_THREAD) $(BIN)/python -m benchmarks.run marl marl_loads marl_headroom
	$(ONE_THREAD) $(BIN)/python -m benchmarks.marl --objective slowdown --arms pair

bench-adlro: $(VENV)/.dev  ## train and compare on GPUs of three types, a quarter of an hour
	$(ONE_THREAD) $(BIN)/python -m benchmarks.run adlro telemetry encoding wear

bench-mig: $(VENV)/.dev  ## train and compare on sliced GPUs, half an hour
	$(ONE_THREAD) $(BIN)/python -m benchmarks.run mig

bench-slurm: $(VENV)/.dev  ## a real Slurm with and without Dovetail, half an hour; root, Debian's Slurm
	$(ONE_THREAD) $(BIN)/python -m benchmarks.run slurm
	$(BIN)/python -m benchmarks.slurm_tables

bench-fidelity: $(VENV)/.dev  ## 2 x 1,000 jobs through a real Slurm and the simulator, half an hour
	$(ONE_THREAD) $(BIN)/python -m benchmarks.run fidelity

fuzz: $(VENV)/.dev  ## spoilt input for every reader and fresh cases for tests, half an hour
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz --cases 30000 --oracle-minutes 12

clean:  ## remove the environment, caches and the demo's output
	rm -rf $(VENV) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# All installs are editable: whatever order the targets run in, the code is that of the folder.
$(VENV)/.installed: $(VENV)/.made pyproject.toml
	@echo "installing Dovetail into $(VENV)"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml
	@echo "installing Dovetail and the site's generator into $(VENV)"
	@$(PIP) install --editable '.[docs]'
	@touch $@ $(VENV)/.installed

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	@echo "installing Dovetail and its checks into $(VENV)"
	@$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/.docs $(VENV)/.installed

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Dovetail needs Python 3.11 or later; name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
		exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update -qq && apt-get install -y -qq python3-venv; \
		else \
			echo "Python's venv module is missing; on Debian: sudo apt install python3-venv"; \
			exit 1; \
		fi; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@
