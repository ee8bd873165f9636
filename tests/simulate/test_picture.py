from __future__ import annotations

import re

from unisono.simulate.picture import Chart, draw


def test_axes_are_in_units_that_people_read() -> None:
    svg = draw([Chart("a chart", "", {"fast": {8: 5e-6, 1024: 2e-4}, "slow": {8: 5e-3, 1024: 0.9}})])
    labels = re.findall(r">([0-9.]+ (?:us|ms|s))<", svg)
    assert labels == ["1 us", "10 us", "100 us", "1 ms", "10 ms", "0.1 s", "1 s"]
    assert svg.count("<circle") == 4


def test_ratios_far_apart_have_an_axis_of_their_range() -> None:
    svg = draw([Chart("a chart", "", {"same": {8: 1.0, 1024: 1.0}, "ours": {8: 10.5, 1024: 0.8}}, unit="")])
    labels = re.findall(r'text-anchor="end"[^>]*>([^<]+)<', svg)
    assert labels == ["0", "2", "4", "6", "8", "10", "12"]
