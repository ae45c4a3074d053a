# Two commands on a fresh machine with python3 and make: `make train` and `make test`.
# Both build .venv when requirements changed and re-use it when nothing did.

PYTHON ?= python3
BIN := .venv/bin
export OMP_NUM_THREADS ?= 1
export HF_HUB_OFFLINE ?= 1

.DEFAULT_GOAL := help
.PHONY: help train test coverage test-long check format types size docs bench clean system

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.venv/ready: pyproject.toml constraints.txt
	@echo "==> setting up .venv (minutes the first time, seconds after that)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable ".[dev]"
	@touch $@

train: .venv/ready  ## set everything up and run the main job on the embedded default
	@echo "==> lore train: a small network on 1,797 real handwritten digits, with the watch on; leaves a report under runs/"
	@$(BIN)/lore train

test: .venv/ready system  ## set everything up and run the tests
	@echo "==> ruff and mypy"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@echo "==> pytest"
	@$(BIN)/python -m pytest -n 2 -m "not long"

coverage: .venv/ready  ## the tests again, with the share of lines they run
	@$(BIN)/python -m pytest -n 2 -m "not long" --cov --cov-report=term

test-long: .venv/ready system  ## the long tests too: soak, fuzz, many kills
	@$(BIN)/python -m pytest -n 2 -m long

system:  # parts that no Python package carries; only root can install them, elsewhere the tests that need them skip
	@tools/system.sh

check: .venv/ready  ## lint, types and our own checker over our own code
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lore check src

format: .venv/ready  ## format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix-only --quiet .

docs: .venv/ready  ## build the handbook as a web page into site/
	@$(BIN)/lore notes --build site

bench: .venv/ready  ## every figure that README and docs state
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable ".[dev,bench]"
	@$(BIN)/python bench/run.py

clean:  ## remove the environment and everything built
	rm -rf .venv site build dist .mypy_cache .ruff_cache .pytest_cache
