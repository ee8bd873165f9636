"""Cube files made by hand, for what our own exporter never writes."""

from __future__ import annotations

import io
import struct
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def members(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        return {
            info.name: file.read() for info in archive.getmembers() if (file := archive.extractfile(info)) is not None
        }


def tar(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in parts.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def index(positions: Sequence[int], order: str = "<") -> bytes:
    return b"CUBEX.INDEX" + struct.pack(f"{order}ihBI{len(positions)}I", 1, 0, 1, len(positions), *positions)


def data(rows: Sequence[Sequence[float]], kind: str = "<f8") -> bytes:
    return b"CUBEX.DATA" + np.array(rows).astype(kind).tobytes()


def packed(rows: Sequence[Sequence[float]], kind: str = "<f8", order: str = "<") -> bytes:
    """The compressed form, in two chunks."""
    raw = np.array(rows).astype(kind).tobytes()
    chunks = [raw[: len(raw) // 2], raw[len(raw) // 2 :]]
    done = [zlib.compress(chunk) for chunk in chunks]
    table, at, start = [], 0, 0
    for chunk, small in zip(chunks, done, strict=True):
        table += [at, start, len(small)]
        at, start = at + len(chunk), start + len(small)
    return b"ZCUBEX.DATA" + struct.pack(f"{order}{1 + len(table)}q", 2, *table) + b"".join(done)


def anchor(
    cnodes: str, regions: Sequence[tuple[str, str]], *, metrics: str = "", system: str = "", ranks: int = 2
) -> bytes:
    """`regions`: (name, paradigm), numbered from 0; metrics beside visits (0, EXCLUSIVE) and time (1, INCLUSIVE)."""
    region = "".join(
        f'<region id="{n}" mod="f.c" begin="7" end="9"><name>{name}</name><paradigm>{paradigm}</paradigm>'
        "<role>function</role></region>"
        for n, (name, paradigm) in enumerate(regions)
    )
    groups = "".join(group(n, [n]) for n in range(ranks))
    return (
        '<?xml version="1.0" encoding="UTF-8"?><cube version="4.4"><attr key="Creator" value="Score-P 8.4"/><metrics>'
        '<metric id="0" type="EXCLUSIVE"><uniq_name>visits</uniq_name><dtype>UINT64</dtype></metric>'
        '<metric id="1" type="INCLUSIVE"><uniq_name>time</uniq_name><dtype>DOUBLE</dtype></metric>'
        f"{metrics}</metrics><program>{region}{cnodes}</program><system>"
        + (
            system
            or '<systemtreenode Id="0"><name>machine</name><class>machine</class><systemtreenode Id="1">'
            f"<name>node n1</name><class>node</class>{groups}</systemtreenode></systemtreenode>"
        )
        + "</system></cube>"
    ).encode()


def group(rank: int, locations: Sequence[int], kind: str = "thread") -> str:
    threads = "".join(
        f'<location Id="{n}"><name>thread</name><rank>{at}</rank><type>{kind}</type></location>'
        for at, n in enumerate(locations)
    )
    return (
        f'<locationgroup Id="{rank}"><name>MPI Rank {rank}</name><rank>{rank}</rank><type>process</type>'
        f"{threads}</locationgroup>"
    )
