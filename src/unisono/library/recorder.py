"""libunisono.so, which records calls and serves collectives, for the machine's own MPI."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from unisono.core.vocabulary import LIBRARY_NAME
from unisono.library.native import Target, built

RECORDER = Target(
    "unisono",
    f"intercept/{LIBRARY_NAME}",
    ("agreement", "collectives", "common", "dispatch", "include", "intercept"),
    "the library",
)


def recorder(mpicc: str | None, progress: Callable[[str], None] | None = None) -> Path:
    """The library for this mpicc, built on first use and kept by MPI, compiler and sources, as the benchmark is.

    Raises UserError as library.native.built does.
    """
    return built(RECORDER, mpicc, progress)
