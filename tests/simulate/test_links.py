"""Counting bytes on links: by hand, and against SimGrid's own routes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from unisono.library.native import native_source
from unisono.simulate.bounds import dimensions_carried, rank_order_carried, spread_carried
from unisono.simulate.files import platform
from unisono.simulate.links import Links, bisection_seconds
from unisono.simulate.programs import spread_steps

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def carried(links: Links, sender: int, receiver: int) -> set[tuple[int, int, int]]:
    load = links.load(np.array([sender]), np.array([receiver]), np.array([3.0]))
    assert set(np.unique(load)) <= {0.0, 3.0}
    return {(int(place), int(dimension), int(way)) for place, dimension, way in np.argwhere(load)}


def test_a_route_goes_dimension_by_dimension_the_shorter_way() -> None:
    links = Links((4, 3))
    assert carried(links, 0, 1) == {(0, 0, 0)}
    assert carried(links, 0, 3) == {(0, 0, 1)}
    assert carried(links, 0, 4 + 1) == {(0, 0, 0), (1, 1, 0)}
    assert carried(links, 0, 2) == {(0, 0, 0), (1, 0, 0)}
    assert carried(links, 2, 0) == {(2, 0, 1), (1, 0, 1)}, "half-way from the middle it goes down"
    assert carried(links, 5, 5) == set()


def test_the_bound_of_the_middle() -> None:
    assert bisection_seconds((8, 8, 6), 1000, 5e9) == pytest.approx(384 * 1000 / 5e9)
    assert bisection_seconds((3,), 1, 1) == 1.0


@needs_compiler
def test_a_balanced_spread_loads_links_to_the_bound_and_a_plain_one_does_not() -> None:
    assert spread_carried("balanced", (6, 6, 6), 1).share == pytest.approx(1.0)
    assert spread_carried("simple", (6, 6, 6), 1).share == pytest.approx(0.75)
    assert spread_carried("simple", (5, 5, 5), 1).share == pytest.approx(1.0), "odd rings have no half-way"
    assert rank_order_carried((6, 6, 6)).share == pytest.approx(0.75)
    few, many = (spread_carried("balanced", (6, 6, 6), ahead).share_in_step for ahead in (1, 12))
    assert few < 0.4 < 0.9 < many


@needs_compiler
def test_dimension_by_dimension_loads_links_to_the_bound() -> None:
    carried = dimensions_carried((8, 8, 6), 15)
    assert carried.share == pytest.approx(1)
    assert carried.by_step == pytest.approx((128, 128, 128))
    assert dimensions_carried((8, 8, 6), 16).share_in_step == pytest.approx(1 / 1.0625)


@needs_compiler
def test_a_spread_reaches_every_place_once() -> None:
    for kind in ("simple", "double"):
        steps = spread_steps(kind, (4, 3, 2))
        assert sorted(offset for offset, _ in steps) == list(range(1, 24))
        assert all(blocks == 1 for _, blocks in steps)


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid (libsimgrid-dev) is not installed")
@pytest.mark.parametrize("extents", [(4, 3, 2), (6, 5), (5,), (2, 8)])
def test_routes_are_simgrids(tmp_path: Path, extents: tuple[int, ...]) -> None:
    program = tmp_path / "routes"
    source = native_source() / "tests" / "simgrid_routes.c"
    subprocess.run(["cc", str(source), "-lsimgrid", "-o", str(program)], check=True)
    platform("fx10").resized(extents).write(tmp_path, 1)
    said = subprocess.run([str(program), str(tmp_path / "platform.xml")], capture_output=True, text=True, check=True)
    links = Links(extents)
    lines = [line.split() for line in said.stdout.splitlines()]
    assert len(lines) == links.places * (links.places - 1)
    for line in lines:
        counted = sorted(carried(links, int(line[0]), int(line[1])))
        assert sorted(crossed(links, name) for name in line[2:]) == counted, line


def crossed(links: Links, name: str) -> tuple[int, int, int]:
    """SimGrid's machine_link_from_A_to_B_UP goes from A to B, ..._DOWN back."""
    words = name.split("_")
    low, high, down = int(words[-4]), int(words[-2]), int(words[-1] == "DOWN")
    differing = np.flatnonzero(links.coordinates[low] != links.coordinates[high])
    return (high if down else low), int(differing[0]), down
