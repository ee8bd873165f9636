"""The launcher and the patience of `unisono optimize`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.advise.made_world import HERE
from tests.commands.program import refused, unisono
from unisono.advise.journal import Files, open_journal
from unisono.commands.optimizing import _begun_with
from unisono.commands.remembered import started_by_given


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mpirun", "/nope/mpirun"], "/nope/mpirun is not a program that can be run"),
        (["--timeout", "soon"], "--timeout: 'soon' is not a duration"),
    ],
)
def test_refused(words: list[str], said: str, tmp_path: Path) -> None:
    assert said in refused(unisono("optimize", "-o", tmp_path / "o", *words, "--", "mpirun", "-n", "2", "true"))


def test_a_launcher_that_was_named_is_remembered(tmp_path: Path) -> None:
    """Where the same line is resumed; another launcher of the user's is another line."""
    mpirun, files = tmp_path / "mpirun", Files(tmp_path / "out")
    mpirun.write_text("#!/bin/sh\n")
    mpirun.chmod(0o755)
    line = started_by_given(["mpirun", "-n", "2", "./a"], str(mpirun))
    assert (line.words, line.mpirun) == ([str(mpirun), "-n", "2", "./a"], str(mpirun))
    assert started_by_given(["srun", "./a"], str(mpirun)).words == ["srun", "./a"]
    assert _begun_with(["mpirun", "-n", "2", "./a"], files) == ["mpirun", "-n", "2", "./a"]
    files.directory.mkdir()
    open_journal(files, line.words, HERE, metric=None, pairs=3, resume=False).save(files.journal)
    assert _begun_with(["mpirun", "-n", "2", "./a"], files) == line.words
    assert _begun_with(["mpirun", "-n", "2", "./b"], files) == ["mpirun", "-n", "2", "./b"]
    assert _begun_with(["mpirun.mpich", "-n", "2", "./a"], files) == ["mpirun.mpich", "-n", "2", "./a"]
