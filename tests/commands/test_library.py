"""Our own collectives for real: measured by a study, named by a tuning, served to a program, checked by export."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.commands.program import unisono
from tests.tuning.samples import plan, rule
from tests.tuning.samples import tuning as example
from unisono.core.vocabulary import Setting, is_ours
from unisono.export.served import rows
from unisono.inventory.describe import describe
from unisono.machine.description import Machine
from unisono.parameters.spelling import require_mpi
from unisono.study.begin import stored_candidates
from unisono.study.ours import from_text
from unisono.study.store import Store
from unisono.tuning import read, write
from unisono.tuning.plans import Plan

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
STUDY = """
[study]
name = "ours"
[cases]
collectives = ["allreduce", "bcast"]
ppn = [2]
[sizes]
from = 8
to = "32K"
step = 64
[parameters]
coll = ["unisono"]
[method]
launches = 2
[measure]
seconds = 0.002
min_repetitions = 3
max_repetitions = 30
timeout = "20s"
"""
PROGRAM = Path(__file__).parents[1] / "advise" / "program.c"


@pytest.fixture(scope="session")
def mpich() -> Machine:
    launcher = shutil.which("mpirun.mpich")
    if launcher is None or shutil.which("mpicc.mpich") is None:
        pytest.skip("no MPICH of the distribution with its mpicc")
    return describe(launcher)


@pytest.fixture(params=["embedded", pytest.param("system", marks=pytest.mark.nightly), "mpich"], scope="module")
def machine(request: pytest.FixtureRequest) -> Machine:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Machine)
    return found


def line_of(machine: Machine, program: Path) -> list[str]:
    """What a user types. Where Open MPI has btl/ofi, every MPI_Init takes a second more with it."""
    mpi = require_mpi(machine)
    component = ["--mca", "btl", "^ofi"] if "ofi" in mpi.components.get("btl", []) else []
    return [mpi.mpirun, *component, "-n", "2", str(program)]


def of_mpi(machine: Machine) -> list[str]:
    mpi = require_mpi(machine)
    return ["--mpirun", mpi.mpirun, *(["--mpicc", mpi.mpicc] if mpi.mpicc else [])]


@pytest.fixture(scope="module")
def measured(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a finished study of our own algorithms."""
    folder = tmp_path_factory.mktemp("ours")
    (folder / "ours.toml").write_text(STUDY)
    done = unisono("tune", folder / "ours.toml", "-o", folder, "--no-verify", *of_mpi(machine), env=ROOT)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def program(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "app"
    mpicc = require_mpi(machine).mpicc
    assert mpicc is not None
    subprocess.run([mpicc, str(PROGRAM), "-o", str(path)], check=True, timeout=60)
    return path


@pytest.fixture(scope="module")
def tuning(measured: Path) -> Path:
    """One that names, whatever was fastest, the first of our algorithms for each collective."""
    with Store.open(measured / "study.db") as store:
        offered = from_text(stored_candidates(store) or "[]")[1, 2, None]
    rules = tuple(
        rule(name, 0, None, {"coll": "unisono", "algorithm": offered[name][0].name}, sizes=(8, 1 << 15))
        for name in ("allreduce", "bcast")
    )
    plans: tuple[Plan, ...] = (
        plan(ppn=2, launch={"preload": "unisono"}, gain={"allreduce": 2.0, "bcast": 2.0}, rules=rules),
        plan(ppn=2, gain={"allreduce": 1.0, "bcast": 1.0}),
    )
    path = measured / "named.toml"
    write(example(*plans), path)
    return path


def test_every_launch_has_the_library_and_every_algorithm_is_right(measured: Path) -> None:
    with Store.open(measured / "study.db") as store:
        samples, launches = store.samples(), store.launches()
    ours = {(sample.case.collective, sample.setting) for sample in samples if is_ours(sample.setting)}
    assert {collective for collective, _ in ours} == {"allreduce", "bcast"}
    assert all(sample.correct for sample in samples)
    assert all("libunisono.so" in launch.command for launch in launches)
    assert {launch.setting for launch in launches} == {Setting()}
    made = read(measured / "tuning.toml")
    assert made.costs.node_latency is not None
    assert {plan.launch for plan in made.plan} <= {Setting(), Setting({"preload": "unisono"})}


def test_a_program_is_served_as_the_tuning_says(machine: Machine, tuning: Path, program: Path) -> None:
    (named,) = [rule for rule in read(tuning).plan[0].rules if rule.collective == "bcast"]
    line = line_of(machine, program)
    done = unisono("run", "--tuning", tuning, "--", *line, env={**ROOT, "UNISONO_VERBOSE": "1"})
    assert done.returncode == 0, done.stderr
    assert "Time in seconds" in done.stdout
    served = [row for row in rows(done.stdout + done.stderr) if row.collective == "bcast"]
    assert [(row.word, row.calls) for row in served] == [(f"unisono/{named.call['algorithm']}", 5)]


def test_the_export_is_checked_by_who_served(machine: Machine, tuning: Path, tmp_path: Path) -> None:
    words = ["--format", "rules", "-o", str(tmp_path), "--check", "--json", *of_mpi(machine)]
    done = unisono("export", tuning, *words, env=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)["check"]
    assert found["taken"]
    assert {item["wanted"] for item in found["items"]} <= {item["found"] for item in found["items"]}
    assert len(found["items"]) >= 4


def test_what_the_library_does_not_read_is_noticed(machine: Machine, tuning: Path, tmp_path: Path) -> None:
    words = ["--format", "rules", "-o", str(tmp_path), *of_mpi(machine)]
    assert unisono("export", tuning, *words, env=ROOT).returncode == 0
    path = tmp_path / "unisono-rules.conf"
    path.write_text(path.read_text().replace("bcast 1 2 0 max unisono/", "bcast 1 2 0 max mpi # "))
    done = unisono("export", tuning, *words, "--check", env=ROOT)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "NOT TAKEN" in done.stdout


@pytest.mark.parametrize("machine", ["embedded"], indirect=True)
def test_default_against_tuned_on_a_program(machine: Machine, tuning: Path, program: Path) -> None:
    line = line_of(machine, program)
    words = ["--metric", "Time in seconds = *([0-9.]+)", "--runs", "3", "--json", "--", *line]
    done = unisono("verify", "--tuning", tuning, *words, env=ROOT)
    assert done.returncode in (0, 1, 3), done.stderr  # 3: runs differ too much to tell
    document = json.loads(done.stdout)
    assert "LD_PRELOAD" in document["tuned_command"]
    assert "LD_PRELOAD" not in document["as_is_command"]
