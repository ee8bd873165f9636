"""A file of ours that is given where another is wanted, to the commands that read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import Refuses, refuses
from tests.profile.ft import ft
from tests.study.machines import machine
from tests.tuning.samples import tuning
from unisono.profile.file import save
from unisono.study.store import Store
from unisono.tuning.document import write

__all__ = ["refuses"]

CALL = ("--collective", "bcast", "--size", "8")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A tuning, a study and a profile, each in a folder of its own."""
    for name in ("t", "s", "p"):
        (tmp_path / name).mkdir()
    write(tuning(), tmp_path / "t" / "tuning.toml")
    Store.create(tmp_path / "s" / "study.db", name="s", config="{}", method="race", machine=machine(), meta={}).close()
    save(ft(), tmp_path / "p" / "app.profile")
    return tmp_path


@pytest.mark.usefixtures("files")
def test_it_is_named_with_the_command_that_shows_it(refuses: Refuses) -> None:
    study = "s/study.db: is a study, not a tuning; unisono report s/study.db shows it"
    assert study in refuses("lookup", "s/study.db", *CALL)
    assert study in refuses("show", "s/study.db")
    assert study in refuses("advise", "p/app.profile", "--tuning", "s/study.db")
    assert study in refuses("run", "--tuning", "s/study.db", "--", "mpirun", "true")
    profile = "p/app.profile: is a profile, not a tuning; unisono profile show p/app.profile shows it"
    assert profile in refuses("lookup", "p/app.profile", *CALL)
    made = "t/tuning.toml: is a tuning, not a study; unisono show t/tuning.toml shows it"
    assert made in refuses("report", "t/tuning.toml")
    assert made in refuses("compare", "t/tuning.toml", "s/study.db")
    assert "t/tuning.toml: is a tuning, not a profile" in refuses("advise", "t/tuning.toml", "--tuning", "s/study.db")


def test_the_file_beside_it_that_was_meant_is_named(files: Path, refuses: Refuses) -> None:
    (files / "s" / "tuning.toml").write_bytes((files / "t" / "tuning.toml").read_bytes())
    assert "shows it, and s/tuning.toml beside it is a tuning" in refuses("lookup", "s/study.db", *CALL)
    assert "shows it, and s/study.db beside it is a study" in refuses("report", "s/tuning.toml")


def test_a_directory_names_what_it_holds(files: Path, refuses: Refuses) -> None:
    assert "s: is a directory; name the file in it: s/study.db" in refuses("report", "s")
    assert "t: is a directory; name the file in it: t/tuning.toml" in refuses("show", "t")
    (files / "s" / "hybrid.db").write_bytes(b"")
    assert "name the file in it: s/study.db, s/hybrid.db" in refuses("report", "s")
    assert "p: no such study" in refuses("report", "p")
    assert "p: cannot be read: Is a directory" in refuses("show", "p")


def test_what_is_neither_is_refused_for_what_it_is(files: Path, refuses: Refuses) -> None:
    (files / "notes.txt").write_text("nothing\n")
    assert "notes.txt: is not a Unisono study" in refuses("report", "notes.txt")
    assert "notes.txt: is not valid TOML" in refuses("show", "notes.txt")
    (files / "other.toml").write_text('[tool]\nname = "x"\n')
    assert "other.toml: is not a tuning (it has no `format`)" in refuses("show", "other.toml")
