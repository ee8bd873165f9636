"""What `unisono tune` is asked for, in the words of its command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unisono.core.numbers import whole_number
from unisono.core.vocabulary import NODES_MOST


@dataclass(frozen=True, slots=True)
class Wishes:
    """As given; None and [] where nothing was said."""

    study: str | None
    output: Path
    budget: str | None
    method: str | None
    resume: bool
    force: bool
    dry_run: bool
    machine: Path | None
    collectives: list[str]
    nodes: str | None
    """Numbers of nodes, as in 2,4."""
    ppn: int | None
    sizes: list[str]
    oversubscribe: bool
    verify: bool
    json: bool
    mpirun: str | None
    mpicc: str | None
    hosts: str | None
    benchmark: str | None = None
    benchmark_program: str | None = None
    submit: str | None = None
    time: str | None = None
    reproducible: str | None = None
    submit_options: str | None = None
    launcher: str | None = None
    """Words that start ranks in place of mpirun: srun --mpi=pmix."""


def node_counts(text: str | None) -> list[int]:
    """ "2,4" -> [2, 4]; empty where nothing was said. Raises UserError for what is no number of nodes."""
    if text is None:
        return []
    return list(dict.fromkeys(whole_number(word.strip(), "--nodes", most=NODES_MOST) for word in text.split(",")))
