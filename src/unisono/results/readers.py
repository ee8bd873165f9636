"""The list of readers. Another format is one more module with NAME, LABEL, recognises(text) and read(text)."""

from __future__ import annotations

from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import _, translated
from unisono.core.reading import REPORT_MOST, read_bytes
from unisono.results import imb, osu, pico, repro
from unisono.results.found import Found

READERS = (imb, osu, repro)
"""Of outputs that are one text; `pico` reads whole jobs."""
LABELS = (*(reader.LABEL for reader in READERS), pico.LABEL)


def read_file(path: Path) -> Found:
    """What a file (a job, for PICO) holds. Raises UserError where nobody knows the format, or nothing is in it."""
    if pico.is_job(path):
        found = pico.read(path)
    else:
        text = read_bytes(path, REPORT_MOST).decode("utf-8", "replace")
        reader = next((reader for reader in READERS if reader.recognises(text)), None)
        if reader is None:
            raise UserError(
                _("{path}: is not the output of a benchmark that Unisono reads; it reads {labels}").format(
                    path=path, labels=", ".join(LABELS)
                )
            )
        found = reader.read(text)
    if not found.rows and (left_out := [translated(note) for note in found.notes if note.startswith("Left out")]):
        raise UserError(
            _("{path}: holds no measurement that can be used. {why}").format(path=path, why=" ".join(left_out))
        )
    if not found.rows:
        raise UserError(
            _("{path}: holds no complete measurement of a collective; was the run cut off?").format(path=path)
        )
    return found
