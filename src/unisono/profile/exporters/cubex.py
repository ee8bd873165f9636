"""A profile as a Cube 4 file, as Score-P writes them: for CubeGUI, cube_stat and whatever else reads Cube.

Call paths are regions from "program" down, MPI functions are leaves below their callers. A file is a tar of anchor.xml
and, per metric, an index of the call paths that have values and the values, a row of locations for each.
"""

from __future__ import annotations

import io
import struct
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import numpy.typing as npt

from unisono import __version__
from unisono.core.language import N_
from unisono.profile.recorded import NO_FUNCTION, ROOT, Cells, Frame, Profile

LOST = (
    N_(
        "a Cube file holds no single message sizes, communicators, phases or waiting: sizes of "
        "one function on one call path are added up"
    ),
)

_Matrix = npt.NDArray[np.float64]
_ROLES = {
    "Barrier": "barrier",
    "Bcast": "one2all",
    "Scatter": "one2all",
    "Scatterv": "one2all",
    "Gather": "all2one",
    "Gatherv": "all2one",
    "Reduce": "all2one",
    "Allgather": "all2all",
    "Allgatherv": "all2all",
    "Allreduce": "all2all",
    "Alltoall": "all2all",
    "Alltoallv": "all2all",
    "Alltoallw": "all2all",
    "Send": "point2point",
    "Recv": "point2point",
    "Isend": "point2point",
    "Irecv": "point2point",
    "Sendrecv": "point2point",
}
"""What Score-P calls what a function does."""


@dataclass(frozen=True, slots=True)
class _Metric:
    number: int
    name: str
    shown: str
    type: str
    unit: str
    inclusive: bool = False


_METRICS = (
    _Metric(0, "visits", "Visits", "UINT64", "occ"),
    _Metric(1, "time", "Time", "DOUBLE", "sec", inclusive=True),
    _Metric(2, "min_time", "Minimum Inclusive Time", "MINDOUBLE", "sec"),
    _Metric(3, "max_time", "Maximum Inclusive Time", "MAXDOUBLE", "sec"),
    _Metric(4, "bytes_sent", "Bytes sent", "UINT64", "bytes"),
    _Metric(5, "bytes_received", "Bytes received", "UINT64", "bytes"),
)


@dataclass(frozen=True)
class _Tree:
    """The call tree of the file: nodes are numbered depth first, as Cube numbers them."""

    regions: tuple[tuple[Frame | str, str], ...]
    """(frame or MPI function, paradigm)."""
    region: tuple[int, ...]
    parent: tuple[int, ...]
    of_path: dict[int, int]
    of_call: dict[tuple[int, int], int]


def cubex(profile: Profile) -> bytes:
    """The whole file."""
    tree = _tree(profile)
    values = _values(profile, tree)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for metric in _METRICS:
            matrix = values[metric.name]
            order = _wide(tree.parent) if metric.inclusive else list(range(len(tree.parent)))
            rows = [at for at, node in enumerate(order) if np.any(matrix[node])]
            # readers expect at least one row of a metric that is there
            rows = rows or [0]
            kind = "<u8" if metric.type == "UINT64" else "<f8"
            _add(
                archive,
                f"{metric.number}.data",
                b"CUBEX.DATA" + matrix[[order[at] for at in rows]].astype(kind).tobytes(),
            )
            index = struct.pack("<ihBI", 1, 0, 1, len(rows)) + np.array(rows, "<u4").tobytes()
            _add(archive, f"{metric.number}.index", b"CUBEX.INDEX" + index)
        _add(archive, "anchor.xml", _anchor(profile, tree).encode("utf-8", "replace"))
    return out.getvalue()


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), 0o644
    archive.addfile(info, io.BytesIO(data))


def _tree(profile: Profile) -> _Tree:
    regions: dict[tuple[Frame | str, str], int] = {}
    called = np.unique(profile.cells[["path", "function"]])
    functions: dict[int, list[int]] = {}
    for entry in called[called["function"] != NO_FUNCTION]:
        functions.setdefault(int(entry["path"]), []).append(int(entry["function"]))
    children: dict[int, list[int]] = {}
    for number, path in enumerate(profile.paths[1:], 1):
        children.setdefault(path.parent, []).append(number)
    region: list[int] = []
    parent: list[int] = []
    of_path: dict[int, int] = {}
    of_call: dict[tuple[int, int], int] = {}
    stack = [(ROOT, -1)]
    while stack:
        path_number, above = stack.pop()
        what: Frame | str = "program" if path_number == ROOT else profile.frames[profile.paths[path_number].frame]
        node = len(region)
        of_path[path_number] = node
        region.append(regions.setdefault((what, "compiler"), len(regions)))
        parent.append(above)
        for function in functions.get(path_number, ()):
            of_call[path_number, function] = len(region)
            region.append(regions.setdefault((profile.functions[function], "mpi"), len(regions)))
            parent.append(node)
        stack += [(child, node) for child in reversed(children.get(path_number, ()))]
    return _Tree(tuple(regions), tuple(region), tuple(parent), of_path, of_call)


def _wide(parent: Sequence[int]) -> list[int]:
    """Position -> node for inclusive metrics: depth first, but all children of a node together."""
    children: list[list[int]] = [[] for _node in parent]
    for node, above in enumerate(parent[1:], 1):
        children[above].append(node)
    order, stack = [0], [0]
    while stack:
        node = stack.pop()
        order += children[node]
        stack += reversed(children[node])
    return order


def _values(profile: Profile, tree: _Tree) -> dict[str, _Matrix]:
    """Per metric nodes x ranks. What is not known is 0, as where Score-P did not measure."""
    cells = profile.cells
    shape = (len(tree.parent), profile.ranks)
    node = _nodes(cells, tree)
    at = (node, cells["rank"])
    values = {metric.name: np.zeros(shape) for metric in _METRICS}
    np.add.at(values["visits"], at, np.maximum(cells["calls"], 0))
    np.add.at(values["time"], at, cells["time"])
    for name, column in (("bytes_sent", "sent"), ("bytes_received", "received")):
        np.add.at(values[name], at, np.maximum(cells[column], 0))
    shortest = np.full(shape, np.inf)
    np.minimum.at(shortest, at, np.where(np.isnan(cells["time_min"]), np.inf, cells["time_min"]))
    values["min_time"] = np.where(np.isinf(shortest), 0.0, shortest)
    np.maximum.at(values["max_time"], at, np.nan_to_num(cells["time_max"], nan=0.0))
    for child in range(len(tree.parent) - 1, 0, -1):  # inclusive: children come after their parents
        values["time"][tree.parent[child]] += values["time"][child]
    return values


def _nodes(cells: Cells, tree: _Tree) -> npt.NDArray[np.intp]:
    keys, inverse = np.unique(cells[["path", "function"]], return_inverse=True)
    numbers = [
        tree.of_path[int(key["path"])]
        if key["function"] == NO_FUNCTION
        else tree.of_call[int(key["path"]), int(key["function"])]
        for key in keys
    ]
    return np.array(numbers, np.intp)[inverse] if len(numbers) else np.zeros(0, np.intp)


def _anchor(profile: Profile, tree: _Tree) -> str:
    parts = ['<?xml version="1.0" encoding="UTF-8"?>', '<cube version="4.4">']
    for key, value in (("Cube anchor.xml syntax version", "4.4"), ("Creator", f"Unisono {__version__}")):
        parts.append(f"<attr key={quoteattr(key)} value={quoteattr(value)}/>")
    parts.append("<doc><mirrors></mirrors></doc><metrics>")
    for metric in _METRICS:
        kind = "INCLUSIVE" if metric.inclusive else "EXCLUSIVE"
        parts.append(
            f'<metric id="{metric.number}" type="{kind}"><disp_name>{metric.shown}</disp_name>'
            f"<uniq_name>{metric.name}</uniq_name><dtype>{metric.type}</dtype><uom>{metric.unit}</uom>"
            f"<url></url><descr>{metric.shown}</descr></metric>"
        )
    parts.append("</metrics><program>")
    parts += [_region(number, what, paradigm) for number, (what, paradigm) in enumerate(tree.regions)]
    parts += _cnodes(tree)
    parts.append("</program><system>")
    parts += _system(profile)
    parts.append("</system></cube>")
    return "\n".join(parts) + "\n"


def _region(number: int, what: Frame | str, paradigm: str) -> str:
    frame = Frame(what) if isinstance(what, str) else what
    name = escape(_xml(frame.label))
    role = _ROLES.get(frame.label.removeprefix("MPI_"), "function") if paradigm == "mpi" else "function"
    return (
        f'<region id="{number}" mod={quoteattr(_xml(frame.file or frame.module))} begin="{frame.line or -1}" end="-1">'
        f"<name>{name}</name><mangled_name>{name}</mangled_name><paradigm>{paradigm}</paradigm><role>{role}</role>"
        "<url></url><descr></descr></region>"
    )


def _cnodes(tree: _Tree) -> list[str]:
    """Nested elements, without recursion: call trees can be deeper than Python's stack."""
    parts: list[str] = []
    open_nodes: list[int] = []
    for node, above in enumerate(tree.parent):
        while open_nodes and open_nodes[-1] != above:
            open_nodes.pop()
            parts.append("</cnode>")
        parts.append(f'<cnode id="{node}" calleeId="{tree.region[node]}">')
        open_nodes.append(node)
    return parts + ["</cnode>"] * len(open_nodes)


def _system(profile: Profile) -> list[str]:
    hosts = profile.origin.hosts or ("unknown",) * profile.ranks
    names = list(dict.fromkeys(hosts))
    parts = ['<systemtreenode Id="0"><name>machine</name><class>machine</class>']
    for number, name in enumerate(names, 1):
        kind = "node" if profile.origin.hosts else "partition"
        parts.append(f'<systemtreenode Id="{number}"><name>{kind} {escape(_xml(name))}</name><class>{kind}</class>')
        parts += [
            f'<locationgroup Id="{rank}"><name>MPI Rank {rank}</name><rank>{rank}</rank><type>process</type>'
            f'<location Id="{rank}"><name>Master thread</name><rank>0</rank><type>thread</type></location>'
            "</locationgroup>"
            for rank, host in enumerate(hosts)
            if host == name
        ]
        parts.append("</systemtreenode>")
    return [*parts, "</systemtreenode>"]


def _xml(text: str) -> str:
    """Without the characters that XML cannot hold."""
    return "".join(c if c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff" else "?" for c in text)
