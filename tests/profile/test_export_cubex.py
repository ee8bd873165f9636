"""Cube files of our own: pycubexr reads the same back, and so do we."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pycubexr import CubexParser

from tests.profile.ft import ft
from tests.profile.synthetic import synthetic
from tests.profile.test_hot import profile, row, sized
from unisono.core.errors import UserError
from unisono.profile.check import DEPTH_MOST
from unisono.profile.exporters import export_profile
from unisono.profile.importers import import_profile
from unisono.profile.recorded import NO_FUNCTION, UNKNOWN, Frame, Profile
from unisono.profile.tree import labels


def sums(whole: Profile, column: str) -> dict[tuple[tuple[str, ...], str, int], float]:
    """Per (call path by names, function, rank), whatever the indices are; unknown counts as 0."""
    found: dict[tuple[tuple[str, ...], str, int], float] = {}
    for cell in whole.cells:
        key = (labels(whole, int(cell["path"])), whole.functions[cell["function"]], int(cell["rank"]))
        found[key] = found.get(key, 0) + max(0.0, float(cell[column]))
    return found


def extremes(whole: Profile, column: str, pick: Any) -> dict[tuple[tuple[str, ...], str, int], float]:
    found: dict[tuple[tuple[str, ...], str, int], float] = {}
    for cell in whole.cells[~np.isnan(whole.cells[column]) & (whole.cells["function"] != NO_FUNCTION)]:
        key = (labels(whole, int(cell["path"])), whole.functions[cell["function"]], int(cell["rank"]))
        found[key] = pick(found.get(key, float(cell[column])), float(cell[column]))
    return found


def under_program(values: dict[tuple[tuple[str, ...], str, int], float]) -> dict[Any, float]:
    """As the file has it: everything hangs below one root region."""
    return {((*path, "program"), function, rank): value for (path, function, rank), value in values.items()}


@pytest.mark.parametrize("whole", [synthetic(8, 30, sizes=3), synthetic(1, 1, nodes=1), ft(16, 2)])
def test_pycubexr_reads_back_what_was_written(tmp_path: Path, whole: Profile) -> None:
    path = tmp_path / "profile.cubex"
    export_profile(whole, path, "cubex")
    columns = {"visits": "calls", "time": "time", "bytes_sent": "sent", "bytes_received": "received"}
    with CubexParser(str(path)) as file:
        for metric, column in columns.items():
            values = file.get_metric_values(file.get_metric_by_name(metric))
            found = {}
            for node in file.all_cnodes():
                chain, above = [], node
                while above is not None:
                    chain.append(file.get_region(above).name)
                    above = above.parent
                function = chain.pop(0) if chain[0].startswith("MPI_") else ""
                for rank, value in enumerate(values.cnode_values(node, convert_to_exclusive=True)):
                    if value > 1e-12:
                        found[tuple(chain), function, rank] = float(value)
            wanted = {key: value for key, value in under_program(sums(whole, column)).items() if value > 0}
            assert found.keys() == wanted.keys()
            assert found == pytest.approx(wanted, rel=1e-9)
        assert len(file.get_locations()) == whole.ranks


@pytest.mark.parametrize("whole", [synthetic(8, 30, sizes=3), ft(16, 2)])
def test_we_read_back_what_was_written(tmp_path: Path, whole: Profile) -> None:
    path = tmp_path / "profile.cubex"
    lost = export_profile(whole, path, "cubex")
    again = import_profile(path)
    for column in ("calls", "time", "sent", "received"):
        wanted = {key: value for key, value in under_program(sums(whole, column)).items() if value > 0}
        found = {key: value for key, value in sums(again, column).items() if value > 1e-12}
        assert found == pytest.approx(wanted, rel=1e-9), column
    for column, pick in (("time_min", min), ("time_max", max)):
        wanted = under_program(extremes(whole, column, pick))
        found = extremes(again, column, pick)
        assert {key: found[key] for key in wanted} == pytest.approx(wanted), column
    assert again.wall == pytest.approx(whole.wall)
    assert again.origin.hosts == whole.origin.hosts
    assert "message sizes" in lost[0]


def test_a_deep_call_tree_and_names_that_xml_cannot_hold(tmp_path: Path) -> None:
    base = profile(sized(8, 2, 1.0, path=2), row(time=1.0, calls=1))
    depth = DEPTH_MOST - 1  # a root is added
    deep = dataclasses.replace(
        base,
        frames=(Frame("a<b>&\"c'\x01"), *(Frame(f"f{n}") for n in range(depth))),
        paths=(base.paths[0], *(dataclasses.replace(base.paths[1], parent=n, frame=n) for n in range(depth))),
        cells=np.concatenate([sized(8, 2, 1.0, path=depth), row(time=1.0, calls=1, path=1)]),
    )
    export_profile(deep, tmp_path / "deep.cubex", "cubex")
    again = import_profile(tmp_path / "deep.cubex")
    assert len(again.paths) == depth + 2
    assert "a<b>&\"c'?" in {frame.function for frame in again.frames}


def test_unknown_counts_are_not_written_as_numbers(tmp_path: Path) -> None:
    export_profile(profile(sized(8, UNKNOWN, 1.0, path=2)), tmp_path / "p.cubex", "cubex")
    again = import_profile(tmp_path / "p.cubex")
    assert again.mpi_rows["calls"].tolist() == [0]


def test_an_unknown_format_and_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="give cubex, speedscope, json"):
        export_profile(profile(), tmp_path / "x", "otf2")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        export_profile(profile(row(time=1)), tmp_path / "file" / "x.json", "json")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
