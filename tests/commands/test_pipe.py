"""A reader that closes the pipe early, as head does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tuning.samples import plan, tuning
from unisono.tuning import write


@pytest.mark.parametrize("json", [[], ["--json"]], ids=["table", "json"])
def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path: Path, json: list[str]) -> None:
    """More than a pipe holds, so that writing fails while it goes on."""
    write(tuning(*(plan(ppn=number) for number in range(1, 300))), tmp_path / "tuning.toml")
    command = [sys.executable, "-m", "unisono.cli", "show", str(tmp_path / "tuning.toml"), *json]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")
