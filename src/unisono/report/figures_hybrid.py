"""Figures of hybrid studies: strong scaling, GFLOPS, seconds by part, the bandwidth's drift, two machines' ratio."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from unisono.core.language import N_, _, translated
from unisono.hybrid.compare import Comparison
from unisono.hybrid.decide import Decision, Rank
from unisono.hybrid.run import Result
from unisono.hybrid.steady import bandwidth_of
from unisono.hybrid.variants import Variant
from unisono.report.axes import Figure, hover_frame, label, layout, line_across
from unisono.report.palette import MARKERS, SERIES
from unisono.report.text import count

PARTS = {
    "computing": (N_("computing"), "@series-8"),
    "halo_pack": (N_("packing the halo"), "@series-6"),
    "halo_exchange": (N_("exchanging the halo"), "@series-3"),
    "allreduce": (N_("allreduce, and waiting in it"), "@series-5"),
}
_ROW = 30

Key = dict[str, str]
"""An entry of a chart's key: name, colour, dash, marker."""


def row_name(decision: Decision, rank: Rank) -> str:
    nodes = rank.variant.nodes
    name = translated(rank.name)
    return on_nodes(name, nodes) if len(decision.node_counts) > 1 else name


def on_nodes(name: str, nodes: int) -> str:
    """ "HB 8x2 on 4 nodes"."""
    return _("{name} on {nodes}").format(name=name, nodes=count(nodes, "node"))


def scaling(decision: Decision) -> tuple[list[tuple[str, Figure]], list[Key]]:
    """A curve for each layout over cores: speed-up, GFLOPS and, of several numbers of nodes, the gain over the
    reference there. Nothing where all have equally many cores."""
    numbers = sorted({rank.variant.cores for rank in decision.ranks})
    if len(numbers) < 2:
        return [], []
    curves = _curves(decision)
    ideal = {
        "type": "scatter",
        "mode": "lines",
        "name": _("ideal"),
        "x": numbers,
        "y": numbers,
        "line": {"color": "@quiet", "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
    }
    base = f"{translated(decision.called(decision.base))} = {decision.base.cores}".replace(" = 1", " = 1.0")
    speed = _over_cores(
        numbers,
        _("speed-up, {base}").format(base=base),
        {n: [(r.variant.cores, r.speedup) for r in c] for n, c in curves},
    )
    speed["data"].insert(0, ideal)
    figures = [(_("Speed-up"), speed)]
    if all(rank.gflops for rank in decision.ranks):
        rates = {name: [(r.variant.cores, r.gflops) for r in curve] for name, curve in curves}
        figures.append(("GFLOPS", _over_cores(numbers, "GFLOPS", rates)))
    if len(decision.node_counts) > 1:
        over = translated(decision.reference_on(decision.node_counts[0]).name)
        gains = {name: [(r.variant.cores, r.gain.mid) for r in curve] for name, curve in curves}
        title = _("times as fast as {reference}").format(reference=over)
        figures.append((_("Over {reference}").format(reference=over), _over_cores(numbers, title, gains, log=False)))
    return figures, [*_keys([name for name, _ in curves]), _key(_("ideal"), "@quiet", "dot", "")]


def _curves(decision: Decision) -> list[tuple[str, list[Rank]]]:
    """Layouts with as many threads, by cores; named as the document does where a node always has the same."""
    groups: dict[tuple[Any, ...], list[Rank]] = {}
    for rank in sorted(decision.ranks, key=lambda rank: rank.variant.position):
        v = rank.variant
        groups.setdefault((v.layout.threads, v.numa, v.packing, v.links), []).append(rank)
    named: list[tuple[str, list[Rank]]] = []
    for group in groups.values():
        first = group[0].variant
        same = len({rank.variant.layout for rank in group}) == 1
        named.append(
            (translated(first.name) if same else _model(first), sorted(group, key=lambda rank: rank.variant.cores))
        )
    return named


def _model(variant: Variant) -> str:
    threads = variant.layout.threads
    model = _("flat MPI") if threads == 1 else _("{threads} threads a process").format(threads=threads)
    return translated(variant.name).replace(translated(variant.layout.words), model)


def _over_cores(
    numbers: Sequence[int], title: str, curves: Mapping[str, Sequence[tuple[int, float | None]]], *, log: bool = True
) -> Figure:
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": label(name),
            "x": [x for x, _ in points],
            "y": [None if y is None else round(y, 4) for _, y in points],
            "line": {"color": _colour(i), "width": 2},
            "marker": {"symbol": _marker(i), "size": 7, "color": _colour(i)},
            "hovertemplate": hover_frame(name, text=_("{count} cores: {value}").format(count="%{x}", value="%{y:.4g}")),
        }
        for i, (name, points) in enumerate(curves.items())
    ]
    ticks = {"type": "log", "tickvals": list(numbers), "ticktext": [f"{n:,}" for n in numbers]}
    return {
        "data": data,
        "layout": layout(
            300,
            {},
            xaxis={**_quiet(_("cores")), **ticks},
            yaxis={**_quiet(title), **(_doubling(curves) if log else {})},
        ),
    }


def _doubling(curves: Mapping[str, Sequence[tuple[int, float | None]]]) -> dict[str, Any]:
    """A logarithmic axis with a tick at every power of two."""
    values = [y for points in curves.values() for _, y in points if y]
    ends = (math.floor(math.log2(min(values, default=1))), math.ceil(math.log2(max(values, default=1))))
    ticks = [2.0**power for power in range(ends[0], ends[1] + 1)]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,g}" for tick in ticks]}


def parts(decision: Decision) -> Figure:
    """One bar a layout, best at the top, its seconds by part; of the most nodes, for the times of others would hide
    these."""
    ranks = list(reversed(decision.on(decision.node_counts[-1])))
    names = [label(translated(rank.name)) for rank in ranks]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": _(words),
            "x": [round(rank.parts[part], 6) for rank in ranks],
            "y": names,
            "marker": {"color": colour},
            "hovertemplate": f"<b>%{{y}}</b><br>{_(words)}: %{{x:.4g}} s<extra></extra>",
        }
        for part, (words, colour) in PARTS.items()
    ]
    return {
        "data": data,
        "layout": layout(
            _ROW * len(ranks) + 70,
            {},
            barmode="stack",
            bargap=0.35,
            xaxis=_quiet(_("seconds, mean over processes")),
            yaxis={**_quiet(""), "type": "category", "tickfont": {"size": 11, "color": "@text"}},
        ),
    }


def part_keys() -> list[Key]:
    return [_key(_(name), colour, "solid", "square") for name, colour in PARTS.values()]


def drift(decision: Decision, results: Sequence[Result]) -> tuple[Figure, list[Key]]:
    """Every launch's memory bandwidth over what its layout usually has, in the order they ran; pale where its round was
    discarded."""
    names = {rank.variant: row_name(decision, rank) for rank in decision.ranks}
    measured = [(result, bandwidth_of(result.answer) or 0.0) for result in results if result.variant in names]
    usual = {v: statistics.median(value for result, value in measured if result.variant == v) for v in names}
    shown: dict[str, tuple[list[int], list[float], list[float]]] = {name: ([], [], []) for name in names.values()}
    for number, (result, value) in enumerate(measured, start=1):
        x, y, opacity = shown[names[result.variant]]
        x.append(number)
        y.append(round(value / usual[result.variant], 4))
        opacity.append(0.35 if result.round in decision.rounds.restless else 1.0)
    data = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": label(name),
            "x": x,
            "y": y,
            "marker": {"color": _colour(i), "symbol": _marker(i), "size": 8, "opacity": opacity},
            "hovertemplate": hover_frame(
                name, text=_("launch {number}: {share} of the usual").format(number="%{x}", share="%{y:.2f}")
            ),
        }
        for i, (name, (x, y, opacity)) in enumerate(shown.items())
    ]
    figure = {
        "data": data,
        "layout": layout(220, {}, xaxis=_quiet(_("launch")), yaxis=_quiet(_("bandwidth / usual"))),
    }
    keys = [_key(name, _colour(i), "", _marker(i)) for i, name in enumerate(shown)]
    return figure, keys


def ratio(comparison: Comparison) -> tuple[Figure, list[Key]]:
    """How many times as fast as the reference study the others are, over cores."""
    numbers = sorted({row.cores for row in comparison.rows})
    several = len(comparison.others) > 1
    curves: dict[str, list[tuple[int, float | None]]] = {}
    for row in comparison.rows:
        if row.threads is not None:
            model = translated(row.model)
            name = f"{model}, {row.other}" if several else model
            curves.setdefault(name, []).append((row.cores, row.gain.mid))
    figure = _over_cores(
        numbers, _("times as fast as {reference}").format(reference=comparison.reference), curves, log=False
    )
    figure["layout"]["shapes"] = [line_across(1)]
    return figure, _keys(list(curves))


def _keys(names: Sequence[str]) -> list[Key]:
    return [_key(name, _colour(i), "solid", _marker(i)) for i, name in enumerate(names)]


def _key(name: str, colour: str, dash: str, marker: str) -> Key:
    return {"name": name, "colour": colour, "dash": dash, "marker": marker}


def _quiet(title: str) -> dict[str, Any]:
    return {
        "tickfont": {"size": 11, "color": "@quiet"},
        "gridcolor": "@grid",
        "zeroline": False,
        "automargin": True,
        **({"title": {"text": label(title), "font": {"size": 12, "color": "@quiet"}}} if title else {}),
    }


def _colour(index: int) -> str:
    return SERIES[index % len(SERIES)]


def _marker(index: int) -> str:
    return MARKERS[index % len(MARKERS)]
