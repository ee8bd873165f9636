"""What an MPICH says of its variables: the values that they take, and how they force an algorithm."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from unisono.core.asking import ask
from unisono.core.vocabulary import DISPATCHED, PERSISTENT
from unisono.mpi.cvars import BY_NODES, algorithm_variable, device_variable

_PROBE = Path(__file__).with_name("probe.py")
_CHOICES = ("auto", "sched_auto")
"""Values of a variable that leave the choice to MPICH. The second, of nonblocking collectives, ends the program where
an algorithm is forced (an assertion of 4.0.2 and 5.0.2, tried)."""
_DEVICE, _FALLBACK = _DECIDES_BEFORE = ("MPIR_CVAR_DEVICE_COLLECTIVES", "MPIR_CVAR_COLLECTIVE_FALLBACK")
"""Variables that have to be set beside an algorithm's, or it is not reached, or replaced in silence."""


def algorithms(path: Path) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]]:
    """Collective -> algorithm -> its number in MPI_T; and likewise the values of what decides before.

    Both are empty where the library does not answer.
    """
    names = {algorithm_variable(collective): collective for collective in DISPATCHED if collective not in PERSISTENT}
    found = _values(str(path), path.stat().st_mtime_ns, (*names, *_DECIDES_BEFORE))
    values = {name: found[name] for name in _DECIDES_BEFORE if found.get(name)}
    if len(values) < len(_DECIDES_BEFORE):
        return {}, {}
    forced = {
        names[name]: {word: number for word, number in numbers.items() if word not in _CHOICES}
        for name, numbers in found.items()
        if name in names
    }
    return {collective: numbers for collective, numbers in forced.items() if numbers}, values


@cache
def _values(path: str, changed: int, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """`changed` is when the library was, so that a new one is asked again."""
    answer = ask([sys.executable, str(_PROBE), path, *names], timeout=60.0)
    try:
        found = json.loads(answer.out) if answer.ok else {}
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}


def forcing(collective: str, algorithm: str) -> dict[str, str]:
    """Variables that give an algorithm to a collective: the device does not decide before, and where the algorithm
    cannot serve a call that is an error, not another algorithm in silence.

    But for the one that goes by nodes: it makes calls of the same collective on parts of the communicator, which it
    cannot serve itself. Where it may be used is up to parameters.folding.
    """
    return {
        _DEVICE: "percoll",
        device_variable(collective): "0",
        algorithm_variable(collective): algorithm,
        _FALLBACK: "silent" if algorithm == BY_NODES else "error",
    }
