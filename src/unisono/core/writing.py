"""Writing an output file so that whoever looks sees the old file or the whole new one, never half of it."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from unisono.core.errors import UserError
from unisono.core.language import _


@contextmanager
def written(path: Path, advice: str = "") -> Iterator[BinaryIO]:
    """A stream whose bytes become the file when the block ends well; directories above it are made.

    They are written beside it, brought to disk and renamed over it. A link is followed, permissions of an existing file
    are kept. Raises UserError, with `path` and `advice` in it, where that is not possible, and for what is no regular
    file: a device or a pipe would be replaced by a file instead of being written to. The block's own errors leave
    nothing behind.
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        mode = _mode(path, target)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("xb") as stream:
                if mode is not None:
                    part.chmod(mode)
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        said = _("{path}: cannot be written: {strerror}").format(path=path, strerror=error.strerror or error)
        raise UserError(f"{said}; {advice}" if advice else said) from error


def write(path: Path, content: str | bytes, advice: str = "") -> Path:
    """The whole content of a file, text as UTF-8. Raises UserError as `written` does; returns `path`."""
    with written(path, advice) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def _mode(path: Path, target: Path) -> int | None:
    """The permissions of what is there already; None: nothing is. `target`: `path` with its links followed."""
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found):
        raise UserError(_("{path}: is a directory; name a file").format(path=path))
    # /dev/stdout may lead to a file that has no name any more.
    if not stat.S_ISREG(found) or not target.exists():
        raise UserError(
            _("{path}: is a device or a pipe, which only a file could replace; name a file").format(path=path)
        )
    return stat.S_IMODE(found)
