"""Commands that take a tuning use unisono-out/tuning.toml where none is named, and say so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.commands.program import refused, unisono

TUNED = Path(__file__).parents[1] / "docs" / "tuned.toml"
COMMANDS = [
    (["show"], []),
    (["lookup"], ["--collective", "allreduce", "--size", "4K"]),
    (["export"], ["--format", "list"]),
]


@pytest.mark.parametrize(("before", "after"), COMMANDS)
def test_the_usual_tuning(tmp_path: Path, before: list[str], after: list[str]) -> None:
    path = tmp_path / "unisono-out" / "tuning.toml"
    path.parent.mkdir()
    shutil.copy(TUNED, path)
    alone = unisono(*before, *after, cwd=tmp_path)
    named = unisono(*before, path.relative_to(tmp_path), *after, cwd=tmp_path)
    assert alone.returncode == named.returncode == 0, alone.stderr
    assert alone.stdout == named.stdout
    assert "using unisono-out/tuning.toml" in alone.stderr and "using" not in named.stderr


@pytest.mark.parametrize(("before", "after"), [*COMMANDS, (["run"], ["--", "mpirun", "-n", "2", "./app"])])
def test_without_any(tmp_path: Path, before: list[str], after: list[str]) -> None:
    done = unisono(*before, *after, cwd=tmp_path)
    assert "unisono-out/tuning.toml: there is no such file; unisono tune writes a tuning" in refused(done)
    assert "using" not in done.stderr
