"""The page's reading of a figure, in Python: what it hands to Plotly. Keep in step with templates/page.js."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unisono.report import palette

_ROLE = re.compile(r"@([a-z0-9-]+)(?:/(\d+))?")


def expanded(figure: Mapping[str, Any], view: str | None = None) -> dict[str, Any]:
    """Plain Plotly JSON: `like` and `views` resolved, roles as colours of the light page."""
    data = [dict(trace) for trace in figure["data"]]
    for i, trace in enumerate(data):
        if "like" in trace:
            data[i] = {**data[trace["like"]], **trace}
            del data[i]["like"]
    layout = dict(figure["layout"])
    if "views" in figure:
        chosen = figure["views"][view or next(iter(figure["views"]))]
        assert len(chosen["y"]) == len(data)
        data = [
            {**trace, "y": y, "error_y": {**trace.get("error_y", {}), **error}}
            for trace, y, error in zip(data, chosen["y"], chosen["error"], strict=True)
        ]
        layout |= chosen["layout"]
    coloured: dict[str, Any] = _coloured({"data": data, "layout": layout})
    return coloured


def _coloured(node: Any) -> Any:
    if isinstance(node, str) and (found := _ROLE.fullmatch(node)):
        red, green, blue = (int(palette.ROLES[found[1]][0][i : i + 2], 16) for i in (1, 3, 5))
        return f"rgba({red},{green},{blue},{int(found[2] or 100) / 100})"
    if isinstance(node, Mapping):
        return {name: _coloured(value) for name, value in node.items()}
    if isinstance(node, list | tuple):
        return [_coloured(value) for value in node]
    return node


def numbers(node: Any) -> Iterator[float]:
    """Every number of a figure's traces."""
    if isinstance(node, bool):
        return
    if isinstance(node, int | float):
        yield node
    elif isinstance(node, Mapping):
        for value in node.values():
            yield from numbers(value)
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for value in node:
            yield from numbers(value)
