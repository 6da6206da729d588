# Two commands matter: `make demo` and `make test`. Each sets up what it needs; nothing has to be installed
# before but Python 3.11 or newer, make and git.
.DEFAULT_GOAL := help
SHELL := /bin/sh
PY := .venv/bin/python

.PHONY: help demo demo-cluster test soak lint bench cluster docs clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## fine-tune and evaluate a small language model on this machine, in some minutes
	@.ci/setup demo
	@.venv/bin/kfp-trainer demo

demo-cluster: ## the same on a real control plane: operator, gang, initializers, the official SDK
	@.ci/setup all
	@$(PY) -m tests.cluster.demo

test: ## every test ring, one total each
	@.ci/setup all
	@$(PY) -m tests.rings

soak: ## the tests that count, in full counts instead of samples
	@.ci/setup all
	@KFP_TRAINER_SOAK=1 $(PY) -m tests.rings

lint: ## format, style, types, layers
	@.ci/setup all
	@.ci/lint

bench: ## measure against our peers and print the tables of docs/benchmarks.md
	@.ci/setup all
	@$(PY) -m tests.perf

cluster: ## start a real control plane on this machine; PARTS=all for everything; Ctrl-C stops it
	@.ci/setup all
	@$(PY) -m tests.cluster.control_plane $(PARTS)

docs: ## check the pages: links resolve, blocks run
	@.ci/setup all
	@$(PY) -m pytest -q tests/unit/test_docs.py tests/local/test_docs_run.py

clean: ## remove what the other verbs made here (the download cache stays)
	rm -rf .venv .lint .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build *.egg-info
