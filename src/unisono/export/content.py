"""What a file of any format is written from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.export.provenance import provenance, wrapped
from unisono.export.words import PlanWords, plan_words
from unisono.machine.description import Machine, Mpi
from unisono.parameters.spelling import require_mpi
from unisono.study.data import StudyData
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan

OpenStudy = Callable[[], StudyData]
"""Reads a study; raises UserError where it is not there. Few formats need it, so it is read when one asks."""


@dataclass(frozen=True, slots=True)
class Content:
    """One plan of a tuning, in the words of the machine's MPI, and where its files will be."""

    tuning: Tuning
    plan: Plan
    machine: Machine
    words: PlanWords
    directory: Path
    """Absolute: files name each other by it."""
    study: OpenStudy | None = None

    def measured(self) -> StudyData:
        """The study that the tuning was made from. Raises UserError where it is another, or not known."""
        data = self.study() if self.study is not None else None
        if data is None or data.id != self.tuning.study.id:
            raise UserError(
                _("{name}: was made from study {id}; name its study.db with --study").format(
                    name=self.tuning.name, id=self.tuning.study.id
                )
            )
        return data

    @property
    def head(self) -> list[str]:
        """Comment lines: where it comes from, and what the words cannot say."""
        return [*provenance(self.tuning, self.plan), *wrapped(self.words.notes), ""]

    @property
    def mpi(self) -> Mpi:
        return require_mpi(self.machine)


def content_of(
    tuning: Tuning, plan: Plan, machine: Machine, directory: Path, study: OpenStudy | None = None
) -> Content:
    """Raises UserError when this MPI has no word for a setting, or not the algorithm a rule names."""
    return Content(tuning, plan, machine, plan_words(tuning, plan, machine), directory.absolute(), study)
