"""What to call studies that are compared: by what differs between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from unisono.core.language import N_
from unisono.study.data import StudyData

_MOST = 3
"""So many properties make a name; more would be a table."""
_MEANT = ("UCX_", "OMPI_MCA_", "MPIR_CVAR_", "I_MPI_")
"""Begin the names of variables that are set for what they do to communication."""


def label(studies: Sequence[StudyData]) -> list[str]:
    """A distinct name each, of as few properties as tell them apart: NPS, SMT, MPI, UCX, machine, processor, variables,
    governor, kernel, study; where these do not, also of when they were begun."""
    settings = [
        {(name, value) for name, value in study.machine.environment.items() if name.startswith(_MEANT)}
        for study in studies
    ]
    common = set.intersection(*settings)
    own = [sorted(variables - common) for variables in settings]
    known = [list(values) for values in zip(*map(_properties, studies, own), strict=True)]
    differing = [values for values in known if len(set(values)) > 1]
    for number in range(1, _MOST + 1):
        for chosen in combinations(differing, number):
            names = [", ".join(word for word in words if word) for words in zip(*chosen, strict=True)]
            if len(set(names)) == len(studies) and all(names):
                return names
    return _by_time(studies, differing[0] if differing else [study.name for study in studies])


def _properties(study: StudyData, variables: Sequence[tuple[str, str]]) -> list[str]:
    """The most telling first; `variables` are those that not all studies have alike."""
    machine = study.machine
    return [
        f"NPS{machine.numa_per_socket}",
        N_("SMT on") if machine.smt > 1 else N_("SMT off"),
        f"{machine.mpi.name} {machine.mpi.version}" if machine.mpi else N_("no MPI"),
        f"UCX {machine.ucx.version}" if machine.ucx else N_("no UCX"),
        machine.name,
        re.sub(r"\((R|TM)\)|\bProcessor\b", "", machine.cpu_model).replace("  ", " ").strip(),
        " ".join(f"{name}={value}" for name, value in variables) or N_("no variables set"),
        N_("governor {governor}").format(governor=machine.governor) if machine.governor else "",
        N_("kernel {kernel}").format(kernel=machine.kernel),
        study.name,
    ]


def _by_time(studies: Sequence[StudyData], words: Sequence[str]) -> list[str]:
    """What tells most of them apart with the minute each was begun in, and as much of its id as it takes."""
    begun = (study.created[:16].replace("T", " ") for study in studies)
    names = [f"{word}, {time}" if word else time for word, time in zip(words, begun, strict=True)]
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({study.id[:8]})" for name, study in zip(names, studies, strict=True)]
