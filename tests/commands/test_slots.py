"""A launch of more ranks than there are slots: what to do is said in the words of our commands, whichever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.program import unisono
from tests.launch.conftest import Installed, installed
from tests.tuning.samples import plan
from tests.tuning.samples import tuning as example
from unisono.tuning import write

__all__ = ["installed"]
pytestmark = [pytest.mark.mpi, pytest.mark.beside]


@pytest.mark.parametrize("command", ["run", "verify"])
def test_more_ranks_than_slots(installed: Installed, tmp_path: Path, command: str) -> None:
    write(example(plan()), tmp_path / "tuning.toml")
    line = installed.argv("-n", "4096", "hostname")
    done = unisono(command, "--tuning", tmp_path / "tuning.toml", "--", *line)
    assert done.returncode not in (0, 3), "the launcher's own, and 2 of a program that does not run as it is"
    assert "not enough slots: 4096 ranks were asked for; ask for fewer" in done.stderr
    assert "(--oversubscribe, of unisono tune or of your own mpirun)" in " ".join(done.stderr.split())
    if command == "run":
        assert "not enough slots available" in done.stderr, "the launcher's words reach the user"


def test_what_run_says_of_a_program_that_fails_is_the_programs(installed: Installed, tmp_path: Path) -> None:
    write(example(plan()), tmp_path / "tuning.toml")
    line = installed.argv("-n", "1", "sh", "-c", "echo gone >&2; exit 7")
    done = unisono("run", "--tuning", tmp_path / "tuning.toml", "--", *line)
    assert done.returncode == 7 and "gone" in done.stderr.splitlines() and "declined" not in done.stderr
