"""Ask an MPICH which values its variables take: a program of its own, because a foreign library may crash or hang.

    python mpich_probe.py /path/to/libmpi.so MPIR_CVAR_BCAST_INTRA_ALGORITHM ...

prints {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": {"auto": 0, "binomial": 1, ...}, ...}. Uses nothing but the standard library.

MPICH takes names of such a value from the environment alone, its MPI_T has numbers alone, and no enumeration that would
bring the two together. So names are read from what MPI_T says about a variable ("binomial - Force Binomial Tree"; MPICH
4.0 leaves out the ends of lines, so that a name may follow a word without a space), tried in the environment of an
MPI_T of their own, and the number is read there: a name that this MPICH does not take is none. Nothing of MPI but MPI_T
is begun, without which no launcher and no network are needed. MPI_T of MPICH 4.0 begins once a process only.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

_TEXT = 16384
_HINTS = re.compile(rb"MPIR_[A-Z][a-z_]+?_(?:intra|allcomm)_(\w+)")
_WORDS = re.compile(r"(\w+)[ \t]+- ")
_SHORTEST = 2


def main(library: str, names: list[str]) -> int:
    for variable in [one for one in os.environ if one.startswith(("MPIR_CVAR_", "MPICH_"))]:
        del os.environ[variable]  # what there is, not what the user has chosen
    mpi = ctypes.CDLL(library)
    hints = {word.decode() for word in _HINTS.findall(Path(library).read_bytes())}
    texts = _apart(lambda: _describe(mpi, names)) or {}
    left = {name: [list(_candidates(word, hints)) for word in _WORDS.findall(text)] for name, text in texts.items()}
    found: dict[str, dict[str, int]] = {name: {} for name in left}
    while any(left.values()):
        first = {name: words[0][0] for name, words in left.items() if words}
        numbers = _values(mpi, first)
        for name, word in first.items():
            if numbers is None:
                word, number = _try(mpi, name, left[name][0])
            else:
                number = numbers[name]
            if number is not None:
                found[name][word] = number
            left[name].pop(0)
    sys.stdout.write(json.dumps(found))
    return 0


def _candidates(word: str, hints: set[str]) -> Iterator[str]:
    """What may be the name at the end of a word, likeliest first."""
    ends = [word[at:] for at in range(len(word) - _SHORTEST + 1)]
    likely = [end for end in ends if end in hints or end == "auto"]
    yield from dict.fromkeys([*likely, *ends, word])


def _try(mpi: ctypes.CDLL, name: str, words: list[str]) -> tuple[str, int | None]:
    for word in words:
        numbers = _values(mpi, {name: word})
        if numbers is not None:
            return word, numbers[name]
    return "", None


def _values(mpi: ctypes.CDLL, variables: Mapping[str, str]) -> dict[str, int] | None:
    """What these values of variables are as numbers; None where one is none."""
    return _apart(lambda: _read(mpi, variables), variables)


def _apart(work: Callable[[], dict[str, Any]], environment: Mapping[str, str] | None = None) -> dict[str, Any] | None:
    """What `work` finds in a process of its own with these variables; None where it fails."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.environ.update(environment or {})
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what is not taken is said aloud
            os.write(into, json.dumps(work()).encode())
        finally:  # whatever went wrong, the parent hears nothing
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else None


def _begin(mpi: ctypes.CDLL) -> None:
    provided = ctypes.c_int()
    _good(mpi.MPI_T_init_thread(0, ctypes.byref(provided)))


def _describe(mpi: ctypes.CDLL, names: list[str]) -> dict[str, str]:
    """Name -> what MPI_T says about it, of those that there are."""
    _begin(mpi)
    texts = {}
    for name in names:
        index = ctypes.c_int()
        if mpi.MPI_T_cvar_get_index(name.encode(), ctypes.byref(index)) != 0:
            continue
        title, text = (ctypes.create_string_buffer(_TEXT) for _ in range(2))
        title_length, text_length = ctypes.c_int(_TEXT), ctypes.c_int(_TEXT)
        rest = [ctypes.byref(ctypes.c_void_p()) for _ in range(5)]  # verbosity, type, enumeration; binding, scope
        _good(
            mpi.MPI_T_cvar_get_info(
                index, title, ctypes.byref(title_length), *rest[:3], text, ctypes.byref(text_length), *rest[3:]
            )
        )
        texts[name] = text.value.decode("utf-8", "replace")
    return texts


def _read(mpi: ctypes.CDLL, variables: Mapping[str, str]) -> dict[str, int]:
    _begin(mpi)
    numbers = {}
    for name in variables:
        index, count, handle = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
        value = (ctypes.c_int * 2)()
        _good(mpi.MPI_T_cvar_get_index(name.encode(), ctypes.byref(index)))
        _good(mpi.MPI_T_cvar_handle_alloc(index, None, ctypes.byref(handle), ctypes.byref(count)))
        _good(mpi.MPI_T_cvar_read(handle, ctypes.byref(value)))
        numbers[name] = value[0]
    return numbers


def _good(status: int) -> None:
    if status != 0:
        raise OSError(status, "MPI_T")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
