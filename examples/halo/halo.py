"""The heat equation on a square plate, divided over all ranks: the communication of a stencil code.

Explicit Euler steps with the five-point stencil; the rim is kept at 0. In each step every rank swaps its outermost rows
and columns with its neighbours; now and then all ranks find out how much still changes. The start is a sum of modes of
the discrete Laplacian, whose decay is known exactly, so the result is checked against the truth.

    mpirun -n 4 python halo.py --grid 512 512 --steps 200 --exchange nonblocking
"""
# ruff: noqa: T201 - it is a program, it prints

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

Field = npt.NDArray[np.float64]
MODES = {(1, 1): 1.0, (2, 3): 0.5, (5, 4): 0.25}
"""Half waves along the two axes -> amplitude."""
NUMBER = 0.2
"""Diffusivity * time step / spacing^2; stable up to 0.25."""
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Part:
    """A rank's rows and columns of the plate, [begin, end) of each, and its neighbours."""

    comm: MPI.Cartcomm
    begin: tuple[int, int]
    end: tuple[int, int]

    @property
    def shape(self) -> tuple[int, int]:
        """With one row and column of its neighbours on each side."""
        return self.end[0] - self.begin[0] + 2, self.end[1] - self.begin[1] + 2


@dataclass(frozen=True)
class Side:
    """One of four: the neighbour there, what it gets and where what it sends goes (subarrays of the field)."""

    neighbour: int
    out: MPI.Datatype
    into: MPI.Datatype
    tag: int
    """The same for what is sent one way and received on the other side."""
    back: int


def divide(grid: tuple[int, int], comm: MPI.Intracomm) -> Part:
    """Splits the plate as evenly as possible into a rectangle of parts. ValueError: there are more ranks than rows."""
    cart = comm.Create_cart(MPI.Compute_dims(comm.size, 2), periods=[False, False], reorder=False)
    begin = []
    end = []
    for points, parts, place in zip(grid, cart.dims, cart.coords, strict=True):
        if parts > points:
            raise ValueError(f"{points} points cannot be divided over {parts} ranks")
        begin.append(points * place // parts)
        end.append(points * (place + 1) // parts)
    return Part(cart, (begin[0], begin[1]), (end[0], end[1]))


def sides(part: Part) -> list[Side]:
    """Rows are contiguous in memory and columns are not; a datatype hides the difference."""
    rows, columns = part.shape
    found = []
    for axis in (0, 1):
        low, high = part.comm.Shift(axis, 1)
        length = [rows - 2, columns - 2]
        length[axis] = 1
        last = part.shape[axis] - 1
        for neighbour, inner, halo, tag in ((low, 1, 0, 2 * axis), (high, last - 1, last, 2 * axis + 1)):
            types = []
            for place in (inner, halo):
                start = [1, 1]
                start[axis] = place
                types.append(MPI.DOUBLE.Create_subarray([rows, columns], length, start).Commit())
            found.append(Side(neighbour, types[0], types[1], tag, tag ^ 1))
    return found


def update(new: Field, old: Field, rows: slice, columns: slice) -> None:
    """One step for some of the points; slices count as the part's own points do, halo included."""
    around = (
        old[rows.start - 1 : rows.stop - 1, columns]
        + old[rows.start + 1 : rows.stop + 1, columns]
        + old[rows, columns.start - 1 : columns.stop - 1]
        + old[rows, columns.start + 1 : columns.stop + 1]
    )
    new[rows, columns] = (1 - 4 * NUMBER) * old[rows, columns] + NUMBER * around


def step_sendrecv(part: Part, around: list[Side], new: Field, old: Field) -> None:
    """First all neighbours, one after the other, then all points."""
    for low, high in (around[:2], around[2:]):
        for to, source in ((low, high), (high, low)):
            part.comm.Sendrecv(
                [old, 1, to.out], to.neighbour, to.tag, [old, 1, source.into], source.neighbour, source.back
            )
    rows, columns = part.shape
    update(new, old, slice(1, rows - 1), slice(1, columns - 1))


def step_nonblocking(part: Part, around: list[Side], new: Field, old: Field) -> None:
    """The points within while the messages are on their way, then those along the sides."""
    requests = [part.comm.Irecv([old, 1, side.into], side.neighbour, side.back) for side in around]
    requests += [part.comm.Isend([old, 1, side.out], side.neighbour, side.tag) for side in around]
    rows, columns = part.shape
    update(new, old, slice(2, max(rows - 2, 2)), slice(2, max(columns - 2, 2)))
    MPI.Request.Waitall(requests)
    every = slice(1, columns - 1)
    update(new, old, slice(1, 2), every)
    update(new, old, slice(rows - 2, rows - 1), every)
    update(new, old, slice(1, rows - 1), slice(1, 2))
    update(new, old, slice(1, rows - 1), slice(columns - 2, columns - 1))


STEPS = {"sendrecv": step_sendrecv, "nonblocking": step_nonblocking}


def exact(part: Part, grid: tuple[int, int], steps: int) -> Field:
    """The solution of the discrete equation after some steps, on this rank, halo included."""
    field = np.zeros(part.shape)
    along = [
        np.arange(begin, end + 2) / (points + 1) for begin, end, points in zip(part.begin, part.end, grid, strict=True)
    ]
    for (first, second), amplitude in MODES.items():
        half = [
            math.sin(math.pi * k / (2 * (points + 1))) ** 2 for k, points in zip((first, second), grid, strict=True)
        ]
        factor = (1 - 4 * NUMBER * sum(half)) ** steps
        mode = np.outer(np.sin(math.pi * first * along[0]), np.sin(math.pi * second * along[1]))
        field += amplitude * factor * mode
    return field


def change(part: Part, new: Field, old: Field) -> float:
    """The root mean square of what one step changed, over all ranks."""
    inner = (slice(1, -1), slice(1, -1))
    here = np.array([np.sum((new[inner] - old[inner]) ** 2), (part.shape[0] - 2) * (part.shape[1] - 2)])
    part.comm.Allreduce(MPI.IN_PLACE, here)
    return math.sqrt(here[0] / here[1])


def run(part: Part, options: argparse.Namespace) -> int:
    grid = tuple(options.grid)
    step: Any = STEPS[options.exchange]
    around = sides(part)
    old, new = exact(part, grid, 0), np.zeros(part.shape)
    # Only messages may fill the halo.
    for rim in (old[0], old[-1], old[:, 0], old[:, -1]):
        rim[:] = 0
    part.comm.Barrier()
    begin = MPI.Wtime()
    for number in range(1, options.steps + 1):
        step(part, around, new, old)
        if number % options.every == 0:
            size = change(part, new, old)
            if part.comm.rank == 0:
                print(f" step {number:5}  change {size:.12e}")
        old, new = new, old
    inner = (slice(1, -1), slice(1, -1))
    worst = np.array([MPI.Wtime() - begin, np.max(np.abs(old - exact(part, grid, options.steps))[inner])])
    part.comm.Allreduce(MPI.IN_PLACE, worst, MPI.MAX)
    seconds, error = worst
    right = bool(error < TOLERANCE)
    if part.comm.rank == 0:
        print(f" Verification = {'SUCCESSFUL' if right else 'FAILED'}, largest error {error:.1e}")
        print(f" Time in seconds = {seconds:12.6f}")
    for side in around:
        side.out.Free()
        side.into.Free()
    return 0 if right else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="The heat equation on a plate, divided over all ranks.")
    parser.add_argument("--grid", type=int, nargs=2, default=[256, 256], metavar=("ROWS", "COLUMNS"))
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--every", type=int, default=10, metavar="N", help="look every N steps how much changes (10)")
    parser.add_argument("--exchange", choices=sorted(STEPS), default="nonblocking", help="how halos are swapped")
    options = parser.parse_args()
    try:
        if min(*options.grid, options.steps, options.every) < 1:
            raise ValueError("--grid, --steps and --every take numbers above 0")
        part = divide(tuple(options.grid), MPI.COMM_WORLD)
    except ValueError as error:
        if MPI.COMM_WORLD.rank == 0:
            print(f"halo: {error}", file=sys.stderr)
        return 2
    if part.comm.rank == 0:
        rows, columns = options.grid
        shape = " x ".join(str(parts) for parts in part.comm.dims)
        print(f"halo: {rows} x {columns} points, {options.steps} steps, {part.comm.size} ranks as {shape}")
    status = run(part, options)
    part.comm.Free()
    return status


if __name__ == "__main__":
    raise SystemExit(main())
