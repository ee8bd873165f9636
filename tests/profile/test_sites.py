"""What tells rows apart that read the same."""

from __future__ import annotations

from dataclasses import replace

from tests.advise.made import Call, profile
from unisono.profile.recorded import UNKNOWN, Frame, Path
from unisono.profile.sites import sites

SOLVE, DOT = Frame("solve", "cg", 0x1999, "cg.f90", 47), Frame("dot", "cg", 0x139D, "cg.f90", 63)


def _sites(*callers: Frame) -> list[str]:
    """Of calls in `dot`, which each of these calls."""
    paths = [Path(UNKNOWN, UNKNOWN)]
    for number in range(len(callers)):
        paths += [Path(0, number + 1), Path(2 * number + 1, 0)]
    made = replace(profile([Call("MPI_Wait")]), frames=(DOT, *callers), paths=tuple(paths))
    return sites(made, [("Wait from dot", 2 * number + 2) for number in range(len(callers))])


def test_rows_that_read_the_same_are_told_apart_by_their_line() -> None:
    assert _sites(SOLVE) == [""]
    assert _sites(SOLVE, replace(SOLVE, offset=0x1A3D, line=49)) == ["solve cg.f90:47", "solve cg.f90:49"]


def test_a_compiler_that_gives_two_calls_one_line_does_not_make_them_one() -> None:
    assert _sites(SOLVE, replace(SOLVE, offset=0x1A3D)) == ["solve cg.f90:47 cg+0x1999", "solve cg.f90:47 cg+0x1a3d"]
    without = replace(SOLVE, file="", line=0)
    assert _sites(without, replace(without, offset=0x1A3D)) == ["solve cg+0x1999", "solve cg+0x1a3d"]
