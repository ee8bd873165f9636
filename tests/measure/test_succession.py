"""Each launch ends while the next one starts, and has ended before anything is measured: real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from unisono.cmdline.command import Command, command
from unisono.core.errors import LaunchError
from unisono.core.vocabulary import DEFAULT
from unisono.machine.description import Machine
from unisono.measure.succession import Succession

pytestmark = [pytest.mark.mpi, pytest.mark.beside]


@pytest.fixture
def lines(tmp_path: Path, embedded: Machine, bench: Path) -> list[Command]:
    """Two launches of a benchmark whose first rank says when it begins, and ends late."""
    made = []
    for name in ("one", "two"):
        script = tmp_path / name
        script.write_text(
            f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exec {bench}\necho {name} begins >> {tmp_path}/said\n'
            f"{bench}\nstatus=$?\nsleep 0.5\necho {name} ends >> {tmp_path}/said\nexit $status\n"
        )
        script.chmod(0o755)
        made.append(command(embedded, DEFAULT, 1, 2, [str(script)]))
    return made


def _said(folder: Path) -> list[str]:
    return (folder / "said").read_text().splitlines()


def test_a_launch_ends_while_the_next_one_starts(tmp_path: Path, lines: list[Command], embedded: Machine) -> None:
    launches = Succession(embedded)
    with launches.launch(lines[0], 1) as session:
        (timing,) = session.measure("allreduce", 8, [0], seconds=0.001, min_reps=3, max_reps=10)
        assert timing.correct
    with launches.launch(lines[1], 1):
        assert _said(tmp_path) == ["one begins", "two begins", "one ends"]


@pytest.mark.parametrize(("nodes", "launcher"), [(2, []), (1, ["srun", "--mpi=pmix"])])
def test_over_several_nodes_or_by_a_batch_system_it_ends_before(
    tmp_path: Path, lines: list[Command], embedded: Machine, nodes: int, launcher: list[str]
) -> None:
    assert embedded.mpi is not None
    machine = embedded.model_copy(update={"mpi": embedded.mpi.model_copy(update={"launcher": launcher})})
    launches = Succession(machine)
    for line in lines:
        with launches.launch(line, nodes):
            pass
    assert _said(tmp_path)[:3] == ["one begins", "one ends", "two begins"]


def test_a_launch_that_fails_to_start_leaves_none_behind(
    tmp_path: Path, lines: list[Command], embedded: Machine
) -> None:
    launches = Succession(embedded)
    with launches.launch(lines[0], 1):
        pass
    (tmp_path / "two").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(LaunchError, match="exit status 3"), launches.launch(lines[1], 1):
        pass
    assert _said(tmp_path) == ["one begins", "one ends"]
