from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono.core.interval import Interval
from unisono.core.vocabulary import Setting
from unisono.report import text

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


@given(st.floats(1e-9, 1e5))
def test_a_time_reads_back_within_half_a_percent(seconds: float) -> None:
    number, unit = text.format_time(seconds).split()
    assert float(number) * UNITS[unit] == pytest.approx(seconds, rel=0.006)
    assert float(number) < 1000 or unit == "s"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1.234e-6, "1.23 µs"),
        (999.96e-9, "1.00 µs"),
        (0.0123, "12.3 ms"),
        (0.0, "0 s"),
        (math.inf, "-"),
        (math.nan, "-"),
    ],
)
def test_times(seconds: float, words: str) -> None:
    assert text.format_time(seconds) == words


@pytest.mark.parametrize(
    ("ratio", "words"), [(1.2149, "1.21×"), (9.999, "10.0×"), (0.05, "0.05×"), (123.4, "123×"), (math.inf, "∞")]
)
def test_ratios(ratio: float, words: str) -> None:
    assert text.format_ratio(ratio) == words


def test_an_interval_nobody_knows_is_said_so() -> None:
    assert text.format_gain(Interval(1.2, 0.0, math.inf)) == "1.20× (interval unknown)"
    assert text.format_gain(Interval(2.09, 3e-5, 134407.0)) == "2.09× (interval unknown)"
    assert text.format_gain(Interval(1.214, 1.15, 1.28)) == "1.21× (1.15–1.28)"


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (0, None, "all sizes"),
        (1 << 20, None, "from 1 MiB"),
        (0, 1024, "up to 1 KiB"),
        (0, 1023, "below 1 KiB"),
        (8192, 65535, "8 KiB to below 64 KiB"),
        (8192, 65536, "8 KiB – 64 KiB"),
        (8192, 8192, "8 KiB"),
    ],
)
def test_ranges(first: int, last: int | None, words: str) -> None:
    assert text.format_range(first, last) == words


@given(st.floats(-1e300, 1e300, allow_subnormal=False), st.integers(2, 6))
def test_significant_digits(value: float, digits: int) -> None:
    rounded = text.significant(value, digits)
    assert rounded == pytest.approx(value, rel=10.0 ** (1 - digits))
    mantissa = f"{abs(rounded):.12e}".split("e")[0].replace(".", "").rstrip("0")
    assert len(mantissa) <= digits


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({}, "default"),
        ({"UCX_RNDV_THRESH": "16kb"}, "UCX_RNDV_THRESH=16kb"),
        ({"coll": "tuned", "algorithm": "ring", "segment": "65536"}, "tuned/ring/64 KiB"),
        ({"coll": "tuned", "algorithm": "ring", "segment": "0"}, "tuned/ring"),
        ({"coll": "han", "pml": "ob1"}, "pml=ob1, han"),
    ],
)
def test_short_settings(setting: dict[str, str], words: str) -> None:
    assert text.short_setting(Setting(setting)) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(3.21, "3.2 s"), (59.7, "1 min 00 s"), (320, "5 min 20 s"), (7500, "2 h 05 min")]
)
def test_durations(seconds: float, words: str) -> None:
    assert text.format_duration(seconds) == words


def test_counting_and_joining() -> None:
    assert text.count(1, "launch") == "1 launch"
    assert text.count(5, "launch") == "5 launches"
    assert text.count(1200, "timing") == "1,200 timings"
    assert text.join(["a"]) == "a"
    assert text.join(["a", "b", "c"]) == "a, b and c"
    assert text.join([]) == ""
