"""Where the outputs of a study go: one directory, always the same names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Outputs:
    directory: Path

    @property
    def study(self) -> Path:
        return self.directory / "study.db"

    @property
    def tuning(self) -> Path:
        return self.directory / "tuning.toml"

    @property
    def report(self) -> Path:
        return self.directory / "report.html"

    @property
    def export(self) -> Path:
        return self.directory / "export"
