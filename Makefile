# Needs Python 3.11 or newer and nothing else; everything goes into .venv and var.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TORCH ?= torch==2.13.0

.PHONY: demo test lint hostile chaos soak load fuzz bench clean image
.DEFAULT_GOAL := demo

$(VENV)/.ready: pyproject.toml scripts/setup.sh
	PYTHON=$(PYTHON) VENV=$(VENV) TORCH='$(TORCH)' sh scripts/setup.sh
	@touch $@

demo: $(VENV)/.ready ## set up, start everything, judge a right and a wrong softmax, keep serving
	$(BIN)/python -m scripts.demo $(if $(ONCE),--once)

test: $(VENV)/.ready ## lint and the whole test suite, as CI runs it
	$(MAKE) lint
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

hostile: $(VENV)/.ready ## the hostile submissions with those that take long
	KERNELJUDGE_HOSTILE=all $(BIN)/python -m pytest tests/hostile tests/chaos

SUBMISSIONS ?= 300
chaos: $(VENV)/.ready ## judge submissions while everything that can fail does: make chaos SEED=7
	$(BIN)/python -m tests.chaos --submissions $(SUBMISSIONS) $(if $(SEED),--seed $(SEED))

MINUTES ?= 20
soak: $(VENV)/.ready ## honest and hostile work, mixed: make soak MINUTES=20
	$(BIN)/python -m tests.chaos.soak --minutes $(MINUTES)

load: $(VENV)/.ready ## fifty submissions at once by ten users, five hundred watching
	$(BIN)/python -m tests.chaos.load

SECONDS ?= 60
fuzz: $(VENV)/.ready ## what reads hostile bytes, guided by coverage: make fuzz SECONDS=3600
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[fuzz]'
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

bench: $(VENV)/.ready ## every benchmark; prints figures, fails on none
	for file in benchmarks/bench_*.py; do $(BIN)/python -m benchmarks.$$(basename $$file .py); done

bench-clock: $(VENV)/.ready ## on a GPU: how true, how steady and how sharp the clock is
	$(BIN)/python benchmarks/bench_clock.py

bench-throughput: $(VENV)/.ready ## how many submissions one GPU judges in an hour
	$(BIN)/python -m benchmarks.bench_throughput

bench-api: $(VENV)/.ready ## how fast the board of a task with 100,000 submissions answers
	$(BIN)/python -m benchmarks.bench_api
	$(BIN)/python -m benchmarks.bench_api --accounts

image: $(VENV)/.ready ## as root: the steps of the service's image in a plain Debian folder
	$(BIN)/python -m scripts.image_steps web build/images

clean:
	rm -rf $(VENV) var build
