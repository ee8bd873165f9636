"""Which MPI it is, or which launcher, is asked in src/unisono/mpi alone: elsewhere only what it can do.

Nothing can be asked without a name, so no module outside may hold one, or import the module of one.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from unisono import mpi
from unisono.mpi import launchers

SOURCE = Path(__file__).resolve().parents[1] / "src" / "unisono"
HOUSE = SOURCE / "mpi"

NAMES = {
    *(name for one in mpi.FAMILIES for name in (one.FAMILY, one.NAME)),
    *(name for one in mpi.DECLINED for name in (one.family, one.name)),
    *(one.KIND for one in launchers.LAUNCHERS),
    *(name for name in ("mpirun", "mpiexec", "orterun", "prterun", "prte", "aprun")),
}

EXCEPTIONS = {
    "export/formats/intel.py": "the name of a format, as --format calls it",
    "export/formats/mpirun.py": "the name of a format, as --format calls it",
    "export/formats/openmpi.py": "the name of a format, as --format calls it",
    "export/formats/slurm.py": "says in the report of a check that srun was not tried",
    "inventory/elsewhere.py": "starts one process, of no MPI, on a node of a Slurm job",
    "core/vocabulary.py": "the value of `coll` that names an algorithm of MPICH in files",
    "report/conditions.py": "the label of a row: the launcher's path",
    "results/pico.py": "what the files of another benchmark call the MPIs",
    "simulate/study.py": "SMPI's names of the algorithms of MPIs, which are simulated",
    "vcluster/slurm.py": "programs of Slurm that must be installed",
}
"""Names for something else than to ask which MPI or launcher it is, and for what."""


def modules() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if HOUSE not in path.parents]


def _texts(tree: ast.Module) -> set[str]:
    """String constants, without documentation."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
    }


def _of_one(tree: ast.Module) -> set[str]:
    """Modules of one MPI or launcher that are imported, by whatever words."""
    ones = {*(one.__name__ for one in mpi.FAMILIES), *(one.__name__ for one in launchers.LAUNCHERS)}  # type: ignore[attr-defined]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return {name for name in found if any(name == one or name.startswith(f"{one}.") for one in ones)}


@cache
def asked(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset({*(_texts(tree) & NAMES), *_of_one(tree)})


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_other_module_asks_which_mpi_or_launcher_it_is(path: Path) -> None:
    found = asked(path)
    if str(path.relative_to(SOURCE)) not in EXCEPTIONS:
        assert not found, f"{path} names {', '.join(sorted(found))}: let a module of mpi/ say what it can do"


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_every_exception_is_needed(name: str) -> None:
    assert asked(SOURCE / name), f"{name} names no MPI or launcher any more: take it out of the list"


@pytest.mark.parametrize(
    "text",
    [
        'if mpi.family == "openmpi":\n    pass',
        'KINDS = {"hydra": 1}',
        "from unisono.mpi import mpich",
        "from unisono.mpi.launchers.srun import parse",
        "import unisono.mpi.intel",
    ],
)
def test_asking_is_seen(text: str, tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(f'"""mpich"""\n{text}\n')
    assert asked(module)
