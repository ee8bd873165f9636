"""What a file of any format is written from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unisono.export.provenance import provenance
from unisono.export.words import PlanWords, plan_words
from unisono.machine.model import Machine, Mpi
from unisono.parameters.spelling import require_mpi
from unisono.tuning.model import PlanModel, Tuning


@dataclass(frozen=True, slots=True)
class Content:
    """One plan of a tuning, in the words of the machine's MPI, and where its files will be."""

    tuning: Tuning
    plan: PlanModel
    machine: Machine
    words: PlanWords
    directory: Path
    """Absolute: files name each other by it."""

    @property
    def head(self) -> list[str]:
        """Comment lines: where it comes from, and what the words cannot say."""
        return [*provenance(self.tuning, self.plan), *self.words.notes, ""]

    @property
    def mpi(self) -> Mpi:
        return require_mpi(self.machine)


def content_of(tuning: Tuning, plan: PlanModel, machine: Machine, directory: Path) -> Content:
    """Raises UserError when this MPI has no word for a setting, or not the algorithm a rule names."""
    return Content(tuning, plan, machine, plan_words(tuning, plan, machine), directory.absolute())
