"""The end of long work by Ctrl-C or by a batch system: nothing measured is lost, and people are told how to go on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from unisono.commands.console import err


@contextmanager
def terminated_like_interrupted(kept: str = "everything measured is kept") -> Iterator[None]:
    """A batch system's SIGTERM ends long work as Ctrl-C does; `kept` says what of it is there, resumable.

    Where SIGTERM is ignored, whoever started us wants it so.
    """

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGTERM)
    if before != signal.SIG_IGN:
        signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        err().print(f"Interrupted; {kept}. Continue with the same command and --resume.")
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
