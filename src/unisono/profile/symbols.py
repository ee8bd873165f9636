"""Names for code addresses, after the run, by binutils' addr2line; without it a frame is its object and offset."""

from __future__ import annotations

import bisect
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace

from unisono.core.asking import ask
from unisono.profile.recorded import UNKNOWN, Frame

_SECONDS = 120.0
"""For one object: a gigabyte of debug information takes addr2line about ten."""

Place = tuple[str, int]


def symbolise(places: Sequence[Place]) -> list[tuple[Frame, ...]]:
    """The frames at each (object file, return address in it), innermost first: several where functions were inlined.

    A return address is behind its call, so the byte before it is looked up. An object that is gone, or has no symbols,
    gives frames without a function; so does every object where addr2line is not installed.
    """
    wanted: dict[str, set[int]] = {}
    for path, offset in places:
        wanted.setdefault(path, set()).add(offset)
    tool = shutil.which("addr2line")
    found: dict[Place, tuple[Frame, ...]] = {}
    for path, offsets in wanted.items():
        listed = sorted(offsets)
        said = _ask(tool, path, listed) if tool is not None and path.startswith("/") else {}
        said = _without_neighbours(path, said)
        for offset in listed:
            found[path, offset] = _frames(path, offset, said.get(offset, []))
    return [found[place] for place in places]


def _ask(tool: str, path: str, offsets: Sequence[int]) -> dict[int, list[tuple[str, str]]]:
    """Return address -> (function, "file:line"), innermost first."""
    if not os.path.isfile(path):  # noqa: PTH113 - the text of a stranger, which pathlib may refuse
        return {}
    text = "".join(f"{offset - 1:#x}\n" for offset in offsets)
    try:
        done = subprocess.run(
            [tool, "-a", "-f", "-C", "-i", "-e", path],
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return {}
    answers: dict[int, list[tuple[str, str]]] = {}
    lines = done.stdout.splitlines()
    current: list[tuple[str, str]] = []
    at = 0
    while at < len(lines):
        if re.fullmatch(r"0x[0-9a-f]+", lines[at]):
            current = answers.setdefault(int(lines[at], 16) + 1, [])
            at += 1
        elif at + 1 < len(lines):
            current.append((lines[at], lines[at + 1]))
            at += 2
        else:
            break
    return answers


def _without_neighbours(path: str, said: dict[int, list[tuple[str, str]]]) -> dict[int, list[tuple[str, str]]]:
    """Names that come from the symbol table alone only where the address lies inside that symbol.

    addr2line takes the nearest symbol before the address: in a stripped program that exports some symbols, a function
    megabytes away.
    """
    doubtful = [offset for offset, frames in said.items() if frames[-1:] and _place(frames[-1][1])[0] == ""]
    if not doubtful:
        return said
    spans = _spans(path)
    starts = [first for first, _ in spans]
    for offset in doubtful:
        at = bisect.bisect_right(starts, offset - 1) - 1
        # Symbols may overlap (aliases, parts): the longest that begin here come last.
        if at < 0 or offset - 1 >= max(end for first, end in spans[max(0, at - 8) : at + 1]):
            said[offset] = []
    return said


def _spans(path: str) -> list[tuple[int, int]]:
    """First and last+1 address of every sized symbol of an object, dynamic ones included, in order."""
    found = set()
    for words in (["nm", "-S", "--defined-only"], ["nm", "-S", "-D", "--defined-only"]):
        for line in ask([*words, path], timeout=_SECONDS).out.splitlines():
            fields = line.split()
            if len(fields) >= 4 and len(fields[2]) == 1:
                first, size = int(fields[0], 16), int(fields[1], 16)
                found.add((first, first + size))
    return sorted(found)


def _frames(path: str, offset: int, said: Sequence[tuple[str, str]]) -> tuple[Frame, ...]:
    module = path.rsplit("/", 1)[-1]
    out = []
    said = said[1:] if _is_misnamed(said) else said
    for number, (function, place) in enumerate(said):
        file, line = _place(place)
        name = "" if function == "??" else tidy(function, file)
        out.append(Frame(name, module, offset, file, line, inlined=number < len(said) - 1))
    return tuple(out) or (Frame("", module, offset),)


def _is_misnamed(said: Sequence[tuple[str, str]]) -> bool:
    """Whether the innermost frame is inlined but has the name of the function it was inlined into.

    addr2line (to 2.40 at least) does so with inlined procedures of Fortran 90 and later, whose names it takes for
    decorated ones and looks up by the address instead. The place of the call in the outer function is right.
    """
    if len(said) < 2:
        return False
    (inner, place), (outer, around) = said[0], said[-1]
    file = _place(place)[0]
    return bool(_FORTRAN_SOURCE.search(file)) and tidy(inner, file) in ("MAIN__", tidy(outer, _place(around)[0]))


def _place(text: str) -> tuple[str, int]:
    """ "/src/a.c:12 (discriminator 3)" -> its file and line; "" and 0 for "??:0"."""
    file, _colon, rest = text.partition(" (discriminator")[0].rpartition(":")
    if file in ("", "??"):
        return "", 0
    return file, int(rest) if re.fullmatch("[0-9]{1,9}", rest) else 0


_FORTRAN_SOURCE = re.compile(r"\.(f|for|ftn|f77|f90|f95|f03|f08|f18)$", re.IGNORECASE)
_MODULE_PROCEDURE = (
    re.compile(r"__(?P<module>\w+?)_MOD_(?P<name>\w+)"),  # GCC
    re.compile(r"(?P<module>\w+?)_mp_(?P<name>\w+?)_?"),  # Intel
    re.compile(r"_QM(?P<module>[a-z0-9_]+)P(?P<name>[a-z0-9_]+)"),  # LLVM
)
_CLONE = re.compile(r"(\.(constprop|isra|part|cold|lto_priv|localalias|clone)(\.\d+)*)+$|( \[clone [^]]*\])+$")


def tidy(function: str, file: str = "") -> str:
    """A symbol as its author wrote it: GCC's copies of a function under its own name, Fortran's decoration off."""
    name = _CLONE.sub("", function)
    for pattern in _MODULE_PROCEDURE:
        match = pattern.fullmatch(name)
        if match is not None:
            return f"{match['module']}::{match['name']}"
    if _FORTRAN_SOURCE.search(file) and name.endswith("_") and name != "MAIN__":
        return name.rstrip("_")
    return name


# -- what a reader wants to see of a path --------------------------------------------------------------------------

_BEFORE_MAIN = re.compile(r"_start|__libc_start\w*|__libc_init_first|start_thread|_*clone3?|__start_context")
_SYSTEM = re.compile(r"(libc|libpthread|ld-linux[-\w]*|ld)(-[\d.]+)?\.so[.\d]*")
_WRAPPER = re.compile(r"[po]?mpi_(?P<name>\w+?)(_f|_+|_f08(ts)?_)?", re.IGNORECASE)
_PYTHON = re.compile(r"(libpython[\d.]+(\.so[.\d]*)?|(pypy|python)[\d.]*t?)")
_MPI4PY = re.compile(r"MPI\.[\w.-]*\.so|MPI\.so")
_CYTHON = re.compile(r"__pyx_p[wf]_6mpi4py_3MPI_(?P<rest>\w+)")

PYTHON = Frame("(python)")


def readable(chain: Sequence[Frame]) -> list[Frame]:
    """A path, innermost first, without what is no part of the program: what calls `main`, the Python interpreter's own
    functions (one frame "(python)" for each run of them), mpi4py's (one named after the method) and the recorder's."""
    return list(_collapsed(_without_recorder(_without_start(list(chain)))))


def _without_recorder(chain: list[Frame]) -> list[Frame]:
    """Preloaded, the recorder leaves itself out; linked into a program it cannot, and is there up to MPI's function."""
    if not chain or chain[0].function != "unisono_callpath":
        return chain
    names = [match and match["name"].lower() for match in (_WRAPPER.fullmatch(frame.function) for frame in chain)]
    first = next((number for number, name in enumerate(names) if name), -1)
    end = first + 1
    while end < len(chain) and names[end] == names[first]:  # Fortran's symbol calls C's
        end += 1
    return chain[end:] if first > 0 else chain


def _without_start(chain: list[Frame]) -> list[Frame]:
    for number, frame in enumerate(chain):
        if frame.function == "main" and not frame.inlined:
            return chain[: number + 1]
    while chain and (_BEFORE_MAIN.fullmatch(chain[-1].function) or _SYSTEM.fullmatch(chain[-1].module)):
        chain.pop()
    return chain


def _collapsed(chain: list[Frame]) -> Iterator[Frame]:
    at = 0
    while at < len(chain):
        pattern = next((p for p in (_PYTHON, _MPI4PY) if p.fullmatch(chain[at].module)), None)
        end = at + 1
        while pattern is not None and end < len(chain) and pattern.fullmatch(chain[end].module):
            end += 1
        if pattern is _PYTHON:
            yield replace(PYTHON, module=chain[at].module)
        elif pattern is _MPI4PY:
            yield Frame(_method(chain[at:end]), chain[at].module, UNKNOWN)
        else:
            yield chain[at]
        at = end


def _method(glue: Sequence[Frame]) -> str:
    """ "mpi4py.MPI.Comm.Alltoall" out of Cython's `__pyx_pw_6mpi4py_3MPI_4Comm_167Alltoall`; else "(mpi4py)"."""
    for frame in glue:
        match = _CYTHON.fullmatch(frame.function)
        if match is None:
            continue
        words, rest = [], match["rest"]
        while inner := re.match(r"([0-9]{1,9})([A-Za-z]\w*)", rest):
            length = int(inner[1])
            if len(inner[2]) <= length or inner[2][length] != "_":
                break
            words.append(inner[2][:length])
            rest = inner[2][length + 1 :]
        return ".".join(["mpi4py", "MPI", *words, rest.lstrip("0123456789")])
    return "(mpi4py)"
