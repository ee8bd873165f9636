"""Which MPIs are here, with launchers made for the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from unisono.core.errors import UserError
from unisono.inventory import installed as module
from unisono.inventory.installed import installed, on_path

HYDRA = "HYDRA build details:\n    Version: {version}\n"


def program(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nprintf '%s' '{says}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def no_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "embedded_mpirun", lambda: None)


def mpich(prefix: Path, version: str, name: str = "mpiexec", compiler: str | None = "mpicc") -> Path:
    if compiler is not None:
        program(prefix / "bin" / compiler, "")
    return program(prefix / "bin" / name, HYDRA.format(version=version))


def test_one_an_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = mpich(tmp_path / "a", "4.1"), mpich(tmp_path / "b", "4.2")
    (a.parent / "mpirun").symlink_to(a)
    mpich(tmp_path / "a", "4.1", name="mpiexec.hydra")
    program(tmp_path / "a" / "bin" / "mpiexec.other", "an old launcher\n")
    monkeypatch.setenv("PATH", f"{a.parent}:{tmp_path / 'missing'}:/usr/bin:{b.parent}:{a.parent}")
    found = [mpi for mpi in installed().mpis if str(tmp_path) in mpi.mpirun]
    assert [(mpi.version, mpi.mpicc) for mpi in found] == [
        ("4.1", str(a.parent / "mpicc")),
        ("4.2", str(b.parent / "mpicc")),
    ]


def test_the_name_that_has_its_own_compiler_comes_first(tmp_path: Path) -> None:
    """Debian's: mpiexec.mpich is a link to mpiexec.hydra, and the mpicc beside it another MPI's."""
    hydra = mpich(tmp_path, "4.1", name="mpiexec.hydra", compiler="mpicc.mpich")
    (hydra.parent / "mpiexec.mpich").symlink_to(hydra)
    assert on_path(str(hydra.parent)) == [str(hydra.parent / "mpiexec.mpich")]


def test_what_cannot_be_used_is_said_once_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mpirun", "mpiexec"):
        program(tmp_path / "strange" / name, f"{name} of nothing known\n")
    bare = mpich(tmp_path / "bare", "4.1", compiler=None)
    monkeypatch.setenv("PATH", f"{tmp_path / 'strange'}:{bare.parent}")
    found = installed()
    assert found.mpis == ()
    strange, without = found.refused
    assert "not the launcher of an MPI we know" in strange
    assert without.startswith(f"{bare}: no mpicc beside it")


def test_a_launcher_that_was_named_must_serve(tmp_path: Path) -> None:
    bare = mpich(tmp_path, "4.1", compiler=None)
    with pytest.raises(UserError, match="no mpicc beside it"):
        installed([str(bare)])
    with pytest.raises(UserError, match="is not a program that can be run"):
        installed([str(tmp_path / "nothing")])
