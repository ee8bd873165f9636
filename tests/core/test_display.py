"""How numbers are written for people."""

from __future__ import annotations

import math

import pytest

from unisono.core.display import data_amount, percent, percent_range, seconds, signed_percent
from unisono.core.interval import Interval


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.398, "40 %"),
        (0.0642, "6.4 %"),
        (0.0702, "7 %"),
        (0.0995, "10 %"),
        (0.0004, "<0.1 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (-0.031, "-3.1 %"),
        (-0.00001, "0 %"),
        (math.nan, "?"),
    ],
)
def test_percent(share: float, words: str) -> None:
    assert percent(share) == words


def test_signed_percent() -> None:
    assert [signed_percent(share) for share in (0.051, -0.05, 0.0001, 1.2)] == ["+5.1 %", "-5 %", "0 %", "+120 %"]


def test_percent_range() -> None:
    assert percent_range(Interval(0.12, 0.0912, 0.141)) == "9.1 to 14 %"
    assert percent_range(Interval(0.0, -0.0001, 0.04)) == "0 to 4 %"
    assert percent_range(Interval(0.0, 0.0, 0.0)) == "0 %"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0 s"),
        (4.86e-7, "486 ns"),
        (2.42e-5, "24.2 us"),
        (0.9999e-3, "1000 us"),
        (-0.00042, "-420 us"),
        (0.0045, "4.5 ms"),
        (0.53, "0.53 s"),
        (12.3, "12.3 s"),
        (32.412, "32.41 s"),
        (123.4, "123.4 s"),
        (8211.4, "8,211 s"),
    ],
)
def test_seconds(value: float, words: str) -> None:
    assert seconds(value) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (-1, "?"),
        (0, "0 B"),
        (999, "999 B"),
        (32 << 10, "32 KiB"),
        (3_355_443_200, "3.12 GiB"),
        (860_000_000_000, "801 GiB"),
    ],
)
def test_data_amount(count: int, words: str) -> None:
    assert data_amount(count) == words
