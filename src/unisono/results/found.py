"""What a reader finds in the output of another benchmark."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unisono.core.vocabulary import DEFAULT, Setting

Seconds = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One collective at one message size, measured once. What the output does not say is None, and never guessed."""

    collective: str
    size: int
    """Bytes, as IMB counts them."""
    seconds: Seconds
    """Every repetition; one value where only their average is known."""
    repetitions: int
    ranks: int | None = None
    nodes: int | None = None
    setting: Setting = DEFAULT
    run: str = ""
    """Rows with the same run were measured under the same circumstances, and count as one launch."""
    kind: str = ""
    """What the time is of, where the benchmark has several kinds that cannot be compared with each other."""


@dataclass(slots=True)
class Found:
    """What one file holds."""

    reader: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Sentences: how the numbers are to be understood, and what was left out."""
    mpi: tuple[str, str] | None = None
    """Family and version, where the output names them."""

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
