"""In a word, whether a study is faster: what is so at some sizes only is said of these."""

from __future__ import annotations

from itertools import permutations

import pytest

from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, Case
from unisono.decide import differs
from unisono.decide.differs import FASTER_AT_SOME, SLOWER_AT_SOME
from unisono.decide.sides import Row

CASE = Case("bcast", 1, 8)


def row(size: int, mid: float, spread: float = 0.02) -> Row:
    gain = Interval(mid, mid * (1 - spread), mid * (1 + spread))
    return Row(CASE, size, "b", "default", DEFAULT, DEFAULT, mid, 1.0, gain, False)


ALL, ONE = [row(8, 1.3), row(64, 1.3)], [row(8, 1.0), row(64, 1.0), row(512, 1.0), row(4096, 1.02)]


@pytest.mark.parametrize(
    ("kinds", "rows", "word"),
    [
        ({"better"}, ALL, "faster"),
        ({"better"}, ONE, FASTER_AT_SOME),
        ({"worse"}, [row(8, 0.7)], "slower"),
        ({"worse"}, ONE, SLOWER_AT_SOME),
        ({"better", "worse"}, ALL, "mixed"),
        ({"mixed"}, ALL, "mixed"),
        ({"better", "no difference"}, ALL, "faster"),
        ({"no difference", "not told"}, ALL, "not told"),
        ({"no difference"}, ALL, "no difference"),
        (set(), ALL, "no difference"),
    ],
)
def test_of_a_case(kinds: set[str], rows: list[Row], word: str) -> None:
    assert differs.of_case(kinds, rows) == word


@pytest.mark.parametrize(
    ("verdicts", "word"),
    [
        (["faster", FASTER_AT_SOME, "no difference"], "faster"),
        ([FASTER_AT_SOME, "no difference", "not told"], FASTER_AT_SOME),
        ([SLOWER_AT_SOME, "not told"], SLOWER_AT_SOME),
        (["faster", SLOWER_AT_SOME], "mixed"),
        ([FASTER_AT_SOME, "slower"], "mixed"),
        (["mixed", "faster"], "mixed"),
        (["no difference", "not told"], "not told"),
        ([], "no difference"),
    ],
)
def test_over_cases_in_any_order(verdicts: list[str], word: str) -> None:
    assert {differs.of_all(order) for order in permutations(verdicts)} == {word}
