"""unisono-solver: built by the machine's own mpicc, its command line for a variant, its answer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError, field_validator

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.toml import explain_validation
from unisono.library.native import Target, built
from unisono.machine.description import Machine

SOLVER = Target("unisono-solver", "solver/unisono-solver", ("solver", "common"), "the solver")
AGAINST_PETSC = Target(
    "unisono-solver-petsc", "solver/unisono-solver-petsc", SOLVER.sources, "the solver against PETSc"
)

PARTS = ("product", "forward", "backward", "dots", "vectors", "halo_pack", "halo_exchange", "allreduce")
"""Where the solver's time goes, as it names them."""


_MATRIX_BYTES = 27 * 9 * 8
"""Of a node of the mesh: a block of 3 x 3 numbers for it and each neighbour."""

_Number = Annotated[float, Field(ge=0, lt=1e100)]


class _Block(BaseModel):
    """Some iterations, and the bandwidth of each process's triad beside them, GB/s."""

    iterations: _Number
    triads: Annotated[list[_Number], Field(min_length=1)]


class _Answer(BaseModel):
    """What the solver prints, as far as it is read."""

    seconds: _Number
    gflops: _Number
    iterations: _Number
    triad_before: _Number = 0.0
    triad_after: _Number = 0.0
    parts_seconds: dict[str, Annotated[list[_Number], Field(min_length=1)]]
    beside: list[_Block] = []

    @field_validator("parts_seconds")
    @classmethod
    def _all(cls, parts: dict[str, list[float]]) -> dict[str, list[float]]:
        missing = [part for part in PARTS if part not in parts]
        if missing:
            raise ValueError(N_("{missing} is not among them").format(missing=missing[0]))
        return parts


def checked_answer(answer: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What the solver printed, once more known to hold what is read from it. Raises UserError naming `where`."""
    try:
        return _Answer.model_validate(answer).model_dump()
    except ValidationError as error:
        raise UserError(explain_validation(where, error)) from error


def solver_program(mpicc: str | None, progress: Callable[[str], None] | None = None) -> Path:
    """The solver for this mpicc, built on first use and kept. Raises UserError as library.native.built does."""
    return built(SOLVER, mpicc, progress)


def petsc_program(mpicc: str | None) -> Path:
    """The solver side by side with PETSc, for tests and benchmarks. Raises UserError where PETSc is not there for this
    MPI."""
    try:
        return built(AGAINST_PETSC, mpicc)
    except UserError as error:
        if "unknown target" in str(error):
            raise UserError(
                _("PETSc is not installed for the MPI of {mpicc} (Debian: petsc-dev)").format(mpicc=mpicc)
            ) from error
        raise


def check_size(text: str) -> None:
    """Raises UserError for what the solver would not take as --nodes."""
    sides = text.split("x")
    if len(sides) not in (1, 3) or not all(re.fullmatch("[0-9]{1,7}", side) and int(side) >= 2 for side in sides):
        raise UserError(
            _("--size {text}: write the nodes of the mesh along a side, at least 2: 64 or 96x96x48").format(text=text)
        )


def check_memory(text: str, machine: Machine, nodes: int) -> None:
    """Raises UserError for a mesh that so many nodes can by no means hold. What else is there of memory, the solver
    sees by itself."""
    sides = [int(side) for side in text.split("x")]
    mesh = sides[0] ** 3 if len(sides) == 1 else math.prod(sides)
    least = mesh * _MATRIX_BYTES
    if least > machine.memory_bytes * nodes > 0:
        raise UserError(
            _(
                "--size {text}: {mesh:,} nodes of the mesh take at least {least:,.0f} GB, and there are {here:,.0f} "
                "GB; --size is the number of them along a side of the cube: choose fewer, as in --size 64"
            ).format(text=text, mesh=mesh, least=least / 1e9, here=machine.memory_bytes * nodes / 1e9)
        )


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
            except (ValueError, RecursionError) as error:
                raise UserError(N_("the solver's answer is damaged: {error}").format(error=error)) from error
            return answer
    raise UserError(N_("the solver gave no answer"))
