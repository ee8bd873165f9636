"""What a hybrid study says of launches that failed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from unisono.core import language
from unisono.core.language import translated
from unisono.core.vocabulary import Setting
from unisono.hybrid.study import failures
from unisono.study.data import LaunchRow

REASON = "rank 3 was ended by signal 11 (segmentation fault)"
FLAT = Setting({"layout": "1x4"})


def row(status: str, setting: Setting = FLAT, reason: str = REASON) -> LaunchRow:
    return LaunchRow(1, setting, 1, 4, 1, status, reason, 1.0, "mpirun", False)


@pytest.fixture
def japanese() -> Iterator[None]:
    language.use("ja")
    yield
    language.use("en")


def test_each_way_to_fail_is_said_once_in_words() -> None:
    packed = Setting({"layout": "2x2", "packing": "threads"})
    rows = [row("crashed"), row("crashed"), row("refused", packed, "too few cores"), row("done"), row("interrupted")]
    assert failures(rows) == [
        "2 processes of 2 threads (packed by threads): the launch was refused (too few cores)",
        f"flat MPI: the launch crashed ({REASON})",
    ]


@pytest.mark.parametrize(
    "status", ["refused", "crashed", "hung", "wrong placement", "protocol", "no metric", "of another version"]
)
def test_the_sentence_is_whole_in_japanese(japanese: None, status: str) -> None:
    (kept,) = failures([row(status)])
    assert kept.startswith("flat MPI: the launch ")
    said = translated(kept)
    assert said.startswith("フラット MPI: ")
    assert "launch" not in said
    assert status not in said
