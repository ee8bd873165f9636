"""The end of long work by Ctrl-C or by a batch system: nothing measured is lost, and people are told how to go on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from unisono.commands.console import err
from unisono.core.language import _

_asked: list[int] = []
"""Signals that asked for an end within the outermost `terminated_like_interrupted`."""


def end_where_asked() -> None:
    """Raises KeyboardInterrupt where an end was asked for: what the signal's handler raised may have been lost, where
    it came while Python called what no exception leaves, or where a clean-up failed and its error took its place."""
    if _asked:
        raise KeyboardInterrupt


@contextmanager
def terminated_like_interrupted(kept: Path | None = None) -> Iterator[None]:
    """A batch system's SIGTERM ends long work as Ctrl-C does; what was done is kept (in `kept`), resumable.

    Where one of them is ignored, whoever started us wants it so.
    """

    def interrupt(signum: int, frame: FrameType | None) -> None:
        _asked.append(signum)
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        yield
        end_where_asked()
    except KeyboardInterrupt:
        if kept is None:
            said = _("Interrupted; everything measured is kept. Continue with the same command and --resume.")
        else:
            said = _(
                "Interrupted; what was done is in {directory}. Continue with the same command and --resume."
            ).format(directory=kept)
        err().print(said, markup=False)
        raise
    finally:
        _asked.clear()
        for number, handler in before.items():
            signal.signal(number, handler)
