from __future__ import annotations

import re

from unisono.simulate.picture import Chart, draw
from unisono.simulate.winners import Winners
from unisono.simulate.winners import draw as draw_winners


def test_axes_are_in_units_that_people_read() -> None:
    svg = draw([Chart("a chart", "", {"fast": {8: 5e-6, 1024: 2e-4}, "slow": {8: 5e-3, 1024: 0.9}})])
    labels = re.findall(r">([0-9.]+ (?:us|ms|s))<", svg)
    assert labels == ["1 us", "10 us", "100 us", "1 ms", "10 ms", "0.1 s", "1 s"]
    assert svg.count("<circle") == 4


def test_a_map_names_each_winner_once_and_shows_where_it_is_slower() -> None:
    cells = {"torus": {"8 B": ("trees", 0.9), "1 KiB": ("rings", 2.5)}, "fat tree": {"8 B": ("trees", 1.2)}}
    svg = draw_winners([Winners("bcast", "", ["8 B", "1 KiB"], cells)])
    assert re.findall(r">([A-Z]  \w+)<", svg) == ["A  trees", "B  rings"]
    assert re.findall(r">([A-Z] [0-9.]+)<", svg) == ["A 0.90", "B 2.50", "A 1.20"]
    assert re.findall(r'bold"[^>]*>([A-Z] [0-9.]+)<', svg) == ["A 0.90"]
