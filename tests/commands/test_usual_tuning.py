"""Commands that read a tuning, a profile or a study use the one in unisono-out where none is named, and say so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.commands.program import refused, unisono
from tests.fire.originals import study_db
from tests.profile.synthetic import synthetic
from unisono.profile.file import save

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


def test_the_usual_profile_and_study(tmp_path: Path) -> None:
    folder = tmp_path / "unisono-out"
    folder.mkdir()
    save(synthetic(2, 1), folder / "app.profile")
    study_db(folder / "study.db")
    for before, name in ((["profile", "show"], "app.profile"), (["profile", "report"], "app.profile")):
        alone, named = (unisono(*before, *path, cwd=tmp_path) for path in ([], [f"unisono-out/{name}"]))
        assert alone.returncode == named.returncode == 0, alone.stderr
        assert alone.stdout == named.stdout
        assert f"using unisono-out/{name}" in alone.stderr and "using" not in named.stderr
    done = unisono("report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "using unisono-out/study.db" in done.stderr and (tmp_path / "report.html").exists()


@pytest.mark.parametrize("words", ["profile show", "profile report", "advise"])
def test_without_any_profile(tmp_path: Path, words: str) -> None:
    said = refused(unisono(*words.split(), cwd=tmp_path))
    assert "unisono-out/app.profile: there is no such file; unisono profile writes a profile" in said


def test_a_budget_of_nothing_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "unisono-out"
    folder.mkdir()
    save(synthetic(2, 1), folder / "app.profile")
    shutil.copy(TUNED, folder / "tuning.toml")
    assert "--budget limits the time of --measure" in refused(unisono("advise", "--budget", "5m", cwd=tmp_path))
