"""What is native, built by the user's own mpicc on first use and kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import unisono
from unisono.core.cache import cache
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.mpi import compiler_environment

PROGRAM_NAME = "unisono-bench"
_COMPILERS = ("cc", "gcc", "clang", "icx", "icc", "nvc")
_BUILD_SECONDS = 600
_DEAD_SECONDS = 6.0 * _BUILD_SECONDS
"""A build has two steps of at most _BUILD_SECONDS; the rest is for clocks that differ."""
_KEPT = 5
_UNUSED_SECONDS = 30 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Target:
    """One thing native/CMakeLists.txt builds."""

    name: str
    """CMake's."""
    file: str
    """What comes out of it, in the build folder."""
    sources: tuple[str, ...]
    """Folders and files of native/ that it is made of."""
    what: str
    """For people."""


BENCH = Target(PROGRAM_NAME, f"bench/{PROGRAM_NAME}", ("bench", "common", "include"), "the benchmark")


def bench_program(mpicc: str | None, progress: Callable[[str], None] | None = None) -> Path:
    """The benchmark for this mpicc; see `built`."""
    return built(BENCH, mpicc, progress)


def built(target: Target, mpicc: str | None, progress: Callable[[str], None] | None = None) -> Path:
    """The target for this mpicc, built if it is not there yet. `progress` gets a sentence before a build starts.

    Kept in ${XDG_CACHE_HOME:-~/.cache}/unisono/<key>/, the key being made of the sources, what mpicc calls, and the
    compiler's version, so several MPIs live side by side and an update rebuilds. Several processes may build at once:
    each builds by itself and the finished file is put in place in one step. Builds nobody uses any more are removed,
    as is what killed builds left.
    Raises UserError, with what the compiler said when it fails.
    """
    if mpicc is None:
        raise UserError(
            _("no mpicc was found beside this MPI; name one with --mpicc, or install its development package")
        )
    source = native_source()
    kept = _place(target, mpicc, source)
    if kept.exists():
        with contextlib.suppress(OSError):  # a cache that is only read from
            os.utime(kept)
        return kept
    if progress is not None:
        progress(
            _("Building {name} with {mpicc}, once: this takes a minute or two, longer on slow or busy CPUs").format(
                name=kept.name, mpicc=mpicc
            )
        )
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        _remove_dead()
        with tempfile.TemporaryDirectory(prefix="build-", dir=kept.parent, ignore_cleanup_errors=True) as folder:
            _build(mpicc, source, Path(folder), target).replace(kept)
    except OSError as error:
        raise UserError(
            _(
                "{filename}: cannot keep {what}: {strerror}; set XDG_CACHE_HOME to a directory that you may write"
            ).format(filename=error.filename or kept.parent, what=target.what, strerror=error.strerror)
        ) from error
    _prune(kept)
    return kept


def built_before(target: Target, mpicc: str) -> Path | None:
    """The target for this mpicc, if it is there already."""
    kept = _place(target, mpicc, native_source())
    return kept if kept.exists() else None


def _place(target: Target, mpicc: str, source: Path) -> Path:
    return cache() / _key(mpicc, source, target) / Path(target.file).name


def _prune(built: Path) -> None:
    """Removes builds of the same file that nobody has asked for in a month, but never the newest few.

    Every use renews a build's date, so none that a running study needs is old enough; one that is being removed or
    replaced by somebody else at this moment is left to them.
    """
    dated = []
    for path in built.parent.parent.glob(f"*/{built.name}"):
        with contextlib.suppress(OSError):
            dated.append((path.stat().st_mtime, path))
    for date, path in sorted(dated, reverse=True)[_KEPT:]:
        if time.time() - date > _UNUSED_SECONDS:
            with contextlib.suppress(OSError):
                path.unlink()
                path.parent.rmdir()


def _remove_dead() -> None:
    """Removes what builds left that were killed: their folders are older than a build can last."""
    for folder in cache().glob("*/build-*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > _DEAD_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def native_source() -> Path:
    """The folder of native/CMakeLists.txt: inside the installed package, or beside src in a checkout."""
    package = Path(unisono.__file__).resolve().parent
    for folder in (package / "_native", package.parents[1] / "native"):
        if (folder / "CMakeLists.txt").is_file():
            return folder
    raise UserError(_("the native sources are missing; install Unisono again"))


def tool(name: str) -> str:
    """cmake or ninja: beside the running Python (the packages of these names install there), else on PATH."""
    search = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    found = shutil.which(name, path=search)
    if found is None:
        raise UserError(_("{name} was not found; `pip install {name}` brings it").format(name=name))
    return found


def _key(mpicc: str, source: Path, target: Target = BENCH) -> str:
    digest = hashlib.sha256()
    parts = [source / "CMakeLists.txt", *(source / part for part in target.sources)]
    for path in sorted(path for part in parts for path in [part, *part.rglob("*")] if path.is_file()):
        if path.suffix in (".c", ".h", ".def", ".py", ".txt"):
            digest.update(str(path.relative_to(source)).encode() + b"\0" + path.read_bytes() + b"\0")
    wrapper = shutil.which(mpicc)
    if wrapper is None:
        raise UserError(
            _("{mpicc} is not an executable program; name your MPI's compiler with --mpicc").format(mpicc=mpicc)
        )
    stat = Path(wrapper).stat()
    said = [_said([wrapper, "-show"]), _said([wrapper, "--version"])]
    flags = [os.environ.get(name, "") for name in ("CFLAGS", "LDFLAGS", "OMPI_CC", "MPICH_CC", "I_MPI_CC")]
    # One compiler may have several names (Debian: mpicc, mpicc.openmpi); by what it says those of one program differ.
    for text in (str(Path(wrapper).resolve()), str(stat.st_size), str(stat.st_mtime_ns), *said, *flags):
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()[:20]


def _said(argv: list[str]) -> str:
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
            env={**os.environ, **compiler_environment(argv[0])},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(_("{argv} cannot be run: {error}").format(argv=argv[0], error=error)) from error
    return done.stdout


def _build(mpicc: str, source: Path, folder: Path, target: Target, *more: Target) -> Path:
    """Where the first target is; `more` of them share what it is made of, and are built beside it."""
    _require_compiler(mpicc)
    cmake, ninja = tool("cmake"), tool("ninja")
    tools = [f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DPython3_EXECUTABLE={sys.executable}"]
    configure = [cmake, "-G", "Ninja", *tools, f"-DCMAKE_C_COMPILER={shutil.which(mpicc)}"]
    _step([*configure, "-S", str(source), "-B", str(folder)], mpicc, target)
    names = [one.name for one in (target, *more)]
    _step([cmake, "--build", str(folder), "--target", *names], mpicc, target)
    return folder / target.file


def _require_compiler(mpicc: str) -> None:
    """Raises UserError where what mpicc would call is not installed: CMake needs forty lines to say so."""
    words = _said([mpicc, "-show"]).split()
    if words and Path(words[0]).name in _COMPILERS and shutil.which(words[0]) is None:
        raise UserError(
            _(
                "{mpicc} calls {words}, which is not installed; install a C compiler (Debian: sudo "
                "apt-get install gcc libc6-dev)"
            ).format(mpicc=mpicc, words=words[0])
        )


def _step(argv: list[str], mpicc: str, target: Target) -> None:
    """In a session of its own, which ends with us: compilers that went on would write into a folder that is removed,
    and what that removal says would stand in the place of a Ctrl-C."""
    with subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, **compiler_environment(shutil.which(mpicc) or mpicc)},
        start_new_session=True,
    ) as process:
        try:
            said, _nothing = process.communicate(timeout=_BUILD_SECONDS)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise UserError(
                _("building {what} with {mpicc} took longer than {build_seconds} s").format(
                    what=target.what, mpicc=mpicc, build_seconds=_BUILD_SECONDS
                )
            ) from error
    if process.returncode != 0:
        raise could_not(mpicc, target.what, said)


def could_not(compiler: str, what: str, said: str) -> UserError:
    """What a compiler's failure is for people: one line with its first complaint, and all it said as details."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    stopped = next((i for i, line in enumerate(lines) if line.startswith("ninja: build stopped")), len(lines))
    last = lines[stopped - 1] if stopped > 0 else _("it says nothing")
    first = next((line for line in lines if "error:" in line), last)
    return UserError(
        _("{compiler} could not build {what}: {first} (unisono --verbose shows all)").format(
            compiler=compiler, what=what, first=first
        ),
        said,
    )
