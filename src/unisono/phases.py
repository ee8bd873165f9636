"""Names for the parts of a Python program, so that a profile tells their MPI calls apart.

    from unisono.phases import phase

    @phase("exchange")                  # every call of the function
    def exchange(field): ...

    with phase("assembly"): ...         # what is inside

The recorder sees where a call of MPI comes from by return addresses, and in Python these all lie in the interpreter and
in mpi4py. A phase says it instead. Without the recorder it does nothing. Phases nest; the innermost counts. They are
the process's, not the thread's.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator


@contextlib.contextmanager
def phase(name: str) -> Iterator[None]:
    """MPI calls inside belong to this part of the program. A context, or a decorator."""
    if _begin is None or _end is None:
        yield
        return
    _begin(name.encode())
    try:
        yield
    finally:
        _end()


def _of_recorder(name: str) -> ctypes._NamedFuncPointer | None:
    """A function of libunisono.so, where that was loaded before the program."""
    found: ctypes._NamedFuncPointer | None = getattr(ctypes.CDLL(None), name, None)
    if found is not None:
        found.restype = None
    return found


_begin, _end = _of_recorder("unisono_phase_begin"), _of_recorder("unisono_phase_end")
