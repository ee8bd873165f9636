from __future__ import annotations

import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import unisono
from unisono.cli import main
from unisono.core.errors import UserError
from unisono.hybrid.solver import SOLVER
from unisono.library import native as build
from unisono.library.native import BENCH, Target, bench_program, built, native_source, tool
from unisono.library.recorder import RECORDER
from unisono.machine.description import Machine


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield tmp_path / "unisono"


def _fake_mpicc(folder: Path, body: str) -> str:
    path = folder / "mpicc"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def _c_compiler() -> str:
    found = shutil.which("cc")
    if found is None:
        pytest.skip("no C compiler")
    return found


def test_source_is_found_in_a_checkout_and_in_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (native_source() / "bench" / "main.c").is_file()
    package = tmp_path / "site" / "unisono"
    (package / "_native").mkdir(parents=True)
    (package / "_native" / "CMakeLists.txt").touch()
    monkeypatch.setattr(unisono, "__file__", str(package / "__init__.py"))
    assert native_source() == package / "_native"
    (package / "_native" / "CMakeLists.txt").unlink()
    with pytest.raises(UserError, match="install Unisono again"):
        native_source()


@pytest.mark.parametrize("target", [BENCH, RECORDER, SOLVER], ids=lambda target: str(target.name))
def test_a_change_to_anything_it_is_made_of_builds_it_anew(target: Target) -> None:
    """What its files include, and its CMake files name, is among what the key of its build is made of."""
    native = native_source()
    known = [native / part for part in target.sources]
    files = [path for part in known for path in [part, *part.rglob("*")] if path.is_file()]
    wanted = {path.parent / name for path in files for name in _names(path)}
    elsewhere = {
        path.resolve().relative_to(native.resolve()).parts[0]
        for path in wanted
        if path.exists() and not any(path.resolve().is_relative_to(part.resolve()) for part in known)
    }
    assert elsewhere - {"CMakeLists.txt"} == set()


def _names(path: Path) -> list[str]:
    """Files and folders of native/ beside its own that it names."""
    if path.name == "CMakeLists.txt":
        return [name.rstrip("/") for name in re.findall(r"\.\./[a-z_/]+", path.read_text())]
    return re.findall(r'^#include "(\.\./[^"]+)"', path.read_text(errors="replace"), re.MULTILINE)


def test_tools_beside_python_come_first() -> None:
    assert Path(tool("cmake")).is_file()
    with pytest.raises(UserError, match="pip install no-such-tool"):
        tool("no-such-tool")


@pytest.mark.parametrize(("mpicc", "because"), [(None, "--mpicc"), ("/no/such/mpicc", "not an executable")])
def test_no_mpicc(mpicc: str | None, because: str) -> None:
    with pytest.raises(UserError, match=because):
        bench_program(mpicc)


def test_compiler_that_cannot_compile_is_quoted(tmp_path: Path) -> None:
    mpicc = _fake_mpicc(tmp_path, "echo 'mpi.h went fishing' >&2; exit 1")
    with pytest.raises(UserError, match=r"mpi\.h went fishing") as caught:
        bench_program(mpicc)
    assert mpicc in str(caught.value)
    assert "\n" not in str(caught.value) and "--verbose" in str(caught.value)
    assert len(caught.value.details.splitlines()) > 5, "what CMake says of it"


def test_the_details_of_an_error_are_asked_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mpicc = _fake_mpicc(tmp_path, "echo 'mpi.h went fishing' >&2; exit 1")
    said = []
    for option in ([], ["--verbose"]):
        with pytest.raises(SystemExit) as ended:
            main([*option, "tune", "--mpicc", mpicc, "--output", str(tmp_path / "out")])
        assert ended.value.code == 2
        said.append(capfd.readouterr().err)
    assert "could not build" in said[0] and "CMake" not in said[0]
    assert "CMake" in said[1]


def test_no_compiler_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpicc = _fake_mpicc(tmp_path, "echo gcc -I/usr/include -lmpi")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"^\S+mpicc calls gcc, which is not installed; install a C compiler") as caught:
        bench_program(mpicc)
    assert "\n" not in str(caught.value) and "apt-get install gcc" in str(caught.value)


def test_compiler_without_mpi_is_quoted(tmp_path: Path) -> None:
    mpicc = _fake_mpicc(tmp_path, f'exec {_c_compiler()} "$@"')
    with pytest.raises(UserError, match=r"mpi\.h"):
        bench_program(mpicc)


def test_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(UserError, match=r"cannot keep the benchmark: .*; set XDG_CACHE_HOME"):
        bench_program(_fake_mpicc(tmp_path, "exit 1"))


def test_key_depends_on_the_compiler_and_its_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = native_source()
    keys = set()
    monkeypatch.delenv("CFLAGS", raising=False)
    for body in ("echo one", "echo two"):
        keys.add(build._key(_fake_mpicc(tmp_path, body), source))
    monkeypatch.setenv("CFLAGS", "-O1")
    keys.add(build._key(str(tmp_path / "mpicc"), source))
    assert len(keys) == 3
    monkeypatch.delenv("CFLAGS")
    assert build._key(str(tmp_path / "mpicc"), source) in keys


@pytest.mark.mpi
@pytest.mark.beside
def test_built_once_also_when_two_build_at_once(
    embedded: Machine, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the true compiler and CMake, of one file: what is large takes as long twice, and is built by others."""
    assert embedded.mpi is not None
    mpicc = embedded.mpi.mpicc
    source = tmp_path / "source"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(little C)\nadd_executable(little little.c)\n"
    )
    (source / "little.c").write_text("#include <mpi.h>\nint main(void) { return MPI_Finalize(); }\n")
    monkeypatch.setattr(build, "native_source", lambda: source)
    little = Target("little", "little", ("little.c",), "a little program")
    said: list[str] = []
    programs: list[Path] = []
    threads = [threading.Thread(target=lambda: programs.append(built(little, mpicc, said.append))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert programs[0] == programs[1]
    assert programs[0].stat().st_mode & 0o111
    said.clear()
    assert built(little, mpicc, said.append) == programs[0]
    assert said == []
    assert [path.name for path in programs[0].parent.iterdir()] == [little.name]
    assert programs[0].is_relative_to(cache)


def test_builds_unused_for_a_month_go_but_the_newest_few_stay(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(mpicc: str, source: Path, folder: Path, target: build.Target) -> Path:
        (folder / "out").touch()
        return folder / "out"

    monkeypatch.setattr(build, "_build", make)
    now = time.time()
    month = 30 * 24 * 3600
    for number in range(8):
        old = cache / f"old{number}" / "unisono-bench"
        old.parent.mkdir(parents=True)
        old.touch()
        os.utime(old, (now, now - (number + 1) * month - 60))
    (cache / "old7" / "build-of-another-process").mkdir()
    recent = cache / "recent" / "unisono-bench"
    recent.parent.mkdir()
    recent.touch()
    other = cache / "old8" / "libunisono.so"
    other.parent.mkdir()
    other.touch()
    os.utime(other, (0, 0))
    kept = bench_program(_fake_mpicc(cache.parent, "true"))
    left = {path.parent.name for path in cache.glob("*/unisono-bench")}
    assert left == {kept.parent.name, "recent", "old0", "old1", "old2"}
    assert {path.name for path in cache.iterdir()} == {*left, "old7", "old8"}


_CMAKE = """#!/bin/sh
(i=0; while :; do i=$((i + 1)); : > "$PWD/build/$i"; done) &
echo $! > "$PWD/compiler"
wait
"""


def test_an_interrupted_build_ends_with_its_compilers(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they went on, the folder could not be removed, and that was said instead of the Ctrl-C: the study then went
    on without what was being built."""
    (tmp_path / "cmake").write_text(_CMAKE)
    (tmp_path / "cmake").chmod(0o755)
    monkeypatch.setattr(build, "tool", lambda name: str(tmp_path / "cmake"))
    monkeypatch.chdir(tmp_path)

    def interrupt() -> None:
        while not (tmp_path / "compiler").exists() or not (tmp_path / "compiler").read_text():
            time.sleep(0.01)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    def begin(*words: str) -> None:
        (tmp_path / "build").symlink_to(next(cache.glob("*/build-*")))
        original(*words)

    original = build._require_compiler
    monkeypatch.setattr(build, "_require_compiler", begin)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    other = threading.Thread(target=interrupt)
    try:
        other.start()
        with pytest.raises(KeyboardInterrupt):
            bench_program(_fake_mpicc(cache.parent, "true"))
    finally:
        other.join()
        signal.signal(signal.SIGINT, before)
    with pytest.raises(ProcessLookupError):
        for _ in range(100):
            os.kill(int((tmp_path / "compiler").read_text()), 0)
            time.sleep(0.1)
    assert list(cache.glob("*/build-*")) == []


def test_what_a_killed_build_left_goes_with_the_next_one(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(mpicc: str, source: Path, folder: Path, target: build.Target) -> Path:
        (folder / "out").touch()
        return folder / "out"

    monkeypatch.setattr(build, "_build", make)
    dead, living = cache / "old" / "build-dead", cache / "old" / "build-living"
    for folder in (dead, living):
        folder.mkdir(parents=True)
        (folder / "half.o").touch()
    os.utime(dead, (0, time.time() - 2 * 3600))
    kept = bench_program(_fake_mpicc(cache.parent, "true"))
    assert {path.name for path in kept.parent.iterdir()} == {kept.name}
    assert not dead.exists()
    assert list(living.iterdir()) == [living / "half.o"]


def test_a_compiler_of_two_names_is_built_for_once(tmp_path: Path) -> None:
    """But not where a wrapper does by its name what it does: then it says so."""
    by_name = _fake_mpicc(tmp_path, 'case "$0" in *other) echo other;; *) echo same;; esac')
    for name in ("mpicc.openmpi", "other"):
        (tmp_path / name).symlink_to(by_name)
    keys = [build._key(str(tmp_path / name), native_source()) for name in ("mpicc", "mpicc.openmpi", "other")]
    assert keys[0] == keys[1] != keys[2]


def test_using_a_build_renews_its_date(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpicc = _fake_mpicc(cache.parent, "true")
    kept = cache / build._key(mpicc, native_source()) / "unisono-bench"
    kept.parent.mkdir(parents=True)
    kept.touch()
    os.utime(kept, (0, 0))
    assert bench_program(mpicc) == kept
    assert time.time() - kept.stat().st_mtime < 3600
