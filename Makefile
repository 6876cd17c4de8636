# Each command sets up what it needs by itself: `.venv` with pinned packages, and for the tests OpenClaw with its Node.
.DEFAULT_GOAL := help
.PHONY: help run test soak bench lint format docs screenshots clean

help:  ## say what there is
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile | expand -t 12

run:  ## Limpet on this machine: its status where OpenClaw is, else a recorded day to try it on
	@tools/venv.sh run
	@tools/run.sh

test:  ## every test but the long ones; with npm also those on a real OpenClaw gateway
	@tools/venv.sh dev
	@tools/test.sh

soak:  ## the long tests
	@tools/venv.sh dev
	@tools/test.sh soak

bench:  ## what it costs, as ratios: hours at first (databases of ten million events are made), minutes then
	@tools/venv.sh dev
	.venv/bin/python -m benchmarks

lint:  ## format, rules, types, floors, generated documentation
	@tools/venv.sh dev
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/cog --check docs/schema.md docs/commands.md

format:  ## put the code into shape
	@tools/venv.sh dev
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

docs:  ## make docs/schema.md and docs/commands.md again from the code
	@tools/venv.sh dev
	.venv/bin/cog -r docs/schema.md docs/commands.md

screenshots:  ## pictures of the page on the demo day, with Chromium, into build/screenshots
	@tools/venv.sh dev
	.venv/bin/python tools/screenshots.py

clean:  ## remove everything that these commands made here
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
