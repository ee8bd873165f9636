"""Programs that srun would start as many programs of one rank each, without a word of warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unisono.cmdline.preload import launcher_of
from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.profile.diagnose import library_of, program_of

_WITHOUT_PMIX = ("pmi2", "none")
_RUNTIME_OF_FOUR = "libopen-rte.so"
"""Only Open MPI 4 has it, which may have been built with PMI-2; 5 asks PMIx alone who its other ranks are."""


def refuse_singletons(words: Sequence[str], env: Mapping[str, str]) -> None:
    """Raises UserError for `srun --mpi=pmi2` (or SLURM_MPI_TYPE) of a program that is linked with Open MPI 5: each rank
    would be alone in its MPI_COMM_WORLD, and times of that would be compared in earnest."""
    launcher = launcher_of(list(words))
    kind = launcher.words.interface(words[launcher.at :], env) if launcher.words is not None else None
    library = library_of(program_of(words, launcher)) if kind in _WITHOUT_PMIX else None
    if library is not None and library[0] == "40" and _RUNTIME_OF_FOUR not in ask(["ldd", str(library[1])]).out:
        raise UserError(
            _(
                "srun --mpi={kind} starts an Open MPI 5 program as many programs of one rank each; "
                "use --mpi=pmix, or mpirun"
            ).format(kind=kind)
        )
