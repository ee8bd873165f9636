"""The tables of docs/how-fast-our-collectives-are.md from the rows of collectives_one_node.py, in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from unisono.core.sizes import format_size

Row = dict[str, object]
NEAR = 0.95
"""The choice is as good as the best of ours from here on."""
FEW = 4
"""So many message sizes stand beside each other in one table."""
MIDDLE, LARGE = 16 << 10, 1 << 20
"""Bytes from which a size is called middle, and large."""


def number(row: Row, name: str) -> float | None:
    value = row[name]
    return None if value is None else float(str(value))


def mean(values: Iterable[float | None]) -> float | None:
    """Geometric, of those that are known."""
    known = [value for value in values if value is not None]
    return statistics.geometric_mean(known) if known else None


def markdown(rows: Sequence[Row], copy_rates: Mapping[str, Mapping[int, float]]) -> str:
    """Of many sizes the means in short tables and every time in a long one, folded; of few sizes the times alone."""
    if len({row["size"] for row in rows}) <= FEW:
        tables = _by_size(rows)
    else:
        folded = ["<details><summary>Every collective and message size</summary>", "", *_cells(rows), "", "</details>"]
        tables = [*means_by("size", rows), "", *means_by("collective", rows), "", *folded]
    copies = [
        f"all ranks at once copy {what}, GB/s: "
        + ", ".join(f"{format_size(size)} {rate:.0f}" for size, rate in rates.items())
        for what, rates in copy_rates.items()
    ]
    return "\n".join([*tables, "", *_means(rows), *copies])


def means_by(name: str, rows: Sequence[Row]) -> list[str]:
    """Geometric means, a column for each message size or each collective."""
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    columns = [format_size(int(str(value))) if name == "size" else str(value) for value in groups]
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for words, ratio in (("best other / best of ours", "ratio"), ("best other / choice", "chosen_ratio")):
        means = [_ratio(mean(number(row, ratio) for row in some)) for some in groups.values()]
        lines.append(f"| {words} | {' | '.join(means)} |")
    return lines


def _cells(rows: Sequence[Row]) -> list[str]:
    """A line for each collective and size."""
    names = ("collective", "size", "best of ours, us", "choice, us", "best other, us", "other / ours", "other / choice")
    lines = [f"| {' | '.join(names)} | limit / ours |", "|---" * (len(names) + 1) + "|"]
    for row in rows:
        limit = number(row, "of_limit")
        texts = (
            str(row["collective"]),
            format_size(int(str(row["size"]))),
            f"`{row['best']}` {_us(row, 'ours_us')}",
            _us(row, "chosen_us"),
            f"{' '.join(str(row['rival']).split())} {_us(row, 'rival_us')}",
            _ratio(number(row, "ratio")),
            _ratio(number(row, "chosen_ratio")),
            "-" if limit is None else f"{limit:.0%}",
        )
        lines.append(f"| {' | '.join(texts)} |")
    return lines


def _by_size(rows: Sequence[Row]) -> list[str]:
    """A line for each collective: the best of ours / the best other way at every size, microseconds."""
    sizes = sorted({int(str(row["size"])) for row in rows})
    found = {(row["collective"], row["size"]): f"{_us(row, 'ours_us')} / {_us(row, 'rival_us')}" for row in rows}
    lines = [f"| | {' | '.join(map(format_size, sizes))} |", "|---" * (len(sizes) + 1) + "|"]
    for collective in dict.fromkeys(row["collective"] for row in rows):
        lines.append(f"| {collective} | {' | '.join(found.get((collective, size), '-') for size in sizes)} |")
    return lines


def _means(rows: Sequence[Row]) -> list[str]:
    def said(of: str, some: Sequence[Row]) -> str:
        least = min(some, key=lambda row: number(row, "ratio") or 0.0)
        known = [row for row in some if row["chosen_ratio"] is not None]
        worst = min(known, key=lambda row: number(row, "chosen_ratio") or 0.0, default=None)
        middle = _ratio(mean(number(row, "ratio") for row in some))
        text = f"{of}: best other / best of ours {middle}, least {_cell(least, 'ratio')}"
        if worst is not None:
            text += f"; best other / choice {_ratio(mean(number(row, 'chosen_ratio') for row in some))}"
            text += f", least {_cell(worst, 'chosen_ratio')}"
        return text

    lines = [said("all", rows)]
    bounds = (("below 16 KiB", 0, MIDDLE), ("below 1 MiB", MIDDLE, LARGE), ("larger", LARGE, 1 << 60))
    groups = {name: [row for row in rows if low <= int(str(row["size"])) < high] for name, low, high in bounds}
    groups |= {str(name): [row for row in rows if row["collective"] == name] for name in _collectives(rows)}
    lines += [said(name, some) for name, some in groups.items() if some]
    for name, of in (("as_is_ratio", "ours"), ("as_is_chosen_ratio", "choice")):
        known = [row for row in rows if row[name] is not None]
        if known:
            worst = min(known, key=lambda row: number(row, name) or 0.0)
            middle = _ratio(mean(number(row, name) for row in known))
            lines.append(f"Open MPI as it is, over ob1 or UCX / {of}: {middle}, least {_cell(worst, name)}")
    beside = [row for row in rows if row["choice_of_best"] is not None]
    if beside:
        near = sum((number(row, "choice_of_best") or 0.0) >= NEAR for row in beside)
        least = min(beside, key=lambda row: number(row, "choice_of_best") or 0.0)
        middle = _ratio(mean(number(row, "choice_of_best") for row in beside))
        said_near = f"within 5 % in {near} of {len(beside)}, least {_cell(least, 'choice_of_best')}"
        lines.append(f"best of ours beside the choice / choice: {middle}, {said_near}")
    return lines


def _collectives(rows: Sequence[Row]) -> list[object]:
    return list(dict.fromkeys(row["collective"] for row in rows))


def _cell(row: Row, name: str) -> str:
    return f"{_ratio(number(row, name))} ({row['collective']} of {format_size(int(str(row['size'])))})"


def _us(row: Row, name: str) -> str:
    value = number(row, name)
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
