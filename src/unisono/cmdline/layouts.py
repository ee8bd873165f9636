"""Layouts of a node: threads x processes, written as Nakajima (2009) does (8x2: two processes of eight threads)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from unisono.core.errors import UserError
from unisono.core.language import N_, _


@dataclass(frozen=True, order=True, slots=True)
class Layout:
    threads: int
    processes: int
    """Of each node."""

    @property
    def name(self) -> str:
        return f"{self.threads}x{self.processes}"

    @property
    def cores(self) -> int:
        return self.threads * self.processes

    @property
    def words(self) -> str:
        """For people: "flat MPI" or "2 processes of 8 threads", on a node."""
        if self.threads == 1:
            return "flat MPI"
        if self.processes == 1:
            return N_("1 process of {threads} threads").format(threads=self.threads)
        return N_("{processes} processes of {threads} threads").format(processes=self.processes, threads=self.threads)

    @classmethod
    def parse(cls, text: str, cores: int) -> Layout:
        """Of "flat" (one thread on each of `cores`) or "8x2". Raises UserError for anything else."""
        if text == "flat":
            return cls(1, cores)
        match = re.fullmatch(r"([1-9]\d{0,5})x([1-9]\d{0,5})", text)
        if match is None:
            raise UserError(
                _(
                    "layout: {text!r} is not a layout; write flat, or threads x processes of a node such as 8x2 "
                    "(two processes of eight threads)"
                ).format(text=text)
            )
        return cls(int(match[1]), int(match[2]))


def every_layout(cores: int) -> list[Layout]:
    """All that use every core of a node; flat MPI first."""
    return [Layout(threads, cores // threads) for threads in range(1, cores + 1) if cores % threads == 0]


def chosen_layouts(text: str, cores: int) -> tuple[list[Layout], list[str]]:
    """Of "all" or a list such as "flat,4x4,8x2": those that fit a node of `cores`, and why the others do not.

    Raises UserError when a word is no layout, or when none fits.
    """
    wanted = every_layout(cores) if text == "all" else [Layout.parse(word.strip(), cores) for word in text.split(",")]
    fit = [layout for layout in dict.fromkeys(wanted) if layout.cores <= cores]
    notes = [
        N_("layout {words} is not run: it needs {cores} cores a node, and only {cores2} may be used here").format(
            words=layout.words, cores=layout.cores, cores2=cores
        )
        for layout in dict.fromkeys(wanted)
        if layout.cores > cores
    ]
    if not fit:
        raise UserError(
            _("layouts: none of {text} fits a node of {cores} cores; try --layouts all").format(text=text, cores=cores)
        )
    return fit, notes
