"""Rows checked by columns: taken, and refused, as each by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from unisono.core.errors import UserError
from unisono.study.rows import _ROWS, COLUMNS, columns

RIGHT: dict[str, Any] = {
    "launch": 1,
    "round": 1,
    "collective": "bcast",
    "nodes": 1,
    "ppn": 2,
    "size": 8,
    "setting": "{}",
    "repetitions": 10,
    "discarded": 0,
    "sync": "clock",
    **dict.fromkeys(("minimum", "q1", "median", "q3", "p95", "mean", "trimmed"), 1e-6),
    "correct": None,
    "state": None,
    "condition": "",
    "inside": None,
}
ODD = (
    None,
    -1,
    0,
    1,
    2,
    1.0,
    True,
    "",
    "bcast",
    "barrier",
    "noise",
    b"bcast",
    1e300,
    float("inf"),
    float("nan"),
    1 << 70,
)


@given(
    st.lists(st.dictionaries(st.sampled_from(list(RIGHT)), st.sampled_from(ODD), max_size=2), min_size=1, max_size=6)
)
def test_a_column_takes_what_its_rows_take(odd: list[dict[str, Any]]) -> None:
    rows = [tuple({**RIGHT, **each}.values()) for each in odd]
    adapter: TypeAdapter[tuple[Any, ...]] = _ROWS["sample"]
    try:
        wanted = [adapter.validate_python(row) for row in rows]
    except ValidationError:
        with pytest.raises(UserError, match=r"row \d+ of sample: \w+: ."):
            columns("sample", rows, Path("study.db"))
        return
    found = list(zip(*columns("sample", rows, Path("study.db")), strict=True))
    assert [[(type(value), value) for value in row] for row in found] == [
        [(type(value), value) for value in row] for row in wanted
    ]


def test_the_row_is_counted_from_the_first_of_the_table() -> None:
    rows = [tuple(RIGHT.values()), tuple({**RIGHT, "sync": "noise"}.values())]
    with pytest.raises(UserError, match="row 42 of sample: sync"):
        columns("sample", rows, Path("study.db"), 40)
    assert list(RIGHT) == list(COLUMNS["sample"])
