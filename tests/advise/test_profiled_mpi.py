"""With the real recorder: a program is profiled, advised on, and what a tuning changed in it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.advise.test_advise_mpi import SLOWED, mpi_command, program
from unisono.advise.advice import advise
from unisono.advise.evidence import TuningEvidence
from unisono.advise.measuring import measure, merged, study_for, tuning_of
from unisono.advise.mix import mix_of
from unisono.advise.recording import profile_of
from unisono.cmdline.command import Command
from unisono.commands.advising import verify_profile
from unisono.core.errors import UserError
from unisono.core.vocabulary import Case
from unisono.machine.description import Machine
from unisono.tuning import write

pytestmark = pytest.mark.mpi
__all__ = ["program"]


def test_a_program_is_profiled_and_advised_on(machine: Machine, program: Path, tmp_path: Path) -> None:
    line = Command(mpi_command(machine, program), {}, None, [])
    mix = mix_of(profile_of(line, 60, machine, tmp_path))
    assert mix.world == (1, 2)
    bcast = next(spot for spot in mix.spots if spot.function == "MPI_Bcast")
    assert (bcast.case, bcast.calls, bcast.where) == (Case("bcast", 1, 2), 5, "main")
    assert bcast.uses[0].size == 1 << 18
    advice = advise(mix, SLOWED, [TuningEvidence(SLOWED)], program=line.shell)
    assert advice.chosen is None
    assert any(gap.case == Case("bcast", 1, 2) for gap in advice.gaps) == (mix.share(bcast.time) >= 0.005)
    assert not list(tmp_path.glob(".recording-*"))


@pytest.mark.parametrize("machine", ["embedded"], indirect=True)
def test_what_a_tuning_changed_in_a_program(
    machine: Machine,
    program: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(SLOWED, tmp_path / "tuning.toml")
    line = mpi_command(machine, program)
    found = verify_profile(tmp_path / "tuning.toml", line, machine, runs=1, timeout="60", chosen=None)
    slower = next(call for call in found.changed if call.function == "MPI_Bcast")
    assert slower.after.mid > slower.before.mid
    assert not list(tmp_path.glob(".unisono-*"))


def test_a_program_that_fails_under_the_recorder(embedded: Machine, tmp_path: Path) -> None:
    assert embedded.mpi is not None
    root = ["--allow-run-as-root"] if embedded.root_user else []
    line = Command([embedded.mpi.mpirun, *root, "-n", "2", "/bin/false"], {}, None, [])
    with pytest.raises(UserError):
        profile_of(line, 60, embedded, tmp_path)


def test_just_what_is_wanted_is_measured_and_continued(embedded: Machine, bench: Path, tmp_path: Path) -> None:
    wanted = {Case("alltoall", 1, 2): (3000,), Case("allreduce", 1, 2): (1,)}
    study = study_for(wanted, embedded)
    begun: list[int] = []
    for _ in range(2):
        measure(tmp_path / "study.db", study, wanted, embedded, bench, 2.0)
        data = merged([tmp_path / "study.db"])
        begun.append(len(data.launches))
        assert {(s.case, s.size) for s in data.samples} <= {(case, max(size, 4)) for case, (size,) in wanted.items()}
    assert 0 < begun[0] <= begun[1]
    assert tuning_of(data).plan[0].gain
