"""The end of long work by Ctrl-C or by a batch system: nothing measured is lost, and people are told how to go on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from unisono.commands.console import err


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """A batch system's SIGTERM ends a study as Ctrl-C does: everything measured is kept, resumable."""

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        err().print("Interrupted; everything measured is kept. Continue with the same command and --resume.")
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
