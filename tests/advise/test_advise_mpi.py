"""On real MPIs, with effects far beyond any noise: what slows broadcasts down is found to, and so is the remedy."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.tuning.samples import plan, rule, tuned, tuning
from unisono.advise.prove import Step, measured_points, verify_tuning
from unisono.advise.verify import as_is_and_tuned, compare
from unisono.core.errors import UserError
from unisono.library.native import bench_program
from unisono.machine.description import Machine
from unisono.tuning.contents import Tuning

pytestmark = pytest.mark.mpi

METRIC = "Time in seconds = *([0-9.]+)"
SLOW = tuned("pipeline", segment="16")
"""A message of 64 KiB becomes 4,096 messages."""
SIZES = (1 << 14, 1 << 16)
SLOWED = tuning(plan(1, 2, gain={"bcast": 1.0}, rules=(rule("bcast", 0, None, SLOW, sizes=SIZES),)))
REMEDY = {"coll_tuned_bcast_algorithm_segmentsize": "65536"}


def mpi_command(machine: Machine, program: Path) -> list[str]:
    assert machine.mpi is not None
    words = [machine.mpi.mpirun, "--mca", "btl", "^ofi", "-n", "2"]  # without it, every MPI_Init takes a second more
    if machine.root_user:
        words.insert(1, "--allow-run-as-root")
    return [*words, str(program)]


@pytest.fixture
def program(machine: Machine, tmp_path: Path) -> Path:
    assert machine.mpi is not None
    assert machine.mpi.mpicc is not None
    path = tmp_path / "program"
    source = Path(__file__).with_name("program.c")
    subprocess.run([machine.mpi.mpicc, "-O1", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(path)], check=True)
    return path


@pytest.fixture
def slow_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a user might have left in the environment."""
    monkeypatch.setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")
    monkeypatch.setenv("OMPI_MCA_coll_tuned_bcast_algorithm", "3")
    monkeypatch.setenv("OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize", "16")


def test_a_tuning_that_slows_a_program_down(machine: Machine, program: Path) -> None:
    lines = as_is_and_tuned(SLOWED, mpi_command(machine, program), machine)
    found = compare(*lines, metric=METRIC, runs=3, deadline=60)
    assert found.failures == []
    assert (found.verdict, found.exit_status) == ("slower", 1)
    assert "coll_tuned_dynamic_rules_filename" in found.tuned_command
    assert "coll_tuned_dynamic_rules_filename" not in found.as_is_command


@pytest.mark.usefixtures("slow_environment")
def test_a_tuning_that_speeds_a_program_up(machine: Machine, program: Path) -> None:
    remedied = tuning(plan(1, 2, REMEDY, gain={"bcast": 2.0}))
    lines = as_is_and_tuned(remedied, mpi_command(machine, program), machine)
    found = compare(*lines, metric=METRIC, runs=3, deadline=60)
    assert found.failures == []
    assert (found.verdict, found.exit_status) == ("faster", 0)
    assert found.gain is not None
    assert found.gain.mid > 1.5
    assert any("is replaced" in note for note in found.notes)


def bench(machine: Machine) -> Path:
    assert machine.mpi is not None
    return bench_program(machine.mpi.mpicc)


def proven(made: Tuning, machine: Machine) -> tuple[dict[str, str], list[Step]]:
    steps: list[Step] = []
    proof = verify_tuning(made, machine, bench(machine), pairs=3, seconds=0.02, deadline=30, progress=steps.append)
    assert proof.failures == ()
    assert json.loads(json.dumps(proof.as_dict()))["cases"][0]["gain"]["mid"] > 0
    assert proof.exit_status == int(any(case.verdict == "slower" for case in proof.cases))
    for case in proof.cases:
        assert all(len(size.as_is) == len(size.tuned) == 3 for size in case.sizes)
    return {case.collective: case.verdict for case in proof.cases}, steps


@pytest.mark.parametrize("machine", ["embedded", pytest.param("system", marks=pytest.mark.nightly)], indirect=True)
def test_the_benchmark_proves_that_rules_reach_it(machine: Machine) -> None:
    verdicts, steps = proven(SLOWED, machine)
    assert verdicts == {"bcast": "slower"}
    assert [step.number for step in steps] == [1, 2, 3, 4, 5, 6]
    assert {step.total for step in steps} == {6}
    assert sum(step.tuned for step in steps) == 3


@pytest.mark.usefixtures("slow_environment")
@pytest.mark.parametrize("machine", ["embedded", pytest.param("system", marks=pytest.mark.nightly)], indirect=True)
def test_the_benchmark_proves_a_gain(machine: Machine) -> None:
    default = plan(1, 2, gain={"bcast": 1.0}, rules=(rule("bcast", 0, None, {}, sizes=SIZES),))
    assert proven(tuning(plan(1, 2, REMEDY, gain={"bcast": 2.0}), default), machine)[0] == {"bcast": "faster"}


def test_a_default_needs_no_proof(embedded: Machine) -> None:
    made = tuning(plan(1, 2, gain={"bcast": 1.0}))
    proof = verify_tuning(made, embedded, Path("/nowhere"))
    assert [(case.verdict, case.launches, case.gain.mid) for case in proof.cases] == [("the default is kept", 0, 1.0)]
    assert proof.exit_status == 0


def test_launches_that_fail_are_recorded_and_given_up(embedded: Machine) -> None:
    broken = plan(1, 2, {"pml": "ucx", "UCX_RNDV_THRESH": "banana"}, {"bcast": 2.0})
    default = plan(1, 2, gain={"bcast": 1.0}, rules=(rule("bcast", 0, None, {}, sizes=(8,)),))
    proof = verify_tuning(tuning(broken, default), embedded, bench(embedded), pairs=5, seconds=0.005)
    assert proof.cases == ()
    assert proof.exit_status == 1
    assert [(f.tuned, f.pair) for f in proof.failures] == [(True, 0), (True, 1)]
    assert "only 0 pairs of launches worked" in proof.notes[-1]


def test_too_few_pairs(embedded: Machine) -> None:
    with pytest.raises(UserError, match="use 3 or more"):
        verify_tuning(SLOWED, embedded, Path("/nowhere"), pairs=2)


def test_the_sizes_are_those_of_all_plans_of_the_case() -> None:
    first = plan(1, 2, {"pml": "ucx"}, {"bcast": 1.2, "barrier": 1.0})
    second = plan(1, 2, gain={"bcast": 1.0}, rules=(rule("bcast", 0, None, {}, sizes=(8, 64)),))
    other = plan(1, 4, gain={"bcast": 1.0}, rules=(rule("bcast", 0, None, {}, sizes=(128,)),))
    assert measured_points(tuning(first, second, other), first) == [("bcast", 8), ("bcast", 64)]
