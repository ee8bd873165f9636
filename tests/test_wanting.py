"""A newcomer sees in a few lines what was not tested, and the command that brings it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.wanting import WANTS, summary

HERE = Path(__file__).parent


def test_many_reasons_become_a_few_lines() -> None:
    reasons = [
        *["/usr/bin/mpicc.mpich is not installed"] * 30,
        *["no MPICH of the distribution with its mpicc", "no mpirun.mpich", "MPICH is not installed"],
        *["/usr/bin/mpicc.openmpi is not installed", "Open MPI 4 (with mpicc) is not installed"],
        *["no /usr/bin/mpirun mpirun here", "no Open MPI of the distribution with its mpicc in /usr/bin"],
        *["no Fortran compiler of mpich", "no Fortran compiler for Open MPI 5.0.11"],
        *["SimGrid: smpicc and smpirun not found; Debian's libsimgrid-dev brings them", "one MPI is enough"],
        "the moon is full",
    ]
    assert summary(reasons) == [
        "Not tested here: 41, for want of",
        "   33  MPICH",
        "    4  Open MPI of Debian",
        "    2  a Fortran compiler",
        "    1  SimGrid",
        "    1  the moon is full",
        "To have them: sudo apt-get install -y mpich libmpich-dev openmpi-bin libopenmpi-dev gfortran libsimgrid-dev",
    ]
    assert summary(["one MPI is enough"]) == summary([]) == []


def _reasons() -> Iterator[str]:
    """Of every skip that the tests spell out; a letter stands for what is put in."""
    for path in HERE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            named = [keyword.value for keyword in call.keywords if keyword.arg == "reason"]
            given = call.args[:1] if call.func.attr == "skip" else named if call.func.attr == "skipif" else []
            for text in given:
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield text.value
                elif isinstance(text, ast.JoinedStr):
                    yield "".join(str(part.value) if isinstance(part, ast.Constant) else "5" for part in text.values)


def test_the_lines_are_few_whatever_is_missing() -> None:
    """What is not known by its words has a line for itself; some reasons only name a program, which is put in."""
    known = {want.what for want in WANTS}
    reasons = set(_reasons())
    assert len(reasons) > 40
    lines = [line for reason in reasons for line in summary([reason])[1:2]]
    assert len({line for line in lines if line[7:].partition(" (")[0] not in known}) < 10


def test_a_run_ends_with_them(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('i', range(40))\n"
        "def test_it(i): pytest.skip(['mpicc.mpich is not installed', 'SimGrid: none'][i % 2])\n"
    )
    line = [sys.executable, "-m", "pytest", "-q", "-p", "tests.wanting", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False, cwd=HERE.parent)
    said = done.stdout.splitlines()
    assert "Not tested here: 40, for want of" in said
    assert "To have them: sudo apt-get install -y mpich libmpich-dev libsimgrid-dev" in said
    assert len(said) < 12
