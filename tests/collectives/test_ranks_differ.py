"""A rank that lacks the library, or has another one, or other variables: right results all the same, and one line."""

from __future__ import annotations

import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.profile.interception import Ran, Toolchain, compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
NIGHTLY = pytest.mark.nightly  # it takes a package that others do without
PROGRAM = str(Path(__file__).parent / "programs" / "differ.c")
SERVE = {"UNISONO_COLLECTIVES": "on"}
SILENT = {"UNISONO_START_SECONDS": "4"}


@pytest.fixture(scope="module", params=["openmpi5", "openmpi4", "mpich", pytest.param("intel", marks=NIGHTLY)])
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


@dataclass(frozen=True)
class Case:
    """What one rank does instead of what all others do."""

    name: str
    reason: str
    shell: str = ""
    """Commands of a shell that run before the program, on the rank that differs."""
    argument: str = ""
    rank: int = 1
    env: dict[str, str] = field(default_factory=dict)
    ranks: int = 2


def _other_version(library: Path, folder: Path) -> Path:
    """The library as if it had been made of other sources: with another number of them in it."""
    content = library.read_bytes()
    numbers = set(re.findall(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", content))
    (number,) = numbers
    other = folder / "other.so"
    other.write_bytes(content.replace(number, b"0" * 64))
    return other


def _run(tools: Toolchain, folder: Path, program: Path, case: Case) -> Ran:
    """The ranks' own program is a script: only there one rank can have another environment."""
    script = folder / f"{case.name}.sh"
    script.write_text(
        "#!/bin/sh\n"
        f'rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\nlibrary="{tools.library}"\n'
        f'if [ "$rank" = {case.rank} ]; then\n:\n{case.shell}\nfi\n'
        f'LD_PRELOAD="$library" exec "{program}" {case.argument}\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return run(
        tools, folder, script, ranks=case.ranks, env=SERVE | case.env, preload=False, record=False, name=case.name
    )


def _check(case: Case, ran: Ran) -> None:
    assert ran.out.count("right") == case.ranks, (case.name, ran.out, ran.error)
    assert ran.status == 0, (case.name, ran.error)
    said = re.findall("unisono: libunisono steps aside.*", ran.error)
    assert len(said) == (1 if case.reason else 0), (case.name, ran.error)
    if case.reason:
        assert re.search(case.reason, said[0]), (case.name, said)
        assert re.search(rf"rank {case.rank} on host {re.escape(os.uname().nodename.split('.')[0])}", said[0]), said


def test_every_way_in_which_a_rank_can_differ(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, PROGRAM, "-rdynamic", after=["-ldl"])
    other = _other_version(tools.library, tmp_path)
    rules = tmp_path / "rules"
    rules.write_text("unisono-rules 1\nbcast * * 0 max mpi\n")
    cases = [
        Case("alike", ""),
        Case("later", "", argument="later"),
        Case("silent", "does not have libunisono loaded", shell="library=", env=SILENT),
        Case("first", "does not have libunisono loaded", shell="library=", rank=0, env=SILENT),
        Case("idle", "none of the variables", shell="unset UNISONO_COLLECTIVES"),
        Case("forced", "differ in UNISONO_FORCE", shell="export UNISONO_FORCE=bcast=mpi", rank=0),
        Case("rules", "differ in UNISONO_RULES", shell=f"export UNISONO_RULES={rules}", ranks=4, rank=3),
        Case("off", "differ in UNISONO_COLLECTIVES", shell="export UNISONO_COLLECTIVES=off"),
        Case("profile", "differ in UNISONO_PROFILE", shell="export UNISONO_PROFILE=somewhere"),
        Case("version", "differ in the version of libunisono", shell=f"library={other}"),
        Case("descriptors", "fewer than 8 file descriptors", argument="descriptors"),
    ]
    with ThreadPoolExecutor(4) as pool:  # some of them wait
        for case, ran in zip(cases, pool.map(lambda case: _run(tools, tmp_path, program, case), cases), strict=True):
            _check(case, ran)


def test_who_would_rather_have_an_error(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, PROGRAM, "-rdynamic", after=["-ldl"])
    required = {"UNISONO_REQUIRED": "1"}
    ran = _run(tools, tmp_path, program, Case("required", "", env=required, shell="unset UNISONO_COLLECTIVES"))
    assert ran.status != 0
    assert "steps aside" in ran.error
    ran = _run(tools, tmp_path, program, Case("well", "", env=required))
    _check(Case("well", ""), ran)
    ran = _run(tools, tmp_path, program, Case("rules", "", env=required | {"UNISONO_RULES": "/does/not/exist"}))
    assert ran.status != 0
    assert "/does/not/exist" in ran.error


def test_a_launcher_without_a_key_value_space(tmp_path: Path) -> None:
    tools = toolchain("mpich")
    program = compiled(tools, tmp_path, PROGRAM, "-rdynamic", after=["-ldl"])
    hidden = {"I_MPI_PMI": "another"}  # says that the MPI library speaks what we do not
    ran = run(tools, tmp_path, program, ranks=2, env=SERVE | hidden, record=False)
    assert ran.out.count("right") == 2, ran.error
    assert len(re.findall("neither PMIx nor PMI", ran.error)) == 1
    vouched = {"UNISONO_AGREED": "1", "UNISONO_VERBOSE": "1"}
    ran = run(tools, tmp_path, program, ranks=2, env=SERVE | hidden | vouched, record=False)
    assert ran.out.count("right") == 2, ran.error
    assert "steps aside" not in ran.error
    assert "unisono/" in ran.error
