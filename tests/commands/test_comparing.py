"""`unisono compare --mpis`: its turns, its refusals, and one real run with two MPIs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperOption

from tests.commands.program import refused, unisono
from unisono.cli import app
from unisono.commands import comparing, comparing_mpis
from unisono.core.errors import UserError
from unisono.inventory.installed import Installed
from unisono.machine.description import Mpi

STUDY = """
[study]
name = "tiny"
[cases]
collectives = ["allreduce"]
ppn = [2]
[sizes]
from = 8
to = "2K"
step = 16
[parameters]
pml = ["ob1"]
[method]
launches = 2
[measure]
seconds = 0.003
min_repetitions = 3
max_repetitions = 40
timeout = "20s"
"""
LAUNCHERS = ("mpirun.openmpi", "mpiexec.mpich")


def wishes(output: Path, budget: str | None) -> comparing.Wishes:
    return comparing.Wishes(
        output=output,
        json=False,
        budget=budget,
        resume=False,
        collectives=[],
        ppn=None,
        sizes=[],
        hosts=None,
    )


def turns(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settles: dict[str, int], budget: str, fails: str = ""
) -> list[tuple[str, float]]:
    """(MPI, seconds) of every turn; `settles`: in which turn an MPI's search comes to its end."""
    mpis = tuple(Mpi(family="mpich", version=v, mpirun=f"/{v}/mpirun", mpicc="/mpicc", root=f"/{v}") for v in "123")
    monkeypatch.setattr(comparing_mpis, "installed", lambda given: Installed(mpis, ()))
    taken: list[tuple[str, float]] = []
    clock = [0.0]

    def turn(entrant: object, seconds: float, *, begins: bool, ends: bool) -> bool:
        name = entrant.name  # type: ignore[attr-defined]
        if name == fails:
            raise UserError("cannot be built")
        taken.append((name, seconds))
        quick = settles.get(name) == sum(1 for each, _ in taken if each == name)
        clock[0] += 1.0 if quick else seconds
        return quick

    monkeypatch.setattr(comparing_mpis, "_turn", turn)
    monkeypatch.setattr("unisono.commands.comparing_mpis.time.monotonic", lambda: clock[0])
    monkeypatch.setattr(comparing_mpis, "_data", lambda entrant: entrant.name)
    compared: list[list[str]] = []

    class Nothing:
        fastest = ()

    def compare(studies: list[str], **_: object) -> Nothing:
        compared.append(studies)
        return Nothing()

    monkeypatch.setattr(comparing, "compare_studies", compare)
    assert comparing_mpis.compare_mpis("all", wishes(tmp_path, budget)) == 0
    assert compared == [[f"MPICH {v}" for v in "123" if f"MPICH {v}" != fails]]
    return taken


def test_all_have_the_same_time_in_turns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    taken = turns(monkeypatch, tmp_path, {}, "90s")
    assert [name[-1] for name, _ in taken] == list("123123123")
    assert [seconds for _, seconds in taken] == pytest.approx([10] * 9)


def test_what_one_does_not_need_the_others_get(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    taken = turns(monkeypatch, tmp_path, {"MPICH 2": 1}, "90s")
    assert [name[-1] for name, _ in taken] == list("1231313")
    assert sum(seconds for name, seconds in taken if name != "MPICH 2") == pytest.approx(89)
    assert taken[-1][1] > 10


def test_an_mpi_that_fails_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = turns(monkeypatch, tmp_path, {}, "90s", fails="MPICH 1")
    assert [name[-1] for name, _ in taken] == list("232323")
    assert sum(seconds for _, seconds in taken) == pytest.approx(90)
    assert "Left out: cannot be built" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mpis", "mpirun"], "name two launchers or more"),
        (["--mpis", "all", "a.db"], "makes its own studies"),
        (["--mpis", "all", "quick", "tiny.toml"], "name one study file"),
        (["missing.toml", "--mpis", "all"], "missing.toml"),
        (["a.db", "b.db", "--budget", "3m", "--ppn", "2"], "--budget, --ppn: can only be used with --mpis"),
        ([], "needs two studies or more"),
    ],
)
def test_what_does_not_go_together(words: list[str], said: str) -> None:
    assert said in refused(unisono("compare", *words))


def test_of_a_study_compared_with_itself_that_is_said(tmp_path: Path) -> None:
    """Also of a copy of it, which may have been resumed: they share launches."""
    data = Path(__file__).parents[2] / "benchmarks" / "data" / "prediction"
    same, other = data / "fft-tiny.db", data / "fft-small.db"
    copy = shutil.copy(same, tmp_path / "copy.db")
    for paths in ([same, same], [same, other, copy]):
        done = unisono("compare", *map(str, paths), "-o", str(tmp_path / "compared.html"))
        said = f"Note: {same} and {paths[-1]} hold the same study, so a difference between them says nothing"
        assert done.returncode == 0 and said in done.stderr, done.stderr


def _options(command: Any, words: str = "unisono") -> Iterator[tuple[str, TyperOption]]:
    for name, sub in getattr(command, "commands", {}).items():
        yield from _options(sub, f"{words} {name}")
    yield from ((words, one) for one in command.params if isinstance(one, TyperOption))


def test_study_names_a_measured_study_wherever_there_is_such_an_option() -> None:
    found = {words: one for words, one in _options(typer.main.get_command(app)) if "--study" in one.opts}
    assert {one.metavar for one in found.values()} == {"STUDY.db"}


def test_no_option_is_hidden() -> None:
    assert [words for words, one in _options(typer.main.get_command(app)) if one.hidden] == []


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.skipif(not all(map(shutil.which, LAUNCHERS)), reason="Debian's openmpi-bin and mpich are not both here")
def test_two_mpis_are_measured_and_compared(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(STUDY)
    launchers = ",".join(str(shutil.which(name)) for name in LAUNCHERS)
    line = ("compare", "tiny.toml", "--mpis", launchers, "--budget", "3s", "-o", "out", "--json")
    done = unisono(*line, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [found["reference"].split()[0], found["others"][0].split()[0]] == ["Open", "MPICH"]
    assert {row["collective"] for row in found["rows"]} == {"allreduce"}
    assert {(row["first"], row["compared"]) for row in found["fastest"]} >= {(8, "default"), (8, "best")}
    assert "turn 1 of 3" in done.stderr
    assert "<h2>The fastest</h2>" in (tmp_path / "out" / "comparison.html").read_text()
    assert len(list((tmp_path / "out").glob("*/tuning.toml"))) == 2
