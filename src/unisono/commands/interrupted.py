"""The end of long work by Ctrl-C or by a batch system: nothing measured is lost, and people are told how to go on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from unisono.commands.console import err
from unisono.core.language import _


@contextmanager
def terminated_like_interrupted(kept: Path | None = None) -> Iterator[None]:
    """A batch system's SIGTERM ends long work as Ctrl-C does; what was done is kept (in `kept`), resumable.

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
        if kept is None:
            said = _("Interrupted; everything measured is kept. Continue with the same command and --resume.")
        else:
            said = _(
                "Interrupted; what was done is in {directory}. Continue with the same command and --resume."
            ).format(directory=kept)
        err().print(said, markup=False)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
