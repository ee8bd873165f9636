"""Variants of a file for a check, where every node finds them as it finds the file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def beside(path: Path, texts: Sequence[str]) -> Iterator[list[Path]]:
    """The texts as files in a new directory beside `path`, where all nodes see it too; else in a temporary one."""
    try:
        folder = tempfile.TemporaryDirectory(dir=path.parent, prefix=".unisono-check-")
    except OSError:
        folder = tempfile.TemporaryDirectory(prefix="unisono-check-")
    with folder as name:
        paths = [Path(name) / f"variant-{number}{path.suffix}" for number in range(len(texts))]
        for variant, text in zip(paths, texts, strict=True):
            variant.write_text(text, encoding="utf-8")
        yield paths
