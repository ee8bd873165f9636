"""One JSON document with everything in it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.profile.ft import ft
from tests.profile.synthetic import synthetic
from unisono.profile.exporters.json import as_json
from unisono.profile.recorded import CELL, UNKNOWN, Profile


@pytest.mark.parametrize("whole", [synthetic(4, 30), synthetic(2, 5, nodes=1, split_waiting=False), ft(4, 2)])
def test_the_cells_can_be_built_again_from_it(whole: Profile) -> None:
    document: Any = json.loads(as_json(whole))
    cells = np.zeros(len(whole.cells), CELL)
    for name in CELL.names or ():
        column = document["cells"][name]
        unknown = float("nan") if CELL[name].kind == "f" else UNKNOWN
        cells[name] = [unknown if value is None else value for value in column]
    for name in CELL.names or ():
        assert np.array_equal(cells[name], whole.cells[name], equal_nan=CELL[name].kind == "f"), name
    assert document["wall_seconds"] == whole.wall.tolist()
    assert [path["parent"] for path in document["paths"]] == [None, *(path.parent for path in whole.paths[1:])]
    assert document["functions"] == list(whole.functions)
    assert document["frames"][0]["function"] == whole.frames[0].function
    assert document["pairs"]["bytes"] == whole.pairs["bytes"].tolist()
    assert document["origin"]["hosts"] == list(whole.origin.hosts)


def test_what_is_not_known_is_null() -> None:
    document: Any = json.loads(as_json(ft(2, 1)))
    init = document["cells"]["function"].index(3)
    for name in ("comm", "size", "sent", "time_min", "waiting"):
        assert document["cells"][name][init] is None
    assert document["cells"]["calls"][init] == 1
