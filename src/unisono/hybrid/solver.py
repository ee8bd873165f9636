"""unisono-solver: built by the machine's own mpicc, its command line for a variant, its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unisono.errors import UserError
from unisono.measure.build import Target, built

SOLVER = Target("unisono-solver", "solver/unisono-solver", ("solver", "common"), "the solver")
AGAINST_PETSC = Target(
    "unisono-solver-petsc", "solver/unisono-solver-petsc", SOLVER.sources, "the solver against PETSc"
)

PARTS = ("product", "forward", "backward", "dots", "vectors", "halo_pack", "halo_exchange", "allreduce")
"""Where the solver's time goes, as it names them."""


def solver_program(mpicc: str | None, progress: Callable[[str], None] | None = None) -> Path:
    """The solver for this mpicc, built on first use and kept. Raises UserError as measure.build.built does."""
    return built(SOLVER, mpicc, progress)


def petsc_program(mpicc: str | None) -> Path:
    """The solver side by side with PETSc, for tests and benchmarks. Raises UserError where PETSc is not there for this
    MPI."""
    try:
        return built(AGAINST_PETSC, mpicc)
    except UserError as error:
        if "unknown target" in str(error):
            raise UserError(f"PETSc is not installed for the MPI of {mpicc} (Debian: petsc-dev)") from error
        raise


def check_size(text: str) -> None:
    """Raises UserError for what the solver would not take as --nodes."""
    sides = text.split("x")
    if len(sides) not in (1, 3) or not all(side.isascii() and side.isdigit() and int(side) >= 2 for side in sides):
        raise UserError(f"--size {text}: write the nodes of the mesh along a side, at least 2: 64 or 96x96x48")


def solver_words(program: Path | str, nodes: str, threads: int, packing: str, extra: list[str]) -> list[str]:
    return [
        *(str(program), "--nodes", nodes, "--threads", str(threads), "--packing", packing),
        *(extra or ()),
        "--json",
    ]


def answer_of(output: str) -> dict[str, Any]:
    """The JSON object the solver prints. Raises UserError when there is none."""
    for line in reversed(output.splitlines()):
        if line.startswith(('{"solver"', '{"petsc"')):
            try:
                answer: dict[str, Any] = json.loads(line)
            except json.JSONDecodeError as error:
                raise UserError(f"the solver's answer is damaged: {error}") from error
            return answer
    raise UserError("the solver gave no answer")
