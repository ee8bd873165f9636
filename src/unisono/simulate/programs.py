"""The collectives' sources and the solver's skeleton compiled with SimGrid's smpicc, on first use, and kept."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from unisono.core.cache import cache
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.library.native import could_not, native_source

_FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-D_GNU_SOURCE", "-DUNISONO_SIMULATED"]
_SECONDS = 300
_CAUGHT = ("Send", "Isend", "Recv", "Irecv", "Wait", "Waitany", "Testany")
"""Functions of MPI that native/simulate/caught.c has in place of SimGrid, for our collectives alone."""


def unavailable() -> str | None:
    """Why nothing can be simulated here; None: it can."""
    missing = [name for name in ("smpicc", "smpirun") if shutil.which(name) is None]
    return (
        _("{missing} not found; Debian's libsimgrid-dev brings them").format(missing=" and ".join(missing))
        if missing
        else None
    )


def simulator() -> Path:
    """The program native/simulate. Raises UserError when SimGrid is missing or the sources do not compile."""
    source = native_source()
    headers = [*(source / "collectives").rglob("*.[hd]*"), *(source / "simulate").glob("*.h")]
    includes = [source / "collectives", source / "simulate", source]
    return _program("simulate", _sources(source), headers, includes)


def skeleton() -> Path:
    """The program native/simulate/skeleton.c. Raises UserError as `simulator` does."""
    source = native_source()
    solver = source / "solver"
    return _program("skeleton", [source / "simulate" / "skeleton.c", solver / "mesh.c"], [solver / "mesh.h"], [solver])


def _program(name: str, files: list[Path], headers: list[Path], includes: list[Path]) -> Path:
    if reason := unavailable():
        raise UserError(reason)
    kept = cache() / _key([*files, *headers]) / name
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="build-", dir=kept.parent) as folder:
            _build(name, files, includes, Path(folder)).replace(kept)
    return kept


def spread_steps(kind: str, extents: Sequence[int]) -> list[tuple[int, float]]:
    """What every place sends at each step of a spread ("simple", "double", "balanced"): offset, blocks.

    From native/simulate/spread.c; needs a C compiler, not SimGrid.
    """
    source = native_source()
    files = [
        source / "simulate" / "spread.c",
        source / "collectives" / "torus" / "torus.c",
        source / "collectives" / "torus" / "spread.c",
    ]
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise UserError(_("no C compiler was found; name one with CC"))
    with tempfile.TemporaryDirectory(prefix="unisono-spread-") as folder:
        program = str(Path(folder) / "spread")
        _run([compiler, "-std=c11", "-O2", f"-I{source / 'collectives'}", *map(str, files), "-o", program], "spread.c")
        argv = [program, kind, "x".join(map(str, extents))]
        said = subprocess.run(argv, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if said.returncode:
        raise UserError(_("no spread over {argv}: {stderr}").format(argv=argv[2], stderr=said.stderr.strip()))
    return [(int(offset), float(blocks)) for offset, blocks in (line.split() for line in said.stdout.splitlines())]


def _sources(source: Path) -> list[Path]:
    folders = (
        "collectives",
        "collectives/group",
        "collectives/node",
        "collectives/places",
        "collectives/requests",
        "collectives/torus",
        "collectives/algorithms",
        "simulate",
    )
    others = {source / "simulate" / name for name in ("skeleton.c", "spread.c")}  # programs of their own
    replaced = {source / "collectives" / "node" / name for name in ("segment.c", "wait.c")}  # by simulate/memory.c
    found = [path for folder in folders for path in sorted((source / folder).glob("*.c"))]
    return [path for path in found if path not in others | replaced]


def _key(files: list[Path]) -> str:
    digest = hashlib.sha256(" ".join((*_FLAGS, *_CAUGHT)).encode())
    for path in sorted(set(files)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    smpicc = shutil.which("smpicc")
    assert smpicc is not None
    digest.update(Path(smpicc).read_bytes())
    return "simulated-" + digest.hexdigest()[:20]


def _build(name: str, files: list[Path], includes: list[Path], folder: Path) -> Path:
    def compiled(numbered: tuple[int, Path]) -> str:
        number, path = numbered
        target = str(folder / f"{number}.o")
        # Copies take simulated time, but for those in the file that says how much; stores wake who waits for them.
        ours = name == "simulate" and path.name != "simulated_copy.c"
        copies = ["-Dmemcpy=unisono_copy", "-include", "stores.h"] if ours else []
        _run(
            ["smpicc", *_FLAGS, *copies, *(f"-I{path}" for path in includes), "-c", str(path), "-o", target], path.name
        )
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, enumerate(files)))
    program = folder / name
    caught = [f"-Wl,--wrap=PMPI_{function}" for function in _CAUGHT] if name == "simulate" else []
    _run(["smpicc", *objects, *caught, "-lm", "-o", str(program)], program.name)
    return program


def _run(argv: list[str], what: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise could_not(argv[0], what, done.stderr)
