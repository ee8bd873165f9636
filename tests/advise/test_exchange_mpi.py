"""On real MPIs: what a program of messages would gain is predicted from its own sizes and partners, once measured."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.advise.test_replayed_mpi import machine as machine
from unisono.advise.advice import advise
from unisono.advise.evidence import StudyEvidence
from unisono.advise.gaps import gaps
from unisono.advise.kinds import MESSAGES
from unisono.advise.measuring import matrix_for, merged, study_for, tuning_of
from unisono.advise.mix import mix_of
from unisono.advise.recording import profile_of
from unisono.cmdline.command import Command
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Condition, Setting
from unisono.library.native import bench_program
from unisono.machine.description import Machine
from unisono.profile.steps import IRECV, ISEND, WAIT
from unisono.study.begin import begin
from unisono.study.config import Measure
from unisono.study.engine import Engine, Item, Task

pytestmark = pytest.mark.mpi

CASE = Case("exchange", 1, 2)
PROGRAM = Path(__file__).with_name("ring.c")
THRESHOLD = Setting({"pml": "ucx", "UCX_RNDV_THRESH": "16kb"})


def test_launch_settings_are_measured_with_a_programs_own_messages(machine: Machine, tmp_path: Path) -> None:
    assert machine.mpi is not None and machine.mpi.mpicc is not None
    program = tmp_path / "ring"
    subprocess.run([machine.mpi.mpicc, "-O1", "-Wall", "-Werror", str(PROGRAM), "-o", str(program)], check=True)
    root = ["--allow-run-as-root"] if machine.root_user and machine.mpi.family == "openmpi" else []
    line = Command([machine.mpi.mpirun, *root, "-n", "2", str(program), "500"], {}, None, [])
    mix = mix_of(profile_of(line, 120, machine, tmp_path))
    (gap,) = gaps(mix, [])
    one_rank = ((0, IRECV, 1, 65536), (0, ISEND, 1, 65536), (0, WAIT, 0, 0), (0, ISEND, 1, 8), (0, IRECV, 1, 8))
    assert (gap.case, gap.sizes) == (CASE, (65536,))
    assert tuple(action[:4] for action in gap.condition.step if action[0] == 0) == one_rank
    assert gap.condition == Condition(step=gap.condition.step)
    assert {spot.sizes_text for spot in mix.spots if spot.function == "MPI_Isend"} == {"64 KiB"}

    # MPICH's own settings are not known to Unisono: there it is the default alone.
    settings = [DEFAULT, THRESHOLD] if machine.mpi.family == "openmpi" else [DEFAULT]
    study = study_for({CASE: gap.sizes}, machine)
    matrix = matrix_for(study, machine, {CASE: gap.sizes}, conditions=mix.conditions)
    assert set(settings) <= set(matrix.cases[0].settings) and matrix.cases[0].condition == gap.condition
    path, measure = tmp_path / "program.db", Measure(seconds=0.01, min_repetitions=4, max_repetitions=50)
    with begin(path, study, machine, matrix) as store:
        engine = Engine(
            store,
            machine,
            bench_program(machine.mpi.mpicc),
            scope=CALL_SCOPE,
            measure=measure,
            oversubscribe=False,
            limits=False,
        )
        for round in range(1, 4 if len(settings) > 1 else 2):
            for launch in settings:
                engine.run(Task(launch, 1, 2, round, (Item(CASE, 65536, (launch,), gap.condition),)))

    data = merged([path])
    assert {(s.case, s.size, s.condition, s.correct) for s in data.samples} == {(CASE, 65536, gap.condition, True)}
    tuning = tuning_of(data)
    found = advise(mix, tuning, [StudyEvidence(data, tuning)])
    assert found.gaps == ()
    assert any("the program's own sizes and partners" in sentence for sentence in found.sentences())
    assert {p.launch for p in found.predictions} >= set(settings)
    told = [s for p in found.predictions for s in p.spots if p.launch in settings and s.spot.kind == MESSAGES]
    assert told and all(s.effect is not None for s in told)
