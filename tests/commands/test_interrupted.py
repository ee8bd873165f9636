"""Ctrl-C and SIGTERM while long work is done: none is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from rich.console import Console

from unisono.commands.interrupted import terminated_like_interrupted
from unisono.commands.progress import StudyProgress


class _Going:
    """Gets a signal while Python calls what no exception leaves."""

    def __init__(self, number: signal.Signals) -> None:
        self._number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self._number)


@pytest.fixture(autouse=True)
def as_a_user_has_it() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_whose_exception_is_lost_ends_the_work_all_the_same(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    went_on = False
    progress = StudyProgress(Console(), samples=None, budget=None)
    with pytest.raises(KeyboardInterrupt), terminated_like_interrupted():
        one = _Going(number)
        del one
        went_on = True
        progress.add(1)
        pytest.fail("another sample was taken")
    assert went_on
    assert "--resume" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt), terminated_like_interrupted():  # and where nothing looks, at the end
        one = _Going(number)
        del one
    assert signal.getsignal(number) == before
    progress.add(1)  # which was asked of the work before, not of this one
