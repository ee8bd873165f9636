from __future__ import annotations

import re

from unisono.simulate.picture import Chart, draw


def test_axes_are_in_units_that_people_read() -> None:
    svg = draw([Chart("a chart", "", {"fast": {8: 5e-6, 1024: 2e-4}, "slow": {8: 5e-3, 1024: 0.9}})])
    labels = re.findall(r">([0-9.]+ (?:us|ms|s))<", svg)
    assert labels == ["1 us", "10 us", "100 us", "1 ms", "10 ms", "0.1 s", "1 s"]
    assert svg.count("<circle") == 4
