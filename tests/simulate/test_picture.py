from __future__ import annotations

import re
from itertools import pairwise

from unisono.simulate.picture import Chart, Panel, draw
from unisono.simulate.winners import Winners
from unisono.simulate.winners import draw as draw_winners


def test_axes_are_in_units_that_people_read() -> None:
    svg = draw([Chart("a chart", "", {"fast": {8: 5e-6, 1024: 2e-4}, "slow": {8: 5e-3, 1024: 0.9}})])
    labels = re.findall(r">([0-9.]+ (?:us|ms|s))<", svg)
    assert labels == ["1 us", "10 us", "100 us", "1 ms", "10 ms", "0.1 s", "1 s"]
    assert svg.count("<circle") == 4


def test_charts_of_ratios_share_their_axis_and_their_legend() -> None:
    small = Panel(300, 200, 44, 14, 30, 30, alone=False)
    curves: list[dict[str, dict[int, float]]] = [
        {"one": {8: 0.8, 64: 2.4}, "other": {8: 1.1, 64: 1.2}},
        {"one": {8: 1.3, 64: 4.1}, "other": {8: 1, 64: 1}},
    ]
    charts = [Chart(f"chart {i}", "", of, unit="times", marked=True) for i, of in enumerate(curves)]
    svg = draw(charts, 2, small, "what is above all", "and below it")
    ratios = re.findall(r'text-anchor="end"[^>]*>([0-9.]+)<', svg)
    assert ratios == ["0.7", "1", "1.5", "2", "3", "5"] * 2
    assert [svg.count(f">{name}<") for name in ("one", "other", "what is above all", "and below it")] == [1] * 4
    assert (svg.count("<circle"), svg.count("<polygon")) == (5, 5), (
        "a mark of its own for each curve, and one in the legend"
    )
    drawn = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    assert drawn is not None
    assert drawn.groups() == ("600", "276"), "two panels beside each other, the heading above, the legend below"


def test_sizes_below_the_axis_have_room_beside_each_other() -> None:
    sizes = [8, 512, 32768, 2097152, 4194304, 8388608]
    svg = draw([Chart("", "", {"a": dict.fromkeys(sizes, 1e-6)})], 1, Panel(300, 200, 44, 14, 30, 30))
    written = [(float(x), word) for x, word in re.findall(r'x="([0-9.]+)"[^>]*middle"[^>]*>([^<]+)<', svg)]
    assert [word for _, word in written] == ["8 B", "512 B", "32 KiB", "2 MiB"]
    assert all(after[0] - before[0] >= 52 for before, after in pairwise(written))


def test_a_map_names_each_winner_once_and_shows_where_it_is_slower() -> None:
    cells = {"torus": {"8 B": ("trees", 0.9), "1 KiB": ("rings", 2.5)}, "fat tree": {"8 B": ("trees", 1.2)}}
    svg = draw_winners([Winners("bcast", "", ["8 B", "1 KiB"], cells)])
    assert re.findall(r">([A-Z]  \w+)<", svg) == ["A  trees", "B  rings"]
    assert re.findall(r">([A-Z] [0-9.]+)<", svg) == ["A 0.90", "B 2.50", "A 1.20"]
    assert re.findall(r'bold"[^>]*>([A-Z] [0-9.]+)<', svg) == ["A 0.90"]


def test_ratios_far_apart_have_an_axis_of_their_range() -> None:
    svg = draw([Chart("a chart", "", {"same": {8: 1.0, 1024: 1.0}, "ours": {8: 10.5, 1024: 0.8}}, unit="")])
    labels = re.findall(r'text-anchor="end"[^>]*>([^<]+)<', svg)
    assert labels == ["0", "2", "4", "6", "8", "10", "12"]
