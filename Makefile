# `make study` runs the main job, `make test` everything that CI runs. Each sets up what it needs; nothing else is asked.
SHELL := /bin/sh
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && { echo "$$p"; break; }; done)
RUN := .venv/bin/python
PIP := $(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help study test quick off lint clean

help:
	@echo "make study   the questions on the embedded corpus; prints where the report is"
	@echo "make test    lint, format, types and all tests (make quick: without the slow ones)"
	@echo "make off     quick tests with contracts off, arrays checked by jaxtyping + beartype instead; part of make test"
	@echo "make lint    ruff and mypy alone"
	@echo "make clean   removes the virtual environment and caches, keeps runs/ and results/"

study: .venv/installed
	$(RUN) -m experiments.cli study

test: lint
	$(RUN) -m pytest -n 2
	$(MAKE) off

quick: .venv/installed-dev
	$(RUN) -m pytest -n 2 -m "not slow"

# What holds with contracts holds without; and there jaxtyping's own hook judges the arrays of the same functions, by
# the checker in tests/second_net.py, and JAX its own invariants. The quick tests of the rooms whose functions take arrays.
off: .venv/installed-dev
	CONTRACTS=off JAX_ENABLE_CHECKS=1 $(RUN) -m pytest -q -n 2 -m "not slow" --ignore tests/contracts/test_switch.py \
		--ignore tests/contracts/laws --ignore tests/research/model/test_query_blocks.py \
		--jaxtyping-packages=research.model,research.stream,research.evaluate,research.generate,second_net.check \
		tests/contracts tests/research/model tests/research/stream tests/research/evaluate \
		tests/research/generate/test_generate.py tests/research/train/test_train_step.py

lint: .venv/installed-dev
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "bytebound needs Python 3.11, 3.12 or 3.13; none was found. Set PYTHON=..." >&2; exit 1; }
	"$(PYTHON)" -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	@echo "installing bytebound and its pinned dependencies into .venv (a minute or two, once)"
	$(PIP) --editable .
	@touch $@

.venv/installed-dev: .venv/installed
	@echo "installing what the tests need"
	$(PIP) --editable ".[dev,interop,data,cluster,tracking]"
	@touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
