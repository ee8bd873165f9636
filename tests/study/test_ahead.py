"""Launches that start together: real ones, of a benchmark that notes when each begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from unisono.cmdline.command import Command, command
from unisono.core.errors import LaunchError
from unisono.core.vocabulary import DEFAULT
from unisono.machine.description import Machine
from unisono.mpi.launchers import hydra, mpirun, srun
from unisono.study.ahead import Ahead, together

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

Line = Callable[..., Command]


@pytest.fixture
def line(tmp_path: Path, embedded: Machine, bench: Path) -> Line:
    def line(number: int, first: str = ":", both: str = ":") -> Command:
        """Two ranks of the benchmark. Before, the `first` does something and is noted, then they `both` do."""
        script = tmp_path / f"launch{number}"
        noted = f'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then {first}; echo {number} >> {tmp_path}/begun; fi'
        script.write_text(f"#!/bin/sh\n{noted}\n{both}\nexec {bench}\n")
        script.chmod(0o755)
        return command(embedded, DEFAULT, 1, 2, [str(script)])

    return line


@pytest.fixture
def ahead() -> Iterator[Ahead]:
    made = Ahead()
    yield made
    made.close()


def _begun(folder: Path) -> list[str]:
    return sorted((folder / "begun").read_text().split())


def _all_end(pids: Sequence[str]) -> bool:
    """Whoever adopted them may take a moment to see that they did."""
    end = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def _measures(ahead: Ahead, line: Command, *beside: Command) -> None:
    with ahead.launch(line, beside) as session:
        (timing,) = session.measure("allreduce", 8, [0], seconds=0.001, min_reps=3, max_reps=10)
        assert timing.correct


def test_those_that_come_next_start_with_the_first(tmp_path: Path, line: Line, ahead: Ahead) -> None:
    lines = [line(number) for number in range(3)]
    with ahead.launch(lines[0], lines[1:]):
        assert _begun(tmp_path) == ["0", "1", "2"]
    _measures(ahead, lines[1], lines[2])
    _measures(ahead, lines[2])
    assert _begun(tmp_path) == ["0", "1", "2"]  # each started once


def test_nothing_is_left(tmp_path: Path, line: Line, ahead: Ahead) -> None:
    """Neither what was measured, nor what was not wanted after all."""
    lines = [line(number, f"echo $$ >> {tmp_path}/pids") for number in range(3)]
    with ahead.launch(lines[0], lines[1:]):
        pass
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 3 and all(Path(f"/proc/{pid}").exists() for pid in pids)
    ahead.close()
    assert _all_end(pids)


def test_what_is_interrupted_leaves_nothing(tmp_path: Path, line: Line, ahead: Ahead) -> None:
    lines = [line(number, f"echo $$ >> {tmp_path}/pids") for number in range(2)]
    with pytest.raises(KeyboardInterrupt), ahead.launch(lines[0], lines[1:]):
        raise KeyboardInterrupt
    ahead.close()
    assert _all_end((tmp_path / "pids").read_text().split())


def test_nobody_is_blamed_for_what_does_not_go_beside_others(tmp_path: Path, line: Line, ahead: Ahead) -> None:
    """A machine where one job at a time may run: all are measured, one after another."""
    one_at_a_time = f"exec 9>{tmp_path}/lock; flock -n 9 || exit 1"
    lines = [line(number, one_at_a_time) for number in range(3)]
    _measures(ahead, lines[0], *lines[1:])
    _measures(ahead, lines[1], lines[2])
    _measures(ahead, lines[2])
    assert _begun(tmp_path)[-3:] != ["2", "2", "2"]


def test_what_fails_alone_fails(line: Line, ahead: Ahead) -> None:
    """Beside others it is not held against those, which start together from then on, too."""
    lines = [line(0), line(1, both="exit 3"), line(2)]
    _measures(ahead, lines[0], *lines[1:])
    with pytest.raises(LaunchError, match="exit status 3"), ahead.launch(lines[1], lines[2:]):
        pass
    _measures(ahead, lines[2])


def test_many_ranks_several_nodes_and_steps_of_a_job_start_alone() -> None:
    assert [together(mpirun, 1, ranks, {}) for ranks in (2, 16, 32, 64, 1000)] == [4, 4, 2, 1, 1]
    assert together(mpirun, 2, 4, {}) == 1
    assert together(srun, 1, 2, {}) == 1
    assert together(hydra, 1, 2, {}) == 4 and together(hydra, 1, 2, {"SLURM_JOB_ID": "7"}) == 1
    assert together(mpirun, 1, 2, {"SLURM_JOB_ID": "7"}) == 4
